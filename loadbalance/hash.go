package loadbalance

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/gofer-rpc/gofer/protocol"
)

// hashText returns the position of a text on a ring: the first little-endian word
// of its MD5.
func hashText(text string) uint32 {
	h := md5.New() // does not leave the stack
	var chunk [hashChunk]byte
	for len(text) > 0 {
		n := copy(chunk[:], text)
		text = text[n:]
		h.Write(chunk[:n])
	}
	return binary.LittleEndian.Uint32(h.Sum(chunk[:0]))
}

// hashChunk is the number of bytes of a text that are hashed at once. It takes a
// number in decimal, and a digest.
const hashChunk = 256

// hashArguments returns the position of a call on a ring: that of Java's texts of
// the arguments at these indices, one after the other, as consumers of Dubbo 2.6,
// 2.7 and 3.2.12 and later do it. An index beyond the arguments, or negative, is
// passed over; with no argument at all the text is empty.
func hashArguments(inv *protocol.Invocation, indices []int) uint32 {
	h := md5.New()
	var chunk [hashChunk]byte
	arguments := realArguments(inv)
	for _, i := range indices {
		if i < 0 || i >= len(arguments) {
			continue
		}
		number, text := argumentText(inv, arguments[i], chunk[:0])
		h.Write(number)
		for len(text) > 0 {
			n := copy(chunk[:], text)
			text = text[n:]
			h.Write(chunk[:n])
		}
	}
	return binary.LittleEndian.Uint32(h.Sum(chunk[:0]))
}

// realArguments returns the arguments of the called method, which a generic call
// carries in its third: hashing the other two as older consumers do would send all
// calls of a method to one provider.
func realArguments(inv *protocol.Invocation) []any {
	if inv.Method.Generic == "" || len(inv.Arguments) != 3 {
		return inv.Arguments
	}
	arguments, _ := inv.Arguments[2].([]any)
	return arguments
}

// argumentText returns the text of an argument: a number appended to b, or a text.
// Those of the usual types need no allocation.
func argumentText(inv *protocol.Invocation, argument any, b []byte) (number []byte, text string) {
	switch v := argument.(type) {
	case nil:
		return nil, "null"
	case string:
		return nil, v
	case bool:
		return strconv.AppendBool(b, v), ""
	case int:
		return strconv.AppendInt(b, int64(v), 10), ""
	case int8:
		return strconv.AppendInt(b, int64(v), 10), ""
	case int16:
		return strconv.AppendInt(b, int64(v), 10), ""
	case int32:
		return strconv.AppendInt(b, int64(v), 10), ""
	case int64:
		return strconv.AppendInt(b, v, 10), ""
	}
	if inv.ArgumentText == nil {
		return nil, fmt.Sprint(argument)
	}
	return nil, inv.ArgumentText(argument)
}
