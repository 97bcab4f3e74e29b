package hessian2

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/apache/dubbo-go-hessian2/java8_time"
	"github.com/apache/dubbo-go-hessian2/java_exception"
	"github.com/apache/dubbo-go-hessian2/java_sql_time"
	"github.com/apache/dubbo-go-hessian2/java_util"
	big "github.com/dubbogo/gost/math/big"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type (
	namedString string
	namedInt    int64
	namedShort  int16
	namedFloat  float64
	namedBool   bool
	namedUint   uint8
)

// Bag is a POJO of everything else.
type Bag struct {
	Empty  []string
	Lists  []*Node
	A, B   *Node
	Values []Node
	First  *Node
	Status namedString
	Count  namedInt
	Wait   time.Duration
	On     namedBool
	Pair   [2]int32
	Any    any
	Hidden chan int `hessian:"-"`
}

func (*Bag) JavaClassName() string { return "com.x.Bag" }

// roundTrip sends arguments and reads them as the provider would.
func roundTrip(t testing.TB, args ...any) []any {
	t.Helper()
	b, err := AppendArguments(nil, args)
	require.NoError(t, err)
	values, err := DecodeValues(b)
	require.NoError(t, err)
	require.Len(t, values, len(args))
	return values
}

// What the library writes right, ours writes byte by byte.
func TestWhatTheLibraryWrites(t *testing.T) {
	register(t)
	registerBag(t)
	at := time.UnixMilli(1700000000123)
	shared := &Node{Name: "shared"}
	cycle := &Node{Name: "cycle"}
	cycle.Next = cycle
	x := "x"
	// Fractions that the library writes as Java does: it has no form of thousandths.
	user, order := sampleUser(), sampleOrder()
	user.Balance, order.Price, order.Discount = math.E, math.Pi, 1
	for i, v := range []any{
		nil, true, int8(-1), int16(300), uint8(200), uint16(65535), int(7), int32(1 << 20), int64(1 << 40), uint32(1 << 31), uint64(5),
		float32(0.1), math.Pi, -129.0, "text", []byte{1, 2}, at, &at, &x, ptr(int32(4)), ptr(int64(4)), ptr(false), ptr(math.E),
		[]string{"a", "b"}, []string{}, []string(nil), []int32{1}, []int16{1}, []int64{1, 2}, []int{3}, []bool{true}, []float64{math.Pi}, []float32{0.1},
		[]time.Time{at}, [][]string{{"a"}, {}}, []*int32{ptr(int32(1)), nil}, []any{"a", int32(1), nil}, []any{},
		map[string]string{"k": "v"}, map[string]any{"k": nil}, map[int32]string{1: "one"}, map[any]any{"k": int64(1)}, map[string]string{},
		Man, Woman, []*User{user}, user, order, []*Order{order, order}, *order,
		&Node{Name: "a", Next: &Node{Name: "b"}}, cycle, []*Node{shared, shared, nil}, &Node{Next: shared, Kids: []*Node{shared}, Any: shared},
		[]Node{{Name: "v"}}, (*Node)(nil), []any{shared, shared},
		&java8_time.LocalDateTime{Date: java8_time.LocalDate{Year: 2024, Month: 2, Day: 29}}, java8_time.Instant{Seconds: 5},
		java_util.UUID{Value: "u"}, &java_util.LocaleHandle{Value: "en_US"}, java_exception.Class{Name: "java.lang.String"},
		java_exception.NewIllegalArgumentException("bad"), decimal(t, "12.340"), integer(t, "-12345678901234567890"),
		map[string]any{"_class": "com.x.Solo", "only": int32(1)}, namedMap{"k": "v"},
	} {
		t.Run(fmt.Sprintf("%d %T", i, v), func(t *testing.T) { assert.Equal(t, fromLibrary(t, v), encoded(t, v)) })
	}
}

type namedMap map[string]string

func (namedMap) JavaClassName() string { return "com.x.NamedMap" }

func decimal(t testing.TB, s string) *big.Decimal {
	d := new(big.Decimal)
	require.NoError(t, d.FromString(s))
	return d
}

