package hessian2

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// maxDepth bounds how deep values may nest, both ways. Java's own recursion gives
// up not far beyond; a hostile message must not exhaust the stack.
const maxDepth = 1024

// DecodeError says what in a message cannot be decoded and where (B111).
type DecodeError struct {
	Offset int    // of the byte that does not fit, in the body
	Path   string // of the value, such as .items[3].price; "" for the whole
	Reason string
}

// Error returns one line with place and reason.
func (e *DecodeError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("hessian2: cannot decode at byte %d: %s", e.Offset, e.Reason)
	}
	return fmt.Sprintf("hessian2: cannot decode %s at byte %d: %s", e.Path, e.Offset, e.Reason)
}

// under puts the path of the enclosing value in front of err's.
func under(step string, err error) error {
	if e, ok := err.(*DecodeError); ok && len(e.Path) < 256 {
		e.Path = step + e.Path
	}
	return err
}

// decoder reads the values of one message from a byte slice. It trusts nothing:
// nesting is bounded, and no length is believed beyond the bytes that are left.
// It is used once and by one goroutine.
type decoder struct {
	b     []byte
	i     int // the next byte
	depth int

	// Tables that later values refer to, in order of appearance.
	refs    []ref
	classes []*class
	types   []string
	// How many of the tables' entries lie before i. They are less than the
	// tables' lengths while something is read again.
	nRef, nClass, nType int

	strange []*class // nobody has registered a Go type for them

	plain  bool // the message holds no reference: refs stays empty
	trust  int  // bytes that may still be allocated for elements not yet read
	reread int  // bytes read again so far
}

// newDecoder returns a decoder of a message.
func newDecoder(b []byte) decoder {
	return decoder{b: b, plain: bytes.IndexByte(b, tagReference) < 0, trust: 64<<10 + 16*len(b)}
}

func (d *decoder) fail(at int, format string, args ...any) error {
	return &DecodeError{Offset: at, Reason: fmt.Sprintf(format, args...)}
}

func (d *decoder) short() error {
	return d.fail(len(d.b), "the message ends in the middle of a value")
}

// unexpected is the error for a value of the wrong kind that begins at d.i-1.
func (d *decoder) unexpected(t byte, want string) error {
	if k := kinds[t]; k != kindNone {
		return d.fail(d.i-1, "%s instead of %s", k, want)
	}
	return d.fail(d.i-1, "0x%02x cannot begin a value (%s is expected)", t, want)
}

func (d *decoder) tag() (byte, error) {
	if d.i >= len(d.b) {
		return 0, d.short()
	}
	t := d.b[d.i]
	d.i++
	return t, nil
}

// peek returns the next byte without reading it; tagEnd stands for none left.
func (d *decoder) peek() byte {
	if d.i < len(d.b) {
		return d.b[d.i]
	}
	return tagEnd
}

func (d *decoder) take(n int) ([]byte, error) {
	if n < 0 || n > len(d.b)-d.i {
		return nil, d.short()
	}
	x := d.b[d.i : d.i+n]
	d.i += n
	return x, nil
}

// enter and leave bracket everything that can nest.
func (d *decoder) enter() error {
	if d.depth++; d.depth > maxDepth {
		return d.fail(d.i-1, "values nest deeper than %d levels", maxDepth)
	}
	return nil
}

func (d *decoder) leave() { d.depth-- }

// integer reads the rest of an int or a long.
func (d *decoder) integer(t byte) (int64, error) {
	x, err := d.take(int(sizes[t]))
	if err != nil {
		return 0, err
	}
	switch {
	case t == tagInt, t == tagLongInt:
		return int64(int32(binary.BigEndian.Uint32(x))), nil
	case t == tagLong:
		return int64(binary.BigEndian.Uint64(x)), nil
	case 0x80 <= t && t <= 0xbf:
		return int64(t) - tagIntZero, nil
	case 0xc0 <= t && t <= 0xcf:
		return (int64(t)-tagIntShortZero)<<8 | int64(x[0]), nil
	case 0xd0 <= t && t <= 0xd7:
		return (int64(t)-tagIntTriadZero)<<16 | int64(x[0])<<8 | int64(x[1]), nil
	case 0xd8 <= t && t <= 0xef:
		return int64(t) - tagLongZero, nil
	case 0xf0 <= t:
		return (int64(t)-tagLongShortZero)<<8 | int64(x[0]), nil
	default: // 38-3f
		return (int64(t)-tagLongTriadZero)<<16 | int64(x[0])<<8 | int64(x[1]), nil
	}
}

// int32 reads an int that is part of the grammar: a length, an index, a flag.
func (d *decoder) int32(what string) (int, error) {
	t, err := d.tag()
	if err != nil {
		return 0, err
	}
	if kinds[t] != kindInt {
		return 0, d.unexpected(t, what)
	}
	v, err := d.integer(t)
	return int(v), err
}

// double reads the rest of a double.
func (d *decoder) double(t byte) (float64, error) {
	x, err := d.take(int(sizes[t]))
	if err != nil {
		return 0, err
	}
	switch t {
	case tagDoubleZero:
		return 0, nil
	case tagDoubleOne:
		return 1, nil
	case tagDoubleByte:
		return float64(int8(x[0])), nil
	case tagDoubleShort:
		return float64(int16(binary.BigEndian.Uint16(x))), nil
	case tagDoubleMill: // as Java computes it: m/1000 would differ in the last bit
		return 0.001 * float64(int32(binary.BigEndian.Uint32(x))), nil
	default:
		return math.Float64frombits(binary.BigEndian.Uint64(x)), nil
	}
}

// date reads the rest of a date. The location is UTC.
func (d *decoder) date(t byte) (time.Time, error) {
	x, err := d.take(int(sizes[t]))
	if err != nil {
		return time.Time{}, err
	}
	if t == tagDateMinute {
		return time.Unix(int64(int32(binary.BigEndian.Uint32(x)))*60, 0).UTC(), nil
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(x))).UTC(), nil
}

// binary reads the rest of a binary, all its chunks.
func (d *decoder) binary(t byte) ([]byte, error) {
	out := []byte{}
	for {
		n, err := d.length(t)
		if err != nil {
			return nil, err
		}
		x, err := d.take(n)
		if err != nil {
			return nil, err
		}
		out = append(out, x...)
		if t != tagBinaryChunk {
			return out, nil
		}
		if t, err = d.tag(); err != nil {
			return nil, err
		}
		if kinds[t] != kindBinary {
			return nil, d.unexpected(t, "the next chunk of a binary")
		}
	}
}

// length reads the length of a string or binary chunk.
func (d *decoder) length(t byte) (int, error) {
	x, err := d.take(int(sizes[t]))
	if err != nil {
		return 0, err
	}
	switch {
	case len(x) == 2:
		return int(x[0])<<8 | int(x[1]), nil
	case len(x) == 1:
		return int(t&3)<<8 | int(x[0]), nil
	case t < tagBinaryDirect:
		return int(t), nil
	default:
		return int(t - tagBinaryDirect), nil
	}
}
