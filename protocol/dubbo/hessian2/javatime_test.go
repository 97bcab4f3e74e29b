package hessian2

import (
	"testing"
	"time"

	"github.com/apache/dubbo-go-hessian2/java8_time"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

func TestJavaTime(t *testing.T) {
	day := java8_time.LocalDate{Year: 2024, Month: 2, Day: 29}
	noon := java8_time.LocalTime{Hour: 12, Minute: 30, Second: 15, Nano: 7}
	moment := time.Date(2024, 2, 29, 12, 30, 15, 7, time.UTC)
	for _, c := range []struct {
		value any
		want  time.Time
	}{
		{day, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{java8_time.LocalDateTime{Date: day, Time: noon}, moment},
		{java8_time.Instant{Seconds: moment.Unix(), Nanos: 7}, moment},
		{java8_time.OffsetDateTime{DateTime: java8_time.LocalDateTime{Date: day, Time: noon}, Offset: java8_time.ZoneOffSet{Seconds: 3600}}, moment.Add(-time.Hour)},
		{java8_time.ZonedDateTime{DateTime: java8_time.LocalDateTime{Date: day, Time: noon}, ZoneId: "UTC"}, moment},
	} {
		assert.True(t, c.want.Equal(decoded[time.Time](t, encoded(t, c.value))), "%T", c.value)
	}
	refused[time.Time](t, encoded(t, java8_time.Duration{Seconds: 1}))

	// The compact mode of hessian-lite 4.0.4: a class without fields, then one long.
	date := "4313" + "6a6176612e74696d652e4c6f63616c44617465" + "9060" + "3c4d46"
	assert.Equal(t, &java8_time.LocalDate{Year: 2024, Month: 2, Day: 29}, decoded[any](t, classHex("java.time.LocalDate")+encoded(t, int64(19782))))
	assert.IsType(t, (*java8_time.LocalDate)(nil), decoded[any](t, date))
	assert.Equal(t, *decoded[*java8_time.LocalDate](t, date), decoded[java8_time.LocalDate](t, date))
	assert.Equal(t, &noon, decoded[any](t, classHex("java.time.LocalTime")+encoded(t, noonNanos(noon))))
	both := classHex("java.time.LocalDateTime", "date", "time") + encoded(t, int64(19782)) + encoded(t, noonNanos(noon))
	assert.Equal(t, &java8_time.LocalDateTime{Date: day, Time: noon}, decoded[any](t, both))
	assert.True(t, moment.Equal(decoded[time.Time](t, both)))
	refused[any](t, classHex("java.time.LocalTime")+encoded(t, int64(-1)))
	refused[any](t, classHex("java.time.LocalDate")+encoded(t, int64(1)<<40))
	refused[any](t, classHex("java.time.LocalDate"))
	// It is skipped as one value, in fields nobody knows and before the attachments.
	type known struct{ A int }
	got := decoded[known](t, classHex("com.x.P", "when", "a")+classHexAs(1, "java.time.LocalDate")+"3c4d46"+"95")
	assert.Equal(t, known{A: 5}, got)
	r := protocol.Result{WantAttachments: true}
	_, err := DecodeResult(unhex(t, "94"+date+"4805647562626f05322e302e325a"), &r)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"dubbo": "2.0.2"}, r.Attachments)
}

func noonNanos(l java8_time.LocalTime) int64 {
	return int64(l.Hour)*3600e9 + int64(l.Minute)*60e9 + int64(l.Second)*1e9 + int64(l.Nano)
}
