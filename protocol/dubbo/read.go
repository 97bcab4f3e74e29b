package dubbo

import (
	"fmt"
	"math"

	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

const (
	readBuffer = 16 << 10
	firstBody  = 256 << 10 // a large body gets memory as it arrives, from this size on
	maxExcess  = 4         // times the payload limit: more is not skipped, it ends the connection
)

// reader cuts the stream into frames. Small bodies lie in buf and are copied to
// their calls; a body that does not fit buf is read into memory of its own, one
// that nobody wants is skipped.
type reader struct {
	c    *conn
	buf  []byte
	have int

	large *largeBody
	skip  int  // bytes of the body under way that nobody wants
	moved bool // what was read last has brought progress
}

// largeBody is an answer under way that does not fit the buffer. The call stays
// pending until the last byte has come, so that it can time out meanwhile.
type largeBody struct {
	head     frame.Header
	*buffers // its body grows with what has arrived, whatever the header says
}

// read is the reader goroutine.
func (c *conn) read() {
	defer c.wg.Done()
	r := reader{c: c, buf: make([]byte, readBuffer)}
	for {
		n, err := c.nc.Read(r.room())
		if n > 0 {
			c.reads.Add(1)
			if e := r.feed(n); e != nil {
				c.fail(lost("read", e))
				return
			}
		}
		if err != nil {
			c.fail(lost("read", err))
			return
		}
	}
}

// progress notes, once for what was read last, that the stream is in step: a frame
// is complete, or more has come of a body that a call waits for. Other bytes prove
// nothing: behind half a header, or one that announces too much, every good answer
// is taken for a part of a body.
func (r *reader) progress() {
	if !r.moved {
		r.moved = true
		r.c.alive()
	}
}

// alive notes that the provider has made progress.
func (c *conn) alive() {
	c.lastRead.Store(c.now())
	if c.mute.Load() != 0 {
		c.mute.Store(0)
	}
	if c.doubtful.Load() && c.doubtful.Swap(false) {
		c.changed(c)
	}
}

// room returns where the next bytes belong.
func (r *reader) room() []byte {
	if l := r.large; l != nil {
		return l.body[len(l.body):min(cap(l.body), l.head.Length)]
	}
	return r.buf[r.have:]
}

// feed takes n bytes that were put into room.
func (r *reader) feed(n int) error {
	r.moved = false
	if r.large != nil {
		r.grow(n)
		return nil
	}
	r.have += n
	b := r.buf[:r.have]
	for {
		if d := min(r.skip, len(b)); d > 0 {
			b = b[d:]
			if r.skip -= d; r.skip == 0 {
				r.progress()
			}
		}
		h, ok, err := frame.Parse(b)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		end := frame.HeaderLen + h.Length
		switch {
		case len(b) >= end:
			r.progress() // before its caller wakes
			r.c.dispatch(h, b[frame.HeaderLen:end])
			b = b[end:]
			continue
		case end <= len(r.buf):
			r.have = copy(r.buf, b) // the rest of it will fit
			return nil
		case r.c.wants(h):
			r.progress()
			r.begin(h, b[frame.HeaderLen:])
			r.have = 0
			return nil
		}
		if err := r.c.plausible(h); err != nil {
			return err
		}
		r.skip = end // the header lies in b still
	}
	r.have = copy(r.buf, b)
	return nil
}

// begin starts a large body with what has come of it.
func (r *reader) begin(h frame.Header, part []byte) {
	b := bufferPool.Get().(*buffers)
	if size := min(h.Length, firstBody); cap(b.body) < size {
		b.body = make([]byte, 0, size)
	}
	b.body = append(b.body[:0], part...) // shorter than the buffer, which is less than firstBody
	r.large = &largeBody{h, b}
}

// grow takes n more bytes of the large body.
func (r *reader) grow(n int) {
	l := r.large
	l.body = l.body[:len(l.body)+n]
	have, size := len(l.body), l.head.Length
	switch {
	case have == size:
		r.progress()
		r.c.answer(l.head, l.body, l.buffers)
	case !r.c.wants(l.head): // it has timed out
		r.skip = size - have
	default:
		r.progress()
		if have == cap(l.body) {
			bigger := make([]byte, have, min(2*have, size))
			copy(bigger, l.body)
			l.body = bigger
		}
		return
	}
	r.large = nil
	l.free()
}

// wants decides about a frame that does not fit the buffer: true for an answer
// that a call waits for. Everything else is dealt with here, and its body skipped.
func (c *conn) wants(h frame.Header) bool {
	if h.Request || h.Event {
		c.dispatch(h, nil)
		return false
	}
	k, ok := c.pending(h.ID)
	if !ok {
		c.late.Add(1)
		return false
	}
	if c.tooBig(k, h) {
		return false
	}
	return true
}

// plausible tells whether a body that does not fit the buffer and that nobody wants
// is worth skipping. It is when it may be an answer that came too late or is over
// the limit of its call. An answer to a request that was never sent is not, nor is
// anything longer than maxExcess times the largest payload limit in use, which is
// that of the slots' last calls or the default: then the stream is out of step, or
// would be blocked for longer than a new connection takes.
func (c *conn) plausible(h frame.Header) error {
	slots := *c.slots.Load()
	if i := h.ID & math.MaxUint32; !h.Request && !h.Event && i >= uint64(len(slots)) {
		return fmt.Errorf("%w: answer of %d bytes to a request %#x that was never sent", frame.ErrMalformed, h.Length, h.ID)
	}
	if h.Length <= maxExcess*defaultPayload {
		return nil
	}
	limit := int64(defaultPayload)
	for _, k := range slots {
		limit = max(limit, k.limit.Load())
	}
	if int64(h.Length) > maxExcess*limit {
		return fmt.Errorf("%w: a body of %d bytes is announced, the largest payload limit in use is %d", frame.ErrMalformed, h.Length, limit)
	}
	return nil
}

// tooBig ends the call when its answer's body is over the limit.
func (c *conn) tooBig(k *call, h frame.Header) bool {
	if int64(h.Length) <= k.limit.Load() || !k.state.CompareAndSwap(h.ID, 0) {
		return false
	}
	c.hasAnswered()
	k.head, k.err = h, fmt.Errorf("the answer announces %d bytes, more than the %w of %d (parameter payload)", h.Length, errTooBig, k.limit.Load())
	k.done <- struct{}{}
	return true
}

// dispatch handles a frame whose body is there, or not worth having.
func (c *conn) dispatch(h frame.Header, body []byte) {
	switch {
	case !h.Request && !h.Event:
		c.answer(h, body, nil)
	case !h.Request: // answer to a heartbeat
		c.hasAnswered()
	case h.Event:
		c.event(h, frame.EventOf(h.Serialization, body))
	case h.TwoWay:
		c.refuse(h)
	}
}

// event handles a request that is no call.
func (c *conn) event(h frame.Header, e frame.Event) {
	switch {
	case h.TwoWay && e == frame.Null: // 2.6 closes connections that do not answer
		_, _ = c.enqueue(frame.AppendHeartbeatAnswer(nil, h), written{})
	case h.TwoWay:
	case e == frame.Null || e == frame.ReadOnly:
		if !c.readonly.Swap(true) {
			c.changed(c)
		}
	case e == frame.Writable:
		if c.readonly.Swap(false) {
			c.changed(c)
		}
	}
}

// refuse answers a call from the provider: a callback, which nobody has declared.
func (c *conn) refuse(h frame.Header) {
	f := frame.Header{Serialization: frame.Hessian2, Status: frame.ServiceError}.Append(nil)
	f = hessian2.AppendString(f, "gofer is a consumer: it serves no calls and no callbacks")
	frame.Seal(f, h.ID)
	_, _ = c.enqueue(f, written{})
}

// answer finishes the call that waits for the answer, if any. own holds a body that
// is memory of its own: it is exchanged for the call's. Another is copied.
func (c *conn) answer(h frame.Header, body []byte, own *buffers) {
	c.hasAnswered()
	k, ok := c.pending(h.ID)
	if ok && c.tooBig(k, h) {
		return
	}
	if !ok || !k.state.CompareAndSwap(h.ID, 0) { // claimed only now, with the whole body here
		c.late.Add(1)
		return
	}
	k.head = h
	if own != nil {
		k.body, own.body = body, k.body
	} else {
		k.body = append(k.body[:0], body...)
	}
	k.done <- struct{}{}
}

// hasAnswered notes that there is somebody on the other side who speaks dubbo.
func (c *conn) hasAnswered() {
	if !c.answered.Load() && !c.answered.Swap(true) {
		c.changed(c)
	}
}
