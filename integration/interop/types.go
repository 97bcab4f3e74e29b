// Package interop holds the Go side of the Java test service
// org.gofer.interop.InteropService: its name and the types of its values. It is
// also an example of how Java classes are written in Go. [Serve] makes a dubbotest
// provider serve it as the Java providers do.
package interop

import (
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	big "github.com/dubbogo/gost/math/big"
)

// Service is the Java interface.
const Service = "org.gofer.interop.InteropService"

// Types returns one value of every class, to be registered.
func Types() []any {
	return []any{
		&Item{}, &Address{}, &Customer{}, &Order{}, &RushOrder{}, &Employee{}, &Page{},
		&AllTypes{}, &ProviderInfo{}, Red, Add,
	}
}

// Item is org.gofer.interop.Item: ten scalar fields.
type Item struct {
	Sku        string
	Name       string
	Quantity   int32
	PriceCents int64
	Weight     float64
	Taxed      bool
	Warehouse  int32
	Revision   int64
	Discount   float64
	Note       *string
}

// JavaClassName returns the Java class.
func (*Item) JavaClassName() string { return "org.gofer.interop.Item" }

// Address is org.gofer.interop.Address.
type Address struct {
	Street string
	City   string
	Zip    int32
}

// JavaClassName returns the Java class.
func (*Address) JavaClassName() string { return "org.gofer.interop.Address" }

// Customer is org.gofer.interop.Customer.
type Customer struct {
	Name    string
	Address *Address
	Emails  []string
}

// JavaClassName returns the Java class.
func (*Customer) JavaClassName() string { return "org.gofer.interop.Customer" }

// Document has the fields of the Java superclass org.gofer.interop.Document.
type Document struct {
	ID        int64 `hessian:"id"`
	Title     string
	CreatedAt time.Time
}

// Order is org.gofer.interop.Order, which extends Document.
type Order struct {
	Document
	Customer *Customer
	Items    []*Item
	Labels   map[string]string
	Color    *Color
	Total    *big.Decimal
	Paid     bool
}

// JavaClassName returns the Java class.
func (*Order) JavaClassName() string { return "org.gofer.interop.Order" }

// RushOrder is org.gofer.interop.RushOrder, which extends Order.
type RushOrder struct {
	Order
	Hours int32
}

// JavaClassName returns the Java class.
func (*RushOrder) JavaClassName() string { return "org.gofer.interop.RushOrder" }

// Employee is org.gofer.interop.Employee; graphs of them may be cyclic.
type Employee struct {
	Name    string
	Manager *Employee
	Reports []*Employee
}

// JavaClassName returns the Java class.
func (*Employee) JavaClassName() string { return "org.gofer.interop.Employee" }

// Page is org.gofer.interop.Page of items.
type Page struct {
	Number int32
	Total  int32
	Rows   []*Item
}

// JavaClassName returns the Java class.
func (*Page) JavaClassName() string { return "org.gofer.interop.Page" }

// AllTypes is org.gofer.interop.AllTypes: a field of every type.
type AllTypes struct {
	PrimitiveBoolean bool
	PrimitiveByte    int8
	PrimitiveShort   int16
	PrimitiveChar    string
	PrimitiveInt     int32
	PrimitiveLong    int64
	PrimitiveFloat   float32
	PrimitiveDouble  float64
	BoxedBoolean     *bool
	BoxedByte        *int8
	BoxedShort       *int16
	BoxedChar        *string
	BoxedInt         *int32
	BoxedLong        *int64
	BoxedFloat       *float32
	BoxedDouble      *float64
	Text             *string
	Decimal          *big.Decimal
	Integer          *big.Integer
	Date             time.Time
	Color            *Color
	Operation        *Operation
	Bytes            []byte
	Ints             []int32
	Strings          []string
	Any              any
	List             []any
	Map              map[string]any
}

// JavaClassName returns the Java class.
func (*AllTypes) JavaClassName() string { return "org.gofer.interop.AllTypes" }

// ProviderInfo is org.gofer.interop.ProviderInfo: who answers whoAmI().
type ProviderInfo struct {
	Name          string
	Dubbo         string
	Port          int32
	StartedAt     int64
	Calls         int64
	Failures      int64
	InFlight      int32
	Peak          int32
	CallsByMethod map[string]int64
}

// JavaClassName returns the Java class.
func (*ProviderInfo) JavaClassName() string { return "org.gofer.interop.ProviderInfo" }

// Color is the Java enum org.gofer.interop.Color.
type Color hessian.JavaEnum

// The colors.
const (
	Red Color = iota
	Green
	Blue
)

var colors = []string{"RED", "GREEN", "BLUE"}

// JavaClassName returns the Java class.
func (Color) JavaClassName() string { return "org.gofer.interop.Color" }

// String returns the name of the constant.
func (c Color) String() string { return enumName(colors, int(c)) }

// EnumValue returns the constant of a name.
func (Color) EnumValue(name string) hessian.JavaEnum { return enumValue(colors, name) }

// Operation is the Java enum org.gofer.interop.Operation, whose constants have bodies.
type Operation hessian.JavaEnum

// The operations.
const (
	Add Operation = iota
	Multiply
)

var operations = []string{"ADD", "MULTIPLY"}

// JavaClassName returns the Java class.
func (Operation) JavaClassName() string { return "org.gofer.interop.Operation" }

// String returns the name of the constant.
func (o Operation) String() string { return enumName(operations, int(o)) }

// EnumValue returns the constant of a name.
func (Operation) EnumValue(name string) hessian.JavaEnum { return enumValue(operations, name) }

func enumName(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return ""
	}
	return names[i]
}

func enumValue(names []string, name string) hessian.JavaEnum {
	for i, n := range names {
		if n == name {
			return hessian.JavaEnum(i)
		}
	}
	return hessian.InvalidJavaEnum
}
