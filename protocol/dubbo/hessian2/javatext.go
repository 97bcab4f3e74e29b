package hessian2

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	big "github.com/dubbogo/gost/math/big"
)

// Bounds of [Text], for values may be cyclic (B150).
const (
	maxTextDepth  = 16
	maxTextValues = 1 << 16
)

// Text returns what Java's String.valueOf gives for the value that v is sent as, so
// that hashing by argument agrees with Java consumers: "null", "0.1" for a float32,
// "1.0E7", "[a, b]", "{k=v}", the name of an enum's constant. Where Java's text
// differs per process (arrays, HashMap order, objects without toString) it is a
// text of the content instead, with map keys in order. Types with a String method
// give that, unless it panics. The text is for hashing and messages; very
// deep and very large values are cut.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case int32:
		return strconv.FormatInt(int64(v), 10)
	case int:
		return strconv.FormatInt(int64(v), 10)
	}
	var w textWriter
	return string(w.append(nil, reflect.ValueOf(v), 0))
}

// textWriter counts the values of one text.
type textWriter struct{ values int }

func (w *textWriter) append(b []byte, v reflect.Value, depth int) []byte {
	if w.values++; depth > maxTextDepth || w.values > maxTextValues {
		return append(b, "…"...)
	}
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return append(b, "null"...)
		}
		if v.Kind() == reflect.Pointer {
			if depth++; depth > maxTextDepth {
				return append(b, "…"...)
			}
		}
		v = v.Elem()
	}
	switch t := v.Type(); {
	case t == runeType:
		return append(b, string(rune(v.Int()))...)
	case t == timeType: // java.util.Date
		return asTimeValue(v).UTC().AppendFormat(b, "Mon Jan 02 15:04:05 UTC 2006")
	case t == decimalType:
		return append(b, decimalText(addressable(v).Addr().Interface().(*big.Decimal))...)
	case isEnum(t):
		if name, ok := calmly(enumName, v); ok {
			return append(b, name...)
		}
	case v.Kind() == reflect.Struct && v.CanInterface():
		if text, ok := calmly(stringerText, v); ok {
			return append(b, text...)
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Float32:
		return appendDouble(b, v.Float(), 32)
	case reflect.Float64:
		return appendDouble(b, v.Float(), 64)
	case reflect.String:
		return append(b, v.String()...)
	case reflect.Slice, reflect.Array:
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = w.append(b, v.Index(i), depth+1)
		}
		return append(b, ']')
	case reflect.Map:
		return w.pairs(b, v, depth)
	case reflect.Struct:
		return w.object(b, v, depth)
	}
	switch {
	case v.CanInt():
		return strconv.AppendInt(b, v.Int(), 10)
	case v.CanUint():
		return strconv.AppendUint(b, v.Uint(), 10)
	default:
		return append(b, v.Type().String()...)
	}
}

// calmly returns the text that a method of the user's type gives. A panic in it is
// no text: the caller shows the content instead.
func calmly(text func(reflect.Value) (string, bool), v reflect.Value) (s string, ok bool) {
	defer func() {
		if recover() != nil {
			s, ok = "", false
		}
	}()
	return text(v)
}

func stringerText(v reflect.Value) (string, bool) {
	s, ok := addressable(v).Addr().Interface().(fmt.Stringer)
	if !ok {
		return "", false
	}
	return s.String(), true
}

func decimalText(d *big.Decimal) string {
	if d.Value != "" { // as it was decoded: scale kept
		return d.Value
	}
	return d.String()
}

// appendDouble writes the shortest decimal that reads back the same, in Java's
// layout.
func appendDouble(b []byte, v float64, bits int) []byte {
	switch abs := math.Abs(v); {
	case math.IsNaN(v):
		return append(b, "NaN"...)
	case math.IsInf(v, 0):
		if v < 0 {
			b = append(b, '-')
		}
		return append(b, "Infinity"...)
	case abs == 0 || 1e-3 <= abs && abs < 1e7:
		start := len(b)
		b = strconv.AppendFloat(b, v, 'f', -1, bits)
		if !slices.Contains(b[start:], '.') {
			b = append(b, ".0"...)
		}
		return b
	}
	text := strconv.FormatFloat(v, 'e', -1, bits)
	if !strings.Contains(text, ".") { // Java takes the best of two digits then: 4.9E-324
		text = strconv.FormatFloat(v, 'e', 1, bits)
	}
	digits, exponent, _ := strings.Cut(text, "e")
	b = append(b, digits...)
	n, _ := strconv.Atoi(exponent) // it is a number: FormatFloat made it
	return strconv.AppendInt(append(b, 'E'), int64(n), 10)
}

func (w *textWriter) pairs(b []byte, v reflect.Value, depth int) []byte {
	type pair struct{ key, value string }
	pairs := make([]pair, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		pairs = append(pairs, pair{
			string(w.append(nil, it.Key(), depth+1)), string(w.append(nil, it.Value(), depth+1)),
		})
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.key, b.key) })
	b = append(b, '{')
	for i, p := range pairs {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(append(append(b, p.key...), '='), p.value...)
	}
	return append(b, '}')
}

func (w *textWriter) object(b []byte, v reflect.Value, depth int) []byte {
	name, err := registered.nameOf(v.Type())
	if err != nil {
		name = v.Type().String()
	}
	p, err := planOf(v.Type())
	if err != nil {
		return append(b, name...)
	}
	b = append(append(b, name...), '{')
	for i := range p.fields {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(append(b, p.fields[i].name...), '=')
		b = w.append(b, p.fields[i].of(v), depth+1)
	}
	return append(b, '}')
}
