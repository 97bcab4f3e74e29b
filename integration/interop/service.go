package interop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/dubbo-go-hessian2/java8_time"
	big "github.com/dubbogo/gost/math/big"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// Serve makes a dubbotest provider serve the interop service as the Java providers of
// a release line do: the same values, exceptions and texts. name is what hello and
// whoAmI say.
func Serve(p *dubbotest.Provider, name string, profile dubbotest.Profile) error {
	s := &service{profile: profile, stored: map[string]string{}, meter: newMeter()}
	s.who = ProviderInfo{Name: name, Dubbo: profile.String()}
	var errs []error
	for signature, function := range s.methods() {
		if name, _, _ := strings.Cut(signature, "("); name != "whoAmI" && name != "reset" {
			function = s.meter.counted(signature, function)
		}
		errs = append(errs, p.Handle(signature, function))
	}
	return errors.Join(errs...)
}

// service is the state behind the methods.
type service struct {
	profile dubbotest.Profile
	who     ProviderInfo
	meter   *meter

	mu     sync.Mutex
	stored map[string]string
	calls  int64 // of failEvery
}

func echo[T any](v T) T { return v }

// echoList answers a collection of objects, which is no array.
func echoList[T any](v []T) (list []any) {
	if v == nil {
		return nil
	}
	list = []any{}
	for _, e := range v {
		list = append(list, e)
	}
	return list
}

// echoAllTypes has a char, of which the consumer's string is empty where Java's is 0.
func echoAllTypes(v *AllTypes) *AllTypes {
	if v != nil && v.PrimitiveChar == "" {
		v.PrimitiveChar = "\x00"
	}
	return v
}

// say answers a text, whatever the argument.
func say[T any](text string) func(T) string { return func(T) string { return text } }

