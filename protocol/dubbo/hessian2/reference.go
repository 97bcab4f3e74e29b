package hessian2

import (
	"reflect"
	"slices"
)

// ref is a list, map or object of the message: what a later "reference n" means.
//
// The bytes of the whole message are at hand, so a ref need not hold a value of
// every Go type that somebody wants: what was skipped, or was read into another
// type, is read again from where it begins.
type ref struct {
	start  place
	end    int // behind it; 0 while it is being read
	count  int // elements of a list or pairs of a map, once skipped; -1 unknown
	mixed  bool
	values []reflect.Value // what it was read into, one per Go type
}

// place is a place in the message, with how much of the tables lies before it.
type place struct{ i, nRef, nClass, nType int }

func (d *decoder) place() place { return place{d.i, d.nRef, d.nClass, d.nType} }

// seek goes to a place that was read before. Reading on finds the entries of the
// tables that are there already.
func (d *decoder) seek(p place) { d.i, d.nRef, d.nClass, d.nType = p.i, p.nRef, p.nClass, p.nType }

// begin notes the container that starts at p and returns its index, -1 when nothing
// refers to anything in this message.
func (d *decoder) begin(p place) int {
	if d.plain {
		return -1
	}
	n := d.nRef
	d.nRef++
	if n == len(d.refs) {
		d.refs = append(d.refs, ref{start: p, count: -1})
	}
	d.refs[n].end = 0
	return n
}

// end notes that the container has been read to its end.
func (d *decoder) end(n int) {
	if n >= 0 {
		d.refs[n].end = d.i
	}
}

// keep notes the Go value of a container, before its content is read where that is
// possible: the content may refer to it.
func (d *decoder) keep(n int, v reflect.Value) {
	if n >= 0 {
		d.refs[n].values = append(d.refs[n].values, v)
	}
}

// index reads the number of a reference.
func (d *decoder) index() (int, error) {
	at := d.i - 1
	n, err := d.int32("the number of a reference")
	if err != nil {
		return 0, err
	}
	if n < 0 || n >= d.nRef {
		return 0, d.fail(at, "reference to value %d, but only %d came before", n, d.nRef)
	}
	return n, nil
}

// reference reads a reference into dst.
func (d *decoder) reference(dst reflect.Value) error {
	at := d.i - 1
	n, err := d.index()
	if err != nil {
		return err
	}
	t := dst.Type()
	for _, v := range slices.Backward(d.refs[n].values) { // what was read last fits best
		switch {
		case v.Type() == t, t.Kind() == reflect.Interface && v.Type().Implements(t):
			dst.Set(v)
			return nil
		case v.Kind() == reflect.Pointer && v.Type().Elem() == t:
			if d.refs[n].end == 0 {
				return d.fail(at, "a value that contains itself needs a pointer, not %s", t)
			}
			dst.Set(v.Elem())
			return nil
		}
	}
	return d.again(n, at, func() error { return d.into(dst) })
}

// again reads value n once more from its beginning.
func (d *decoder) again(n, at int, read func() error) error {
	back, start := d.place(), d.refs[n].start
	if d.reread += max(d.refs[n].end, d.i) - start.i; d.reread > 16*len(d.b)+1024 {
		return d.fail(at, "too many references to values of other types")
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	d.seek(start)
	err := read()
	d.seek(back)
	return err
}
