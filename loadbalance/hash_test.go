package loadbalance

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/apache/dubbo-go-hessian2/java_util"
	decimal "github.com/dubbogo/gost/math/big"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/url"
)

// nowhere is an endpoint that is ready and never called.
type nowhere struct{}

func (nowhere) Invoke(context.Context, *protocol.Invocation) (*protocol.Result, error) {
	return nil, nil
}
func (nowhere) State() protocol.State { return protocol.Ready }
func (nowhere) StateReason() error    { return nil }
func (nowhere) Update(url.URL)        {}
func (nowhere) Close()                {}

var noStart time.Time

// position is where Java places a text.
func position(text string) uint32 {
	d := md5.Sum([]byte(text))
	return binary.LittleEndian.Uint32(d[:])
}

func hashed(inv *protocol.Invocation, indices ...int) uint32 { return hashArguments(inv, indices) }

func call(arguments ...any) *protocol.Invocation {
	return &protocol.Invocation{Method: &protocol.Method{Name: "find"}, Arguments: arguments, ArgumentText: hessian2.Text}
}

func TestVectorKeyHashes(t *testing.T) {
	v := readHashVectors(t)
	require.Len(t, v.KeyHash, len(v.Keys))
	require.NotEmpty(t, v.Keys)
	for i, key := range v.Keys {
		assert.Equal(t, v.KeyHash[i], hashText(key), key)
		assert.Equal(t, v.KeyHash[i], hashed(call(key), 0), key)
	}
}

// javaArgument is a Java value of the vectors.
type javaArgument struct {
	T        string
	V        json.RawMessage
	Bits     string
	Unscaled string
	Scale    int
}

func (j javaArgument) value(t *testing.T) any {
	text := func() (s string) { require.NoError(t, json.Unmarshal(j.V, &s)); return s }
	number := func(bits int) int64 {
		n, err := strconv.ParseInt(text(), 10, bits)
		require.NoError(t, err)
		return n
	}
	raw := func(bits int) uint64 {
		n, err := strconv.ParseUint(j.Bits, 16, bits)
		require.NoError(t, err)
		return n
	}
	switch j.T {
	case "null":
		return nil
	case "string":
		return text()
	case "character":
		return hessian.Rune([]rune(text())[0])
	case "integer":
		return int32(number(32))
	case "long":
		return number(64)
	case "short":
		return int16(number(16))
	case "byte":
		return int8(number(8))
	case "boolean":
		return text() == "true"
	case "double":
		return math.Float64frombits(raw(64))
	case "float":
		return math.Float32frombits(uint32(raw(32)))
	case "biginteger":
		n := new(decimal.Integer)
		require.NoError(t, n.FromString(text()))
		return n
	case "bigdecimal":
		return &decimal.Decimal{Value: decimalText(j.Unscaled, j.Scale)}
	case "uuid":
		return java_util.UUID{Value: text()}
	case "enum":
		require.Equal(t, "GREEN", text())
		return color(1)
	case "list":
		var items []javaArgument
		require.NoError(t, json.Unmarshal(j.V, &items))
		list := make([]any, len(items))
		for i := range items {
			list[i] = items[i].value(t)
		}
		return list
	case "map":
		var pairs [][2]javaArgument
		require.NoError(t, json.Unmarshal(j.V, &pairs))
		m := map[any]any{}
		for _, p := range pairs {
			m[p[0].value(t)] = p[1].value(t)
		}
		return m
	}
	t.Fatalf("unknown kind %q", j.T)
	return nil
}

// decimalText is the decimal as the codec keeps one that has come from Java.
func decimalText(unscaled string, scale int) string {
	digits, negative := strings.CutPrefix(unscaled, "-")
	exponent := len(digits) - 1 - scale
	switch {
	case scale == 0:
	case scale > 0 && exponent >= -6:
		digits = strings.Repeat("0", max(0, scale+1-len(digits))) + digits
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	default:
		if len(digits) > 1 {
			digits = digits[:1] + "." + digits[1:]
		}
		digits += fmt.Sprintf("E%+d", exponent)
	}
	if negative {
		return "-" + digits
	}
	return digits
}

// color is a Java enum.
type color hessian.JavaEnum

func (color) JavaClassName() string { return "com.example.Color" }
func (c color) String() string      { return [...]string{"RED", "GREEN"}[c] }
func (color) EnumValue(s string) hessian.JavaEnum {
	return hessian.JavaEnum(map[string]int{"RED": 0, "GREEN": 1}[s])
}

// Every list of arguments has Java's key, with the parameter "hash.arguments" as a
// URL carries it. A Go map has no order of its own: its text goes by the keys, where
// the vector has the order in which they were put in.
func TestVectorKeys(t *testing.T) {
	v := readHashVectors(t)
	require.NotEmpty(t, v.ToKey)
	byKey := map[string]string{"{id=7, name=bob, tags=[x, y], none=null}": "{id=7, name=bob, none=null, tags=[x, y]}"}
	for i, row := range v.ToKey {
		m, problems := url.CompileMethod(url.New("dubbo", "h", 1, "com.example.S", map[string]string{"hash.arguments": row.Arguments}), "find")
		assert.Empty(t, problems, "row %d", i)
		args := make([]any, len(row.Args))
		for k := range args {
			args[k] = row.Args[k].value(t)
		}
		want := row.Key
		if sorted, ok := byKey[want]; ok {
			want = sorted
		}
		assert.Equal(t, position(want), hashed(call(args...), m.HashArguments...), "row %d: %s %q", i, row.Arguments, want)

		generic := call("find", []string{"java.lang.Object"}, args)
		generic.Method = &protocol.Method{Name: "find", WireName: "$invoke", Generic: "true"}
		assert.Equal(t, position(want), hashed(generic, m.HashArguments...), "generic, row %d", i)
	}
}

// The texts that need no allocation are those of the codec.
func TestArgumentTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(
			rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Int().AsAny(),
			rapid.Int8().AsAny(), rapid.Int16().AsAny(), rapid.Int32().AsAny(), rapid.Int64().AsAny(),
			rapid.Uint8().AsAny(), rapid.Uint64().AsAny(), rapid.Float64().AsAny(), rapid.Float32().AsAny(),
			rapid.SliceOf(rapid.String()).AsAny(),
		).Draw(t, "argument")
		require.Equal(t, position(hessian2.Text(v)), hashed(call(v), 0))
	})
}

// Long and joined texts are hashed in pieces.
func TestHashOfLongTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := strings.Repeat("ä", rapid.IntRange(0, 3*hashChunk).Draw(t, "a"))
		b := strings.Repeat("b", rapid.IntRange(0, 3*hashChunk).Draw(t, "b"))
		require.Equal(t, position(a), hashText(a))
		require.Equal(t, position(b+"-7"+a), hashed(call(a, b, int64(-7)), 1, 2, 9, -1, 0))
	})
}

// Without a codec the text is Go's, and odd generic calls hash nothing.
func TestHashWithoutCodec(t *testing.T) {
	inv := call(1.5)
	inv.ArgumentText = nil
	assert.Equal(t, position("1.5"), hashed(inv, 0))
	assert.Equal(t, position(""), hashed(call(), 0), "no argument")
	odd := call("find", nil, "no list")
	odd.Method = &protocol.Method{Generic: "true"}
	assert.Equal(t, position(""), hashed(odd, 0))
}
