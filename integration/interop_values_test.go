//go:build integration

package integration

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/apache/dubbo-go-hessian2/java8_time"
	big "github.com/dubbogo/gost/math/big"
	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/interop"
)

// A check calls one method and says what is wrong with the answer.
type check struct {
	method string
	run    func(ctx context.Context, r *gofer.Reference) error
}

// echo expects that the method answers want for arg.
func echo[T any](signature string, arg any, want T) check {
	return answer(signature, want, arg)
}

func answer[T any](signature string, want T, args ...any) check {
	return check{signature, func(ctx context.Context, r *gofer.Reference) error {
		got, err := gofer.Call[T](ctx, r, signature, args...)
		if err != nil {
			return err
		}
		if !equal(got, want) {
			return fmt.Errorf("%v: got %s, want %s", args, show(got), show(want))
		}
		return nil
	}}
}

// equal compares values; decimals by text, times by instant, NaN equals NaN.
func equal(a, b any) bool {
	switch a := a.(type) {
	case *big.Decimal:
		b, _ := b.(*big.Decimal)
		return (a == nil) == (b == nil) && (a == nil || a.String() == b.String())
	case *big.Integer:
		b, _ := b.(*big.Integer)
		return (a == nil) == (b == nil) && (a == nil || a.String() == b.String())
	case time.Time:
		b, _ := b.(time.Time)
		return a.Equal(b)
	case float64:
		b, _ := b.(float64)
		return a == b || math.IsNaN(a) && math.IsNaN(b)
	}
	return reflect.DeepEqual(a, b)
}

func show(v any) string {
	s := fmt.Sprintf("%T %+v", v, v)
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	return s
}

func ptr[T any](v T) *T { return &v }

var (
	birthday = time.Date(2001, 2, 3, 4, 5, 6, 789e6, time.UTC)
	early    = time.Date(1931, 1, 1, 0, 0, 0, 0, time.UTC)
)

func decimal(s string) *big.Decimal {
	d, err := big.NewDecFromString(s)
	if err != nil {
		panic(err)
	}
	return d
}

func integer(s string) *big.Integer {
	var i big.Integer
	if err := i.FromString(s); err != nil {
		panic(err)
	}
	return &i
}

func item(i int) *interop.Item {
	it := &interop.Item{
		Sku: fmt.Sprintf("sku-%d", i), Name: fmt.Sprintf("item %d", i), Quantity: int32(i%7 + 1),
		PriceCents: int64(100*i + 99), Weight: float64(i) / 4, Taxed: i%2 == 0, Warehouse: int32(i % 10),
		Revision: 1_000_000_000_000 + int64(i), Discount: 0.125,
	}
	if i%3 != 0 {
		it.Note = ptr("note")
	}
	return it
}

func order() *interop.Order {
	return &interop.Order{
		Document: interop.Document{ID: 7, Title: "seven", CreatedAt: birthday},
		Customer: &interop.Customer{Name: "Ada", Address: &interop.Address{Street: "Main Street 1", City: "Springfield", Zip: 12345}, Emails: []string{"ada@example.com", "b@example.com"}},
		Items:    []*interop.Item{item(1), item(2)},
		Labels:   map[string]string{"k": "v", "中": "文"},
		Color:    ptr(interop.Blue),
		Paid:     true,
	}
}

