package hessian2

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// Sex is com.demo.Sex of the vectors.
type Sex hessian.JavaEnum

const (
	Man Sex = iota
	Woman
)

var sexNames = map[Sex]string{Man: "MAN", Woman: "WOMAN"}

func (Sex) JavaClassName() string { return "com.demo.Sex" }
func (s Sex) String() string      { return sexNames[s] }
func (Sex) EnumValue(s string) hessian.JavaEnum {
	for v, name := range sexNames {
		if name == s {
			return hessian.JavaEnum(v)
		}
	}
	return hessian.InvalidJavaEnum
}

// User is com.demo.User of the vectors.
type User struct {
	ID       string `hessian:"id"`
	Name     string
	Age      int32
	Score    int64
	Vip      bool
	Balance  float64
	Birthday time.Time
	Tags     []string
	Attrs    map[string]string
	Sex      Sex
}

func (*User) JavaClassName() string { return "com.demo.User" }

// Order has ten scalar fields.
type Order struct {
	ID       int64 `hessian:"id"`
	Customer string
	Product  string
	Quantity int32
	Price    float64
	Paid     bool
	Currency string
	Note     string
	Rank     int32
	Discount float64
}

func (*Order) JavaClassName() string { return "com.x.Order" }

// Node is part of a graph.
type Node struct {
	Name string
	Next *Node
	Kids []*Node
	Any  any
}

func (*Node) JavaClassName() string { return "com.x.Node" }

// register makes the fixtures known; again and again is fine.
func register(t testing.TB) {
	t.Helper()
	require.NoError(t, Register(&User{}, Woman, &Order{}, &Node{}))
}

type vector struct {
	Name  string
	From  string
	Hex   string
	Parts []struct{ Hex, What string }
}

func (v vector) body(t testing.TB) []byte { return unhex(t, v.Hex)[16:] }

func (v vector) status(t testing.TB) byte { return unhex(t, v.Hex)[3] }

type valueVector struct {
	Name string
	Hex  map[string]string
	Go   string `json:"go_decodes_to"`
}

type vectors struct {
	Frames     []vector
	JavaFrames []vector `json:"java_frames"`
	Values     []valueVector
}

func load(t testing.TB) vectors {
	t.Helper()
	b, err := os.ReadFile("testdata/frames.json")
	require.NoError(t, err)
	var v vectors
	require.NoError(t, json.Unmarshal(b, &v))
	return v
}

// answers returns the bodies of all OK answers of the vectors.
func (v vectors) answers(t testing.TB) (bodies map[string][]byte) {
	bodies = map[string][]byte{}
	for _, f := range append(v.Frames, v.JavaFrames...) {
		if strings.Contains(f.Name, "response") && f.status(t) == 20 && !strings.Contains(f.Name, "heartbeat") {
			bodies[f.Name+" "+f.From] = f.body(t)
		}
	}
	require.Greater(t, len(bodies), 30)
	return bodies
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	return b
}

// decode decodes one value, given in hex, into a T.
func decode[T any](t testing.TB, hex string) (T, error) {
	t.Helper()
	var v T
	_, err := DecodeResult(append([]byte{0x91}, unhex(t, hex)...), &protocol.Result{Target: &v})
	return v, err
}

// decoded is decode for bytes that must decode.
func decoded[T any](t testing.TB, hex string) T {
	t.Helper()
	v, err := decode[T](t, hex)
	require.NoError(t, err)
	return v
}

// refused is decode for bytes that must not decode.
func refused[T any](t testing.TB, hex string) *DecodeError {
	t.Helper()
	_, err := decode[T](t, hex)
	var e *DecodeError
	require.ErrorAs(t, err, &e)
	return e
}

// encoded returns the hex of one value.
func encoded(t testing.TB, v any) string {
	t.Helper()
	b, err := Append(nil, v)
	require.NoError(t, err)
	return hex.EncodeToString(b)
}

// str returns the hex of a Hessian string.
func str(s string) string { return hex.EncodeToString(AppendString(nil, s)) }

// classHex returns the hex of a class definition and the head of its first object,
// for the first class of a message.
func classHex(name string, fields ...string) string { return classHexAs(0, name, fields...) }

// classHexAs is classHex for class n of a message.
func classHexAs(n int, name string, fields ...string) string {
	b := AppendInt32(AppendString([]byte{'C'}, name), int32(len(fields)))
	for _, f := range fields {
		b = AppendString(b, f)
	}
	return hex.EncodeToString(append(b, byte(0x60+n)))
}
