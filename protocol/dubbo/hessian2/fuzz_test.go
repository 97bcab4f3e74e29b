package hessian2

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/protocol"
)

// targets are types of every kind that a result may be wanted in.
var targets = []func() any{
	func() any { return nil },
	func() any { return new(any) },
	func() any { return new(string) },
	func() any { return new(int16) },
	func() any { return new(*Node) },
	func() any { return new([]Order) },
	func() any { return new(map[string]*User) },
	func() any { return new(map[any]any) },
	func() any { return new([3]int) },
	func() any { return new(time.Time) },
	func() any { return new(Bag) },
	func() any { return new(error) },
	func() any { return new(*OrderException) },
	func() any { return new(struct{}) },
}

// FuzzDecodeResult: whatever comes, decoding ends with a value or an error that has
// a place, and what decodes into a type is also good when it is only skipped.
func FuzzDecodeResult(f *testing.F) {
	register(f)
	require.NoError(f, Register(&Bag{}, &OrderException{}, &wrapped{}))
	v := load(f)
	for _, body := range v.answers(f) {
		f.Add(body, byte(0))
	}
	for i, value := range v.Values {
		f.Add(append([]byte{0x91}, unhex(f, value.Hex["hessian-lite 3.2.13"])...), byte(i))
	}
	f.Add(unhex(f, "90"+exceptionHex(0, "com.x.OrderException", "a", "5190", "code", "95", "next", "5190")), byte(0))
	f.Add(unhex(f, "90"+classHex("com.x.OrderException", "cause", "code")+classHexAs(1, "com.x.Wrapped", "Cause")+"5190"+"95"), byte(0))
	f.Add(unhex(f, "91795190"), byte(1))
	f.Add(unhex(f, "91"+classHex("com.x.Node", "kids", "any", "next")+"57"+"6090"+"4e5191"+"5a"+"5191"+"5190"), byte(4))
	f.Fuzz(func(t *testing.T, body []byte, n byte) {
		r := protocol.Result{Target: targets[int(n)%len(targets)](), WantAttachments: n&0x80 != 0}
		remote, err := DecodeResult(body, &r)
		if err != nil {
			var e *DecodeError
			require.ErrorAs(t, err, &e)
			assert.Nil(t, remote)
			assert.LessOrEqual(t, e.Offset, len(body))
			assert.NotContains(t, e.Reason, "panics")
			if r.Target != nil {
				assert.True(t, reflect.ValueOf(r.Target).Elem().IsZero())
			}
			return
		}
		require.NotEmpty(t, body)
		d := newDecoder(body)
		d.plain = false
		for d.i < len(body) {
			require.NoError(t, d.skip(), "the structure is good")
		}
		_ = Text(r.Value)
		if remote != nil {
			assert.False(t, errors.Is(remote, errors.ErrUnsupported), "the causes end")
			_ = fmt.Sprintf("%v %+v %v", remote, remote.Fields, remote.Stack)
		}
	})
}

// FuzzScalars: what the library makes of a single scalar, ours makes too.
func FuzzScalars(f *testing.F) {
	for _, v := range load(f).Values {
		f.Add(unhex(f, v.Hex["hessian-lite 4.0.3"]))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 || kinds[b[0]] == kindNone || kinds[b[0]] >= kindList || b[0] == tagDoubleMill {
			return // the library divides thousandths, one bit off
		}
		ours, err := DecodeValues(b)
		if err != nil || len(ours) != 1 {
			return
		}
		theirs, err := decodeByLibrary(b)
		if s, ok := ours[0].(string); ok {
			if strings.Contains(s, "\uFFFD") || strings.Contains(s, "\x00") && strings.Contains(string(b), "\xc0\x80") || err != nil || s != theirs {
				return // B129: halves of pairs; overlong forms
			}
		}
		require.NoError(t, err)
		switch want := theirs.(type) {
		case time.Time:
			assert.True(t, want.Equal(ours[0].(time.Time)))
		case float64:
			if math.IsNaN(want) {
				assert.True(t, math.IsNaN(ours[0].(float64)))
				return
			}
			assert.Equal(t, want, ours[0])
		default:
			assert.Equal(t, theirs, ours[0])
		}
	})
}