// scalarChecks echo every primitive and boxed type and the plain values of the JDK.
func scalarChecks() []check {
	return []check{
		echo("echoBoolean(boolean)", true, true),
		echo("echoByte(byte)", int8(-128), int8(-128)),
		echo("echoShort(short)", int16(-32768), int16(-32768)),
		echo("echoChar(char)", "字", "字"),
		echo("echoInt(int)", int32(math.MinInt32), int32(math.MinInt32)),
		echo("echoInt(int)", int32(47), 47), // widened
		echo("echoLong(long)", int64(math.MinInt64), int64(math.MinInt64)),
		echo("echoLong(long)", 42, int64(42)), // int in range
		echo("echoFloat(float)", float32(99.8), float32(99.8)),
		echo("echoFloat(float)", float32(0.1), float32(0.1)),
		echo("echoDouble(double)", 0.1, 0.1),
		echo("echoDouble(double)", math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64),
		echo("echoDouble(double)", math.Inf(-1), math.Inf(-1)),
		echo("echoDouble(double)", math.NaN(), math.NaN()),
		echo("echoBoxedBoolean(java.lang.Boolean)", ptr(true), ptr(true)),
		echo[*bool]("echoBoxedBoolean(java.lang.Boolean)", nil, nil),
		echo("echoBoxedByte(java.lang.Byte)", ptr(int8(5)), ptr(int8(5))),
		echo[*int8]("echoBoxedByte(java.lang.Byte)", nil, nil),
		echo("echoBoxedShort(java.lang.Short)", ptr(int16(5)), ptr(int16(5))),
		echo("echoBoxedChar(java.lang.Character)", "x", "x"),
		echo[*string]("echoBoxedChar(java.lang.Character)", nil, nil),
		echo("echoBoxedInt(java.lang.Integer)", ptr(int32(5)), ptr(int32(5))),
		echo[*int32]("echoBoxedInt(java.lang.Integer)", nil, nil),
		echo("echoBoxedLong(java.lang.Long)", ptr(int64(5)), ptr(int64(5))),
		echo[*int64]("echoBoxedLong(java.lang.Long)", nil, nil),
		echo("echoBoxedFloat(java.lang.Float)", ptr(float32(1.5)), ptr(float32(1.5))),
		echo("echoBoxedDouble(java.lang.Double)", ptr(-0.001), ptr(-0.001)),
		echo[*float64]("echoBoxedDouble(java.lang.Double)", nil, nil),
		echo("echoString(java.lang.String)", "Grüße 🚀", "Grüße 🚀"),
		echo("echoString(java.lang.String)", "", ""),
		echo[*string]("echoString(java.lang.String)", nil, nil),
		echo("echoString(java.lang.String)", strings.Repeat("ab🚀", 50_000), strings.Repeat("ab🚀", 50_000)),
		echo("echoBigDecimal(java.math.BigDecimal)", decimal("12345.6789"), decimal("12345.6789")),
		echo[*big.Decimal]("echoBigDecimal(java.math.BigDecimal)", nil, nil),
		echo("echoBigInteger(java.math.BigInteger)", integer("-123456789012345678901234567890"), integer("-123456789012345678901234567890")),
		echo("echoDate(java.util.Date)", birthday, birthday),
		echo("echoDate(java.util.Date)", early, early),
		echo("echoDate(java.util.Date)", birthday.In(time.FixedZone("east", 8*3600)), birthday),
		echo("echoDate(java.util.Date)", time.Time{}, time.Time{}),
		echo("echoLocalDateTime(java.time.LocalDateTime)", localDateTime(), localDateTime()),
		echo[any]("echoObject(java.lang.Object)", "text", "text"),
		echo[any]("echoObject(java.lang.Object)", int64(1), int64(1)),
		echo[any]("echoObject(java.lang.Object)", nil, nil),
	}
}

func localDateTime() *java8_time.LocalDateTime {
	return &java8_time.LocalDateTime{
		Date: java8_time.LocalDate{Year: 2024, Month: 2, Day: 29},
		Time: java8_time.LocalTime{Hour: 23, Minute: 59, Second: 58, Nano: 123456789},
	}
}

func arrayChecks() []check {
	return []check{
		echo("echoBytes(byte[])", []byte{0, 1, 255}, []byte{0, 1, 255}),
		echo("echoBytes(byte[])", make([]byte, 100_000), make([]byte, 100_000)),
		echo[[]byte]("echoBytes(byte[])", nil, nil),
		echo("echoBooleans(boolean[])", []bool{true, false}, []bool{true, false}),
		echo("echoShorts(short[])", []int16{-1, 2}, []int16{-1, 2}),
		echo("echoChars(char[])", "ab字", "ab字"),
		echo("echoInts(int[])", []int32{1, -2, math.MaxInt32}, []int32{1, -2, math.MaxInt32}),
		echo("echoInts(int[])", []int32{}, []int32{}),
		echo("echoLongs(long[])", []int64{1, math.MinInt64}, []int64{1, math.MinInt64}),
		echo("echoFloats(float[])", []float32{0.1, 99.8}, []float32{0.1, 99.8}),
		echo("echoDoubles(double[])", []float64{0.1, 1e300}, []float64{0.1, 1e300}),
		echo("echoStrings(java.lang.String[])", []string{"a", "", "ß"}, []string{"a", "", "ß"}),
		echo("echoBoxedInts(java.lang.Integer[])", []any{int32(1), nil}, []*int32{ptr(int32(1)), nil}),
		echo("echoMatrix(int[][])", []any{[]int32{1, 2}, []int32{3}}, [][]int32{{1, 2}, {3}}),
		echo("echoItemArray(org.gofer.interop.Item[])", []*interop.Item{item(1), item(3)}, []*interop.Item{item(1), item(3)}),
	}
}

