package hessian2

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// chunkSize is the number of UTF-16 units (strings) or bytes (binaries) in a
// chunk, as Java's Hessian2Output has it for strings.
const chunkSize = 0x8000

// javaNaN is the one NaN that Java writes.
const javaNaN = 0x7ff8000000000000

// AppendNull appends null.
func AppendNull(b []byte) []byte { return append(b, tagNull) }

// AppendBool appends a boolean.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, tagTrue)
	}
	return append(b, tagFalse)
}

// AppendInt32 appends an int in its shortest form, as Java does.
func AppendInt32(b []byte, v int32) []byte {
	switch {
	case -0x10 <= v && v <= 0x2f:
		return append(b, byte(v+tagIntZero))
	case -0x800 <= v && v <= 0x7ff:
		return append(b, byte(v>>8+tagIntShortZero), byte(v))
	case -0x40000 <= v && v <= 0x3ffff:
		return append(b, byte(v>>16+tagIntTriadZero), byte(v>>8), byte(v))
	default:
		return binary.BigEndian.AppendUint32(append(b, tagInt), uint32(v))
	}
}

// AppendInt64 appends a long in its shortest form, as Java does.
func AppendInt64(b []byte, v int64) []byte {
	switch {
	case -0x08 <= v && v <= 0x0f:
		return append(b, byte(v+tagLongZero))
	case -0x800 <= v && v <= 0x7ff:
		return append(b, byte(v>>8+tagLongShortZero), byte(v))
	case -0x40000 <= v && v <= 0x3ffff:
		return append(b, byte(v>>16+tagLongTriadZero), byte(v>>8), byte(v))
	case math.MinInt32 <= v && v <= math.MaxInt32:
		return binary.BigEndian.AppendUint32(append(b, tagLongInt), uint32(v))
	default:
		return binary.BigEndian.AppendUint64(append(b, tagLong), uint64(v))
	}
}

// AppendFloat64 appends a double in its shortest form, as Java does. Like in Java
// a negative zero loses its sign.
func AppendFloat64(b []byte, v float64) []byte {
	if v != v {
		v = math.Float64frombits(javaNaN)
	}
	switch whole := javaInt(v); {
	case float64(whole) != v: // has a fraction, or is out of range
	case whole == 0:
		return append(b, tagDoubleZero)
	case whole == 1:
		return append(b, tagDoubleOne)
	case math.MinInt8 <= whole && whole <= math.MaxInt8:
		return append(b, tagDoubleByte, byte(whole))
	case math.MinInt16 <= whole && whole <= math.MaxInt16:
		return append(b, tagDoubleShort, byte(whole>>8), byte(whole))
	}
	if mills := javaInt(v * 1000); 0.001*float64(mills) == v {
		return binary.BigEndian.AppendUint32(append(b, tagDoubleMill), uint32(mills))
	}
	return binary.BigEndian.AppendUint64(append(b, tagDouble), math.Float64bits(v))
}

// javaInt converts as Java's (int) does: saturating, NaN becomes 0.
func javaInt(v float64) int32 {
	switch {
	case v != v:
		return 0
	case v >= math.MaxInt32:
		return math.MaxInt32
	case v <= math.MinInt32:
		return math.MinInt32
	default:
		return int32(v)
	}
}

// AppendFloat32 appends a float. Hessian has only doubles, and hessian-lite writes
// the double with the same decimal text: 99.8f arrives as 99.8f (B143).
func AppendFloat32(b []byte, v float32) []byte {
	return AppendFloat64(b, widen(v))
}

// widen returns the double with the decimal text of v.
func widen(v float32) float64 {
	if v == float32(int32(v)) { // exact in both; also the usual case
		return float64(v)
	}
	var text [32]byte
	d, err := strconv.ParseFloat(string(strconv.AppendFloat(text[:0], float64(v), 'g', -1, 32)), 64)
	if err != nil { // cannot be: the text is a number in the range of a float
		return float64(v)
	}
	return d
}

// AppendString appends a string, counted in UTF-16 units and with surrogates of
// three bytes each (CESU-8), as Java does. Bytes that are no UTF-8 become U+FFFD.
func AppendString(b []byte, s string) []byte {
	units, ascii := utf16Units(s)
	for units > chunkSize {
		head, n := cutUnits(s, chunkSize, ascii)
		b = append(b, tagStringChunk, byte(n>>8), byte(n))
		b = appendUnits(b, head, ascii)
		s, units = s[len(head):], units-n
	}
	switch {
	case units <= maxStringDirect:
		b = append(b, byte(units))
	case units <= maxStringShort:
		b = append(b, byte(units>>8+tagStringShort), byte(units))
	default:
		b = append(b, tagString, byte(units>>8), byte(units))
	}
	return appendUnits(b, s, ascii)
}

// utf16Units returns the length of s in UTF-16 units and whether s is all ASCII.
func utf16Units(s string) (n int, ascii bool) {
	for n < len(s) && s[n] < utf8.RuneSelf {
		n++
	}
	if n == len(s) {
		return n, true
	}
	for _, r := range s[n:] {
		n += utf16.RuneLen(r)
	}
	return n, false
}

// cutUnits returns the longest head of s with at most limit units, whole runes
// only: a surrogate pair is never cut.
func cutUnits(s string, limit int, ascii bool) (head string, units int) {
	if ascii {
		return s[:limit], limit
	}
	for i, r := range s {
		n := utf16.RuneLen(r)
		if units+n > limit {
			return s[:i], units
		}
		units += n
	}
	return s, units
}

// appendUnits appends the text of s as CESU-8.
func appendUnits(b []byte, s string, ascii bool) []byte {
	if ascii {
		return append(b, s...)
	}
	for _, r := range s {
		if r < 0x10000 {
			b = utf8.AppendRune(b, r)
			continue
		}
		high, low := utf16.EncodeRune(r)
		b = appendSurrogate(appendSurrogate(b, high), low)
	}
	return b
}

func appendSurrogate(b []byte, u rune) []byte {
	return append(b, 0xe0|byte(u>>12), 0x80|byte(u>>6)&0x3f, 0x80|byte(u)&0x3f)
}

// AppendBytes appends a binary (Java byte[]). nil is an empty one: use
// [AppendNull] for null.
func AppendBytes(b, v []byte) []byte {
	for len(v) > chunkSize {
		b = append(b, tagBinaryChunk, chunkSize>>8, chunkSize&0xff)
		b = append(b, v[:chunkSize]...)
		v = v[chunkSize:]
	}
	switch n := len(v); {
	case n <= maxBinaryDirect:
		b = append(b, byte(n+tagBinaryDirect))
	case n <= maxBinaryShort:
		b = append(b, byte(n>>8+tagBinaryShort), byte(n))
	default:
		b = append(b, tagBinary, byte(n>>8), byte(n))
	}
	return append(b, v...)
}

// AppendTime appends a java.util.Date: the instant, cut to milliseconds. The zero
// time is null (B139).
func AppendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return AppendNull(b)
	}
	ms := t.UnixMilli()
	if minutes := ms / 60_000; ms%60_000 == 0 && minutes == int64(int32(minutes)) {
		return binary.BigEndian.AppendUint32(append(b, tagDateMinute), uint32(minutes))
	}
	return binary.BigEndian.AppendUint64(append(b, tagDate), uint64(ms))
}
