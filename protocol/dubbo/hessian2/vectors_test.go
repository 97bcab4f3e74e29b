package hessian2

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/dubbo-go-hessian2/java8_time"
	"github.com/apache/dubbo-go-hessian2/java_exception"
	"github.com/apache/dubbo-go-hessian2/java_sql_time"
	"github.com/apache/dubbo-go-hessian2/java_util"
	big "github.com/dubbogo/gost/math/big"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

var (
	millis = time.UnixMilli(1700000000123).UTC()
	minute = time.Unix(1699999980, 0).UTC()
	oneMap = map[string]any{"a": int32(1)}
)

func ptr[T any](v T) *T { return &v }

// meanings are the values in Java that the vectors' names stand for, as natural Go
// values. Those whose names say it themselves are left out.
var meanings = map[string]any{
	"null": nil, "true": true, "false": false,
	"str31": strings.Repeat("a", 31), "str32": strings.Repeat("a", 32),
	"str1023": strings.Repeat("a", 1023), "str1024": strings.Repeat("a", 1024),
	"str:cjk": "中文", "str:emoji": "😀", "char:x": "x", "char:cjk": "中",
	"bytes0": []byte{}, "bytes3": []byte{1, 2, 3}, "bytes16": make([]byte, 16), "bytes1024": make([]byte, 1024),
	"date:0": time.Unix(0, 0).UTC(), "date:ms": millis, "date:min": minute, "date:neg": time.UnixMilli(-1).UTC(),
	"byte:5": int32(5), "short:5": int32(5),
	"enum": Man, "class": &java_exception.Class{Name: "java.lang.String"},
	"locale": &java_util.LocaleHandle{Value: "en_US"},
	"uuid":   &java_util.UUID{Value: "00000000-0000-0001-0000-000000000002"},

	"arraylist": []any{"a", "b"}, "asList": []any{"a", "b"}, "linkedlist": []any{"a"}, "hashset": []any{"a"},
	"emptylist": []any{}, "unmod": []any{"a"}, "sublist": []any{"a", "b"},
	"list8":   []any{int32(1), int32(2), int32(3), int32(4), int32(5), int32(6), int32(7), int32(8)},
	"hashmap": oneMap, "treemap": oneMap, "linkedhashmap": oneMap, "cmap": oneMap,
	"linkedhashmap-null": map[string]any{"a": nil},

	"String[]": []string{"a", "b"}, "int[]": []int32{1, 2}, "long[]": []int64{1}, "double[]": []float64{1},
	"bool[]": []bool{true}, "char[]": "ab", "short[]": []int32{1}, "float[]": []float64{float64(float32(0.1))},
	"Object[]": []any{"a", int32(1)}, "Integer[]": []*int32{ptr(int32(1)), nil}, "String[][]": [][]string{{"a"}, {"b"}},
	"Date[]": []time.Time{time.Unix(0, 0).UTC()}, "User[]": []*User{nil},

	"user": &User{ID: "1", Name: "bob", Age: 20, Score: 5, Vip: true, Balance: 1.5, Birthday: millis,
		Tags: []string{"x"}, Attrs: map[string]string{"k": "v"}, Sex: Woman},
	"sub":     map[string]any{"class": "X$Sub", "dup": int32(2), "id": "base", "extra": "sub"},
	"holder":  map[string]any{"class": "X$Holder", "l1": []any{"a"}, "l2": []any{"b"}, "m1": map[string]any{"k": "v"}},
	"nullmap": map[string]any{"class": "X$NullMap", "m": map[string]any{"k": nil}, "after": int32(7)},
	"holder2": map[string]any{"class": "X$Holder2", "l1": []any{"a"}, "l2": []any{"b"},
		"m1": map[string]any{"k": "v"}, "m2": map[string]any{"k": "v"}},
	"pairlists": []any{[]any{"a"}, []any{"b"}, map[string]any{"k": "v"}, map[string]any{"k": "v"}, []any{"s"}, []any{"t"}},

	"localdate": &java8_time.LocalDate{Year: 2024, Month: 2, Day: 29},
	"localtime": &java8_time.LocalTime{Hour: 1, Minute: 2, Second: 3, Nano: 4},
	"localdatetime": &java8_time.LocalDateTime{Date: java8_time.LocalDate{Year: 2024, Month: 2, Day: 29},
		Time: java8_time.LocalTime{Hour: 1, Minute: 2, Second: 3, Nano: 4}},
	"instant": &java8_time.Instant{Seconds: 100, Nanos: 5}, "duration": &java8_time.Duration{Seconds: 5},
	"zdt": &java8_time.ZonedDateTime{DateTime: java8_time.LocalDateTime{Date: java8_time.LocalDate{Year: 2024, Month: 2, Day: 29},
		Time: java8_time.LocalTime{Hour: 1, Minute: 2, Second: 3, Nano: 4}}, Offset: java8_time.ZoneOffSet{Seconds: 28800}, ZoneId: "Asia/Shanghai"},
	"sqldate": &java_sql_time.Date{Time: time.Unix(0, 0).UTC()}, "sqltime": &java_sql_time.Time{Time: time.Unix(1, 0).UTC()},
	"sqlts": millis, "optional": "a", "atomicint": int32(3), "calendar": time.Date(2020, 2, 1, 0, 0, 0, 0, time.UTC),
	"enumset": []any{Man}, "enummap": map[any]any{Man: "m"},
}

