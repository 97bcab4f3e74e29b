package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// HeaderLen is the length of a header.
const HeaderLen = 16

// MaxBody is the longest body that is taken for one. A header that announces more
// is nonsense: the stream is out of step, and waiting for so many bytes would be
// waiting for ever (B192).
const MaxBody = 1 << 30

// Serializations that providers use in what they send to a consumer that speaks
// Hessian 2.
const (
	Hessian2  byte = 2
	Fastjson2 byte = 23 // error texts and events of a default 3.2 provider
)

const (
	magic0 = 0xda
	magic1 = 0xbb

	flagRequest       = 0x80
	flagTwoWay        = 0x40
	flagEvent         = 0x20
	serializationMask = 0x1f
)

// ErrMalformed is wrapped by every error about bytes that are no frame. Nothing
// behind them can be trusted: the connection must be closed.
var ErrMalformed = errors.New("not a dubbo frame")

// Header is the start of a frame.
type Header struct {
	Request       bool // else an answer
	TwoWay        bool // the request wants an answer
	Event         bool // heartbeat, readonly …: not a call
	Serialization byte // of the body
	Status        Status
	ID            uint64
	Length        int // of the body
}

// Parse reads the header at the start of b. ok is false when b is too short to
// tell; err wraps [ErrMalformed] when b cannot be the start of a frame, which one
// wrong byte is enough for.
func Parse(b []byte) (h Header, ok bool, err error) {
	if len(b) > 0 && b[0] != magic0 || len(b) > 1 && b[1] != magic1 {
		return Header{}, false, fmt.Errorf("%w: it starts with % x", ErrMalformed, b[:min(len(b), HeaderLen)])
	}
	if len(b) < HeaderLen {
		return Header{}, false, nil
	}
	length := int32(binary.BigEndian.Uint32(b[12:]))
	if length < 0 || length > MaxBody {
		return Header{}, false, fmt.Errorf("%w: body length %d in header % x", ErrMalformed, length, b[:HeaderLen])
	}
	return Header{
		Request:       b[2]&flagRequest != 0,
		TwoWay:        b[2]&flagTwoWay != 0,
		Event:         b[2]&flagEvent != 0,
		Serialization: b[2] & serializationMask,
		Status:        Status(b[3]),
		ID:            binary.BigEndian.Uint64(b[4:]),
		Length:        int(length),
	}, true, nil
}

// Append appends the header.
func (h Header) Append(b []byte) []byte {
	b = append(b, magic0, magic1, h.flags(), byte(h.Status))
	b = binary.BigEndian.AppendUint64(b, h.ID)
	return binary.BigEndian.AppendUint32(b, uint32(h.Length))
}

func (h Header) flags() byte {
	f := h.Serialization & serializationMask
	if h.Request {
		f |= flagRequest
	}
	if h.TwoWay {
		f |= flagTwoWay
	}
	if h.Event {
		f |= flagEvent
	}
	return f
}

// Seal writes the id and the length of the body into the header of a finished frame.
func Seal(f []byte, id uint64) {
	binary.BigEndian.PutUint64(f[4:], id)
	binary.BigEndian.PutUint32(f[12:], uint32(len(f)-HeaderLen))
}

// OneWay makes the request frame f one that gets no answer.
func OneWay(f []byte) { f[2] &^= flagTwoWay }
