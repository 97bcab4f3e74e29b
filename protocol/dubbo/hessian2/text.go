package hessian2

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"github.com/gofer-rpc/gofer/protocol"
)

// The serializations whose texts a consumer meets, whatever it asked for.
const (
	serializationHessian2  = 2
	serializationFastjson2 = 23
)

// DecodeText decodes the body of a response whose status is not 20, or of an event:
// one string. A Dubbo 3.2 provider as it comes writes it in serialization 23
// (fastjson2) also to a consumer that speaks Hessian2. null is "". ok is false when
// the body is no string or null in the serialization, or the serialization is
// another one: the status is still good then.
func DecodeText(serialization byte, body []byte) (text string, ok bool) {
	switch serialization {
	case serializationHessian2:
		d := decoder{b: body}
		t, err := d.tag()
		if err == nil && t == tagNull {
			return "", true
		}
		if err != nil || kinds[t] != kindString {
			return "", false
		}
		text, err = d.text(t)
		return text, err == nil
	case serializationFastjson2:
		if len(body) < 4 || uint64(binary.BigEndian.Uint32(body)) != uint64(len(body)-4) {
			return "", false
		}
		return jsonbText(body[4:])
	}
	return "", false
}

// The bytes of JSONB that begin a null or a string.
const (
	jsonbNull     = 0xaf
	jsonbLatin1   = 0x49 // 49-78: the length itself
	jsonbLatin1Of = 0x79 // a length follows
	jsonbUTF8     = 0x7a
	jsonbUTF16LE  = 0x7c
	jsonbUTF16BE  = 0x7d
)

func jsonbText(b []byte) (text string, ok bool) {
	if len(b) == 0 {
		return "", false
	}
	t, b := b[0], b[1:]
	if t == jsonbNull {
		return "", len(b) == 0
	}
	n := int(t) - jsonbLatin1
	if t >= jsonbLatin1Of {
		if n, b, ok = jsonbInt(b); !ok {
			return "", false
		}
	}
	if n < 0 || n != len(b) {
		return "", false
	}
	switch {
	case jsonbLatin1 <= t && t <= jsonbLatin1Of:
		return latin1(b), true
	case t == jsonbUTF8:
		return strings.ToValidUTF8(string(b), "\uFFFD"), true
	case t == jsonbUTF16LE && n%2 == 0:
		return utf16Text(b, binary.LittleEndian), true
	case t == jsonbUTF16BE && n%2 == 0:
		return utf16Text(b, binary.BigEndian), true
	}
	return "", false
}

// jsonbInt reads a length.
func jsonbInt(b []byte) (n int, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	switch t := b[0]; {
	case t <= 0x2f:
		return int(t), b[1:], true
	case t <= 0x3f && len(b) > 1:
		return (int(t)-0x38)<<8 | int(b[1]), b[2:], true
	case 0x40 <= t && t <= 0x47 && len(b) > 2:
		return (int(t)-0x44)<<16 | int(b[1])<<8 | int(b[2]), b[3:], true
	case t == 0x48 && len(b) > 4:
		return int(int32(binary.BigEndian.Uint32(b[1:]))), b[5:], true
	}
	return 0, nil, false
}

func latin1(b []byte) string {
	if asciiRun(b, len(b)) == len(b) {
		return string(b)
	}
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}

func utf16Text(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// RemoteFromText cuts the business exception out of the text of status 50
// (BAD_RESPONSE): a provider that could not serialize an exception says so there,
// with the exception printed. The method was executed; class and message are
// known, the fields are lost. ok is false when the text names no exception.
func RemoteFromText(text string) (remote *protocol.RemoteError, ok bool) {
	_, rest, found := strings.Cut(text, "exception=")
	// A value printed before it may contain the word as well; with an exception
	// there is no value.
	for _, lead := range []string{"[value=null, exception=", "[result=null, exception="} {
		if _, r, exact := strings.Cut(text, lead); exact {
			rest, found = r, true
			break
		}
	}
	if !found {
		return nil, false
	}
	printed, _, found := strings.Cut(rest, "]], cause: ")
	if !found {
		i := strings.LastIndex(rest, "]]")
		if i < 0 {
			return nil, false
		}
		printed = rest[:i]
	}
	class, message, _ := strings.Cut(printed, ": ")
	if class = strings.TrimSuffix(class, ":"); class == "null" || !isClassName(class) {
		return nil, false
	}
	return &protocol.RemoteError{Class: class, Message: message}, true
}
