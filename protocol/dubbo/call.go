package dubbo

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

const (
	noSlot   = math.MaxUint32 // low half of ids that belong to no call
	keepSize = 256 << 10      // larger buffers of a call are not kept
)

// table is the pending table: a slice of slots. A slot belongs to its connection
// for ever and is used again; the number of the slot is the low half of the
// request id, a count of its uses the high half. So finding an answer's call is an
// index, without a lock, and an answer that comes late meets another count.
type table struct {
	tableMu sync.Mutex
	free    []*call
	slots   atomic.Pointer[[]*call]
}

// call is one slot of the table, and the call that uses it at present.
type call struct {
	// state is the id while an answer is pending, else 0. Whoever swaps it to 0
	// (reader, clock, cancelling caller, end of the connection) finishes the call:
	// so each one gets exactly one token, or none when the caller gave up itself.
	state    atomic.Uint64
	deadline atomic.Int64
	limit    atomic.Int64 // bytes of the answer's body
	slot     uint32
	uses     uint32
	done     chan struct{}

	// Set by whoever finishes the call, before the token.
	head frame.Header
	err  error

	*buffers
}

// buffers are pooled apart from the slots, so that a burst of calls does not hold
// memory for ever.
type buffers struct {
	out  []byte // the request frame
	body []byte // of the answer
}

var bufferPool = sync.Pool{New: func() any { return new(buffers) }}

func (b *buffers) free() {
	if cap(b.out) > keepSize {
		b.out = nil
	}
	if cap(b.body) > keepSize {
		b.body = nil
	}
	bufferPool.Put(b)
}

// take returns a free slot, a new one when there is none.
func (c *conn) take() *call {
	k := c.freeSlot()
	k.buffers = bufferPool.Get().(*buffers)
	return k
}

func (c *conn) freeSlot() *call {
	c.tableMu.Lock()
	defer c.tableMu.Unlock()
	if n := len(c.free); n > 0 {
		k := c.free[n-1]
		c.free = c.free[:n-1]
		return k
	}
	t := *c.slots.Load()
	k := &call{slot: uint32(len(t)), done: make(chan struct{}, 1)}
	t = append(t, k) // a reader of the old slice does not look behind its end
	c.slots.Store(&t)
	return k
}

// release gives the slot back. The caller must have read what it wants of it.
func (c *conn) release(k *call) {
	k.buffers.free()
	k.buffers, k.err = nil, nil
	c.tableMu.Lock()
	c.free = append(c.free, k)
	c.tableMu.Unlock()
	if c.draining.Load() {
		c.endIfDrained()
	}
}

// inFlight counts the calls between take and release.
func (c *conn) inFlight() int {
	c.tableMu.Lock()
	defer c.tableMu.Unlock()
	return len(*c.slots.Load()) - len(c.free)
}

// register makes the call pending and returns its id.
func (c *conn) register(k *call, deadline int64, limit int) uint64 {
	if k.uses++; k.uses == 0 {
		k.uses = 1 // an id is never 0
	}
	id := uint64(k.uses)<<32 | uint64(k.slot)
	k.err = nil
	k.deadline.Store(deadline)
	k.limit.Store(int64(limit))
	k.state.Store(id)
	if deadline < c.due.Load() {
		c.arm(deadline)
	}
	return id
}

// finish ends the call without an answer unless somebody was faster.
func (k *call) finish(id uint64, err error) bool {
	if !k.state.CompareAndSwap(id, 0) {
		return false
	}
	k.err = err
	k.done <- struct{}{}
	return true
}

// pending returns the slot that waits for id.
func (c *conn) pending(id uint64) (k *call, ok bool) {
	t := *c.slots.Load()
	if i := id & math.MaxUint32; id != 0 && i < uint64(len(t)) {
		k = t[i]
		return k, k.state.Load() == id
	}
	return nil, false
}
