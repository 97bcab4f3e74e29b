package dubbotest

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// conn is one connection of a consumer. One goroutine reads; whoever has an answer
// writes.
type conn struct {
	net.Conn
	p      *Provider
	life   *life
	number int           // from 1
	gone   chan struct{} // closed when it has ended
	once   sync.Once

	writing             chan struct{} // has a token while somebody writes; who waits for a mutex stops a bubble's time
	lastRead, lastWrite atomic.Int64  // Unix time in ns
	beats               atomic.Uint64
}

func newConn(nc net.Conn, p *Provider, f *life, number int) *conn {
	c := &conn{Conn: nc, p: p, life: f, number: number, gone: make(chan struct{}), writing: make(chan struct{}, 1)}
	now := time.Now().UnixNano()
	c.lastRead.Store(now)
	c.lastWrite.Store(now)
	return c
}

// accept is the accept loop of one life.
func (p *Provider) accept(f *life) {
	for {
		nc, err := f.listener.Accept()
		if err != nil {
			return
		}
		if !p.welcome(f, nc) {
			_ = nc.Close()
		}
	}
}

// welcome starts to serve a connection, or refuses it: more than "accepts", or a
// provider that stops, are answered by closing.
func (p *Provider) welcome(f *life, nc net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life != f || f.leaving && !f.greet || p.limits.accepts > 0 && len(p.conns) >= p.limits.accepts {
		return false
	}
	p.accepted++
	c := newConn(nc, p, f, p.accepted)
	p.conns[c] = struct{}{}
	greet := f.greet
	f.serving.Go(func() { c.serve(greet) })
	if p.limits.heartbeat > 0 {
		f.serving.Go(c.beat)
	}
	p.records.changed()
	return true
}

// serve is the reader goroutine.
func (c *conn) serve(greet bool) {
	defer c.leave()
	if greet {
		c.write(c.p.opt.profile.event("R"))
	}
	r := bufio.NewReader(c)
	head := make([]byte, frame.HeaderLen)
	for {
		if _, err := io.ReadFull(r, head); err != nil {
			return
		}
		c.lastRead.Store(time.Now().UnixNano())
		h, _, err := frame.Parse(head)
		if err != nil || !c.thawed() {
			return // Java looks for the next frame in what it takes for telnet
		}
		if !c.take(r, h) {
			return
		}
	}
}

// take reads the body and handles the frame; false ends the connection.
func (c *conn) take(r io.Reader, h frame.Header) bool {
	p := c.p
	call := h.Request && !h.Event
	if call && p.hangsUpUnread() {
		return false
	}
	tooBig := call && p.limits.payload > 0 && h.Length > p.limits.payload
	if tooBig && !p.opt.profile.modern() {
		_, _ = io.Copy(io.Discard, r) // takes the rest for garbage, for ever
		return false
	}
	var body bytes.Buffer
	if _, err := io.CopyN(&body, r, int64(h.Length)); err != nil {
		return false
	}
	c.lastRead.Store(time.Now().UnixNano())
	switch {
	case !c.thawed():
		return false
	case tooBig:
		if h.TwoWay {
			c.write(p.opt.profile.status(h.ID, frame.BadRequest, undecodable("null")))
		}
	case call:
		return p.receive(c, h, body.Bytes())
	case h.Event:
		p.event(c, h, frame.EventOf(h.Serialization, body.Bytes()))
	}
	return true
}

// event handles events, and the answers to heartbeats.
func (p *Provider) event(c *conn, h frame.Header, e frame.Event) {
	beat := e == frame.Null && (h.TwoWay || !h.Request)
	if !beat {
		return
	}
	p.mu.Lock()
	if h.Request {
		p.records.count.Heartbeats++
	} else {
		p.records.count.HeartbeatAnswers++
	}
	p.records.changed()
	p.mu.Unlock()
	if h.Request && p.opt.heartbeats != HeartbeatsIgnored {
		c.write(frame.AppendHeartbeatAnswer(nil, h))
	}
}

// write sends whole frames, or whatever bytes a test wants sent. It fails silently
// when the connection is gone: the reader notices.
func (c *conn) write(b []byte) {
	select {
	case c.writing <- struct{}{}:
	case <-c.gone:
		return
	}
	defer func() { <-c.writing }()
	if !c.thawed() {
		return
	}
	c.lastWrite.Store(time.Now().UnixNano())
	_, _ = c.Write(b)
}

// hangUp closes the connection: politely, or as a killed process does, by a reset.
func (c *conn) hangUp(reset bool) {
	c.once.Do(func() {
		if t, ok := c.Conn.(*net.TCPConn); ok && reset {
			_ = t.SetLinger(0)
		}
		_ = c.Close()
		close(c.gone)
	})
}

// leave ends the connection for good.
func (c *conn) leave() {
	c.hangUp(false)
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	delete(c.p.conns, c)
	c.p.records.changed()
}

// beat sends heartbeats and closes what is silent, as the policy says.
func (c *conn) beat() {
	p := c.p
	policy := p.opt.heartbeats
	if policy == HeartbeatsAsProfile {
		policy = HeartbeatsAnswered
		if p.opt.profile == Dubbo26 {
			policy = HeartbeatsSent
		}
	}
	if policy == HeartbeatsIgnored {
		return
	}
	t := time.NewTicker(p.limits.heartbeat)
	defer t.Stop()
	for {
		select {
		case <-c.gone:
			return
		case <-t.C:
		}
		if !c.thawed() {
			return
		}
		now := time.Now()
		unread := now.Sub(time.Unix(0, c.lastRead.Load()))
		unwritten := now.Sub(time.Unix(0, c.lastWrite.Load()))
		silent := 3 * p.limits.heartbeat
		if unread >= silent && (policy == HeartbeatsSent || unwritten >= silent) {
			c.hangUp(false)
			return
		}
		if policy == HeartbeatsSent && max(unread, unwritten) >= p.limits.heartbeat {
			c.write(frame.AppendHeartbeat(nil, 1<<32+c.beats.Add(1)))
		}
	}
}
