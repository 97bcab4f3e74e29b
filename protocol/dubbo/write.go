package dubbo

import (
	"math"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	bigFrame  = 16 << 10               // larger frames are written from where they are
	keepOut   = 1 << 20                // a larger output buffer is not kept
	slowYield = 200 * time.Microsecond // a yield that took longer did harm
	restYield = 64                     // flushes without one after that
)

// output is what waits for the socket: frames in the order in which they came.
type output struct {
	mu       sync.Mutex
	segments net.Buffers // full buffers and large frames, before out
	out      []byte      // small frames, copied
	queued   uint64      // bytes ever appended
	handed   uint64      // bytes that may have been given to the socket
	busy     bool        // the flusher is awake
	awaiting []written   // who wants to know when the bytes so far are written
	err      error       // set once: the connection has ended

	kick   chan struct{} // wakes the flush goroutine
	spare  []byte        // the flusher's: the other half of the double buffer
	skip   int           // the flusher's: yields to leave out
	writes atomic.Int64
}

type written struct {
	k  *call
	id uint64
}

// send appends the frame in k.out to the output. start is its position in the
// stream, for [conn.given]. With a notice id k is finished once it is written.
func (c *conn) send(k *call, notice uint64) (start uint64, err error) {
	w := written{k, notice}
	if start, err = c.enqueue(k.out, w); len(k.out) > bigFrame && err == nil {
		k.out = nil // the output owns it now
	}
	return start, err
}

// enqueue never blocks.
func (c *conn) enqueue(f []byte, w written) (start uint64, err error) {
	c.mu.Lock()
	waiting := c.queued - c.handed
	switch {
	case c.err != nil:
		err = c.err
	case waiting > 0 && waiting+uint64(len(f)) > uint64(c.cfg.queue):
		err = errBusy // a frame larger than the queue is let through when nothing waits
	}
	if err != nil {
		c.mu.Unlock()
		return math.MaxUint64, err
	}
	if len(f) > bigFrame {
		if len(c.out) > 0 {
			c.segments = append(c.segments, c.out)
			c.out = nil
		}
		c.segments = append(c.segments, f)
	} else {
		c.out = append(c.out, f...)
	}
	start = c.queued
	c.queued += uint64(len(f))
	if w.id != 0 {
		c.awaiting = append(c.awaiting, w)
	}
	first := !c.busy
	c.busy = true
	c.mu.Unlock()
	if first {
		c.wake()
	}
	return start, nil
}

// wake leaves one token for the flush goroutine: one per batch, not per call.
func (c *conn) wake() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// given tells whether any byte of the frame that starts at start may have been
// given to the socket.
func (c *conn) given(start uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return start < c.handed
}

// waiting returns the number of bytes that wait for the socket.
func (c *conn) waiting() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(c.queued - c.handed)
}

// idle reports that nothing waits and nothing is being written.
func (c *conn) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.busy
}

// flusher is the flush goroutine.
func (c *conn) flusher() {
	defer c.wg.Done()
	for range c.kick {
		c.gather()
		if !c.flush() {
			return
		}
		if c.draining.Load() {
			c.endIfDrained()
		}
	}
}

// gather lets the goroutines that are ready to run go first. The reader has just
// woken several callers; the first one that calls again would otherwise cause a
// write of one frame, the others another one. With all cores busy a yield can last
// for whole time slices (10 ms each): then it is left out for a while.
func (c *conn) gather() {
	if c.skip > 0 {
		c.skip--
		return
	}
	if c.inFlight() < 2 {
		return
	}
	t := c.now()
	runtime.Gosched()
	if c.now()-t > int64(slowYield) {
		c.skip = restYield
	}
}

// flush writes until nothing waits; false: the connection has ended.
func (c *conn) flush() bool {
	for {
		c.mu.Lock()
		if c.err != nil || c.queued == c.handed {
			c.busy = false
			alive := c.err == nil
			c.mu.Unlock()
			return alive
		}
		out, segments, awaiting := c.out, c.segments, c.awaiting
		c.out, c.segments, c.awaiting = c.spare[:0], nil, nil
		before := c.handed
		c.handed = c.queued
		c.mu.Unlock()

		c.writes.Add(1)
		n, err := c.write(out, segments)
		recycle(segments)
		if cap(out) > keepOut {
			out = nil
		}
		c.spare = out
		if err != nil {
			c.mu.Lock()
			c.handed = before + uint64(n) // the frames behind were not given
			c.mu.Unlock()
			c.fail(lost("write", err)) // those in awaiting too: they are in the table
			return false
		}
		for _, w := range awaiting {
			w.k.finish(w.id, nil)
		}
	}
}

func (c *conn) write(out []byte, segments net.Buffers) (int64, error) {
	if len(segments) > 0 {
		return writeAll(c.nc, segments, out)
	}
	n, err := c.nc.Write(out)
	return int64(n), err
}

// writeAll is apart from write because the buffers escape: one allocation. WriteTo
// empties the list that it is given.
func writeAll(nc net.Conn, segments net.Buffers, out []byte) (int64, error) {
	all := append(make(net.Buffers, 0, len(segments)+1), segments...)
	if len(out) > 0 {
		all = append(all, out)
	}
	return all.WriteTo(nc) // writev
}

// recycle keeps the memory of written frames for later calls.
func recycle(segments net.Buffers) {
	for _, f := range segments {
		(&buffers{out: f[:0]}).free()
	}
}
