package hessian2

import (
	"math"
	"reflect"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/apache/dubbo-go-hessian2/java_sql_time"
)

// into reads a value into dst, which must be addressable. null gives the zero value
// (B131), numbers widen but never wrap (D9, B145).
func (d *decoder) into(dst reflect.Value) error {
	t, err := d.tag()
	if err != nil {
		return err
	}
	return d.value(t, dst)
}

func (d *decoder) value(t byte, dst reflect.Value) error {
	k := kinds[t]
	switch k {
	case kindNone:
		return d.unexpected(t, dst.Type().String())
	case kindNull:
		dst.SetZero()
		return nil
	case kindReference:
		return d.reference(dst)
	}
	switch dst.Kind() {
	case reflect.Interface:
		return d.intoInterface(t, dst)
	case reflect.Pointer:
		elem := dst.Type().Elem()
		if elem.Kind() == reflect.Pointer {
			if _, ok := pointee(elem); !ok {
				return d.fail(d.i-1, "%s does not fit the Go type %s, which points to itself", k.a(), dst.Type())
			}
		}
		p := reflect.New(elem)
		if err := d.value(t, p.Elem()); err != nil {
			return err
		}
		dst.Set(p)
		return nil
	}
	switch k {
	case kindBool:
		if dst.Kind() != reflect.Bool {
			return d.mismatch(k, dst)
		}
		dst.SetBool(t == tagTrue)
		return nil
	case kindInt, kindLong:
		return d.intoNumber(t, dst)
	case kindDouble:
		return d.intoFloat(t, dst)
	case kindString:
		return d.intoText(t, dst)
	case kindDate:
		return d.intoDate(t, dst)
	case kindBinary:
		return d.intoBytes(t, dst)
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	switch k {
	case kindList:
		return d.intoList(t, dst)
	case kindMap:
		return d.intoMap(t, dst)
	default:
		return d.intoObject(t, dst)
	}
}

// mismatch is the error for a value that begins at d.i-1 and is nothing for dst.
func (d *decoder) mismatch(k kind, dst reflect.Value) error {
	return d.fail(d.i-1, "%s does not fit the Go type %s", k.a(), dst.Type())
}

func (d *decoder) intoNumber(t byte, dst reflect.Value) error {
	at, k := d.i-1, kinds[t]
	fits, typ := false, dst.Type()
	switch {
	case dst.CanInt() && !isEnum(typ) && typ != runeType, dst.CanUint(), dst.CanFloat(), typ == localDateType, typ == localTimeType:
	default:
		return d.mismatch(k, dst)
	}
	v, err := d.integer(t)
	if err != nil {
		return err
	}
	switch {
	case dst.CanInt():
		if fits = !dst.OverflowInt(v); fits {
			dst.SetInt(v)
		}
	case dst.CanUint():
		if fits = v >= 0 && !dst.OverflowUint(uint64(v)); fits {
			dst.SetUint(uint64(v))
		}
	case dst.CanFloat():
		f := float64(v)
		if dst.Kind() == reflect.Float32 {
			f = float64(float32(v))
		}
		if fits = f < 1<<63 && int64(f) == v; fits {
			dst.SetFloat(f)
		}
	default:
		fits = compactTimeInto(v, dst)
	}
	if !fits {
		return d.fail(at, "the number %d does not fit the Go type %s", v, typ)
	}
	return nil
}

func (d *decoder) intoFloat(t byte, dst reflect.Value) error {
	at := d.i - 1
	if !dst.CanFloat() {
		return d.mismatch(kindDouble, dst)
	}
	v, err := d.double(t)
	if err != nil {
		return err
	}
	if dst.Kind() == reflect.Float32 && overflowsFloat(v) {
		return d.fail(at, "the number %g does not fit the Go type %s", v, dst.Type())
	}
	dst.SetFloat(v)
	return nil
}

// overflowsFloat reports whether v is beyond the floats. The double with the decimal
// text of the greatest float is greater than that, and still means it.
func overflowsFloat(v float64) bool {
	return math.IsInf(float64(float32(v)), 0) && !math.IsInf(v, 0)
}

func (d *decoder) intoText(t byte, dst reflect.Value) error {
	at, typ := d.i-1, dst.Type()
	enum := isEnum(typ)
	if dst.Kind() != reflect.String && !enum && typ != runeType {
		return d.mismatch(kindString, dst)
	}
	s, err := d.text(t)
	switch {
	case err != nil:
		return err
	case enum:
		return d.constant(at, s, dst)
	case typ == runeType: // a Java char (D11)
		r := []rune(s)
		if len(r) != 1 {
			return d.fail(at, "a string of %d characters does not fit the Go type %s", len(r), typ)
		}
		dst.SetInt(int64(r[0]))
	default:
		dst.SetString(s)
	}
	return nil
}

// constant sets an enum by the name of its constant (B137).
func (d *decoder) constant(at int, name string, dst reflect.Value) error {
	e := reflect.New(dst.Type()).Interface().(hessian.POJOEnum)
	v := int64(e.EnumValue(name))
	if v != int64(hessian.InvalidJavaEnum) && !dst.OverflowInt(v) {
		dst.SetInt(v)
		if s, ok := enumName(dst); ok && s == name {
			return nil
		}
		dst.SetZero()
	}
	return d.fail(at, "the enum %s has no constant %q (in the Go type %s)", e.JavaClassName(), name, dst.Type())
}

// enumName returns the name of an enum's constant.
func enumName(v reflect.Value) (string, bool) {
	e, ok := v.Interface().(hessian.POJOEnum)
	if !ok { // methods of the pointer
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		e = p.Interface().(hessian.POJOEnum)
	}
	s := e.String()
	return s, s != ""
}

func (d *decoder) intoDate(t byte, dst reflect.Value) error {
	typ := dst.Type()
	if typ != timeType && !isSQL(typ) {
		return d.mismatch(kindDate, dst)
	}
	v, err := d.date(t)
	if err != nil {
		return err
	}
	setTime(dst, v)
	return nil
}

// setTime sets a time.Time, or one of the library's java.sql types.
func setTime(dst reflect.Value, v time.Time) {
	switch p := dst.Addr().Interface().(type) {
	case *time.Time:
		*p = v
	case java_sql_time.JavaSqlTime:
		p.SetTime(v)
	}
}

func (d *decoder) intoBytes(t byte, dst reflect.Value) error {
	at := d.i - 1
	k := dst.Kind()
	if k != reflect.Slice && k != reflect.Array || dst.Type().Elem().Kind() != reflect.Uint8 && dst.Type().Elem().Kind() != reflect.Int8 {
		return d.mismatch(kindBinary, dst)
	}
	v, err := d.binary(t)
	switch elem := dst.Type().Elem().Kind(); {
	case err != nil:
		return err
	case k == reflect.Slice && elem == reflect.Uint8:
		dst.SetBytes(v)
		return nil
	case k == reflect.Slice:
		dst.Set(reflect.MakeSlice(dst.Type(), len(v), len(v)))
	case dst.Len() != len(v):
		return d.fail(at, "a binary of %d bytes does not fit the Go type %s", len(v), dst.Type())
	}
	for i, c := range v {
		if e := dst.Index(i); e.CanInt() {
			e.SetInt(int64(int8(c)))
		} else {
			e.SetUint(uint64(c))
		}
	}
	return nil
}

// intoInterface reads the natural value, if dst can hold it.
func (d *decoder) intoInterface(t byte, dst reflect.Value) error {
	at := d.i - 1
	v, err := d.natural(t)
	if err != nil {
		return err
	}
	switch rv := reflect.ValueOf(v); {
	case v == nil:
		dst.SetZero()
	case rv.Type().Implements(dst.Type()):
		dst.Set(rv)
	default:
		if e := throwabler(v); e != nil && reflect.TypeOf(e).Implements(dst.Type()) {
			dst.Set(reflect.ValueOf(e))
			return nil
		}
		return d.fail(at, "%s (%T) is no %s: register a Go type that is one", kinds[t].a(), v, dst.Type())
	}
	return nil
}