// methods are the functions by signature. Their types are Java's declared ones:
// collections are lists of anything, as they are decoded there.
func (s *service) methods() map[string]any {
	return map[string]any{
		"echoBoolean(boolean)": echo[bool], "echoByte(byte)": echo[int8], "echoShort(short)": echo[int16],
		"echoChar(char)": echo[string], "echoInt(int)": echo[int32], "echoLong(long)": echo[int64],
		"echoFloat(float)": echo[float32], "echoDouble(double)": echo[float64],
		"echoBoxedBoolean(java.lang.Boolean)": echo[*bool], "echoBoxedByte(java.lang.Byte)": echo[*int8],
		"echoBoxedShort(java.lang.Short)": echo[*int16], "echoBoxedChar(java.lang.Character)": echo[*string],
		"echoBoxedInt(java.lang.Integer)": echo[*int32], "echoBoxedLong(java.lang.Long)": echo[*int64],
		"echoBoxedFloat(java.lang.Float)": echo[*float32], "echoBoxedDouble(java.lang.Double)": echo[*float64],
		"echoString(java.lang.String)": echo[*string], "echoBigDecimal(java.math.BigDecimal)": echo[*big.Decimal],
		"echoBigInteger(java.math.BigInteger)": echo[*big.Integer], "echoDate(java.util.Date)": echo[time.Time],
		"echoLocalDateTime(java.time.LocalDateTime)": echo[*java8_time.LocalDateTime], "echoObject(java.lang.Object)": echo[any],

		"echoBytes(byte[])": echo[[]byte], "echoBooleans(boolean[])": echo[[]bool], "echoShorts(short[])": echo[[]int16],
		"echoChars(char[])": echo[string], "echoInts(int[])": echo[[]int32], "echoLongs(long[])": echo[[]int64],
		"echoFloats(float[])": echo[[]float32], "echoDoubles(double[])": echo[[]float64],
		"echoStrings(java.lang.String[])": echo[[]string], "echoBoxedInts(java.lang.Integer[])": echo[[]*int32],
		"echoMatrix(int[][])": echo[[][]int32], "echoItemArray(org.gofer.interop.Item[])": echo[[]*Item],

		"echoColor(org.gofer.interop.Color)": echo[*Color], "echoOperation(org.gofer.interop.Operation)": echo[*Operation],
		"apply(org.gofer.interop.Operation,int,int)": apply,
		"echoItem(org.gofer.interop.Item)":           echo[*Item], "echoAllTypes(org.gofer.interop.AllTypes)": echoAllTypes,
		"echoOrder(org.gofer.interop.Order)": echo[*Order], "echoEmployee(org.gofer.interop.Employee)": echo[*Employee],
		"rush(org.gofer.interop.Order,int)": func(o *Order, hours int32) *RushOrder { return &RushOrder{*o, hours} },
		"selfManaged(java.lang.String)":     selfManaged, "page(int,int)": page,

		"echoStringList(java.util.List)": echo[[]any], "echoLongList(java.util.List)": echo[[]any],
		"echoItemList(java.util.List)": echoList[*Item], "echoOrderList(java.util.List)": echoList[*Order],
		"echoStringSet(java.util.Set)": echo[[]any], "echoItemSet(java.util.Set)": echoList[*Item],
		"echoStringMap(java.util.Map)": echo[any], "echoNumberMap(java.util.Map)": echo[any],
		"echoItemMap(java.util.Map)": echo[any], "echoNestedMap(java.util.Map)": echo[any],
		"stock()":                func() map[Color]int32 { return map[Color]int32{Red: 1, Blue: 3} },
		"sorted(java.util.List)": sorted,

		"overload()": func() string { return "overload()" }, "overload(int)": say[int32]("overload(int)"),
		"overload(long)": say[int64]("overload(long)"), "overload(java.lang.Integer)": say[*int32]("overload(java.lang.Integer)"),
		"overload(java.lang.String)": say[*string]("overload(java.lang.String)"), "overload(java.lang.Object)": say[any]("overload(java.lang.Object)"),
		"overload(int[])": say[[]int32]("overload(int[])"), "overload(java.util.List)": say[[]any]("overload(java.util.List)"),
		"overload(java.lang.String,int)": func(string, int32) string { return "overload(java.lang.String,int)" },

		"describe(java.lang.Object)": describe, "nothing()": func() {}, "text(int)": func(n int32) string { return Text(int(n)) },
		"store(java.lang.String,java.lang.String)": s.store, "load(java.lang.String)": s.load,
		"hello(java.lang.String)": func(who string) string { return "hello " + who + " from " + s.who.Name },

		"findOrder(long)": findOrder, "raise(java.lang.String)": s.raise, "optional(java.lang.String)": s.optional,
		"future(java.lang.String,long)": s.future, "failedFuture(java.lang.String)": s.failedFuture,
		"slow(long)": slow, "failEvery(int)": s.failEvery, "attachments(java.util.Map)": s.attachments,
		"whoAmI()": s.whoAmI, "reset()": s.reset,
	}
}

func apply(o Operation, a, b int32) int32 {
	if o == Multiply {
		return a * b
	}
	return a + b
}

func selfManaged(name string) *Employee {
	e := &Employee{Name: name}
	e.Manager, e.Reports = e, []*Employee{e}
	return e
}

func page(number, size int32) *Page {
	p := &Page{Number: number, Total: 1000, Rows: []*Item{}}
	for i := number * size; i < min(1000, (number+1)*size); i++ {
		p.Rows = append(p.Rows, NewItem(int(i)))
	}
	return p
}

// sorted answers a TreeSet: a list of anything, not an array.
func sorted(values []string) (set []any) {
	slices.Sort(values)
	for _, v := range slices.Compact(values) {
		set = append(set, v)
	}
	return set
}

func (s *service) store(key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored[key] = value
}

func (s *service) load(key string) *string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.stored[key]; ok {
		return &v
	}
	return nil
}

// slow sleeps, as long as the provider lives.
func slow(ctx context.Context, millis int64) (int64, error) {
	select {
	case <-time.After(time.Duration(millis) * time.Millisecond):
		return millis, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (s *service) failEvery(n int32) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.calls%int64(n) == 0 {
		return 0, thrown("java.lang.IllegalStateException", fmt.Sprintf("call %d fails, as every %dth", s.calls, n))
	}
	return s.calls, nil
}

func (s *service) whoAmI() *ProviderInfo {
	who := s.who
	s.meter.fill(&who)
	return &who
}

func (s *service) reset() {
	s.meter.reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored, s.calls = map[string]string{}, 0
}

func thrown(class, message string) *protocol.RemoteError {
	return &protocol.RemoteError{Class: class, Message: message, Stack: stack("serve")}
}
