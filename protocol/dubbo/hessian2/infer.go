package hessian2

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
)

// Infer returns the signature of a method whose types nobody stated, from the Go
// types of its arguments: bool, int8, int16, int32, int64, float32, float64 are
// Java's primitives and pointers to them the boxed types; string, []byte, time.Time
// and structs or enums with a Java class are themselves. Everything else could mean
// several Java types (an int is int or long, a slice a List or an array): the error
// then shows what to write.
func Infer(method string, args []any) (Signature, error) {
	s := Signature{Name: method, Types: make([]string, len(args)), Stated: true}
	unknown := -1
	for i, a := range args {
		name, ok := javaTypeOf(a)
		if !ok && unknown < 0 {
			unknown = i
		}
		s.Types[i] = name
	}
	if unknown >= 0 {
		return Signature{}, fmt.Errorf("hessian2: method %q: the Java type of argument %d (%T) cannot be inferred; state the types as declared, such as %q",
			method, unknown, args[unknown], s)
	}
	s.Descriptor = descriptor(s.Types)
	return s, nil
}

// javaTypeOf returns the Java type of an argument; ok is false when it is a guess.
func javaTypeOf(v any) (name string, ok bool) {
	switch v.(type) {
	case nil:
		return "java.lang.Object", false
	case bool:
		return "boolean", true
	case int8:
		return "byte", true
	case int16:
		return "short", true
	case int32:
		return "int", true
	case int64:
		return "long", true
	case float32:
		return "float", true
	case float64:
		return "double", true
	case *bool:
		return "java.lang.Boolean", true
	case *int8:
		return "java.lang.Byte", true
	case *int16:
		return "java.lang.Short", true
	case *int32:
		return "java.lang.Integer", true
	case *int64:
		return "java.lang.Long", true
	case *float32:
		return "java.lang.Float", true
	case *float64:
		return "java.lang.Double", true
	case string, *string:
		return "java.lang.String", true
	case []byte:
		return "byte[]", true
	case time.Time, *time.Time:
		return "java.util.Date", true
	case hessian.Rune:
		return "char", true
	case *hessian.Rune:
		return "java.lang.Character", true
	case hessian.Param:
		return v.(hessian.Param).JavaParamName(), true
	}
	t := reflect.TypeOf(v)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct || isEnum(t) {
		if name, err := registered.nameOf(t); err == nil {
			return declaredClass(name), true
		}
		return "java.lang.Object", false
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "java.util.List", false
	case reflect.Map:
		return "java.util.Map", false
	case reflect.Bool:
		return "boolean", false
	case reflect.Float32, reflect.Float64:
		return "double", false
	case reflect.String:
		return "java.lang.String", false
	default:
		if reflect.Int <= t.Kind() && t.Kind() <= reflect.Uint64 {
			return "long", false
		}
		return "java.lang.Object", false
	}
}

// declaredClass returns the class that Java declares for values that hessian-lite
// writes as another one, its handle.
func declaredClass(name string) string {
	const handles = "com.alibaba.com.caucho.hessian.io."
	own, ok := strings.CutPrefix(name, handles)
	if !ok {
		return name
	}
	switch own {
	case "LocaleHandle":
		return "java.util.Locale"
	case "java8.ZoneOffsetHandle":
		return "java.time.ZoneOffset"
	}
	if own, ok = strings.CutPrefix(own, "java8."); ok {
		if own, ok = strings.CutSuffix(own, "Handle"); ok {
			return "java.time." + own
		}
	}
	return name
}
