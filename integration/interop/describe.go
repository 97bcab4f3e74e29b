package interop

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
)

// describe is the text of class Description about a value that arrived: it names the
// Java class of it and of everything in it.
func describe(v any) string {
	if v == nil {
		return "null"
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Map:
		return describeMap(rv)
	case reflect.Slice:
		return describeList(rv)
	case reflect.Pointer:
		if rv.IsNil() {
			return "null"
		}
	}
	class := javaClass(rv.Type())
	_, constant := v.(fmt.Stringer)
	if strings.HasPrefix(class, "java.") || constant && rv.CanInt() {
		return class + " " + hessian2.Text(v)
	}
	return class
}

func describeList(v reflect.Value) string {
	elem := v.Type().Elem()
	var parts []string
	for i := range v.Len() {
		switch e := v.Index(i); {
		case elem.Kind() == reflect.Uint8:
			parts = append(parts, fmt.Sprint(int8(e.Uint())))
		case isPrimitive(elem):
			parts = append(parts, hessian2.Text(e.Interface()))
		default:
			parts = append(parts, describe(e.Interface()))
		}
	}
	list := strings.Join(parts, ", ")
	if elem.Kind() == reflect.Interface {
		return "java.util.ArrayList[" + list + "]"
	}
	if isPrimitive(elem) {
		return primitive[elem.Kind()] + "[]{" + list + "}"
	}
	return javaClass(elem) + "[]{" + list + "}"
}

func describeMap(v reflect.Value) string {
	var parts []string
	for it := v.MapRange(); it.Next(); {
		parts = append(parts, describe(it.Key().Interface())+"="+describe(it.Value().Interface()))
	}
	slices.Sort(parts)
	return "java.util.HashMap{" + strings.Join(parts, ", ") + "}"
}

// Java's names of Go's scalars: alone, and as elements of arrays.
var (
	boxed = map[reflect.Kind]string{
		reflect.Bool: "java.lang.Boolean", reflect.Int32: "java.lang.Integer", reflect.Int64: "java.lang.Long",
		reflect.Float64: "java.lang.Double", reflect.String: "java.lang.String",
	}
	primitive = map[reflect.Kind]string{
		reflect.Bool: "boolean", reflect.Uint8: "byte", reflect.Int16: "short", reflect.Int32: "int", reflect.Int64: "long",
		reflect.Float32: "float", reflect.Float64: "double",
	}
)

func isPrimitive(t reflect.Type) bool { return primitive[t.Kind()] != "" && t.PkgPath() == "" }

// javaClass names the class of a Go type, as an element of arrays where it makes a
// difference.
func javaClass(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if pojo, ok := reflect.New(t).Interface().(interface{ JavaClassName() string }); ok {
		return pojo.JavaClassName()
	}
	return boxed[t.Kind()]
}
