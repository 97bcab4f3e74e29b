package hessian2

import (
	"errors"
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
		name, err := javaTypeOf(a)
		if err != nil {
			return nil, cannotInfer(i, args, err)
		}
		types[i] = name
	}
	return types, nil
}

// AppendInferred appends what [InferTypes] returns, separated by commas: a key for
// the method that is meant.
func AppendInferred(b []byte, args []any) ([]byte, error) {
	for i, a := range args {
		name, err := javaTypeOf(a)
		if err != nil {
			return b, cannotInfer(i, args, err)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, name...)
	}
	return b, nil
}

func cannotInfer(i int, args []any, err error) error {
	types := make([]string, len(args))
	for k, a := range args {
		types[k], _ = javaTypeOf(a)
	}
	why := ""
	if err != errUnsure {
		why = " (" + err.Error() + ")"
	}
	return &ArgumentError{Index: i, Type: fmt.Sprintf("%T", args[i]), Reason: "its Java type cannot be inferred" + why + "; " +
		"state the types behind the method's name as they are declared, such as (" + strings.Join(types, ",") + ")"}
}

// errUnsure says no more than that a Java type is a guess.
var errUnsure = errors.New("several Java types are possible")

// javaTypeOf returns the Java type of an argument, with an error when it is a guess.
func javaTypeOf(v any) (name string, err error) {
	switch v := v.(type) {
	case nil:
		return "java.lang.Object", errUnsure
	case bool:
		return "boolean", nil
	case int8:
		return "byte", nil
	case int16:
		return "short", nil
	case int32:
		return "int", nil
	case int64:
		return "long", nil
	case float32:
		return "float", nil
	case float64:
		return "double", nil
	case *bool:
		return "java.lang.Boolean", nil
	case *int8:
		return "java.lang.Byte", nil
	case *int16:
		return "java.lang.Short", nil
	case *int32:
		return "java.lang.Integer", nil
	case *int64:
		return "java.lang.Long", nil
	case *float32:
		return "java.lang.Float", nil
	case *float64:
		return "java.lang.Double", nil
	case string, *string:
		return "java.lang.String", nil
	case []byte:
		return "byte[]", nil
	case time.Time, *time.Time:
		return "java.util.Date", nil
	case hessian.Rune:
		return "char", nil
	case *hessian.Rune:
		return "java.lang.Character", nil
	case hessian.Param:
		return paramName(v)
	}
	t, ok := pointee(reflect.TypeOf(v))
	if !ok {
		return "java.lang.Object", errUnsure
	}
	if t.Kind() == reflect.Struct || isEnum(t) {
		name, err := registered.nameOf(t)
		switch {
		case err == nil:
			return declaredClass(name), nil
		case !reflect.PointerTo(t).Implements(pojoType):
			err = errUnsure
		}
		return "java.lang.Object", err
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "java.util.List", errUnsure
	case reflect.Map:
		return "java.util.Map", errUnsure
	case reflect.Bool:
		return "boolean", errUnsure
	case reflect.Float32, reflect.Float64:
		return "double", errUnsure
	case reflect.String:
		return "java.lang.String", errUnsure
	default:
		if reflect.Int <= t.Kind() && t.Kind() <= reflect.Uint64 {
			return "long", errUnsure
		}
		return "java.lang.Object", errUnsure
	}
}

// paramName returns what the user's JavaParamName says.
func paramName(v hessian.Param) (name string, err error) {
	defer func() {
		if p := recover(); p != nil {
			name, err = "java.lang.Object", fmt.Errorf("JavaParamName of %T panics: %v", v, p)
		}
	}()
	return v.JavaParamName(), nil
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