// special have a meaning that depends on the encoder, or that is checked by hand.
var special = map[string]func(t *testing.T, v any, encoder string){
	"bigdec": func(t *testing.T, v any, _ string) {
		assert.Equal(t, "12.340", v.(*big.Decimal).Value)
		assert.Equal(t, "12.340", v.(*big.Decimal).String())
	},
	"bigint": func(t *testing.T, v any, _ string) {
		assert.Equal(t, "12345678901234567890", v.(*big.Integer).String())
	},
	"listOf": func(t *testing.T, v any, encoder string) { immutable(t, v, encoder, []any{"a"}) },
	"mapOf":  func(t *testing.T, v any, encoder string) { immutable(t, v, encoder, oneMap) },
	"cycle": func(t *testing.T, v any, _ string) {
		m := v.(map[string]any)
		assert.Equal(t, "self", m["name"])
		m["next"].(map[string]any)["name"] = "changed"
		assert.Equal(t, "changed", m["name"], "the same object")
	},
	"emptythenref": func(t *testing.T, v any, _ string) {
		m := v.(map[string]any)
		assert.Equal(t, []any{}, m["l"])
		m["a"].(map[string]any)["mark"] = 1
		assert.Equal(t, 1, m["b"].(map[string]any)["mark"], "a and b are one object")
	},
	"prims": func(t *testing.T, v any, _ string) {
		m := v.(map[string]any)
		assert.Equal(t, map[string]any{"class": "X$Prims", "D": nil, "d": 0.1, "f": float64(float32(0.1)), "F": 1.25,
			"S": int32(4), "B": int32(3), "C": "y", "Z": true, "L": int64(6), "I": int32(5), "c": "x", "s": int32(2), "b": int32(1)}, m)
	},
	"npe": func(t *testing.T, v any, _ string) {
		assert.Equal(t, "m", v.(*java_exception.NullPointerException).DetailMessage)
	},
	"biz": func(t *testing.T, v any, _ string) {
		m := v.(map[string]any)
		assert.Equal(t, "com.demo.BizException", m["class"])
		assert.Equal(t, int32(42), m["code"])
		assert.Nil(t, m["cause"], "a cause that is the exception itself is none")
	},
	"ste": func(t *testing.T, v any, _ string) {
		assert.Equal(t, &java_exception.StackTraceElement{DeclaringClass: "C", MethodName: "m", FileName: "f", LineNumber: 3}, v)
	},
	"ex-cause": func(t *testing.T, v any, _ string) {
		e := v.(*java_exception.RuntimeException)
		assert.Equal(t, "o", e.DetailMessage)
		assert.Equal(t, "i", e.Cause.(*java_exception.IllegalArgumentException).DetailMessage)
	},
	"bitset": func(t *testing.T, v any, _ string) { assert.Equal(t, []int64{5}, v.(map[string]any)["words"]) },
}

