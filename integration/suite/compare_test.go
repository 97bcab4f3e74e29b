package suite

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/integration/interop"
	"github.com/gofer-rpc/gofer/protocol"
)

func TestCompare(t *testing.T) {
	real := []Observation{
		{Row: "a", Step: "1", Outcome: Outcome{Value: "x", Attachments: "{}"}},
		{Row: "a", Step: "2", Outcome: Outcome{Code: "timeout"}},
		{Row: "b", Step: "1", Outcome: Outcome{Value: "y"}},
	}
	assert.Empty(t, Compare(real, real))
	fake := []Observation{
		{Row: "b", Step: "2", Outcome: Outcome{Value: "z"}, Wrong: "value is not y"},
		{Row: "a", Step: "2", Outcome: Outcome{Value: "x"}},
		{Row: "a", Step: "1", Outcome: Outcome{Value: "x", Attachments: "{}"}},
	}
	assert.Equal(t, []Difference{
		{"a", "2", Code, "timeout", ""}, {"a", "2", Value, "", "x"}, {"b", "1", "step", "value y", ""}, {"b", "2", "step", "", "value z"},
	}, Compare(real, fake))
	assert.Equal(t, "a: 2: code differs\n  real: timeout\n  fake: ", Compare(real, fake)[0].String())
	assert.Equal(t, fake[:1], Wrong(fake))

	var table harness.Table
	Tabulate(&table, "3.3.6", real, fake)
	assert.Equal(t, strings.Join([]string{"method  3.3.6", "a       ok / ok / NO", "b       ok / FAIL / NO", ""}, "\n"), table.String())
	table = harness.Table{}
	Tabulate(&table, "3.3.6", real, real[:2])
	assert.Equal(t, strings.Join([]string{"method  3.3.6", "a       ok / ok / yes", "b       ok / none / NO", ""}, "\n"), table.String())
}

func TestFailed(t *testing.T) {
	remote := &protocol.RemoteError{
		Class: "com.x.E", Message: "no 10.0.0.1:20880\n\tat x", Fields: map[string]any{"code": int32(7)}, Stack: []string{"x"},
		Cause: &protocol.RemoteError{Class: "com.x.F", Message: "disk", Cause: &protocol.RemoteError{Class: "com.x.G"}},
	}
	assert.Equal(t, Outcome{
		Code: "business exception", Sent: "true", Attempts: "1", Class: "com.x.E", Message: "no HOST:PORT", Stack: "true",
		Fields: `{"code": int32 7}`, Cause: "com.x.F: disk null ← com.x.G:  null",
	}, failed(&gofer.Error{Code: gofer.ErrBusiness, Sent: true, Attempts: 1, Cause: remote}))
	assert.Equal(t, Outcome{Code: "timeout", Sent: "false", Attempts: "2", Text: "after TIME"},
		failed(&gofer.Error{Code: gofer.ErrTimeout, Attempts: 2, Detail: "after 1.5s"}))
	assert.Equal(t, Outcome{Text: "odd"}, failed(errors.New("odd")))
}

func TestNormal(t *testing.T) {
	for text, want := range map[string]string{
		"first\n\tat com.x.A":                                 "first",
		"to dubbo://10.1.2.3:20880/x?a=b&c=d, cause: x":       "to URL, cause: x",
		"10.1.2.3:20880 and localhost.:1 and 127.0.0.1":       "HOST:PORT and HOST:PORT and HOST",
		"Response [id=-12, version=2.0.2]":                    "Response [id=ID, version=2.0.2]",
		"[channel=[id: 0x1f, L:/10.0.0.1:1 - R:/10.0.0.2:2]]": "[channel=[CHANNEL]]",
		"g/com.x.S:1.0.0:20880 in [g/com.x.S:1.0.0:20881]":    "g/com.x.S:1.0.0:PORT in [g/com.x.S:1.0.0:PORT]",
		"code 404, version 2.0.2":                             "code 404, version 2.0.2",
	} {
		assert.Equal(t, want, normal(text))
	}
}

// TestRender: equal values have equal texts, others have not.
func TestRender(t *testing.T) {
	boss := team()
	note := "n"
	for want, got := range map[string]string{
		"null":                     render[any](nil),
		"5":                        render(int32(5)),
		"int32 5":                  render[any](int32(5)),
		"0.1":                      render(float32(0.1)),
		`"a\"b"`:                   render(`a"b`),
		"[1, null]":                render([]*int32{ptr(int32(1)), nil}),
		"[]any [int64 1, null]":    render[any]([]any{int64(1), nil}),
		"01 ff":                    render([]byte{1, 255}),
		`{"a": 1, "b": 2}`:         render(map[string]int{"b": 2, "a": 1}),
		`&1{Sku: "s", Note: "n"}`:  render(&interop.Item{Sku: "s", Note: &note}),
		"12.50":                    render(decimal("12.50")),
		"GREEN":                    render(interop.Green),
		"2001-02-03T04:05:06.789Z": render(birthday),
		"[&1{}, &1, &2{}]":         render([]*interop.Item{nilItem, nilItem, {}}),
		`&1{Name: "boss", Reports: [&2{Name: "a", Manager: &1}, &3{Name: "b", Manager: &1}]}`: render(boss),
	} {
		assert.Equal(t, want, got)
	}
	long := strings.Repeat("x", 1000)
	assert.Contains(t, render(long), "1000 UTF-16 units #")
	assert.NotEqual(t, render(long), render(long[:999]+"y"))
	assert.NotEqual(t, render(make([]byte, 1000)), render(append(make([]byte, 999), 1)))
}

var nilItem = &interop.Item{}

func TestRecorded(t *testing.T) {
	_, err := Recorded(Protocol, "1.0")
	require.ErrorContains(t, err, "version 1.0 is not in it")
	_, err = Recorded("nothing", "1.0")
	require.Error(t, err)
	_, err = ProfileOf("1.0")
	require.ErrorContains(t, err, "1.0")
}
