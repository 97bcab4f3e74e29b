package hessian2

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads the rest of a string. Halves of surrogate pairs that stand alone
// become U+FFFD (B129).
func (d *decoder) text(t byte) (string, error) {
	n, err := d.length(t)
	if err != nil {
		return "", err
	}
	if t != tagStringChunk { // the usual case: one chunk, all ASCII
		if rest := d.b[d.i:]; asciiRun(rest, n) == n {
			d.i += n
			return string(rest[:n]), nil
		}
	}
	var units unitReader
	units.out = make([]byte, 0, min(n, len(d.b)-d.i))
	for {
		if err := units.chunk(d, n); err != nil {
			return "", err
		}
		if t != tagStringChunk {
			return units.end(), nil
		}
		if t, err = d.tag(); err != nil {
			return "", err
		}
		if kinds[t] != kindString {
			return "", d.unexpected(t, "the next chunk of a string")
		}
		if n, err = d.length(t); err != nil {
			return "", err
		}
	}
}

// asciiRun returns how many of the first n bytes of b are ASCII without a gap.
func asciiRun(b []byte, n int) int {
	n = min(n, len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if binary.NativeEndian.Uint64(b[i:])&0x8080808080808080 != 0 {
			break
		}
	}
	for i < n && b[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// unitReader makes UTF-8 of CESU-8. A surrogate pair may even be cut by a chunk.
type unitReader struct {
	out  []byte
	high rune // the first half of a pair, 0 for none
}

// chunk reads n UTF-16 units.
func (u *unitReader) chunk(d *decoder, n int) error {
	for n > 0 {
		if run := asciiRun(d.b[d.i:], n); run > 0 {
			u.flush()
			u.out = append(u.out, d.b[d.i:d.i+run]...)
			d.i += run
			n -= run
			continue
		}
		unit, err := d.unit()
		if err != nil {
			return err
		}
		n--
		switch {
		case u.high != 0 && 0xdc00 <= unit && unit <= 0xdfff:
			u.out = utf8.AppendRune(u.out, utf16.DecodeRune(u.high, unit))
			u.high = 0
		case 0xd800 <= unit && unit <= 0xdbff:
			u.flush()
			u.high = unit
		default:
			u.flush()
			u.out = utf8.AppendRune(u.out, unit) // a lone second half is written as U+FFFD
		}
	}
	return nil
}

// flush writes a first half that found no second one.
func (u *unitReader) flush() {
	if u.high != 0 {
		u.out = utf8.AppendRune(u.out, utf8.RuneError)
		u.high = 0
	}
}

func (u *unitReader) end() string {
	u.flush()
	return string(u.out)
}

// unit reads one UTF-16 unit in its encoding of one to three bytes.
func (d *decoder) unit() (rune, error) {
	x := d.b[d.i:]
	if len(x) == 0 {
		return 0, d.short()
	}
	size := 1
	switch c := x[0]; {
	case c < 0x80:
	case c&0xe0 == 0xc0:
		size = 2
	case c&0xf0 == 0xe0:
		size = 3
	default:
		return 0, d.fail(d.i, "0x%02x cannot begin a character of a string", c)
	}
	if len(x) < size {
		return 0, d.short()
	}
	u := rune(x[0])
	if size > 1 {
		u &= 0x7f >> size
	}
	for k, c := range x[1:size] {
		if c&0xc0 != 0x80 {
			return 0, d.fail(d.i+1+k, "0x%02x cannot continue a character of a string", c)
		}
		u = u<<6 | rune(c&0x3f)
	}
	d.i += size
	return u, nil
}

// skipText reads the rest of a string for nothing.
func (d *decoder) skipText(t byte) error {
	for {
		n, err := d.length(t)
		if err != nil {
			return err
		}
		for n > 0 {
			if run := asciiRun(d.b[d.i:], n); run > 0 {
				d.i += run
				n -= run
				continue
			}
			if _, err := d.unit(); err != nil {
				return err
			}
			n--
		}
		if t != tagStringChunk {
			return nil
		}
		if t, err = d.tag(); err != nil {
			return err
		}
		if kinds[t] != kindString {
			return d.unexpected(t, "the next chunk of a string")
		}
	}
}

// string reads a string that is part of the grammar: a class or field name, a key.
func (d *decoder) string(what string) (string, error) {
	t, err := d.tag()
	if err != nil {
		return "", err
	}
	if kinds[t] != kindString {
		return "", d.unexpected(t, what)
	}
	return d.text(t)
}
