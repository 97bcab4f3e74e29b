package hessian2

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
)

// InferTypes returns the Java types of parameters that nobody stated, from the Go
// types of the arguments: bool, int8, int16, int32, int64, float32, float64 are
// Java's primitives and pointers to them the boxed types; string, []byte, time.Time
// and structs or enums with a Java class are themselves. Everything else could mean
// several Java types (an int is int or long, a slice a List or an array): the error
// then shows what to write.
func InferTypes(args []any) ([]string, error) {
	types := make([]string, len(args))
	for i, a := range args {
		name, ok := javaTypeOf(a)
		if !ok {
			return nil, cannotInfer(i, args)
		}
		types[i] = name
	}
	return types, nil
}

// AppendInferred appends what [InferTypes] returns, separated by commas: a key for
// the method that is meant.
func AppendInferred(b []byte, args []any) ([]byte, error) {
	for i, a := range args {
		name, ok := javaTypeOf(a)
		if !ok {
			return b, cannotInfer(i, args)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, name...)
	}
	return b, nil
}

func cannotInfer(i int, args []any) error {
	types := make([]string, len(args))
	for k, a := range args {
		types[k], _ = javaTypeOf(a)
	}
	return &ArgumentError{Index: i, Type: fmt.Sprintf("%T", args[i]), Reason: "its Java type cannot be inferred; " +
		"state the types behind the method's name as they are declared, such as (" + strings.Join(types, ",") + ")"}
}

// javaTypeOf returns the Java type of an argument; ok is false when it is a guess.
func javaTypeOf(v any) (name string, ok bool) {
	switch v := v.(type) {
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
		return v.JavaParamName(), true
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