func decodeByLibrary(b []byte) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return hessian.NewDecoder(b).Decode()
}

// values generates what both codecs can take: no empty slices (E1), no maps of
// several entries (E9), fractions without a form of thousandths.
func values(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		most := 11
		if depth == 0 {
			most = 7
		}
		switch rapid.IntRange(0, most).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return rapid.Int32().Draw(t, "int")
		case 3:
			return rapid.Int64().Draw(t, "long")
		case 4:
			return math.Float64frombits(rapid.Uint64().Draw(t, "bits")&^(0x7ff<<52) | 0x3e5<<52) // tiny
		case 5:
			return rapid.String().Draw(t, "string")
		case 6:
			return time.UnixMilli(rapid.Int64Range(1, 1<<41).Draw(t, "ms")*60_000 + 1).UTC()
		case 7:
			return rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "binary")
		case 8:
			return rapid.SliceOfN(values(depth-1), 1, 4).Draw(t, "list")
		case 9:
			return map[string]any{rapid.String().Draw(t, "key"): values(depth-1).Draw(t, "value")}
		case 10:
			return rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "strings")
		default:
			n := &Node{Name: rapid.String().Draw(t, "name"), Any: values(depth-1).Draw(t, "any")}
			if rapid.Bool().Draw(t, "cycle") {
				n.Next = n
			}
			return n
		}
	})
}

// sameAsLibrary checks that both codecs write the same bytes and read them alike.
func sameAsLibrary(t *rapid.T) {
	v := values(4).Draw(t, "value")
	b, err := Append(nil, v)
	require.NoError(t, err)
	require.Equal(t, fromLibrary(t, v), hex.EncodeToString(b))
	theirs, err := decodeByLibrary(b)
	require.NoError(t, err)
	ours, err := DecodeValues(b)
	require.NoError(t, err)
	require.Equal(t, Text(theirs), Text(ours[0]))
	require.Equal(t, Text(v), Text(ours[0]))
}

func TestSameAsTheLibrary(t *testing.T) {
	register(t)
	rapid.Check(t, sameAsLibrary)
}

func FuzzSameAsTheLibrary(f *testing.F) {
	register(f)
	f.Fuzz(rapid.MakeFuzz(sameAsLibrary))
}

// FuzzRoundTrip: whatever our decoder makes of bytes can be sent again, and comes
// back the same.
func FuzzRoundTrip(f *testing.F) {
	register(f)
	for _, v := range load(f).Values {
		f.Add(unhex(f, v.Hex["hessian-lite 4.0.3"]))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		first, err := DecodeValues(b)
		if err != nil {
			return
		}
		sent, err := AppendArguments(nil, first)
		var e *ArgumentError
		if errors.As(err, &e) { // Go types with rules of their own
			return
		}
		require.NoError(t, err)
		second, err := DecodeValues(sent)
		var d *DecodeError
		if errors.As(err, &d) && strings.Contains(d.Reason, "nest deeper") {
			return
		}
		require.NoError(t, err)
		require.Len(t, second, len(first))
	})
}

func FuzzDecodeText(f *testing.F) {
	for _, v := range load(f).JavaFrames {
		f.Add(byte(2), v.body(f))
		f.Add(byte(23), v.body(f))
	}
	f.Add(byte(23), jsonb(0x7d, 2, 0x4e, 0x2d))
	f.Fuzz(func(t *testing.T, serialization byte, b []byte) {
		text, ok := DecodeText(serialization, b)
		if !ok {
			assert.Empty(t, text)
		}
		assert.Equal(t, strings.ToValidUTF8(text, "?"), text)
		if remote, ok := RemoteFromText(text); ok {
			assert.True(t, isClassName(remote.Class))
		}
	})
}

func FuzzParseSignature(f *testing.F) {
	for _, s := range []string{"find(long)", "put(java.util.List,byte[])", "f(int...)", "f(", "f(a<b>)", "$echo(java.lang.Object)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSignature(text)
		if err != nil {
			assert.Less(t, len(err.Error()), 10*len(text)+500)
			return
		}
		again, err := ParseSignature(s.String())
		require.NoError(t, err)
		assert.Equal(t, s, again)
		assert.NoError(t, CheckMethodName(s.Name))
	})
}