// Before hessian-lite 4 encoders lose the content of List.of and Map.of.
func immutable(t *testing.T, v any, encoder string, want any) {
	if encoder != "hessian-lite 4.0.3" {
		assert.Equal(t, "java.util.CollSer", v.(map[string]any)["class"])
		return
	}
	assert.Equal(t, want, v)
}

func TestVectorValuesHaveTheirJavaMeaning(t *testing.T) {
	register(t)
	checked := 0
	for _, v := range load(t).Values {
		for encoder, h := range v.Hex {
			if strings.HasPrefix(encoder, "caucho") && differs(v) {
				continue // not what Dubbo's fork writes
			}
			checked++
			t.Run(v.Name+"/"+encoder, func(t *testing.T) {
				got, err := DecodeValues(unhex(t, h))
				require.NoError(t, err)
				require.Len(t, got, 1)
				if check, ok := special[v.Name]; ok {
					check(t, got[0], encoder)
					return
				}
				assertMeaning(t, v.Name, got[0])
			})
		}
	}
	assert.Greater(t, checked, 400)
}

// differs reports whether Caucho's bytes are not those of Dubbo's fork.
func differs(v valueVector) bool {
	return v.Hex["caucho 4.0.38"] != v.Hex["hessian-lite 3.2.13"]
}

func assertMeaning(t *testing.T, name string, got any) {
	t.Helper()
	if want, ok := meanings[name]; ok {
		assert.Equal(t, want, got)
		return
	}
	kind, text, ok := strings.Cut(name, ":")
	require.True(t, ok, "a vector without a meaning: %s", name)
	switch kind {
	case "int":
		assert.Equal(t, text, fmt.Sprint(got.(int32)))
	case "long":
		assert.Equal(t, text, fmt.Sprint(got.(int64)))
	case "str":
		assert.Equal(t, text, got)
	case "double", "float":
		want, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		if math.IsNaN(want) {
			assert.True(t, math.IsNaN(got.(float64)))
			return
		}
		assert.Equal(t, want, got)
	default:
		t.Fatalf("a vector without a meaning: %s", name)
	}
}

// What a scalar's Java encoder writes, ours writes too.
func TestVectorScalarsAreWrittenAsJavaDoes(t *testing.T) {
	checked := 0
	for _, v := range load(t).Values {
		want := v.Hex["hessian-lite 4.0.3"]
		var got []byte
		kind, text, _ := strings.Cut(v.Name, ":")
		switch kind {
		case "null":
			got = AppendNull(nil)
		case "true", "false":
			got = AppendBool(nil, kind == "true")
		case "int", "byte", "short":
			n, err := strconv.ParseInt(text, 10, 32)
			require.NoError(t, err)
			got = AppendInt32(nil, int32(n))
		case "long":
			n, err := strconv.ParseInt(text, 10, 64)
			require.NoError(t, err)
			got = AppendInt64(nil, n)
		case "double":
			n, err := strconv.ParseFloat(text, 64)
			require.NoError(t, err)
			got = AppendFloat64(nil, n)
		case "float":
			n, err := strconv.ParseFloat(text, 32)
			require.NoError(t, err)
			got = AppendFloat32(nil, float32(n))
		case "str", "char", "str31", "str32", "str1023", "str1024":
			s, ok := meanings[v.Name].(string)
			if !ok {
				s = text
			}
			got = AppendString(nil, s)
		case "bytes0", "bytes3", "bytes16", "bytes1024":
			got = AppendBytes(nil, meanings[v.Name].([]byte))
		case "date":
			got = AppendTime(nil, meanings[v.Name].(time.Time))
		default:
			continue
		}
		checked++
		assert.Equal(t, want, hex.EncodeToString(got), v.Name)
	}
	assert.Greater(t, checked, 75)
}