func integer(t testing.TB, s string) *big.Integer {
	i := new(big.Integer)
	require.NoError(t, i.FromString(s))
	return i
}

func registerBag(t testing.TB) { require.NoError(t, Register(&Bag{})) }

// E1: an empty slice counts as a value that can be referred to, as it does for the reader.
func TestE1EmptySlicesCountAsReferences(t *testing.T) {
	registerBag(t)
	shared := &Node{Name: "shared"}
	v := roundTrip(t, &Bag{Empty: []string{}, Lists: []*Node{}, A: shared, B: shared}, shared)
	got := v[0].(*Bag)
	assert.Equal(t, "shared", got.A.Name)
	assert.Same(t, got.A, got.B)
	assert.Same(t, got.A, v[1], "also across arguments")
	assert.Equal(t, []string{}, got.Empty)
}

// E2: named scalar types are sent as what they are made of.
func TestE2NamedScalars(t *testing.T) {
	for _, c := range []struct{ named, plain any }{
		{namedString("s"), "s"}, {namedInt(7), int64(7)}, {namedShort(7), int16(7)}, {namedFloat(0.5), 0.5}, {namedBool(true), true},
		{namedUint(200), uint8(200)}, {time.Second, int64(1e9)}, {[]namedInt{1}, []int64{1}}, {[]namedString{"s"}, []string{"s"}},
		{map[namedString]namedInt{"k": 1}, map[string]int64{"k": 1}}, {ptr(namedString("s")), "s"}, {[]namedBool{true}, []bool{true}},
	} {
		assert.Equal(t, encoded(t, c.plain), encoded(t, c.named), "%T", c.named)
	}
	registerBag(t)
	sent := &Bag{Status: "NEW", Count: 7, Wait: time.Second, On: true, Any: namedFloat(0.5)}
	got := roundTrip(t, sent)[0].(*Bag)
	assert.Equal(t, namedString("NEW"), got.Status)
	assert.Equal(t, namedInt(7), got.Count)
	assert.Equal(t, time.Second, got.Wait)
	assert.Equal(t, namedBool(true), got.On)
	assert.Equal(t, 0.5, got.Any)
}

// E3: chars, named booleans and arrays are sent instead of panicking.
func TestE3RunesAndArrays(t *testing.T) {
	assert.Equal(t, encoded(t, "中"), encoded(t, hessian.Rune('中')))
	assert.Equal(t, encoded(t, "x"), encoded(t, ptr(hessian.Rune('x'))))
	assert.Equal(t, encoded(t, []int32{1, 2}), encoded(t, [2]int32{1, 2}))
	assert.Equal(t, encoded(t, []byte{1, 2}), encoded(t, [2]byte{1, 2}))
	assert.Equal(t, encoded(t, []byte{1, 2}), encoded(t, &[2]byte{1, 2}))
	assert.Equal(t, encoded(t, []byte{1, 0xff}), encoded(t, []int8{1, -1}), "Java's byte[]")
	_, err := Append(nil, hessian.Rune('😀'))
	assert.ErrorContains(t, err, "U+1F600 is no Java char")
	_, err = Append(nil, hessian.Rune(-1))
	assert.ErrorContains(t, err, "is no Java char")
}

// E4: lists whose elements have no Java type of their own are untyped lists.
func TestE4ListsWithoutATypeName(t *testing.T) {
	register(t)
	assert.Equal(t, []any{map[string]any{"k": "v"}}, roundTrip(t, []map[string]string{{"k": "v"}})[0])
	assert.Equal(t, "56065b5b62797465"+"91"+"220102", encoded(t, [][]byte{{1, 2}}), "byte[][]")
	assert.Equal(t, []any{nil}, roundTrip(t, []error{nil})[0])
	assert.Equal(t, "560d5b636f6d2e64656d6f2e536578"+"91"+"430c636f6d2e64656d6f2e53657891046e616d656005574f4d414e", encoded(t, []Sex{Woman}))
	_, err := Append(nil, []error{errors.New("x")})
	var e *ArgumentError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "[0]", e.Path)
	_, err = AppendArguments(nil, []any{1, struct{ A int }{1}})
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 1, e.Index)
	assert.ErrorContains(t, err, `argument 1 (struct { A int }): struct { A int } has no Java class: give it a method JavaClassName() string`)
}

