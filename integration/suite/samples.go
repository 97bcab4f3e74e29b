package suite

import (
	"fmt"
	"time"

	"github.com/apache/dubbo-go-hessian2/java8_time"
	big "github.com/dubbogo/gost/math/big"

	"github.com/gofer-rpc/gofer/integration/interop"
)

func ptr[T any](v T) *T { return &v }

var (
	birthday = time.Date(2001, 2, 3, 4, 5, 6, 789e6, time.UTC)
	early    = time.Date(1931, 1, 1, 0, 0, 0, 0, time.UTC)
	leapDay  = &java8_time.LocalDateTime{
		Date: java8_time.LocalDate{Year: 2024, Month: 2, Day: 29},
		Time: java8_time.LocalTime{Hour: 23, Minute: 59, Second: 58, Nano: 123456789},
	}
)

func decimal(digits string) *big.Decimal {
	d, err := big.NewDecFromString(digits)
	if err != nil {
		panic(fmt.Sprintf("suite: decimal %s: %v", digits, err))
	}
	return d
}

func integer(digits string) *big.Integer {
	var i big.Integer
	if err := i.FromString(digits); err != nil {
		panic(fmt.Sprintf("suite: integer %s: %v", digits, err))
	}
	return &i
}

func order() *interop.Order {
	return &interop.Order{
		Document: interop.Document{ID: 7, Title: "seven", CreatedAt: birthday},
		Customer: &interop.Customer{
			Name: "Ada", Address: &interop.Address{Street: "Main Street 1", City: "Springfield", Zip: 12345},
			Emails: []string{"ada@example.com", "b@example.com"},
		},
		Items:  []*interop.Item{interop.NewItem(1), interop.NewItem(2)},
		Labels: map[string]string{"k": "v", "中": "文"},
		Color:  ptr(interop.Blue),
		Total:  decimal("99.95"),
		Paid:   true,
	}
}

// everything has a value in every field. hessian-lite 4.0.4, that of Dubbo 3.3,
// misreads a field of type float, and overwrites the short and the char beside it.
func everything(dubbo string) *interop.AllTypes {
	all := &interop.AllTypes{
		PrimitiveBoolean: true, PrimitiveByte: -1, PrimitiveShort: 2, PrimitiveChar: "字", PrimitiveInt: 3,
		PrimitiveLong: 1 << 40, PrimitiveFloat: 0.1, PrimitiveDouble: 0.25,
		BoxedBoolean: ptr(false), BoxedByte: ptr(int8(5)), BoxedShort: ptr(int16(-6)), BoxedChar: ptr("x"),
		BoxedInt: ptr(int32(7)), BoxedLong: ptr(int64(8)), BoxedFloat: ptr(float32(1.5)), BoxedDouble: ptr(2.5),
		Text: ptr("text"), Decimal: decimal("1.20"), Integer: integer("123456789012345678901"), Date: birthday,
		Color: ptr(interop.Green), Operation: ptr(interop.Multiply), Bytes: []byte{1, 2}, Ints: []int32{3, 4},
		Strings: []string{"a", "b"}, Any: int64(9), List: []any{int32(1), "two", nil},
		Map: map[string]any{"k": "v", "n": int32(5)},
	}
	if dubbo >= "3.3" {
		all.PrimitiveShort, all.PrimitiveChar, all.PrimitiveFloat = 0, "\x00", 0
	}
	return all
}

// team is a graph with shared and circular references.
func team() *interop.Employee {
	boss := &interop.Employee{Name: "boss"}
	boss.Reports = []*interop.Employee{{Name: "a", Manager: boss}, {Name: "b", Manager: boss}}
	return boss
}

// loner is somebody's own manager.
func loner(name string) *interop.Employee {
	e := &interop.Employee{Name: name}
	e.Manager, e.Reports = e, []*interop.Employee{e}
	return e
}
