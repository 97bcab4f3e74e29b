package dubbotest

import (
	"reflect"
	"strings"
	"time"

	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
)

// pojo is a Go type that stands for a Java class.
type pojo interface{ JavaClassName() string }

// generalized is what a provider makes of a result of a generic call, as far as Go
// values have it: objects become maps with their class, enums their names, arrays
// and collections lists. Shared objects stay shared.
func generalized(v any) any {
	g := generalizer{}
	return g.value(reflect.ValueOf(v))
}

// generalizer remembers what it has made of objects, maps and lists: those can have
// themselves in them.
type generalizer map[identity]any

// identity is what makes two values the same one.
type identity struct {
	t   reflect.Type
	at  uintptr
	len int
}

func identityOf(v reflect.Value) identity {
	id := identity{t: v.Type(), at: v.Pointer()}
	if v.Kind() == reflect.Slice {
		id.len = v.Len()
	}
	return id
}

// maxHops is how many pointers may lie before a value; more point at themselves.
const maxHops = 100

func (g generalizer) value(v reflect.Value) any {
	for hops := 0; v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface; hops++ {
		if v.IsNil() || hops > maxHops {
			return nil
		}
		if v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
			break
		}
		v = v.Elem()
	}
	if (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.IsNil() {
		return nil
	}
	switch v.Kind() {
	case reflect.Invalid:
		return nil
	case reflect.Slice, reflect.Array:
		return g.list(v)
	case reflect.Map:
		id := identityOf(v)
		if known, ok := g[id]; ok {
			return known
		}
		m := map[any]any{}
		g[id] = m
		for it := v.MapRange(); it.Next(); {
			key := g.value(it.Key())
			if key != nil && !reflect.TypeOf(key).Comparable() {
				key = it.Key().Interface()
			}
			m[key] = g.value(it.Value())
		}
		return m
	case reflect.Struct, reflect.Pointer:
		return g.object(v)
	}
	if name, ok := constant(v); ok {
		return name
	}
	return v.Interface()
}

// list keeps the arrays of scalars, as Java does.
func (g generalizer) list(v reflect.Value) any {
	switch k := v.Type().Elem().Kind(); {
	case k == reflect.String, reflect.Bool <= k && k <= reflect.Float64 && v.Type().Elem().PkgPath() == "":
		return v.Interface()
	}
	l := make([]any, v.Len())
	if v.Kind() == reflect.Slice && len(l) > 0 {
		id := identityOf(v)
		if known, ok := g[id]; ok {
			return known
		}
		g[id] = l
	}
	for i := range l {
		l[i] = g.value(v.Index(i))
	}
	return l
}

// constant returns the name of an enum's constant.
func constant(v reflect.Value) (string, bool) {
	e, ok := v.Interface().(interface {
		pojo
		String() string
	})
	if !ok || !v.CanInt() {
		return "", false
	}
	return e.String(), true
}

// object makes a map of a struct, or of a pointer to one, that has a Java class of
// its own. Those of the JDK (dates, decimals) stay.
func (g generalizer) object(v reflect.Value) any {
	p, ok := v.Interface().(pojo)
	if !ok && v.Kind() == reflect.Struct {
		at := reflect.New(v.Type())
		at.Elem().Set(v)
		p, ok = at.Interface().(pojo)
	}
	if _, instant := v.Interface().(time.Time); !ok || instant || strings.HasPrefix(p.JavaClassName(), "java.") {
		return v.Interface()
	}
	m := map[string]any{"class": p.JavaClassName()}
	if v.Kind() == reflect.Pointer {
		id := identityOf(v)
		if known, ok := g[id]; ok {
			return known
		}
		g[id] = m
		v = v.Elem()
	}
	g.fields(m, v)
	return m
}

// fields adds the fields of a struct; those of embedded ones do not replace them.
func (g generalizer) fields(m map[string]any, v reflect.Value) {
	var embedded []reflect.Value
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name := f.Tag.Get("hessian")
		switch {
		case !f.IsExported() || name == "-":
			continue
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			embedded = append(embedded, v.Field(i))
			continue
		case name == "":
			name = hessian2.JavaName(f.Name)
		}
		if _, there := m[name]; !there {
			m[name] = g.value(v.Field(i))
		}
	}
	for _, e := range embedded {
		g.fields(m, e)
	}
}