// E5: a pointer into a slice of values is a shared value, and the slice another one.
func TestE5PointerToTheFirstElement(t *testing.T) {
	registerBag(t)
	shared := &Node{Name: "shared"}
	sent := &Bag{Values: []Node{{Name: "first"}, {Name: "second"}}, A: shared}
	sent.First = &sent.Values[0]
	sent.B = shared
	v := roundTrip(t, sent, shared)
	got := v[0].(*Bag)
	assert.Equal(t, "first", got.First.Name)
	assert.Equal(t, sent.Values, got.Values)
	assert.Same(t, got.A, got.B)
	assert.Equal(t, "shared", got.A.Name)
	assert.Same(t, got.A, v[1])
}

// E6: the number of classes is not cut to a byte.
func TestE6ManyClasses(t *testing.T) {
	var sent, want []any
	for range 2 {
		for i := range 300 {
			name := fmt.Sprintf("com.x.Class%d", i)
			sent = append(sent, map[string]any{"_class": name, "n": int32(i)})
			want = append(want, map[string]any{"class": name, "n": int32(i)})
		}
	}
	assert.Equal(t, want, roundTrip(t, sent)[0])
}

// E7, E8: an error takes back what was written, and a result is never overwritten.
func TestE7E8TheBufferIsTheCallers(t *testing.T) {
	b := []byte("before")
	out, err := AppendArguments(b, []any{"written", []any{"and", make(chan int)}})
	var e *ArgumentError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, ArgumentError{Index: 1, Path: "[1]", Type: "chan int", Reason: "a chan cannot be sent"}, *e)
	assert.Equal(t, "before", string(out))

	first, err := Append(nil, []string{"a"})
	require.NoError(t, err)
	copied := string(first)
	_, err = Append(nil, []string{"bbbb"})
	require.NoError(t, err)
	assert.Equal(t, copied, string(first))
}

// E9: the order of a map is Go's, its content is what matters.
func TestE9Maps(t *testing.T) {
	m := map[string]any{}
	for i := range 20 {
		m[strings.Repeat("k", i)] = int32(i)
	}
	assert.Equal(t, m, roundTrip(t, m)[0])
	assert.Equal(t, map[any]any{int32(1): "one", Man: nil}, roundTrip(t, map[any]any{int32(1): "one", Man: nil})[0])
}

func TestErrorsNameThePlace(t *testing.T) {
	registerBag(t)
	bad := func() {}
	for want, v := range map[string]any{
		`argument 0: .Any (func()): a func cannot be sent`:                     &Bag{Any: bad},
		`argument 0: .Any[1].Next.Any{k} (func()): a func cannot be sent`:      &Bag{Any: []any{1, &Node{Next: &Node{Any: map[string]any{"k": bad}}}}},
		`argument 0: [1] (uint16): the number 40000 does not fit a Java short`: []uint16{1, 40000},
		`argument 0: .Any (uint64): the number 18446744073709551615 does not`:  &Bag{Any: uint64(math.MaxUint64)},
		`argument 0 (complex128): a complex128 cannot be sent`:                 1i,
		`argument 0: {key} (complex128): a complex128 cannot be sent`:          map[any]any{1i: 1},
		`argument 0 (hessian2.Sex): the enum value 7 has no name`:              Sex(7),
		`argument 0: {_class} (interface {}): it must be the name of a Java`:   map[string]any{"_class": 7},
		`argument 0: {next} (chan int): a chan cannot be sent`:                 map[string]any{"_class": "com.x.Loose", "next": make(chan int)},
	} {
		_, err := Append(nil, v)
		require.Error(t, err, want)
		assert.Contains(t, err.Error(), "hessian2: "+want)
	}
}

