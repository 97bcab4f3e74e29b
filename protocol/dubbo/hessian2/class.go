package hessian2

import (
	"maps"
	"sync"
	"sync/atomic"
)

// class is a class definition of the wire: the name and the fields in the order of
// the sender. It is immutable but for what it learns of Go types.
type class struct {
	name      string
	fields    []string
	wrapped   int  // the field that an object stands for, -1: it stands for itself
	single    bool // one field says it all: name (enum, Class) or value (BigDecimal, UUID, Locale)
	throwable bool // it has a message and a cause
	layouts   atomic.Pointer[[]layout]
}

// layout maps a class definition to a struct type.
type layout struct {
	plan *plan
	to   []int // by field of the class: index into plan.fields, -1 for none
}

// The classes that hessian-lite 4.0.4 writes in its compact mode: no field is
// declared, yet one long follows.
const (
	compactDate = "java.time.LocalDate" // days since 1970
	compactTime = "java.time.LocalTime" // nanoseconds of the day
)

// compact reports whether one undeclared long follows.
func (c *class) compact() bool {
	return len(c.fields) == 0 && (c.name == compactDate || c.name == compactTime)
}

// values returns how many values follow the object's head.
func (c *class) values() int {
	if c.compact() {
		return 1
	}
	return len(c.fields)
}

// field returns the index of a field, -1 for none.
func (c *class) field(name string) int {
	for i, f := range c.fields {
		if f == name {
			return i
		}
	}
	return -1
}

// layoutFor returns where the fields of c go in the struct of p.
func (c *class) layoutFor(p *plan) []int {
	known := c.layouts.Load()
	if known != nil {
		for _, l := range *known {
			if l.plan == p {
				return l.to
			}
		}
	}
	l := layout{plan: p, to: make([]int, len(c.fields))}
	for i, name := range c.fields {
		l.to[i] = p.find(name)
	}
	next := []layout{l}
	if known != nil {
		next = append(next, *known...)
	}
	c.layouts.CompareAndSwap(known, &next) // who loses makes it once more next time
	return l.to
}

// classDefinition reads a class definition behind its tag.
func (d *decoder) classDefinition() error {
	start := d.i
	t, err := d.tag()
	if err != nil {
		return err
	}
	if kinds[t] != kindString {
		return d.unexpected(t, "a class name")
	}
	if err := d.skipText(t); err != nil {
		return err
	}
	n, err := d.int32("the number of fields of a class")
	if err != nil {
		return err
	}
	if n < 0 || n > len(d.b)-d.i { // a name has one byte at least
		return d.fail(start, "a class of %d fields, but only %d bytes are left", n, len(d.b)-d.i)
	}
	for range n {
		if t, err = d.tag(); err != nil {
			return err
		}
		if kinds[t] != kindString {
			return d.unexpected(t, "a field name")
		}
		if err := d.skipText(t); err != nil {
			return err
		}
	}
	if d.nClass < len(d.classes) { // read before
		d.nClass++
		return nil
	}
	c, err := knownClasses.of(d.b[start:d.i], n)
	if err != nil {
		return err
	}
	d.classes = append(d.classes, c)
	d.nClass++
	return nil
}

// parseClass makes a class of the bytes of a definition that was found valid.
func parseClass(def []byte, n int) (*class, error) {
	d := decoder{b: def}
	name, err := d.string("a class name")
	if err != nil {
		return nil, err
	}
	c := &class{name: name, fields: make([]string, n)}
	if _, err = d.int32("the number of fields of a class"); err != nil {
		return nil, err
	}
	for i := range c.fields {
		if c.fields[i], err = d.string("a field name"); err != nil {
			return nil, err
		}
	}
	c.wrapped = -1
	if field, ok := wrappers[name]; ok {
		c.wrapped = c.field(field)
	}
	c.throwable = c.field("detailMessage") >= 0 && c.field("cause") >= 0
	c.single = n == 1 && (c.fields[0] == "name" || c.fields[0] == "value")
	return c, nil
}

// classCache keeps parsed class definitions by their bytes: providers send the same
// few over and over. It is bounded, for the bytes come from outside; when it is
// full, new ones are parsed each time.
type classCache struct {
	mu    sync.Mutex
	known atomic.Pointer[map[string]*class]
}

const (
	maxCachedClass   = 4 << 10 // bytes of one definition
	maxCachedClasses = 1024
)

var knownClasses classCache

func (k *classCache) of(def []byte, n int) (*class, error) {
	if known := k.known.Load(); known != nil {
		if c, ok := (*known)[string(def)]; ok {
			return c, nil
		}
	}
	c, err := parseClass(def, n)
	if err != nil || len(def) > maxCachedClass {
		return c, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	next := map[string]*class{}
	if known := k.known.Load(); known != nil {
		if len(*known) >= maxCachedClasses {
			return c, nil
		}
		next = maps.Clone(*known)
	}
	next[string(def)] = c
	k.known.Store(&next)
	return c, nil
}
