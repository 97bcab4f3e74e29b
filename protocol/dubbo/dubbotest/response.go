package dubbotest

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// The kinds of results; with attachments behind them each is three more.
const (
	resultException = iota
	resultValue
	resultNull
	resultAttachments
)

// protocolVersion is what a provider says about itself in the attachments.
const protocolVersion = "2.0.2"

// answerFrame builds an answer of any kind.
func answerFrame(id uint64, serialization byte, status frame.Status, body []byte) []byte {
	f := frame.Header{Serialization: serialization, Status: status}.Append(nil)
	f = append(f, body...)
	frame.Seal(f, id)
	return f
}

// status builds an answer that is an error text of the provider.
func (p Profile) status(id uint64, status frame.Status, text string) []byte {
	return answerFrame(id, p.serialization(), status, encodeText(p.serialization(), text))
}

// event builds a one-way event; without a text it has a null.
func (p Profile) event(text string) []byte {
	body := encodeText(p.serialization(), text)
	if text == "" {
		body = encodeNull(p.serialization())
	}
	f := frame.Header{Request: true, Event: true, Serialization: p.serialization()}.Append(nil)
	f = append(f, body...)
	frame.Seal(f, 0)
	return f
}

// encodeResult encodes the body of a status 20: a value (nil is null), or an
// exception, and attachments unless the consumer's version has none.
func encodeResult(kind int, value any, attachments map[string]any) ([]byte, error) {
	values := []any{int32(kind)}
	if attachments != nil {
		values[0] = int32(kind + resultAttachments)
	}
	if kind != resultNull {
		values = append(values, value)
	}
	if attachments != nil {
		values = append(values, attachments)
	}
	return hessian2.AppendArguments(nil, values)
}

func encodeNull(serialization byte) []byte {
	if serialization == frame.Fastjson2 {
		return sized([]byte{jsonbNull})
	}
	return hessian2.AppendNull(nil)
}

func encodeText(serialization byte, text string) []byte {
	if serialization == frame.Fastjson2 {
		return sized(jsonbText(text))
	}
	return hessian2.AppendString(nil, text)
}

// sized puts the length in front of a JSONB value, as Dubbo's fastjson2 does.
func sized(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// The bytes that begin a null or a string in fastjson2's JSONB.
const (
	jsonbNull     = 0xaf
	jsonbLatin1   = 0x49 // with lengths up to 47 added
	jsonbLatin1Of = 0x79 // a length follows
	jsonbUTF8     = 0x7a // a length follows
	jsonbShort    = 47
)

func jsonbText(s string) []byte {
	latin1 := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return append(jsonbInt([]byte{jsonbUTF8}, len(s)), s...)
		}
		latin1 = append(latin1, byte(r))
	}
	if n := utf8.RuneCountInString(s); n > jsonbShort {
		return append(jsonbInt([]byte{jsonbLatin1Of}, n), latin1...)
	}
	return append([]byte{byte(jsonbLatin1 + len(latin1))}, latin1...)
}

// jsonbInt appends a length.
func jsonbInt(b []byte, n int) []byte {
	switch {
	case n <= 0x2f:
		return append(b, byte(n))
	case n < 1<<11:
		return append(b, byte(0x38+n>>8), byte(n))
	case n < 1<<18:
		return append(b, byte(0x44+n>>16), byte(n>>8), byte(n))
	default:
		return binary.BigEndian.AppendUint32(append(b, 0x48), uint32(n))
	}
}

// tooLarge is Dubbo's text for a body over the payload limit.
func tooLarge(c *conn, size, limit int) string {
	return fmt.Sprintf("Data length too large: %d, max payload: %d, channel: NettyChannel [channel=[id: 0x%08x, L:/%s - R:/%s]]",
		size, limit, c.number, c.LocalAddr(), c.RemoteAddr())
}
