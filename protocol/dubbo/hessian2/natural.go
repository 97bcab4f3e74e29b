package hessian2

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/dubbo-go-hessian2/java_exception"
	big "github.com/dubbogo/gost/math/big"
)

// natural reads the value that a Go program would expect without saying a type;
// doc.go has the table.
func (d *decoder) natural(t byte) (any, error) {
	switch kinds[t] {
	case kindNull:
		return nil, nil
	case kindBool:
		return t == tagTrue, nil
	case kindInt:
		v, err := d.integer(t)
		return int32(v), err
	case kindLong:
		v, err := d.integer(t)
		return v, err
	case kindDouble:
		v, err := d.double(t)
		return v, err
	case kindString:
		v, err := d.text(t)
		return v, err
	case kindDate:
		v, err := d.date(t)
		return v, err
	case kindBinary:
		v, err := d.binary(t)
		return v, err
	case kindReference:
		return d.naturalReference()
	case kindNone:
		return nil, d.unexpected(t, "a value")
	}
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	switch kinds[t] {
	case kindList:
		return d.naturalList(t)
	case kindMap:
		return d.naturalMap(t)
	default:
		return d.naturalObject(t)
	}
}

// any reads a value from its tag on.
func (d *decoder) any() (any, error) {
	t, err := d.tag()
	if err != nil {
		return nil, err
	}
	return d.natural(t)
}

func (d *decoder) naturalReference() (any, error) {
	at := d.i - 1
	n, err := d.index()
	if err != nil {
		return nil, err
	}
	if r := &d.refs[n]; len(r.values) > 0 {
		return r.values[0].Interface(), nil
	}
	var v any
	err = d.again(n, at, func() (err error) {
		v, err = d.any()
		return err
	})
	return v, err
}

func (d *decoder) naturalList(t byte) (any, error) {
	at := d.i - 1
	n, h, err := d.listHead(t)
	if err != nil {
		return nil, err
	}
	if typ := arrayType(h.name); typ != nil {
		v := reflect.New(typ).Elem()
		err := d.elements(at, n, h, v)
		return v.Interface(), err
	}
	if typ := libraryCollection(h.name); typ != nil {
		v := reflect.New(typ)
		return v.Interface(), d.collection(at, n, h, v.Elem())
	}
	if h.name != "" && !strings.HasPrefix(h.name, "java.") && !strings.HasPrefix(h.name, "[") {
		if typ, ok := registered.typeOf(h.name); ok {
			return nil, d.fail(at, "a list of the Java class %s, which is registered for %s", h.name, typ)
		}
	}
	length, room, err := d.measure(n, h, anyType.Size())
	if err != nil {
		return nil, err
	}
	l := make([]any, room)
	d.keep(n, reflect.ValueOf(l))
	i := 0
	for ; length < 0 && d.peek() != tagEnd || i < length; i++ {
		if i == len(l) {
			l = append(l, nil)
		}
		if l[i], err = d.any(); err != nil {
			return nil, under("["+strconv.Itoa(i)+"]", err)
		}
	}
	return l[:i], d.listEnd(n, h)
}

// arrayType returns the slice type for the type name of a Java array, nil when
// []any must do: for collections, Object[] and classes nobody registered.
func arrayType(name string) reflect.Type {
	base := strings.TrimLeft(name, "[")
	dims := len(name) - len(base)
	if dims == 0 || dims > maxDimensions { // Go keeps every slice type for ever
		return nil
	}
	t := elementTypes[base]
	if t == nil && !strings.HasPrefix(base, "java.lang.") && base != "object" {
		if known, ok := registered.typeOf(base); ok {
			t = reflect.PointerTo(known)
		}
	}
	if t == nil {
		return nil
	}
	for range dims {
		t = reflect.SliceOf(t)
	}
	return t
}

const maxDimensions = 255 // as in Java

// elementTypes are the Go types of the elements of Java arrays.
var elementTypes = map[string]reflect.Type{
	"string":              reflect.TypeFor[string](),
	"char":                reflect.TypeFor[string](),
	"byte":                reflect.TypeFor[[]byte]().Elem(),
	"short":               reflect.TypeFor[int32](),
	"int":                 reflect.TypeFor[int32](),
	"long":                reflect.TypeFor[int64](),
	"float":               reflect.TypeFor[float64](),
	"double":              reflect.TypeFor[float64](),
	"boolean":             reflect.TypeFor[bool](),
	"date":                timeType,
	"java.util.Date":      timeType,
	"java.lang.String":    reflect.TypeFor[string](),
	"java.lang.Character": reflect.TypeFor[string](),
	"java.lang.Byte":      reflect.TypeFor[*int8](),
	"java.lang.Short":     reflect.TypeFor[*int16](),
	"java.lang.Integer":   reflect.TypeFor[*int32](),
	"java.lang.Long":      reflect.TypeFor[*int64](),
	"java.lang.Float":     reflect.TypeFor[*float32](),
	"java.lang.Double":    reflect.TypeFor[*float64](),
	"java.lang.Boolean":   reflect.TypeFor[*bool](),
}

