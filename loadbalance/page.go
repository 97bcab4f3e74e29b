package loadbalance

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// weights are the weights of a list's nodes for one method, from one moment to the
// next in which one of them can change.
type weights struct {
	nodes []*protocol.Node
	of    []int64 // by index of the node; all 1 when every configured weight is 0 (B091)
	total int64   // of all, in 64 bits (F16)
	equal bool    // all weights are the same

	version uint64        // of the list when they were read
	settled bool          // nobody is warming up
	until   time.Duration // on the book's clock: when to read them again unless settled
}

// page is what a strategy knows about one list and method: the weights, and what
// it made of them. It is replaced as a whole when the weights change.
type page[T any] struct {
	weights
	own T
}

// book keeps the pages of a strategy. They live in the lists, so nothing is kept of
// a list that is gone.
type book[T any] struct {
	cfg  Config
	zero time.Time // where the book's clock begins
	// derive makes the strategy's own part from a new page's weights, and from the
	// page that it replaces, nil for none; that one may still be in use.
	derive func(p *page[T], slot int, before *page[T]) T
}

// entry holds the current page of a list and method.
type entry[T any] struct {
	page atomic.Pointer[page[T]]
	turn sync.Mutex // held by who writes the next one
}

func newBook[T any](cfg Config, derive func(p *page[T], slot int, before *page[T]) T) *book[T] {
	if cfg.Ramp == nil {
		cfg.Ramp = LinearRamp
	}
	b := &book[T]{cfg: cfg, derive: derive}
	b.zero = b.now()
	return b
}

// open returns the current page for a call's list and method, nil for an empty
// list. It looks at the clock only while somebody warms up.
func (b *book[T]) open(c *protocol.Candidates, inv *protocol.Invocation) *page[T] {
	if c.Len() == 0 {
		return nil
	}
	slot := inv.Method.Slot
	e := b.entry(c, slot)
	p := e.page.Load()
	if p.version == c.Version() && (p.settled || b.since(inv) < p.until) {
		return p
	}
	return b.next(e, c, slot, p)
}

// openAt is open for a strategy that needs the time anyway.
func (b *book[T]) openAt(c *protocol.Candidates, inv *protocol.Invocation, now time.Duration) *page[T] {
	if c.Len() == 0 {
		return nil
	}
	slot := inv.Method.Slot
	e := b.entry(c, slot)
	p := e.page.Load()
	if p.version == c.Version() && (p.settled || now < p.until) {
		return p
	}
	return b.next(e, c, slot, p)
}

// entry returns where the page of a list and method is; at its first use that page
// is written.
func (b *book[T]) entry(c *protocol.Candidates, slot int) *entry[T] {
	return c.State(b, slot, func(before any) any {
		e := new(entry[T])
		var old *page[T]
		if before != nil {
			old = before.(*entry[T]).page.Load()
		}
		e.page.Store(b.write(c, slot, old))
		return e
	}).(*entry[T])
}

// next turns the page. Only one call does so; others go on with the old page.
func (b *book[T]) next(e *entry[T], c *protocol.Candidates, slot int, old *page[T]) *page[T] {
	if !e.turn.TryLock() {
		return old
	}
	defer e.turn.Unlock()
	if p := e.page.Load(); p != old {
		return p
	}
	p := b.write(c, slot, old)
	e.page.Store(p)
	return p
}

// write makes a new page.
func (b *book[T]) write(c *protocol.Candidates, slot int, before *page[T]) *page[T] {
	p := &page[T]{weights: weights{nodes: c.Nodes(), of: make([]int64, c.Len())}}
	p.version = c.Version() // before the weights: what changes meanwhile is seen next time
	b.weigh(&p.weights, slot)
	p.own = b.derive(p, slot, before)
	return p
}

// longest is the time after which weights are read again while somebody warms up,
// in case the system's clock was set.
const longest = 10 * time.Second

// shortest is the time for which weights are good at least: 1 ms, which is as
// exact as a ramp can be, for up to a hundred nodes, and one percent of the time
// that reading them may take for more.
func shortest(nodes int) time.Duration {
	return max(time.Millisecond, time.Duration(nodes)*10*time.Microsecond)
}

// weigh reads the weights with one look at the clock (B075).
func (b *book[T]) weigh(w *weights, slot int) {
	now, least := b.now(), shortest(len(w.nodes))
	w.settled, w.equal = true, true
	hold := longest
	for i, n := range w.nodes {
		one := weigh(n.Method(slot), n.Life().Start, now, b.cfg.Ramp)
		w.of[i] = int64(one.weight)
		w.total += w.of[i]
		w.equal = w.equal && w.of[i] == w.of[0]
		if one.warmup > 0 {
			w.settled = false
			if hold > least {
				hold = max(least, one.change(hold, b.cfg.Ramp))
			}
		}
	}
	if w.total == 0 {
		for i := range w.of {
			w.of[i] = 1
		}
		w.total = int64(len(w.of))
	}
	w.until = now.Sub(b.zero) + hold
}

func (b *book[T]) now() time.Time {
	if b.cfg.Now != nil {
		return b.cfg.Now()
	}
	return time.Now()
}

// since returns when a call picks on the book's monotonic clock. The system's clock
// was read when the call began, and reading it again takes as long as all the rest
// of a pick.
func (b *book[T]) since(inv *protocol.Invocation) time.Duration {
	switch {
	case b.cfg.Now != nil:
		return b.cfg.Now().Sub(b.zero)
	case !inv.Start.IsZero():
		return inv.Start.Sub(b.zero)
	}
	return time.Since(b.zero)
}

// begun returns when an attempt began on the book's clock.
func (b *book[T]) begun(inv *protocol.Invocation) time.Duration {
	if b.cfg.Now != nil || inv.Begun.IsZero() {
		return b.now().Sub(b.zero)
	}
	return inv.Begun.Sub(b.zero)
}

// ended returns when an attempt ended on the book's clock.
func (b *book[T]) ended(inv *protocol.Invocation, o protocol.Outcome) time.Duration {
	if b.cfg.Now != nil || inv.Begun.IsZero() {
		return b.now().Sub(b.zero)
	}
	return inv.Begun.Sub(b.zero) + o.Elapsed
}

// rand returns 64 random bits.
func (b *book[T]) rand() uint64 {
	if b.cfg.Rand != nil {
		return b.cfg.Rand()
	}
	return rand.Uint64()
}
