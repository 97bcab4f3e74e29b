package hessian2

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// ValidateArguments checks arguments against the declared Java types of a method
// ([Signature].Types): their number, and of each one whether the provider can take
// it. It must be done here: Dubbo 2.x providers turn an argument that does not fit
// into null and go on. Elements of lists and fields of objects are not checked.
//
// Integers may be of any Go type if the value fits the declared one; integers and
// floats do not stand for each other. nil is null, which no primitive can be. An
// error is an [*ArgumentError], or says that the number is wrong.
func ValidateArguments(types []string, args []any) error {
	if len(types) != len(args) {
		return fmt.Errorf("hessian2: %d arguments given, but the method declares %d: (%s)", len(args), len(types), strings.Join(types, ","))
	}
	for i, a := range args {
		if fitsExactly(types[i], a) {
			continue
		}
		if reason := misfit(types[i], a); reason != "" {
			return &ArgumentError{Index: i, Type: fmt.Sprintf("%T", a), Reason: reason}
		}
	}
	return nil
}

// fitsExactly covers the usual cases without reflection.
func fitsExactly(declared string, v any) bool {
	switch v.(type) {
	case string:
		return declared == "java.lang.String"
	case int64:
		return declared == "long"
	case int32:
		return declared == "int"
	case bool:
		return declared == "boolean"
	case float64:
		return declared == "double"
	}
	return false
}

// misfit says why v is nothing for a parameter of the declared type, "" if it is.
func misfit(declared string, v any) string {
	rv := reflect.ValueOf(v)
	for depth := 0; rv.Kind() == reflect.Pointer || rv.Kind() == reflect.Interface; depth++ {
		if depth == maxDepth { // most likely it points to itself
			return fmt.Sprintf("values nest deeper than %d levels", maxDepth)
		}
		rv = rv.Elem()
	}
	_, primitive := primitives[declared]
	if !rv.IsValid() || (rv.Kind() == reflect.Slice || rv.Kind() == reflect.Map) && rv.IsNil() {
		if primitive {
			return "null for the primitive type " + declared
		}
		return ""
	}
	wrong := "it does not fit the declared type " + declared
	if elem, array := strings.CutSuffix(declared, "[]"); array {
		if arrayFits(elem, rv) {
			return ""
		}
		return wrong
	}
	switch declared {
	case "boolean", "java.lang.Boolean":
		if rv.Kind() == reflect.Bool {
			return ""
		}
	case "byte", "java.lang.Byte":
		return integerMisfit(declared, rv, math.MinInt8, math.MaxInt8)
	case "short", "java.lang.Short":
		return integerMisfit(declared, rv, math.MinInt16, math.MaxInt16)
	case "int", "java.lang.Integer":
		return integerMisfit(declared, rv, math.MinInt32, math.MaxInt32)
	case "long", "java.lang.Long":
		return integerMisfit(declared, rv, math.MinInt64, math.MaxInt64)
	case "float", "java.lang.Float":
		if rv.CanFloat() && overflowsFloat(rv.Float()) {
			return fmt.Sprintf("the number %g does not fit the declared type %s", rv.Float(), declared)
		}
		fallthrough
	case "double", "java.lang.Double":
		if rv.CanFloat() {
			return ""
		}
		if isInteger(rv) {
			return wrong + ": give a float64"
		}
	case "char", "java.lang.Character":
		if units, _ := utf16Units(textOf(rv)); units == 1 {
			return ""
		}
		return wrong + ": give a string of one character"
	case "java.lang.String", "java.lang.CharSequence":
		if rv.Kind() == reflect.String || rv.Type() == runeType {
			return ""
		}
	case "java.lang.Number":
		if rv.CanFloat() || isInteger(rv) || rv.Type() == decimalType || rv.Type() == integerType {
			return ""
		}
	default:
		return classMisfit(declared, rv)
	}
	return wrong
}

// textOf returns the text of a string or of a hessian.Rune, "" for other values.
func textOf(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.String:
		return v.String()
	case v.Type() == runeType:
		return string(rune(v.Int()))
	}
	return ""
}

func isInteger(v reflect.Value) bool {
	return (v.CanInt() || v.CanUint()) && !isEnum(v.Type()) && v.Type() != runeType
}

