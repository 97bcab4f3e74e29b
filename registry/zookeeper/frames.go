package zookeeper

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Sizes of packets that make sense. The library allocates what the first answer
// on a connection asks for, and takes later ones for complete: 2 GB for a server
// that speaks HTTP, and a panic for a packet without its header.
const (
	grantMin  = 20 // the answer to the handshake, with an empty password; usual are 36 to 41
	grantMax  = 1 << 10
	packetMin = 16 // the header
)

// frames follows the packets of a stream of answers and finds lengths that make no
// sense before the library sees them. The zero value is at the start of a stream.
type frames struct {
	head  [4]byte
	got   int  // bytes of head
	left  int  // bytes of the present packet to come
	later bool // the answer to the handshake has begun
}

// pass takes notice of the next bytes.
func (f *frames) pass(b []byte) error {
	for len(b) > 0 {
		if f.left > 0 {
			n := min(f.left, len(b))
			f.left -= n
			b = b[n:]
			continue
		}
		n := copy(f.head[f.got:], b)
		f.got += n
		rest := b[n:]
		if f.got == len(f.head) {
			if err := f.begin(rest); err != nil {
				return err
			}
		}
		b = rest
	}
	return nil
}

// begin judges the length of a packet; rest is what is known of what follows it.
func (f *frames) begin(rest []byte) error {
	length := int64(binary.BigEndian.Uint32(f.head[:]))
	switch {
	case !f.later && (length < grantMin || length > grantMax):
		return fmt.Errorf("this is no ZooKeeper server: it answered %s", excerpt(append(f.head[:], rest...)))
	case f.later && (length < packetMin || length > receiveLimit):
		return fmt.Errorf("it sent a packet of %d bytes; possible are %d to %d", length, packetMin, receiveLimit)
	}
	f.got, f.left, f.later = 0, int(length), true
	return nil
}

// excerpt quotes the first line of an answer, or its beginning.
func excerpt(answer []byte) string {
	const most = 40
	line, _, _ := strings.Cut(string(answer), "\r\n")
	if len(line) <= most {
		return strconv.QuoteToASCII(line)
	}
	return strings.TrimSuffix(strconv.QuoteToASCII(line[:most]), `"`) + `…"`
}
