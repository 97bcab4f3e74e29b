package hessian2

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/apache/dubbo-go-hessian2/java_util"
	big "github.com/dubbogo/gost/math/big"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/protocol"
)

// The texts of all answers with another status.
func TestVectorTexts(t *testing.T) {
	checked := 0
	v := load(t)
	for _, f := range append(v.Frames, v.JavaFrames...) {
		flags := unhex(t, f.Hex)[2]
		if flags&0x80 != 0 || f.status(t) == 20 {
			continue
		}
		for _, p := range f.Parts {
			want, ok := strings.CutPrefix(p.What, "error text: ")
			if !ok {
				continue
			}
			checked++
			body := f.body(t)
			text, ok := DecodeText(flags&0x1f, body)
			assert.True(t, ok, f.Name)
			want, _, _ = strings.Cut(want, "…")
			assert.True(t, strings.HasPrefix(strings.Join(strings.Fields(text), " "), strings.TrimSpace(strings.Join(strings.Fields(want), " "))), "%s: %q", f.Name, text)
			for n := range body {
				_, ok := DecodeText(flags&0x1f, body[:n])
				assert.False(t, ok, "%s cut to %d bytes", f.Name, n)
			}
		}
	}
	assert.Greater(t, checked, 8)
}

// jsonb is a string in serialization 23.
func jsonb(b ...byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

func TestTextsInSerialization23(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		length := func(n int) []byte {
			switch {
			case n <= 47:
				return []byte{byte(n)}
			case n <= 0x7ff:
				return []byte{byte(0x38 + n>>8), byte(n)}
			case n <= 0x3ffff:
				return []byte{byte(0x44 + n>>16), byte(n >> 8), byte(n)}
			}
			return binary.BigEndian.AppendUint32([]byte{0x48}, uint32(n))
		}
		check := func(tag byte, content []byte) {
			text, ok := DecodeText(23, jsonb(append(append([]byte{tag}, length(len(content))...), content...)...))
			assert.True(t, ok)
			assert.Equal(t, s, text)
		}
		check(0x7a, []byte(s))
		var little, big []byte
		for _, u := range utf16.Encode([]rune(s)) {
			little, big = binary.LittleEndian.AppendUint16(little, u), binary.BigEndian.AppendUint16(big, u)
		}
		check(0x7c, little)
		check(0x7d, big)
	})
	text, ok := DecodeText(23, jsonb(0x4a, 'R'))
	assert.True(t, ok)
	assert.Equal(t, "R", text)
	text, ok = DecodeText(23, jsonb(0x4a, 0xe9))
	assert.True(t, ok)
	assert.Equal(t, "é", text, "Latin-1")
	text, ok = DecodeText(23, jsonb(append([]byte{0x79, 0x30 + 8, 60}, []byte(strings.Repeat("x", 60))...)...))
	assert.True(t, ok)
	assert.Len(t, text, 60)
	text, ok = DecodeText(23, jsonb(0xaf))
	assert.True(t, ok, "null")
	assert.Empty(t, text)
	for _, b := range [][]byte{
		nil, {0}, jsonb(), jsonb(0xae), jsonb(0x4a), jsonb(0x4a, 'R', 'R'), jsonb(0xaf, 0), jsonb(0x7c, 1, 'x'), jsonb(0x79), jsonb(0x79, 0xff),
		jsonb(0x79, 0x48, 0x7f, 0xff, 0xff, 0xff), jsonb(0x79, 0x48, 0xff, 0xff, 0xff, 0xff), jsonb(0x79, 0x48), jsonb(0x79, 0x40), jsonb(0x79, 0x30),
		jsonb(0x7b, 0), jsonb(0x79, 0x90), append(jsonb(0x4a, 'R'), 'x'), {0xff, 0xff, 0xff, 0xff, 0x4a},
	} {
		_, ok := DecodeText(23, b)
		assert.False(t, ok, "% x", b)
	}
}

func TestTextsInSerialization2(t *testing.T) {
	text, ok := DecodeText(2, AppendString(nil, "grüß"))
	assert.True(t, ok)
	assert.Equal(t, "grüß", text)
	text, ok = DecodeText(2, []byte{'N'})
	assert.True(t, ok)
	assert.Empty(t, text)
	for _, b := range [][]byte{nil, {0x91}, {0x05, 'a'}, {'H', 'Z'}} {
		_, ok := DecodeText(2, b)
		assert.False(t, ok)
	}
	_, ok = DecodeText(3, AppendString(nil, "x"))
	assert.False(t, ok, "another serialization")
}

