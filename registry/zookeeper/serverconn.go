package zookeeper

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// serverConn is the socket as the library sees it. It makes up for four of the
// library's habits: it waits almost for ever for a mute server, it does not tell
// why a connection ended, it believes what a server that is none says, and it
// races with itself when requests overtake the restoration of watches.
type serverConn struct {
	net.Conn
	d      *dialer
	server string
	limit  time.Duration // for the handshake
	until  time.Time

	// used by one goroutine after the other
	deadlines int    // set so far
	frames    frames // read so far
	ahead     []byte // read but not yet asked for

	// lock guards what follows. It is held while writing, so it is a channel:
	// who waits for it must not stop the virtual time of a test.
	lock    chan struct{}
	writes  int
	holding bool   // requests wait
	held    []byte // requests that wait
}

// handshakeDeadlines is how many read deadlines the library sets in a handshake:
// one far too long, and none for the rest of the answer.
const handshakeDeadlines = 2

// SetReadDeadline sets the library's deadline, or ours during the handshake.
func (c *serverConn) SetReadDeadline(t time.Time) error {
	if c.deadlines < handshakeDeadlines {
		t = c.until
	}
	c.deadlines++
	return c.Conn.SetReadDeadline(t)
}

// Read reads, and remembers why it failed. A failed read ends the connection, so
// that no write to a mute server is waited for.
func (c *serverConn) Read(b []byte) (int, error) {
	n, err := c.read(b)
	if err != nil {
		if c.d.ctx.Err() == nil && !errors.Is(err, net.ErrClosed) {
			c.d.failed(c.explain(err))
		}
		_ = c.Conn.Close()
	}
	return n, err
}

// read takes the length of the first answer together with some of what follows,
// which is worth telling when the server turns out to be none.
func (c *serverConn) read(b []byte) (int, error) {
	if len(c.ahead) > 0 {
		n := copy(b, c.ahead)
		c.ahead = c.ahead[n:]
		return n, nil
	}
	if c.frames.later {
		n, err := c.Conn.Read(b)
		if bad := c.frames.pass(b[:n]); bad != nil {
			return 0, bad
		}
		return n, err
	}
	first := make([]byte, 64)
	n, err := io.ReadAtLeast(c.Conn, first, len(c.frames.head))
	if err != nil {
		return 0, err
	}
	if err := c.frames.pass(first[:n]); err != nil {
		return 0, err
	}
	c.ahead = first[copy(b, first[:n]):n]
	return min(n, len(b)), nil
}

// noSession says that a server accepts connections, and no more.
func noSession(server string) error {
	return fmt.Errorf("%s accepts connections but grants no session (is it a ZooKeeper server?)", server)
}

func (c *serverConn) explain(err error) error {
	handshake := c.deadlines <= handshakeDeadlines
	var timeout net.Error
	switch {
	case handshake && errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%w: no answer within %s", noSession(c.server), c.limit)
	case handshake && errors.Is(err, io.EOF):
		return fmt.Errorf("%s closed the connection instead of granting a session (not serving, too many connections, it lost its data, or it is no ZooKeeper server)", c.server)
	case handshake:
		return fmt.Errorf("%s grants no session: %w", c.server, err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s stopped answering", c.server)
	}
	return fmt.Errorf("connection to %s lost: %w", c.server, err)
}

// Kinds of requests that are never held back: their answers move nothing.
const (
	opPing = 11
	opAuth = 100
)

// Write sends one packet, as the library writes them. On a new connection requests
// wait a moment, until the library has written down which watches to restore since
// which transaction: an answer that comes earlier moves that number, which loses
// changes and is a data race. All requests wait, as some may be left over from the
// last connection, and in a new session too, whose first watches the library would
// otherwise take for old ones.
func (c *serverConn) Write(b []byte) (int, error) {
	c.lock <- struct{}{}
	defer func() { <-c.lock }()
	c.writes++
	if !c.holding || c.writes == 1 || len(b) < 12 { // the first is the handshake
		return c.Conn.Write(b)
	}
	switch int32(binary.BigEndian.Uint32(b[8:])) {
	case opPing, opAuth:
		return c.Conn.Write(b)
	}
	if c.held == nil {
		time.AfterFunc(c.d.s.settle, c.release)
	}
	c.held = append(c.held, b...)
	return len(b), nil
}

// release sends what was held back.
func (c *serverConn) release() {
	c.lock <- struct{}{}
	defer func() { <-c.lock }()
	c.holding = false
	if _, err := c.Conn.Write(c.held); err != nil {
		_ = c.Conn.Close() // the library's reader finds out
	}
	c.held = nil
}
