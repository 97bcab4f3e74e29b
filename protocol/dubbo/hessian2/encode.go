package hessian2

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"unicode/utf16"
	"unsafe"

	hessian "github.com/apache/dubbo-go-hessian2"
	big "github.com/dubbogo/gost/math/big"
)

// encoder writes the values of one message that need more than [appendScalar]. The
// zero value is ready; it is used once.
type encoder struct {
	b       []byte
	depth   int
	classes []classUse
	refs    map[identity]int
	n       int // lists, maps and objects written so far
}

// identity tells shared values. An address alone is not enough: a struct and its
// first field have the same one, and so have slices of one array (E5).
type identity struct {
	at  unsafe.Pointer
	typ reflect.Type
	len int // of a slice
}

func (e *encoder) fail(t reflect.Type, format string, args ...any) *ArgumentError {
	return &ArgumentError{Type: t.String(), Reason: fmt.Sprintf(format, args...)}
}

// container counts a list, map or object. If it was written before, container
// writes a reference to it and reports true. at is nil for a value that nothing
// else can share: it counts all the same, for the reader counts it (E1).
func (e *encoder) container(id identity) (done bool) {
	if id.at != nil {
		if n, ok := e.refs[id]; ok {
			e.b = AppendInt32(append(e.b, tagReference), int32(n))
			return true
		}
		if e.refs == nil {
			e.refs = make(map[identity]int)
		}
		e.refs[id] = e.n
	}
	e.n++
	return false
}

// any writes what an interface holds.
func (e *encoder) any(v any) *ArgumentError {
	if b, ok := appendScalar(e.b, v); ok {
		e.b = b
		return nil
	}
	return e.value(reflect.ValueOf(v))
}

// value writes v.
func (e *encoder) value(v reflect.Value) *ArgumentError {
	if e.depth++; e.depth > maxDepth {
		return e.fail(v.Type(), "values nest deeper than %d levels", maxDepth)
	}
	err := e.content(v)
	e.depth--
	return err
}

// content writes v by its kind. Named types of scalar kinds are written as what they
// are made of (E2), arrays as slices (E3).
func (e *encoder) content(v reflect.Value) *ArgumentError {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			e.b = AppendNull(e.b)
			return nil
		}
		return e.value(v.Elem())
	case reflect.Bool:
		e.b = AppendBool(e.b, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return e.integer(v)
	case reflect.Uint, reflect.Uint64:
		if v.Uint() > math.MaxInt64 {
			return e.fail(v.Type(), "the number %d does not fit a Java long", v.Uint())
		}
		e.b = AppendInt64(e.b, int64(v.Uint()))
	case reflect.Uint32:
		e.b = AppendInt64(e.b, int64(v.Uint()))
	case reflect.Uint8, reflect.Uint16:
		e.b = AppendInt32(e.b, int32(v.Uint()))
	case reflect.Float32:
		e.b = AppendFloat32(e.b, float32(v.Float()))
	case reflect.Float64:
		e.b = AppendFloat64(e.b, v.Float())
	case reflect.String:
		e.b = AppendString(e.b, v.String())
	case reflect.Slice, reflect.Array:
		return e.list(v)
	case reflect.Map:
		return e.mapping(v)
	case reflect.Struct:
		return e.structure(v)
	default:
		return e.fail(v.Type(), "a %s cannot be sent", v.Kind())
	}
	return nil
}

func (e *encoder) integer(v reflect.Value) *ArgumentError {
	switch t := v.Type(); {
	case t == runeType: // a Java char (E3)
		r := rune(v.Int())
		if utf16.RuneLen(r) != 1 {
			return e.fail(t, "U+%04X is no Java char: send a string", uint32(r))
		}
		e.b = AppendString(e.b, string(r))
	case isEnum(t):
		return e.enum(v)
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		e.b = AppendInt64(e.b, v.Int())
	default:
		e.b = AppendInt32(e.b, int32(v.Int()))
	}
	return nil
}

// enum writes an object with the constant's name as its only field.
func (e *encoder) enum(v reflect.Value) *ArgumentError {
	t := v.Type()
	name, ok := enumName(v)
	if !ok {
		return e.fail(t, "the enum value %d has no name", v.Int())
	}
	c, err := registered.nameOf(t)
	if err != nil {
		return e.fail(t, "%v", err)
	}
	e.container(identity{})
	e.object(classUse{name: c, fields: enumFields, typ: t})
	e.b = AppendString(e.b, name)
	return nil
}