func integerMisfit(declared string, v reflect.Value, least, most int64) string {
	switch {
	case !isInteger(v):
		return "it does not fit the declared type " + declared
	case v.CanInt() && least <= v.Int() && v.Int() <= most, v.CanUint() && v.Uint() <= uint64(most):
		return ""
	default:
		return fmt.Sprintf("the number %v does not fit the declared type %s", v, declared)
	}
}

// Go kinds whose slices are sent as the arrays of Java's primitives.
var arrayKinds = map[string][]reflect.Kind{
	"boolean": {reflect.Bool},
	"byte":    {reflect.Uint8, reflect.Int8},
	"short":   {reflect.Int16, reflect.Uint16},
	"int":     {reflect.Int32},
	"long":    {reflect.Int64, reflect.Int, reflect.Uint32, reflect.Uint64, reflect.Uint},
	"float":   {reflect.Float32},
	"double":  {reflect.Float64},
}

func arrayFits(elem string, v reflect.Value) bool {
	if elem == "char" {
		return v.Kind() == reflect.String // as Hessian writes char[]
	}
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return false
	}
	return elementFits(elem, v.Type().Elem())
}

func elementFits(elem string, t reflect.Type) bool {
	if t.Kind() == reflect.Interface {
		return true
	}
	if inner, array := strings.CutSuffix(elem, "[]"); array {
		if inner == "char" {
			return t.Kind() == reflect.String
		}
		return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && elementFits(inner, t.Elem())
	}
	if kinds, ok := arrayKinds[elem]; ok {
		for _, k := range kinds {
			if t.Kind() == k && !isEnum(t) && t != runeType {
				return true
			}
		}
		return false
	}
	t, ok := pointee(t)
	if !ok {
		return false
	}
	switch k := t.Kind(); elem {
	case "java.lang.String":
		return k == reflect.String
	case "java.lang.Object", "java.io.Serializable":
		return k != reflect.Uint8 && k != reflect.Int8 // sent as a binary
	case "java.lang.Boolean":
		return k == reflect.Bool
	case "java.lang.Byte", "java.lang.Short", "java.lang.Integer", "java.lang.Long":
		return reflect.Int <= k && k <= reflect.Uint64 && k != reflect.Uint8 && k != reflect.Int8
	case "java.lang.Float", "java.lang.Double":
		return k == reflect.Float32 || k == reflect.Float64
	case "java.util.Date":
		return t == timeType
	default:
		return k == reflect.Struct || k == reflect.Map || k == reflect.Slice || isEnum(t)
	}
}

// classMisfit is misfit for classes other than those with a Go counterpart of their own.
func classMisfit(declared string, v reflect.Value) string {
	wrong := "it does not fit the declared type " + declared
	t := v.Type()
	list := v.Kind() == reflect.Slice || v.Kind() == reflect.Array
	binary := list && (t.Elem().Kind() == reflect.Uint8 || t.Elem().Kind() == reflect.Int8)
	switch declared {
	case "java.lang.Object", "java.io.Serializable", "java.lang.Comparable":
		return ""
	case "java.util.Date":
		if t == timeType {
			return ""
		}
		return wrong + ": give a time.Time"
	}
	if s, ok := v.Interface().(map[string]any); ok {
		if _, object := s[objectKey]; object { // sent as an object of that class
			return ""
		}
	}
	switch {
	case declared == "java.lang.Iterable", isJavaUtil(declared, "List", "Set", "Collection", "Queue", "Deque", "Vector", "Stack"):
		if list && !binary || isCollection(t) {
			return ""
		}
		return wrong + ": give a slice"
	case isJavaUtil(declared, "Map", "Properties", "Hashtable"):
		if v.Kind() == reflect.Map {
			return ""
		}
		return wrong + ": give a map"
	}
	switch {
	case isEnum(t), v.Kind() == reflect.Struct && t != timeType, t == timeType && strings.HasPrefix(declared, "java.sql."):
		return ""
	case v.Kind() == reflect.Map:
		if t.Implements(pojoType) {
			return ""
		}
		return wrong + ": a map is sent as a java.util.Map; give a struct with a Java class"
	}
	return wrong
}

// isJavaUtil reports whether a class of java.util (or java.util.concurrent) ends in
// one of the names, as java.util.LinkedHashMap ends in Map.
func isJavaUtil(class string, names ...string) bool {
	if !strings.HasPrefix(class, "java.util.") {
		return false
	}
	for _, n := range names {
		if strings.HasSuffix(class, n) {
			return true
		}
	}
	return false
}
