package hessian2

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/apache/dubbo-go-hessian2/java_sql_time"
)

// objectKey is the key that makes a map[string]any an object of the class it names,
// as in dubbo-go-hessian2: a POJO without a Go type.
const objectKey = "_class"

// classUse is a class that the message has defined, for a Go type or for maps with
// certain keys (typ nil).
type classUse struct {
	name   string
	fields []string
	typ    reflect.Type
	plan   *plan // of a struct type
}

var (
	enumFields = []string{"name"}
	sqlFields  = []string{"value"}
)

// object writes the head of an object of the class.
func (e *encoder) object(c classUse) {
	n := slices.IndexFunc(e.classes, func(k classUse) bool {
		return k.typ == c.typ && k.name == c.name && slices.Equal(k.fields, c.fields)
	})
	if n < 0 {
		n = e.define(c)
	}
	e.instance(n)
}

// define writes a class definition and returns its number.
func (e *encoder) define(c classUse) int {
	e.classes = append(e.classes, c)
	e.b = AppendString(append(e.b, tagClass), c.name)
	e.b = AppendInt32(e.b, int32(len(c.fields)))
	for _, f := range c.fields {
		e.b = AppendString(e.b, f)
	}
	return len(e.classes) - 1
}

// instance writes the head of an object of class n.
func (e *encoder) instance(n int) {
	if n < 16 {
		e.b = append(e.b, byte(tagObjectShort+n))
	} else {
		e.b = AppendInt32(append(e.b, tagObject), int32(n)) // E6: the whole number
	}
}

// structObject writes the head of an object of the struct type t.
func (e *encoder) structObject(t reflect.Type) (*plan, *ArgumentError) {
	for n := range e.classes {
		if e.classes[n].typ == t {
			e.instance(n)
			return e.classes[n].plan, nil
		}
	}
	name, err := registered.nameOf(t)
	if err == nil && custom(name) {
		err = fmt.Errorf("the Java class %s has a serializer of its own (hessian.SetSerializer), which is not supported", name)
	}
	var p *plan
	if err == nil {
		p, err = planOf(t)
	}
	if err != nil {
		return nil, e.fail(t, "%v", err)
	}
	e.instance(e.define(classUse{name, p.names, t, p}))
	return p, nil
}

// mapObject writes a map as an object of the class.
func (e *encoder) mapObject(class any, m map[string]any) *ArgumentError {
	name, ok := class.(string)
	if !ok || !isClassName(name) {
		return &ArgumentError{Path: "{" + objectKey + "}", Type: reflect.TypeOf(&class).Elem().String(), Reason: "it must be the name of a Java class"}
	}
	fields := make([]string, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key != objectKey {
			fields = append(fields, key)
		}
	}
	e.object(classUse{name: name, fields: fields})
	for _, f := range fields {
		if err := e.any(m[f]); err != nil {
			err.Path = "{" + short(f) + "}" + err.Path
			return err
		}
	}
	return nil
}

// collection writes a Java collection as a list of its class.
func (e *encoder) collection(v reflect.Value) *ArgumentError {
	c := v.Addr().Interface().(hessian.JavaCollectionObject)
	elements := c.Get()
	e.b = AppendString(append(e.b, tagList), c.JavaClassName())
	e.b = AppendInt32(e.b, int32(len(elements)))
	for i, x := range elements {
		if err := e.any(x); err != nil {
			err.Path = index(i) + err.Path
			return err
		}
	}
	return nil
}

// sqlTime writes a java.sql.Date or Time: an object around a date.
func (e *encoder) sqlTime(v reflect.Value) *ArgumentError {
	s := v.Addr().Interface().(java_sql_time.JavaSqlTime)
	e.object(classUse{name: s.JavaClassName(), fields: sqlFields, typ: v.Type()})
	e.b = AppendTime(e.b, s.GetTime())
	return nil
}

// asTimeValue returns the time in v, which may not be addressable.
func asTimeValue(v reflect.Value) time.Time {
	if v.CanAddr() {
		return *v.Addr().Interface().(*time.Time)
	}
	return v.Interface().(time.Time)
}

// arrayName returns the Java type of a list for the slice or array type t, "" for
// an untyped list.
func arrayName(t reflect.Type) string {
	dims := 0
	for ; t.Kind() == reflect.Slice || t.Kind() == reflect.Array; t = t.Elem() {
		if dims++; dims > maxDimensions { // or without end, as type S []S
			return ""
		}
	}
	if name := elementName(t); name != "" {
		return strings.Repeat("[", dims) + name
	}
	return ""
}

// elementName returns what Hessian calls the elements of an array, themselves no
// arrays; "" when there is no name that is sure (E4).
func elementName(t reflect.Type) string {
	if isEnum(t) || t.Kind() == reflect.Struct && t != timeType || t.Kind() == reflect.Map {
		if name, err := registered.nameOf(t); err == nil && t.Kind() != reflect.Map && !isCollection(t) {
			return name
		}
		return ""
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.Int8, reflect.Uint8:
		return "byte"
	case reflect.Int16, reflect.Uint16:
		return "short"
	case reflect.Int32:
		if t == runeType {
			return ""
		}
		return "int"
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64:
		return "long"
	case reflect.Float32:
		return "float"
	case reflect.Float64:
		return "double"
	case reflect.String:
		return "string"
	case reflect.Struct:
		return "date"
	case reflect.Pointer:
		return boxedName(t.Elem())
	}
	return ""
}

// boxedName is elementName for pointers.
func boxedName(t reflect.Type) string {
	if isEnum(t) {
		return elementName(t)
	}
	switch t.Kind() {
	case reflect.Bool:
		return "java.lang.Boolean"
	case reflect.Int8, reflect.Uint8:
		return "java.lang.Byte"
	case reflect.Int16, reflect.Uint16:
		return "java.lang.Short"
	case reflect.Int32:
		if t != runeType {
			return "java.lang.Integer"
		}
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64:
		return "java.lang.Long"
	case reflect.Float32:
		return "java.lang.Float"
	case reflect.Float64:
		return "java.lang.Double"
	case reflect.String, reflect.Struct:
		return elementName(t)
	}
	return ""
}