func TestRemoteFromText(t *testing.T) {
	found := 0
	for _, f := range load(t).JavaFrames {
		if f.status(t) == 50 {
			found++
			text, ok := DecodeText(2, f.body(t))
			require.True(t, ok)
			remote, ok := RemoteFromText(text)
			require.True(t, ok)
			assert.Equal(t, &protocol.RemoteError{Class: "com.demo.RtException", Message: "rt failed"}, remote)
		}
	}
	assert.Equal(t, 1, found)
	for text, want := range map[string]*protocol.RemoteError{
		"Failed to send response: Response [id=1, result=AppResponse [value=null, exception=java.lang.ArithmeticException: crash q]], cause: java.io.IOException: x]]": {Class: "java.lang.ArithmeticException", Message: "crash q"},
		"Failed to send response: Response [id=1, result=RpcResult [result=null, exception=com.x.E: a]] b: c]], cause: y":                                              {Class: "com.x.E", Message: "a]] b: c"},
		"… [value=null, exception=com.x.Outer$E]], cause: y":                                                                                                           {Class: "com.x.Outer$E"},
		"… [value=null, exception=com.x.E: multi\nline]], cause: y":                                                                                                    {Class: "com.x.E", Message: "multi\nline"},
		"… [value=null, exception=com.x.E: no cause]]":                                                                                                                 {Class: "com.x.E", Message: "no cause"},
		"… [value=my exception=text, exception=com.x.E: m]], cause: y":                                                                                                 nil,
		"… [value=null, exception=null]], cause: y":                                                                                                                    nil,
		"… [value=null, exception=my own toString]], cause: y":                                                                                                         nil,
		"Data length too large: 9, max payload: 8, channel: NettyChannel":                                                                                              nil,
		"[value=null, exception=com.x.E: cut off":                                                                                                                      nil,
		"": nil,
	} {
		remote, ok := RemoteFromText(text)
		assert.Equal(t, want != nil, ok, text)
		assert.Equal(t, want, remote, text)
	}
}

// javaValue is a Java value of testdata/text.json.
type javaValue struct {
	T        string
	V        json.RawMessage
	Bits     string
	Unscaled string
	Scale    int
}

// value returns the Go value that stands for it.
func (j javaValue) value(t *testing.T) any {
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
	case "string", "character":
		return text()
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
		return integer(t, text())
	case "bigdecimal":
		return &big.Decimal{Value: plain(j.Unscaled, j.Scale)}
	case "uuid":
		return java_util.UUID{Value: text()}
	case "enum":
		return green{}.of(text())
	case "list":
		var items []javaValue
		require.NoError(t, json.Unmarshal(j.V, &items))
		list := make([]any, len(items))
		for i := range items {
			list[i] = items[i].value(t)
		}
		return list
	case "map":
		var pairs [][2]javaValue
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

// plain is what a Java provider would have sent for the decimal: its toString.
func plain(unscaled string, scale int) string {
	digits, negative := strings.CutPrefix(unscaled, "-")
	exponent := len(digits) - 1 - scale
	switch {
	case scale == 0:
	case scale > 0 && exponent >= -6:
		for len(digits) <= scale {
			digits = "0" + digits
		}
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

// green is an enum with one constant.
type green struct{}

func (green) of(name string) colorEnum { return colorEnum(map[string]int{"GREEN": 1}[name]) }

type colorEnum hessian.JavaEnum

func (colorEnum) JavaClassName() string { return "com.x.ColorEnum" }
func (c colorEnum) String() string      { return []string{"RED", "GREEN"}[c] }
func (colorEnum) EnumValue(s string) hessian.JavaEnum {
	return hessian.JavaEnum(map[string]int{"RED": 0, "GREEN": 1}[s])
}

// The text of every argument is Java's, so that hashing agrees with Java consumers.
func TestVectorArgumentTexts(t *testing.T) {
	raw, err := os.ReadFile("testdata/text.json")
	require.NoError(t, err)
	var rows []struct {
		Arguments string `json:"hash_arguments"`
		Args      []javaValue
		Key       string
	}
	require.NoError(t, json.Unmarshal(raw, &rows))
	require.Len(t, rows, 64)
	for i, row := range rows {
		key := ""
		for part := range strings.SplitSeq(row.Arguments, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			n, err := strconv.Atoi(part)
			require.NoError(t, err)
			if 0 <= n && n < len(row.Args) {
				key += Text(row.Args[n].value(t))
			}
		}
		if strings.HasPrefix(row.Key, "{id=") { // Java's insertion order; ours is by key
			row.Key = "{id=7, name=bob, none=null, tags=[x, y]}"
		}
		assert.Equal(t, row.Key, key, "row %d", i)
	}
}

func TestTextOfOtherValues(t *testing.T) {
	register(t)
	for want, v := range map[string]any{
		"7": namedInt(7), "s": ptr("s"), "null": (*string)(nil), "[1, 2]": []byte{1, 2}, "中": hessian.Rune('中'), "1.50": decimal(t, "1.50"),
		"WOMAN": Woman, "MAN": ptr(Man), "1s": struct{ D fmt.Stringer }{time.Second}.D,
		"Tue Nov 14 22:13:20 UTC 2023":                       time.UnixMilli(1700000000123),
		"com.x.Node{name=n, next=null, kids=[], any=[null]}": &Node{Name: "n", Any: []any{nil}},
		"hessian2.plainStruct{a=1}":                          plainStruct{1},
		"chan int":                                           make(chan int),
		"18446744073709551615":                               uint64(math.MaxUint64),
		"[[1], [true]]":                                      [][]any{{1}, {true}},
	} {
		if want == "1s" {
			want = "1000000000" // a time.Duration is a long in Java
		}
		assert.Equal(t, want, Text(v), "%T", v)
	}
}

type plainStruct struct{ A int }

func TestB150TextsEnd(t *testing.T) {
	m := map[string]any{}
	for i := range 10 {
		m[strconv.Itoa(i)] = m
	}
	assert.Less(t, len(Text(m)), 4<<20)
	n := &Node{}
	n.Next = n
	assert.NotEmpty(t, Text(n))
	var p any
	p = &p
	assert.Equal(t, "…", Text(p))
}