// Whole answers of Go and Java providers into the types of their methods.
func TestVectorAnswers(t *testing.T) {
	register(t)
	for name, body := range load(t).answers(t) {
		t.Run(name, func(t *testing.T) {
			r := protocol.Result{WantAttachments: true}
			remote, err := DecodeResult(body, &r)
			require.NoError(t, err)
			if body[0] >= 0x93 {
				assert.Equal(t, map[string]any{"dubbo": "2.0.2"}, r.Attachments)
			} else {
				assert.Nil(t, r.Attachments)
			}
			kind, _, _ := strings.Cut(name, " ")
			switch {
			case strings.Contains(kind, "ex"):
				require.NotNil(t, remote)
				return
			case strings.Contains(kind, "null"):
				assert.True(t, r.Null)
			case strings.Contains(kind, "users"):
				users := targetOf[[]*User](t, body)
				require.Len(t, users, 2)
				assert.NotEqual(t, users[0].ID, users[1].ID)
			case strings.Contains(kind, "user"), strings.Contains(kind, "pojo"):
				u := targetOf[*User](t, body)
				assert.Equal(t, u, r.Value, "the natural value is the registered type")
				assert.Equal(t, *u, targetOf[User](t, body))
				assert.Equal(t, millis, u.Birthday)
				assert.Equal(t, Woman, u.Sex)
				assert.Equal(t, map[string]string{"k": "v"}, u.Attrs)
			case strings.Contains(kind, "generic"):
				m := r.Value.(map[string]any)
				assert.Equal(t, "com.demo.User", m["class"])
				assert.Equal(t, "WOMAN", m["sex"])
				u := targetOf[*User](t, body)
				assert.Equal(t, m["name"], u.Name)
				assert.Equal(t, Woman, u.Sex)
				assert.Equal(t, millis, u.Birthday)
			default:
				assert.IsType(t, "", r.Value)
				assert.Equal(t, r.Value, targetOf[string](t, body))
			}
			assert.Nil(t, remote)
		})
	}
}

func targetOf[T any](t *testing.T, body []byte) T {
	t.Helper()
	var v T
	remote, err := DecodeResult(body, &protocol.Result{Target: &v})
	require.NoError(t, err)
	require.Nil(t, remote)
	return v
}

// The bodies of all requests decode value by value, and what the Go ones send is
// what our encoder sends.
func TestVectorRequests(t *testing.T) {
	register(t)
	requests := 0
	v := load(t)
	for _, f := range append(v.Frames, v.JavaFrames...) {
		if !strings.Contains(f.Name, "request") || strings.Contains(f.Name, "heartbeat") || f.status(t) != 0 {
			continue
		}
		requests++
		t.Run(f.Name+" "+f.From, func(t *testing.T) {
			values, err := DecodeValues(f.body(t))
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(values), 6)
			assert.Equal(t, "2.0.2", values[0])
			attachments := values[len(values)-1].(map[string]any)
			assert.Equal(t, "com.demo.Greet", attachments["path"])
			assert.Equal(t, values[1], attachments["path"])
		})
	}
	assert.Greater(t, requests, 25)
}

// Every prefix of a valid message is an error, never a panic and never a value.
func TestEveryStrictPrefixFailsCleanly(t *testing.T) {
	register(t)
	for name, body := range load(t).answers(t) {
		targets := []any{nil, new(string), new(*User), new([]*User), new(map[string]any)}
		wanted := []bool{true, false}
		if strings.Contains(name, "ex-") { // long ones, where the target plays no part
			targets, wanted = targets[:1], wanted[:1]
		}
		for n := range body {
			for i := range len(targets) * len(wanted) {
				r := protocol.Result{Target: targets[i/len(wanted)], WantAttachments: wanted[i%len(wanted)]}
				remote, err := DecodeResult(body[:n:n], &r)
				e, ok := err.(*DecodeError)
				if !ok || remote != nil || e.Offset > n {
					t.Fatalf("%s, %d of %d bytes: %v, %v", name, n, len(body), remote, err)
				}
			}
		}
	}
}

// What follows the end of a message is an error too (D12).
func TestNothingMayFollowTheResult(t *testing.T) {
	for name, body := range load(t).answers(t) {
		_, err := DecodeResult(append(body[:len(body):len(body)], 'N'), &protocol.Result{})
		assert.ErrorContains(t, err, "1 bytes are left", name)
	}
}
