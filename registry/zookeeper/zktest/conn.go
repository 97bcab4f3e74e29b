package zktest

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

const (
	requestLimit   = 1<<20 - 1 // jute.maxbuffer
	patience       = 10 * time.Second
	passwordLength = 16
)

// conn is one connection. Requests are carried out on its reader, answers and
// events go through one queue, so that they leave in the order of what happened.
type conn struct {
	net.Conn
	server *Server

	// guarded by the server's lock
	session *session
	ids     []string // who the client proved to be
	cut     bool     // severed is closed

	severed chan struct{}

	mu       sync.Mutex
	queue    [][]byte
	finished bool
	wake     chan struct{} // holds one
	gone     chan struct{} // closed when the reader ends
}

// serve reads until the connection ends.
func (c *conn) serve() {
	s := c.server
	var writer sync.WaitGroup
	defer func() {
		s.mu.Lock()
		delete(s.conns, c)
		s.watches.drop(c)
		if c.session != nil && c.session.conn == c {
			c.session.conn = nil
		}
		s.mu.Unlock()
		close(c.gone)
		writer.Wait()
		_ = c.Close()
	}()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	first, err := readFrame(c)
	var word fourLetters
	if errors.As(err, &word) {
		_, _ = c.Write([]byte(s.answer(word)))
	}
	if err != nil || !s.admit(c) {
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	writer.Go(c.write)
	for ok := s.connect(c, first); ok; {
		frame, err := readFrame(c)
		if err != nil || !s.admit(c) {
			return
		}
		ok = s.handle(c, frame)
	}
	c.finish() // what is queued still goes out
	writer.Wait()
}

// fourLetters is a command that is no frame, as a monitoring tool sends it.
type fourLetters string

// Error returns the command.
func (w fourLetters) Error() string { return string(w) }

func (s *Server) answer(w fourLetters) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch w {
	case "ruok":
		return "imok"
	case "srvr", "stat":
		return fmt.Sprintf("Zookeeper version: zktest\nMode: standalone\nNode count: %d\n", len(s.tree))
	}
	return ""
}

func readFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > requestLimit {
		return nil, fourLetters(head[:])
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// send queues a frame.
func (c *conn) send(b []byte) {
	c.mu.Lock()
	c.queue = append(c.queue, b)
	c.mu.Unlock()
	c.poke()
}

// finish has the connection closed after what is queued was written.
func (c *conn) finish() {
	c.mu.Lock()
	c.finished = true
	c.mu.Unlock()
	c.poke()
}

func (c *conn) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *conn) write() {
	defer func() { _ = c.Close() }()
	for {
		c.mu.Lock()
		queue, finished := c.queue, c.finished
		c.queue = nil
		c.mu.Unlock()
		var all bytes.Buffer
		for _, b := range queue {
			all.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b))))
			all.Write(b)
		}
		if all.Len() > 0 {
			_ = c.SetWriteDeadline(time.Now().Add(patience))
			if _, err := c.Write(all.Bytes()); err != nil {
				return
			}
		}
		if finished {
			return
		}
		select {
		case <-c.wake:
		case <-c.gone:
			return
		}
	}
}

// notify queues a watch event.
func (c *conn) notify(e event) {
	const (
		eventXid      = -1
		noZxid        = -1
		syncConnected = 3
	)
	var w encoder
	w.int32(eventXid)
	w.int64(noZxid)
	w.int32(0)
	w.int32(e.kind)
	w.int32(syncConnected)
	w.string(e.path)
	c.send(w.b)
}

// connect answers the first frame: a new session, or the client's old one. It
// returns false when the connection has to end.
func (s *Server) connect(c *conn, frame []byte) bool {
	d := &decoder{b: frame}
	d.int32() // protocol version
	seen := d.int64()
	timeout := time.Duration(d.int32()) * time.Millisecond
	id, password := d.int64(), d.bytes()
	wantsReadOnly := len(d.b) > 0 // Java clients ask for it, Go's does not
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.bad || seen > s.zxid {
		return false // a client from the future is refused without a word
	}
	se := s.sessions[id]
	switch {
	case id == 0:
		s.lastSession++
		se = &session{id: s.lastSession, password: make([]byte, passwordLength), ephemerals: map[string]struct{}{}}
		_, _ = rand.Read(se.password)
		s.sessions[se.id] = se
	case se != nil && !bytes.Equal(se.password, password):
		se = nil
	}
	var w encoder
	w.int32(0)
	if se == nil { // expired
		w.int32(0)
		w.int64(0)
		w.bytes(make([]byte, passwordLength))
	} else {
		if se.conn != nil { // the session moves here
			se.conn.session = nil
			se.conn.finish()
		}
		se.conn, se.seen = c, time.Now()
		se.timeout = max(s.minTimeout, min(timeout, s.maxTimeout))
		c.session = se
		w.int32(int32(se.timeout / time.Millisecond))
		w.int64(se.id)
		w.bytes(se.password)
	}
	if wantsReadOnly {
		w.bool(false)
	}
	c.send(w.b)
	return se != nil
}
