package hessian2

import (
	"reflect"

	big "github.com/dubbogo/gost/math/big"
)

// wrappers are Java classes whose objects stand for the value of one of their
// fields, unless a Go type is registered for them.
var wrappers = map[string]string{
	"java.sql.Timestamp":                                 "value",
	"java.util.Optional":                                 "value",
	"java.util.concurrent.atomic.AtomicBoolean":          "value",
	"java.util.concurrent.atomic.AtomicInteger":          "value",
	"java.util.concurrent.atomic.AtomicLong":             "value",
	"java.util.concurrent.atomic.AtomicReference":        "value",
	"com.alibaba.com.caucho.hessian.io.EnumSetHandler":   "objects",
	"com.alibaba.com.caucho.hessian.io.CalendarHandle":   "date",
	"com.caucho.hessian.io.CalendarHandle":               "time",
	"java.util.EnumSet$SerializationProxy":               "elements",
	"java.util.Collections$UnmodifiableMap":              "m",
	"java.util.Collections$UnmodifiableSortedMap":        "m",
	"java.util.Collections$UnmodifiableNavigableMap":     "m",
	"java.util.Collections$SynchronizedMap":              "m",
	"java.util.Collections$CheckedMap":                   "m",
	"java.util.Collections$UnmodifiableCollection":       "c",
	"java.util.Collections$UnmodifiableSet":              "c",
	"java.util.Collections$UnmodifiableSortedSet":        "c",
	"java.util.Collections$UnmodifiableList":             "list",
	"java.util.Collections$UnmodifiableRandomAccessList": "list",
	"java.util.Collections$SynchronizedCollection":       "c",
	"java.util.Collections$SynchronizedSet":              "c",
	"java.util.Collections$SynchronizedList":             "list",
	"java.util.Collections$SynchronizedRandomAccessList": "list",
}

func (d *decoder) intoObject(t byte, dst reflect.Value) error {
	at := d.i - 1
	n, c, err := d.objectHead(t)
	if err != nil {
		return err
	}
	typ := dst.Type()
	switch {
	case c.wrapped >= 0 && !madeFor(c.name, typ):
		err = d.oneField(n, c, c.wrapped, dst)
	case typ == timeType:
		err = d.timeObject(at, n, c, dst)
	case isSQL(typ), dst.Kind() == reflect.String, isEnum(typ):
		if !c.single {
			return d.fail(at, "an object of %s does not fit the Go type %s", c.name, typ)
		}
		err = d.oneField(n, c, 0, dst)
	case typ == decimalType:
		err = d.decimal(at, n, c, dst)
	case dst.Kind() == reflect.Struct:
		err = d.fields(n, c, dst)
		if i, ok := dst.Addr().Interface().(*big.Integer); ok {
			i.FromSignAndMag(i.Signum, i.Mag)
		}
	case dst.Kind() == reflect.Map:
		err = d.objectIntoMap(at, n, c, dst)
	default:
		return d.fail(at, "an object of %s does not fit the Go type %s", c.name, typ)
	}
	if err != nil {
		return err
	}
	d.end(n)
	return nil
}

// madeFor reports whether the Go type was made for the wrapper class itself.
func madeFor(name string, t reflect.Type) bool {
	if t.Kind() != reflect.Struct || !reflect.PointerTo(t).Implements(pojoType) {
		return false
	}
	known, err := registered.nameOf(t)
	return err == nil && known == name
}

// fields reads an object's fields into a struct, by name alone (B135).
func (d *decoder) fields(n int, c *class, dst reflect.Value) error {
	p, err := planOf(dst.Type())
	if err != nil {
		return d.fail(d.i-1, "%v", err)
	}
	if c.compact() {
		return d.into(dst)
	}
	d.keep(n, dst.Addr())
	for i, k := range c.layoutFor(p) {
		if k < 0 || d.itself(c, c.fields[i], p.typ) {
			err = d.skip()
		} else {
			err = d.into(p.fields[k].of(dst))
		}
		if err != nil {
			return under("."+c.fields[i], err)
		}
	}
	return nil
}

// itself reports whether the field that begins here is the cause of an exception
// and refers to an exception around it: Java's way to say that there is none. It
// must not become a cycle that errors.Is never leaves (B150).
func (d *decoder) itself(c *class, field string, dst reflect.Type) bool {
	if field != "cause" || d.peek() != tagReference || !c.throwable && !reflect.PointerTo(dst).Implements(errorType) {
		return false
	}
	back := d.place()
	d.i++
	n, err := d.index()
	d.seek(back)
	return err == nil && d.refs[n].end == 0
}

// oneField reads field k into dst and skips the others.
func (d *decoder) oneField(n int, c *class, k int, dst reflect.Value) error {
	for i, name := range c.fields {
		var err error
		if i == k {
			err = d.into(dst)
		} else {
			err = d.skip()
		}
		if err != nil {
			return under("."+name, err)
		}
	}
	d.keep(n, dst)
	return nil
}

// objectIntoMap reads an object of any class as a map from its field names; with
// any as the value type the class is in it under "class".
func (d *decoder) objectIntoMap(at, n int, c *class, dst reflect.Value) error {
	typ := dst.Type()
	if k := typ.Key(); k.Kind() != reflect.String && k != anyType {
		return d.fail(at, "an object of %s does not fit the Go type %s", c.name, typ)
	}
	m := reflect.MakeMapWithSize(typ, len(c.fields)+1)
	dst.Set(m)
	d.keep(n, m)
	key := func(name string) reflect.Value {
		v := reflect.ValueOf(name)
		if typ.Key().Kind() == reflect.String {
			return v.Convert(typ.Key())
		}
		return v
	}
	if typ.Elem() == anyType {
		m.SetMapIndex(key(classKey), reflect.ValueOf(c.name))
	}
	for range c.values() - len(c.fields) {
		if err := d.skip(); err != nil {
			return err
		}
	}
	for _, name := range c.fields {
		v := reflect.New(typ.Elem()).Elem()
		if d.itself(c, name, typ) {
			if err := d.skip(); err != nil {
				return err
			}
		} else if err := d.into(v); err != nil {
			return under("."+name, err)
		}
		m.SetMapIndex(key(name), v)
	}
	return nil
}

// decimal reads a java.math.BigDecimal.
func (d *decoder) decimal(at, n int, c *class, dst reflect.Value) error {
	k := c.field("value")
	if k < 0 {
		return d.fail(at, "an object of %s does not fit the Go type %s", c.name, dst.Type())
	}
	text := reflect.New(reflect.TypeFor[string]()).Elem()
	if err := d.oneField(-1, c, k, text); err != nil {
		return err
	}
	v := dst.Addr().Interface().(*big.Decimal)
	v.Value = text.String()
	if err := v.FromString(v.Value); err != nil {
		return d.fail(at, "%s %s does not fit the Go type %s (%v): take a string", c.name, short(v.Value), dst.Type(), err)
	}
	d.keep(n, dst.Addr())
	return nil
}

// classKey is the key of the Java class in maps that stand for objects. No Java
// field can have this name.
const classKey = "class"
