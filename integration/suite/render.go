package suite

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	big "github.com/dubbogo/gost/math/big"
)

// Longer strings and lists are shown by their length and a digest.
const (
	longText = 120
	longList = 60
)

// render writes a value as text that is the same for equal values: decimals by their
// digits, times as instants, maps sorted, shared and cyclic pointers by number. What
// comes out of an interface has its Go type with it, so that an int and a long differ.
func render[T any](v T) string {
	p := printer{seen: map[any]int{}}
	p.value(reflect.ValueOf(&v).Elem())
	return p.String()
}

type printer struct {
	strings.Builder
	seen map[any]int // pointers to structs, numbered from 1
}

func (p *printer) value(v reflect.Value) {
	if v.Kind() == reflect.Interface {
		if v = v.Elem(); v.IsValid() && v.Kind() != reflect.String && v.Kind() != reflect.Bool {
			fmt.Fprintf(p, "%s ", strings.ReplaceAll(v.Type().String(), "interface {}", "any"))
		}
	}
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		p.WriteString("null")
		return
	}
	if p.known(v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p.pointer(v)
	case reflect.Struct:
		p.fields(v)
	case reflect.Slice, reflect.Array:
		p.list(v)
	case reflect.Map:
		p.entries(v)
	case reflect.String:
		p.WriteString(text(v.String()))
	case reflect.Float32, reflect.Float64:
		p.WriteString(strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits()))
	default:
		fmt.Fprint(p, v.Interface())
	}
}

// known writes the types that have a text of their own.
func (p *printer) known(v reflect.Value) bool {
	switch x := v.Interface().(type) {
	case time.Time:
		p.WriteString(x.UTC().Format(time.RFC3339Nano))
	case *big.Decimal:
		p.WriteString(x.String())
	case *big.Integer:
		p.WriteString(x.String())
	case big.Decimal:
		p.WriteString(x.String())
	case big.Integer:
		p.WriteString(x.String())
	case []byte:
		p.bytes(x)
	default:
		return false
	}
	return true
}

func (p *printer) bytes(b []byte) {
	switch {
	case b == nil:
		p.WriteString("null")
	case len(b) > longList:
		fmt.Fprintf(p, "%d bytes %s", len(b), digest(string(b)))
	default:
		fmt.Fprintf(p, "% x", b)
	}
}

func (p *printer) pointer(v reflect.Value) {
	if v.Elem().Kind() != reflect.Struct {
		p.value(v.Elem())
		return
	}
	if n := p.seen[v.Interface()]; n > 0 {
		fmt.Fprintf(p, "&%d", n)
		return
	}
	n := len(p.seen) + 1
	p.seen[v.Interface()] = n
	fmt.Fprintf(p, "&%d", n)
	p.value(v.Elem())
}

// fields writes a struct without its fields of zero.
func (p *printer) fields(v reflect.Value) {
	p.WriteString("{")
	sep := ""
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || v.Field(i).IsZero() {
			continue
		}
		fmt.Fprintf(p, "%s%s: ", sep, f.Name)
		p.value(v.Field(i))
		sep = ", "
	}
	p.WriteString("}")
}

func (p *printer) list(v reflect.Value) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		p.WriteString("null")
		return
	}
	if v.Len() > longList {
		fmt.Fprintf(p, "%d elements %s", v.Len(), digest(fmt.Sprint(v.Interface())))
		return
	}
	p.WriteString("[")
	for i := range v.Len() {
		if i > 0 {
			p.WriteString(", ")
		}
		p.value(v.Index(i))
	}
	p.WriteString("]")
}

func (p *printer) entries(v reflect.Value) {
	if v.IsNil() {
		p.WriteString("null")
		return
	}
	// Keys first, for the order; values then, for the numbers of pointers.
	type entry struct {
		key   string
		value reflect.Value
	}
	var all []entry
	for it := v.MapRange(); it.Next(); {
		k := printer{seen: map[any]int{}}
		k.value(it.Key())
		all = append(all, entry{k.String(), it.Value()})
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	p.WriteString("{")
	for i, e := range all {
		if i > 0 {
			p.WriteString(", ")
		}
		p.WriteString(e.key + ": ")
		p.value(e.value)
	}
	p.WriteString("}")
}

func text(s string) string {
	if len(s) <= longText {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%d UTF-16 units %s", len(utf16.Encode([]rune(s))), digest(s))
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "#" + hex.EncodeToString(sum[:6])
}