func objectChecks() []check {
	return []check{
		echo("echoColor(org.gofer.interop.Color)", interop.Green, interop.Green),
		echo[*interop.Color]("echoColor(org.gofer.interop.Color)", nil, nil),
		echo("echoOperation(org.gofer.interop.Operation)", interop.Multiply, interop.Multiply),
		answer("apply(org.gofer.interop.Operation,int,int)", int32(42), interop.Multiply, int32(6), int32(7)),
		echo("echoItem(org.gofer.interop.Item)", item(5), item(5)),
		echo[*interop.Item]("echoItem(org.gofer.interop.Item)", nil, nil),
		echo("echoAllTypes(org.gofer.interop.AllTypes)", &interop.AllTypes{}, &interop.AllTypes{PrimitiveChar: "\x00"}),
		echo("echoOrder(org.gofer.interop.Order)", order(), order()),
		{"rush(org.gofer.interop.Order,int)", rush},
		{"echoEmployee(org.gofer.interop.Employee)", employees},
		{"selfManaged(java.lang.String)", selfManaged},
		answer("page(int,int)", &interop.Page{Number: 1, Total: 1000, Rows: []*interop.Item{item(2), item(3)}}, int32(1), int32(2)),
	}
}

func collectionChecks() []check {
	items := map[string]*interop.Item{"a": item(1), "b": nil}
	return []check{
		echo("echoStringList(java.util.List)", []string{"a", "b"}, []string{"a", "b"}),
		echo("echoStringList(java.util.List)", []any{"a", nil}, []*string{ptr("a"), nil}),
		echo("echoLongList(java.util.List)", []int64{1, 2}, []int64{1, 2}),
		echo("echoItemList(java.util.List)", []*interop.Item{item(1), item(2)}, []*interop.Item{item(1), item(2)}),
		echo("echoOrderList(java.util.List)", []*interop.Order{order()}, []*interop.Order{order()}),
		echo("echoStringSet(java.util.Set)", []string{"one"}, []string{"one"}),
		echo("echoItemSet(java.util.Set)", []*interop.Item{item(9)}, []*interop.Item{item(9)}),
		echo("echoStringMap(java.util.Map)", map[string]string{"a": "1", "b": ""}, map[string]string{"a": "1", "b": ""}),
		echo("echoStringMap(java.util.Map)", map[string]any{"a": "1", "b": nil}, map[string]*string{"a": ptr("1"), "b": nil}),
		echo("echoNumberMap(java.util.Map)", map[int32]int64{1: 2, 3: 4}, map[int32]int64{1: 2, 3: 4}),
		echo("echoItemMap(java.util.Map)", items, items),
		echo("echoNestedMap(java.util.Map)", map[string][]*interop.Item{"x": {item(1)}}, map[string][]*interop.Item{"x": {item(1)}}),
		answer("stock()", map[string]int32{"RED": 1, "BLUE": 3}),
		answer("sorted(java.util.List)", []string{"a", "b", "c"}, []string{"c", "a", "b"}),
	}
}

