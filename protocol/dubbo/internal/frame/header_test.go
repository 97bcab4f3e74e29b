package frame

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func drawHeader(t *rapid.T) Header {
	return Header{
		Request:       rapid.Bool().Draw(t, "request"),
		TwoWay:        rapid.Bool().Draw(t, "two-way"),
		Event:         rapid.Bool().Draw(t, "event"),
		Serialization: rapid.ByteRange(0, 31).Draw(t, "serialization"),
		Status:        Status(rapid.Byte().Draw(t, "status")),
		ID:            rapid.Uint64().Draw(t, "id"),
		Length:        rapid.IntRange(0, MaxBody).Draw(t, "length"),
	}
}

// What is appended is parsed back, and no strict prefix of it is taken for a
// header or for garbage.
func TestHeaderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawHeader(t)
		b := want.Append(nil)
		require.Len(t, b, HeaderLen)
		for n := range b {
			_, ok, err := Parse(b[:n])
			require.NoError(t, err, "prefix of %d bytes", n)
			require.False(t, ok, "prefix of %d bytes", n)
		}
		got, ok, err := Parse(append(b, "body"...))
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, want, got)
	})
}

// One wrong byte is enough to know: waiting for fifteen more would be waiting for
// ever (B117).
func TestParseMalformed(t *testing.T) {
	head := Header{Request: true, Serialization: Hessian2, ID: 7}.Append(nil)
	length := func(b ...byte) []byte { return append(append([]byte{}, head[:12]...), b...) }
	for name, b := range map[string][]byte{
		"text":                 []byte("hello\n"),
		"one byte":             []byte("h"),
		"second byte":          {0xda, 0xda},
		"http":                 []byte("HTTP/1.1 400 Bad Request\r\n\r\n"),
		"length -1":            length(0xff, 0xff, 0xff, 0xff),
		"smallest length":      length(0x80, 0, 0, 0),
		"largest length":       length(0x7f, 0xff, 0xff, 0xff),
		"just over the bound":  length(0x40, 0, 0, 1),
		"garbage behind a bit": {0xda, 0x00, 0xbb},
	} {
		t.Run(name, func(t *testing.T) {
			_, ok, err := Parse(b)
			require.ErrorIs(t, err, ErrMalformed)
			assert.False(t, ok)
			assert.Less(t, len(err.Error()), 120)
		})
	}
	_, ok, err := Parse(length(0x40, 0, 0, 0))
	assert.NoError(t, err)
	assert.True(t, ok)
}

func TestSealAndOneWay(t *testing.T) {
	f := append(Header{Request: true, TwoWay: true, Serialization: Hessian2}.Append(nil), "body"...)
	Seal(f, 0x0102030405060708)
	OneWay(f)
	h, ok, err := Parse(f)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, Header{Request: true, Serialization: Hessian2, ID: 0x0102030405060708, Length: 4}, h)
	assert.EqualValues(t, 0x82, f[2])
}

func TestStatusString(t *testing.T) {
	assert.Equal(t, "100 SERVER_THREADPOOL_EXHAUSTED", PoolExhausted.String())
	assert.Equal(t, "7", Status(7).String())
}

// Any bytes: no panic, and what is accepted is written back as it was.
func FuzzParse(f *testing.F) {
	f.Add(Header{Request: true, TwoWay: true, Event: true, Serialization: Hessian2, ID: 1, Length: 1}.Append(nil))
	f.Add([]byte("hello\n"))
	f.Add([]byte{0xda})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, ok, err := Parse(b)
		if err != nil || !ok {
			if err == nil && len(b) >= HeaderLen {
				t.Fatalf("%x: neither a header nor an error", b)
			}
			return
		}
		if got := h.Append(nil); string(got) != string(b[:HeaderLen]) {
			t.Fatalf("%x is written back as %x", b[:HeaderLen], got)
		}
	})
}