func (e *encoder) list(v reflect.Value) *ArgumentError {
	t := v.Type()
	slice := v.Kind() == reflect.Slice
	if slice && v.IsNil() {
		e.b = AppendNull(e.b)
		return nil
	}
	if k := t.Elem().Kind(); k == reflect.Uint8 || k == reflect.Int8 && !isEnum(t.Elem()) {
		e.bytes(v)
		return nil
	}
	var id identity
	if slice && v.Len() > 0 {
		id = identity{v.UnsafePointer(), t, v.Len()}
	}
	if e.container(id) {
		return nil
	}
	if name := arrayName(t); name != "" {
		e.b = AppendString(append(e.b, tagList), name)
	} else {
		e.b = append(e.b, tagListUntyped)
	}
	if v.Len() > math.MaxInt32 {
		return e.fail(t, "%d elements are more than a Java list has", v.Len())
	}
	e.b = AppendInt32(e.b, int32(v.Len()))
	short := t.Elem().Kind() == reflect.Uint16
	for i := range v.Len() {
		if short && v.Index(i).Uint() > math.MaxInt16 {
			return &ArgumentError{Path: index(i), Type: t.Elem().String(), Reason: "the number " + strconv.FormatUint(v.Index(i).Uint(), 10) + " does not fit a Java short: send []int32"}
		}
		if err := e.value(v.Index(i)); err != nil {
			err.Path = index(i) + err.Path
			return err
		}
	}
	return nil
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// bytes writes a slice or array of bytes.
func (e *encoder) bytes(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 && (v.Kind() == reflect.Slice || v.CanAddr()) {
		e.b = AppendBytes(e.b, v.Bytes())
		return
	}
	x := make([]byte, v.Len())
	for i := range x {
		if c := v.Index(i); c.CanInt() {
			x[i] = byte(c.Int())
		} else {
			x[i] = byte(c.Uint())
		}
	}
	e.b = AppendBytes(e.b, x)
}

func (e *encoder) mapping(v reflect.Value) *ArgumentError {
	t := v.Type()
	if v.IsNil() {
		e.b = AppendNull(e.b)
		return nil
	}
	if e.container(identity{at: v.UnsafePointer(), typ: t}) {
		return nil
	}
	if m, ok := v.Interface().(map[string]any); ok {
		if class, ok := m[objectKey]; ok {
			return e.mapObject(class, m)
		}
	}
	if p, ok := v.Interface().(hessian.POJO); ok {
		e.b = AppendString(append(e.b, tagMap), p.JavaClassName())
	} else {
		e.b = append(e.b, tagMapUntyped)
	}
	for it := v.MapRange(); it.Next(); {
		if err := e.value(it.Key()); err != nil {
			err.Path = "{key}" + err.Path
			return err
		}
		if err := e.value(it.Value()); err != nil {
			err.Path = "{" + short(Text(it.Key().Interface())) + "}" + err.Path
			return err
		}
	}
	e.b = append(e.b, tagEnd)
	return nil
}

func (e *encoder) structure(v reflect.Value) *ArgumentError {
	t := v.Type()
	if t == timeType {
		e.b = AppendTime(e.b, asTimeValue(v))
		return nil
	}
	var id identity
	if v.CanAddr() && t.Size() > 0 {
		id = identity{at: v.Addr().UnsafePointer(), typ: t}
	}
	if e.container(id) {
		return nil
	}
	switch {
	case isCollection(t):
		return e.collection(addressable(v))
	case isSQL(t):
		return e.sqlTime(addressable(v))
	}
	p, err := e.structObject(t)
	if err != nil {
		return err
	}
	switch t { // their fields are filled only for sending; the original must not change
	case decimalType:
		d := addressable(v).Addr().Interface().(*big.Decimal)
		v = reflect.ValueOf(big.Decimal{Value: d.String()})
	case integerType:
		i := addressable(v).Addr().Interface().(*big.Integer)
		sign, mag := i.GetSignAndMag()
		v = reflect.ValueOf(big.Integer{Signum: sign, Mag: mag})
	}
	for i := range p.fields {
		f := &p.fields[i]
		if err := e.value(f.of(v)); err != nil {
			err.Path = "." + f.goName + err.Path
			return err
		}
	}
	return nil
}

// addressable returns v, or a copy of it, that has the methods of its pointer.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}