// overloadChecks call one name with every signature, stated and inferred.
func overloadChecks() []check {
	say := func(signature string, args ...any) check {
		return answer("overload"+signature, "overload"+signature, args...)
	}
	inferred := func(want string, arg any) check { return answer("overload", want, arg) }
	return []check{
		say("()"), say("(int)", int32(1)), say("(long)", int64(1)), say("(java.lang.Integer)", ptr(int32(1))),
		say("(java.lang.String)", "x"), say("(java.lang.Object)", "x"), say("(int[])", []int32{1}),
		say("(java.util.List)", []string{"x"}), say("(java.lang.String,int)", "x", int32(1)),
		inferred("overload(int)", int32(1)), inferred("overload(long)", int64(1)),
		inferred("overload(java.lang.Integer)", ptr(int32(1))), inferred("overload(java.lang.String)", "x"),
		answer("overload", "overload()"),
	}
}

func voidChecks() []check {
	return []check{
		answer("nothing()", struct{}{}),
		{"store(java.lang.String,java.lang.String)", func(ctx context.Context, r *gofer.Reference) error {
			if _, err := gofer.Call[struct{}](ctx, r, "store(java.lang.String,java.lang.String)", "k", "kept"); err != nil {
				return err
			}
			return answer("load(java.lang.String)", "kept", "k").run(ctx, r)
		}},
		answer[*string]("load(java.lang.String)", nil, "never stored"),
		{"text(int)", func(ctx context.Context, r *gofer.Reference) error {
			s, err := gofer.Call[string](ctx, r, "text(int)", int32(2_000_000))
			if err != nil {
				return err
			}
			units := 0
			for _, c := range s {
				units++
				if c > 0xffff {
					units++
				}
			}
			if units != 2_000_000 || strings.ContainsRune(s[:len(s)-8], '\uFFFD') || !strings.Contains(s, "🚀") {
				return fmt.Errorf("%d UTF-16 units of 2,000,000", units)
			}
			return nil
		}},
		answer("describe(java.lang.Object)", "java.lang.String x", "x"),
	}
}

func rush(ctx context.Context, r *gofer.Reference) error {
	o := order()
	o.Total = decimal("99.95")
	got, err := gofer.Call[*interop.RushOrder](ctx, r, "rush(org.gofer.interop.Order,int)", o, int32(3))
	switch {
	case err != nil:
		return err
	case got.Hours != 3 || got.Total == nil || got.Total.String() != "99.95":
		return fmt.Errorf("got %s", show(got))
	}
	got.Total, o.Total = nil, nil
	if !reflect.DeepEqual(&got.Order, o) {
		return fmt.Errorf("got %s, want %s", show(got.Order), show(*o))
	}
	return nil
}

// employees sends a graph with shared and circular references.
func employees(ctx context.Context, r *gofer.Reference) error {
	boss := &interop.Employee{Name: "boss"}
	boss.Reports = []*interop.Employee{{Name: "a", Manager: boss}, {Name: "b", Manager: boss}}
	got, err := gofer.Call[*interop.Employee](ctx, r, "echoEmployee(org.gofer.interop.Employee)", boss)
	if err != nil {
		return err
	}
	if got.Name != "boss" || len(got.Reports) != 2 || got.Reports[0].Manager != got || got.Reports[1].Manager != got || got.Reports[1].Name != "b" {
		return fmt.Errorf("the graph came back in another shape")
	}
	return nil
}

func selfManaged(ctx context.Context, r *gofer.Reference) error {
	got, err := gofer.Call[*interop.Employee](ctx, r, "selfManaged(java.lang.String)", "solo")
	if err != nil {
		return err
	}
	if got.Name != "solo" || got.Manager != got || len(got.Reports) != 1 || got.Reports[0] != got {
		return fmt.Errorf("the circle came back in another shape")
	}
	return nil
}

func TestValues(t *testing.T) {
	groups := map[string][]check{
		"scalars": scalarChecks(), "arrays": arrayChecks(), "objects": objectChecks(),
		"collections": collectionChecks(), "overloads": overloadChecks(), "void": voidChecks(),
	}
	eachVersion(t, "timeout=10000&retries=0", func(t *testing.T, version string, r *gofer.Reference) {
		for name, checks := range groups {
			t.Run(name, func(t *testing.T) {
				for _, c := range checks {
					err := c.run(t.Context(), r)
					record(c.method, version, err)
					assert.NoError(t, err, "%s", c.method)
				}
			})
		}
	})
}

var _ hessian.POJO = (*interop.Item)(nil)