func TestEndlessValuesAreErrors(t *testing.T) {
	registerBag(t)
	var p any
	p = &p
	_, err := Append(nil, p)
	assert.ErrorContains(t, err, "nest deeper than 1024 levels")

	deep := &Node{}
	for range 5000 {
		deep = &Node{Next: deep}
	}
	_, err = Append(nil, deep)
	assert.ErrorContains(t, err, "nest deeper than 1024 levels")
	assert.Less(t, len(err.Error()), 20_000)

	self := []any{nil}
	self[0] = self
	got := roundTrip(t, self)[0].([]any)
	assert.Same(t, &got[0], &got[0].([]any)[0], "a list that contains itself arrives as one")

	m := map[string]any{}
	m["self"] = m
	back := roundTrip(t, m)[0].(map[string]any)
	back["mark"] = 1
	assert.Equal(t, 1, back["self"].(map[string]any)["mark"])
}

func TestArrayNames(t *testing.T) {
	register(t)
	at := time.UnixMilli(60_001).UTC()
	for want, v := range map[string]any{
		"[java.lang.Boolean": []*bool{nil}, "[java.lang.Byte": []*int8{nil}, "[java.lang.Short": []*int16{nil}, "[java.lang.Integer": []*int32{nil},
		"[java.lang.Long": []*int64{nil}, "[java.lang.Float": []*float32{nil}, "[java.lang.Double": []*float64{nil}, "[string": []*string{nil},
		"[date": []*time.Time{&at}, "[com.demo.Sex": []*Sex{nil}, "[com.demo.User": []User{}, "[short": []int16{1}, "[long": []uint32{1 << 31},
		"[[int": [][]int32{{1}}, "[[[boolean": [][][]bool{}, "[[byte": [][]byte{{1}}, "[float": []float32{1},
	} {
		assert.Equal(t, "56"+str(want), encoded(t, v)[:2+len(str(want))], "%T", v)
		_, err := DecodeValues(unhex(t, encoded(t, v)))
		assert.NoError(t, err, "%T", v)
	}
	for _, v := range []any{[]any{}, []error{}, []hessian.Rune{}, []*hessian.Rune{}, []map[string]int{}, []*ring{}, []**int{}, []struct{}{}} {
		assert.Equal(t, "5890", encoded(t, v), "%T", v)
	}
	assert.Equal(t, []byte{1}, decoded[any](t, "71"+str("[byte")+"91"))
	assert.Equal(t, []string{"x"}, decoded[any](t, "71"+str("[char")+"0178"))
	assert.Equal(t, []*int8{nil, ptr(int8(-1))}, decoded[any](t, "72"+str("[java.lang.Byte")+"4e8f"))
	assert.Equal(t, []any{[]any{int32(1)}}, decoded[any](t, "71"+str("[[com.x.Nobody")+"7991"))
}

func TestSpecialTypes(t *testing.T) {
	register(t)
	at := time.UnixMilli(1700000000123).UTC()
	assert.Equal(t, classHex("java.sql.Date", "value")+encoded(t, at), encoded(t, &java_sql_time.Date{Time: at}))
	assert.Equal(t, classHex("java.sql.Time", "value")+encoded(t, at), encoded(t, java_sql_time.Time{Time: at}))
	assert.Equal(t, &java_sql_time.Date{Time: at}, roundTrip(t, &java_sql_time.Date{Time: at})[0])

	d := decimal(t, "1.50")
	d.Value = ""
	assert.Equal(t, "1.50", roundTrip(t, d)[0].(*big.Decimal).String())
	assert.Empty(t, d.Value, "the argument is not changed")
	i := integer(t, "-42")
	assert.Equal(t, "-42", roundTrip(t, i)[0].(*big.Integer).String())
	assert.Nil(t, i.Mag, "the argument is not changed")
	assert.Equal(t, encoded(t, i), encoded(t, *i))

	assert.Equal(t, "4e", encoded(t, []any(nil)), "nil is null")
	assert.Equal(t, "4e", encoded(t, map[string]any(nil)))
	assert.Equal(t, "4e", encoded(t, []byte(nil)))
	assert.Equal(t, "4e", encoded(t, (**string)(nil)))
}
