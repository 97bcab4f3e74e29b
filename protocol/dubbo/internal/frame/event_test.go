package frame

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEventOf(t *testing.T) {
	for _, c := range []struct {
		name          string
		serialization byte
		body          string
		want          Event
	}{
		{"null", Hessian2, "N", Null},
		{"R", Hessian2, "\x01R", ReadOnly},
		{"W", Hessian2, "\x01W", Writable},
		{"fastjson2 null", Fastjson2, "\x00\x00\x00\x01\xaf", Null},
		{"fastjson2 R", Fastjson2, "\x00\x00\x00\x02\x4aR", ReadOnly},
		{"fastjson2 W", Fastjson2, "\x00\x00\x00\x02\x4aW", Writable},
		{"another serialization, same bytes", 3, "\x01R", ReadOnly},
		{"hessian bytes in fastjson2", Fastjson2, "\x01R", Other},
		{"nothing", Hessian2, "", Other},
		{"another letter", Hessian2, "\x01X", Other},
		{"longer text", Hessian2, "\x02RW", Other},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, EventOf(c.serialization, []byte(c.body)))
		})
	}
}

// A heartbeat is answered with its own id and in its own serialization.
func TestHeartbeatAnswer(t *testing.T) {
	for _, serialization := range []byte{Hessian2, Fastjson2, 3} {
		request := Header{Request: true, TwoWay: true, Event: true, Serialization: serialization, ID: 1 << 63, Length: 1}
		b := AppendHeartbeatAnswer(nil, request)
		h, ok, err := Parse(b)
		require.NoError(t, err)
		require.True(t, ok)
		assert.False(t, h.Request || h.TwoWay)
		assert.True(t, h.Event)
		assert.Equal(t, OK, h.Status)
		assert.Equal(t, request.ID, h.ID)
		assert.Equal(t, Null, EventOf(h.Serialization, b[HeaderLen:]))
		assert.Len(t, b, HeaderLen+h.Length)
	}
}
