package hessian2

import (
	"reflect"
	"strconv"

	hessian "github.com/apache/dubbo-go-hessian2"
)

// room returns how many elements of a list may be allocated before they have been
// read. A list says how many follow; nested lists could each claim the whole rest
// of the message (D3), so what is taken on trust is limited for the message as a
// whole. The first few are always granted.
func (d *decoder) room(length int, size uintptr) int {
	const few = 64
	if length <= few {
		return max(length, 0)
	}
	if cost := length * int(size); cost <= d.trust {
		d.trust -= cost
		return length
	}
	return few
}

// measure returns the length of the list whose elements begin here, -1 for one that
// does not say, and how many to allocate now. When something may refer to the list
// they are all of them, counted if need be.
func (d *decoder) measure(n int, h listHead, size uintptr) (length, room int, err error) {
	length = h.length
	if length >= 0 {
		room = d.room(length, size)
	}
	if n < 0 || length >= 0 && room == length {
		return length, room, nil
	}
	if d.refs[n].count < 0 { // look ahead; the lists within it learn theirs by the way
		back := d.place()
		count, err := d.skipElements(length)
		if err != nil {
			return 0, 0, err
		}
		d.seek(back)
		d.refs[n].count = count
	}
	return d.refs[n].count, d.refs[n].count, nil
}

func (d *decoder) intoList(t byte, dst reflect.Value) error {
	at, collection := d.i-1, isCollection(dst.Type())
	if dst.Kind() != reflect.Slice && dst.Kind() != reflect.Array && !collection {
		return d.mismatch(kindList, dst)
	}
	n, h, err := d.listHead(t)
	if err != nil {
		return err
	}
	if collection {
		return d.collection(at, n, h, dst)
	}
	return d.elements(at, n, h, dst)
}

// collection reads a list behind its head into a Go type that stands for a Java
// collection.
func (d *decoder) collection(at, n int, h listHead, dst reflect.Value) error {
	d.keep(n, dst.Addr())
	var l []any
	if err := d.elements(at, -1, h, reflect.ValueOf(&l).Elem()); err != nil {
		return err
	}
	dst.Addr().Interface().(hessian.JavaCollectionObject).Set(l)
	d.end(n)
	return nil
}

// elements reads a list behind its head into a slice or array.
func (d *decoder) elements(at, n int, h listHead, dst reflect.Value) error {
	length, room, err := d.measure(n, h, dst.Type().Elem().Size())
	if err != nil {
		return err
	}
	array := dst.Kind() == reflect.Array
	if !array {
		s := reflect.MakeSlice(dst.Type(), room, room)
		dst.Set(s)
		d.keep(n, s) // it has its final length: see measure
	}
	i := 0
	for ; length < 0 && d.peek() != tagEnd || i < length; i++ {
		if i == dst.Len() {
			if array {
				return d.fail(at, "a list of more than %d elements does not fit the Go type %s", i, dst.Type())
			}
			grow(dst, length)
		}
		if err := d.into(dst.Index(i)); err != nil {
			return under("["+strconv.Itoa(i)+"]", err)
		}
	}
	switch {
	case array && i < dst.Len():
		return d.fail(at, "a list of %d elements does not fit the Go type %s", i, dst.Type())
	case !array:
		dst.SetLen(i)
	default:
		d.keep(n, dst)
	}
	return d.listEnd(n, h)
}

// grow makes a slice longer that nothing refers to.
func grow(s reflect.Value, most int) {
	n := max(2*s.Len(), 8)
	if most >= 0 {
		n = min(n, most)
	}
	s.Grow(n - s.Len())
	s.SetLen(n)
}

func (d *decoder) intoMap(t byte, dst reflect.Value) error {
	if dst.Kind() != reflect.Map && (dst.Kind() != reflect.Struct || isSpecial(dst.Type())) {
		return d.mismatch(kindMap, dst)
	}
	n, _, err := d.mapHead(t)
	if err != nil {
		return err
	}
	if dst.Kind() == reflect.Struct {
		return d.pairsIntoStruct(n, dst)
	}
	m := reflect.MakeMap(dst.Type())
	dst.Set(m)
	d.keep(n, m)
	for d.peek() != tagEnd {
		at := d.i
		key := reflect.New(m.Type().Key()).Elem()
		if err := d.into(key); err != nil {
			return under("{key}", err)
		}
		if k := mapKey(key.Interface()); k != nil && key.Type() == anyType {
			key.Set(reflect.ValueOf(k))
		} else if !key.Comparable() {
			return d.fail(at, "a key of the Go type %s cannot be compared", key.Type())
		}
		value := reflect.New(m.Type().Elem()).Elem()
		if err := d.into(value); err != nil {
			return under("{"+short(Text(key.Interface()))+"}", err)
		}
		m.SetMapIndex(key, value)
	}
	return d.mapEnd(n)
}

// mapKey makes a value usable as a key of a Go map: a list or map becomes its text
// (B189).
func mapKey(v any) any {
	if v == nil || reflect.TypeOf(v).Comparable() {
		return v
	}
	return Text(v)
}

// short cuts a text for an error.
func short(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// pairsIntoStruct reads the rest of a map into the fields named by its keys, as for
// POJOs in answers to generic calls.
func (d *decoder) pairsIntoStruct(n int, dst reflect.Value) error {
	p, err := planOf(dst.Type())
	if err != nil {
		return d.fail(d.i-1, "%v", err)
	}
	d.keep(n, dst.Addr())
	for d.peek() != tagEnd {
		name, err := d.string("a key that is a field name of " + dst.Type().String())
		if err != nil {
			return err
		}
		if i := p.find(name); i < 0 {
			err = d.skip()
		} else {
			err = d.into(p.fields[i].of(dst))
		}
		if err != nil {
			return under("."+name, err)
		}
	}
	return d.mapEnd(n)
}