// naturalMap reads a map: as map[string]any when all keys are strings, otherwise
// as map[any]any.
func (d *decoder) naturalMap(t byte) (any, error) {
	n, name, err := d.mapHead(t)
	if err != nil {
		return nil, err
	}
	if name != "" && !strings.HasPrefix(name, "java.") { // a POJO in the form of a map
		if typ, ok := registered.typeOf(name); ok && typ.Kind() == reflect.Struct && !isSpecial(typ) {
			v := reflect.New(typ)
			return v.Interface(), d.pairsIntoStruct(n, v.Elem())
		}
	}
	mixed, err := d.mixedKeys(n)
	if err != nil {
		return nil, err
	}
	if mixed {
		return d.anyMap(n, map[any]any{})
	}
	m := map[string]any{}
	d.keep(n, reflect.ValueOf(m))
	for d.peek() != tagEnd {
		if kinds[d.peek()] != kindString { // only if nothing can refer to m
			wide := make(map[any]any, len(m)+1)
			for k, v := range m {
				wide[k] = v
			}
			return d.anyMap(n, wide)
		}
		key, err := d.string("a key")
		if err != nil {
			return nil, err
		}
		if m[key], err = d.any(); err != nil {
			return nil, under("{"+short(key)+"}", err)
		}
	}
	return m, d.mapEnd(n)
}

// mixedKeys looks ahead whether a map that something may refer to has keys other
// than strings.
func (d *decoder) mixedKeys(n int) (bool, error) {
	if n < 0 || d.peek() == tagEnd {
		return false, nil
	}
	if d.refs[n].count < 0 {
		back := d.place()
		count, mixed, err := d.skipPairs()
		if err != nil {
			return false, err
		}
		d.seek(back)
		d.refs[n].count, d.refs[n].mixed = count, mixed
	}
	return d.refs[n].mixed, nil
}

func (d *decoder) anyMap(n int, m map[any]any) (any, error) {
	d.keep(n, reflect.ValueOf(m))
	for d.peek() != tagEnd {
		key, err := d.any()
		if err != nil {
			return nil, under("{key}", err)
		}
		value, err := d.any()
		if err != nil {
			return nil, under("{"+short(Text(key))+"}", err)
		}
		m[mapKey(key)] = value
	}
	return m, d.mapEnd(n)
}

func (d *decoder) naturalObject(t byte) (any, error) {
	at := d.i - 1
	n, c, err := d.objectHead(t)
	if err != nil {
		return nil, err
	}
	var v any
	if typ := d.goType(c); typ != nil {
		v, err = d.registeredObject(at, n, c, typ)
	} else if c.wrapped >= 0 {
		err = d.oneField(n, c, c.wrapped, reflect.ValueOf(&v).Elem())
	} else {
		var m map[string]any
		err = d.objectIntoMap(at, n, c, reflect.ValueOf(&m).Elem())
		v = m
	}
	if err != nil {
		return nil, err
	}
	d.end(n)
	return v, nil
}

// goType returns the Go type registered for the class, nil for none. A class that
// nobody registered is asked for once in a message: see libraryType.
func (d *decoder) goType(c *class) reflect.Type {
	switch c.name {
	case compactDate:
		return localDateType
	case compactTime:
		return localTimeType
	case "java.time.LocalDateTime":
		return localDateTimeType
	}
	if slices.Contains(d.strange, c) {
		return nil
	}
	t, ok := registered.typeOf(c.name)
	if !ok && len(d.strange) < 64 {
		d.strange = append(d.strange, c)
	}
	return t
}

// registeredObject reads an object as a pointer to its struct, or as its enum.
func (d *decoder) registeredObject(at, n int, c *class, typ reflect.Type) (any, error) {
	p := reflect.New(typ)
	v := p.Elem()
	switch {
	case isEnum(typ):
		k := c.field("name")
		if k < 0 {
			return nil, d.fail(at, "an object of %s does not fit the Go type %s", c.name, typ)
		}
		err := d.oneField(n, c, k, v)
		return v.Interface(), err
	case typ == decimalType && c.field("value") >= 0:
		back := d.place()
		if err := d.decimal(at, n, c, v); err != nil { // more digits than it holds: the text
			var text string
			d.seek(back)
			err := d.oneField(n, c, c.field("value"), reflect.ValueOf(&text).Elem())
			return text, err
		}
		return p.Interface(), nil
	case isSQL(typ) && c.field("value") >= 0:
		err := d.oneField(-1, c, c.field("value"), v)
		d.keep(n, p)
		return p.Interface(), err
	default:
		err := d.fields(n, c, v)
		if i, ok := p.Interface().(*big.Integer); ok {
			i.FromSignAndMag(i.Signum, i.Mag)
		}
		return p.Interface(), err
	}
}

// throwabler returns the library's general exception for an exception that nobody
// registered, so that it can be the cause of a registered one.
func throwabler(v any) java_exception.Throwabler {
	m, ok := v.(map[string]any)
	class, _ := m[classKey].(string)
	message, _ := m["detailMessage"].(string)
	if _, traced := m["stackTrace"]; !ok || class == "" || !traced {
		return nil
	}
	return java_exception.NewThrowable(class + ": " + message)
}
