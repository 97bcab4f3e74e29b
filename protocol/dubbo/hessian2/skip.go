package hessian2

// skip reads a value for its structure alone: that every length and index fits and
// nothing is missing. It notes what later values may refer to.
func (d *decoder) skip() error {
	t, err := d.tag()
	if err != nil {
		return err
	}
	switch kinds[t] {
	case kindNull, kindBool, kindInt, kindLong, kindDouble, kindDate:
		_, err = d.take(int(sizes[t]))
		return err
	case kindString:
		return d.skipText(t)
	case kindBinary:
		return d.skipBinary(t)
	case kindReference:
		_, err = d.index()
		return err
	case kindNone:
		return d.unexpected(t, "a value")
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	switch kinds[t] {
	case kindList:
		return d.skipList(t)
	case kindMap:
		return d.skipMap(t)
	default:
		return d.skipObject(t)
	}
}

func (d *decoder) skipBinary(t byte) error {
	for {
		n, err := d.length(t)
		if err != nil {
			return err
		}
		if _, err = d.take(n); err != nil {
			return err
		}
		if t != tagBinaryChunk {
			return nil
		}
		if t, err = d.tag(); err != nil {
			return err
		}
		if kinds[t] != kindBinary {
			return d.unexpected(t, "the next chunk of a binary")
		}
	}
}

func (d *decoder) skipList(t byte) error {
	n, h, err := d.listHead(t)
	if err != nil {
		return err
	}
	count, err := d.skipElements(h.length)
	if err != nil {
		return err
	}
	if n >= 0 {
		d.refs[n].count = count
	}
	return d.listEnd(n, h)
}

// skipElements skips the elements of a list, up to the end mark if length < 0.
func (d *decoder) skipElements(length int) (count int, err error) {
	for ; length < 0 && d.peek() != tagEnd || count < length; count++ {
		if err := d.skip(); err != nil {
			return count, err
		}
	}
	return count, nil
}

func (d *decoder) skipMap(t byte) error {
	n, _, err := d.mapHead(t)
	if err != nil {
		return err
	}
	count, mixed, err := d.skipPairs()
	if err != nil {
		return err
	}
	if n >= 0 {
		d.refs[n].count, d.refs[n].mixed = count, mixed
	}
	return d.mapEnd(n)
}

// skipPairs skips the pairs of a map and reports whether a key is no string.
func (d *decoder) skipPairs() (count int, mixed bool, err error) {
	for ; d.peek() != tagEnd; count++ {
		mixed = mixed || kinds[d.peek()] != kindString
		if err := d.skip(); err != nil {
			return count, mixed, err
		}
		if err := d.skip(); err != nil {
			return count, mixed, err
		}
	}
	return count, mixed, nil
}

func (d *decoder) skipObject(t byte) error {
	n, c, err := d.objectHead(t)
	if err != nil {
		return err
	}
	for range c.values() {
		if err := d.skip(); err != nil {
			return err
		}
	}
	d.end(n)
	return nil
}

// listHead is what stands in front of a list's elements.
type listHead struct {
	name   string // Java type, "" for none
	length int    // -1: until the end mark
}

// listHead reads the head of the list with tag t.
func (d *decoder) listHead(t byte) (n int, h listHead, err error) {
	at := d.i - 1
	n = d.begin(place{at, d.nRef, d.nClass, d.nType})
	switch {
	case t == tagListOpen, t == tagList, tagListShort <= t && t < tagListUntypedShort:
		if h.name, err = d.typeName(); err != nil {
			return n, h, err
		}
	}
	switch {
	case t == tagListOpen, t == tagListUntypedOpen:
		h.length = -1
		return n, h, nil
	case t == tagList, t == tagListUntyped:
		if h.length, err = d.int32("the length of a list"); err != nil {
			return n, h, err
		}
	default:
		h.length = int(t & 7)
	}
	if h.length < 0 || h.length > len(d.b)-d.i { // an element has one byte at least
		return n, h, d.fail(at, "a list of %d elements, but only %d bytes are left", h.length, len(d.b)-d.i)
	}
	return n, h, nil
}

// listEnd reads what follows a list's elements.
func (d *decoder) listEnd(n int, h listHead) error {
	if h.length < 0 {
		if _, err := d.tag(); err != nil { // the loop stopped at 'Z' or at the end of the message (D12)
			return err
		}
	}
	d.end(n)
	return nil
}

// mapHead reads the head of the map with tag t.
func (d *decoder) mapHead(t byte) (n int, name string, err error) {
	n = d.begin(place{d.i - 1, d.nRef, d.nClass, d.nType})
	if t == tagMap {
		name, err = d.typeName()
	}
	return n, name, err
}

// mapEnd reads what follows a map's pairs.
func (d *decoder) mapEnd(n int) error {
	if _, err := d.tag(); err != nil {
		return err
	}
	d.end(n)
	return nil
}

// typeName reads the type of a list or map: its name, or the number of an earlier one.
func (d *decoder) typeName() (string, error) {
	at := d.i
	t, err := d.tag()
	if err != nil {
		return "", err
	}
	switch kinds[t] {
	case kindString:
		if d.nType < len(d.types) { // read before
			d.nType++
			return d.types[d.nType-1], d.skipText(t)
		}
		name, err := d.text(t)
		if err != nil {
			return "", err
		}
		d.types = append(d.types, name)
		d.nType++
		return name, nil
	case kindInt:
		k, err := d.integer(t)
		if err != nil {
			return "", err
		}
		if k < 0 || k >= int64(d.nType) {
			return "", d.fail(at, "type number %d, but only %d came before", k, d.nType)
		}
		return d.types[k], nil
	default:
		return "", d.unexpected(t, "the type of a list or map")
	}
}

// objectHead reads what stands before the fields of an object: class definitions
// and the number of its class.
func (d *decoder) objectHead(t byte) (n int, c *class, err error) {
	start := place{d.i - 1, d.nRef, d.nClass, d.nType} // before its class definition
	for t == tagClass {
		if err = d.classDefinition(); err != nil {
			return 0, nil, err
		}
		if t, err = d.tag(); err != nil {
			return 0, nil, err
		}
		if kinds[t] != kindObject {
			return 0, nil, d.unexpected(t, "an object after its class definition")
		}
	}
	at := d.i - 1
	k := int(t) - tagObjectShort
	if t == tagObject {
		if k, err = d.int32("the number of a class"); err != nil {
			return 0, nil, err
		}
	}
	if k < 0 || k >= d.nClass {
		return 0, nil, d.fail(at, "class number %d, but only %d came before", k, d.nClass)
	}
	return d.begin(start), d.classes[k], nil
}
