package loadbalance

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// haste counts the calls at a provider that ended too soon: answers without a value
// that came sooner than a value does, and one-way calls, which nobody answers. Each is
// taken for one under way for as long as is usual: who is rid of its calls sooner has
// not done more for it, and would get all of them (F4). It is a float32 that fades, and
// when it was that.
type haste struct{ bits atomic.Uint64 }

// glance is what a pick sees haste by.
type glance struct {
	tick  uint32  // the time
	usual float32 // ticks in which it fades by 1/e
	any   bool    // false: nobody has any
}

const tick = 1 << 16 // ns, 66 µs

// hurry is whether any provider has haste, so that picks need not ask each.
type hurry struct{ until atomic.Int64 }

// fadedAfter so many times the usual even the haste of a hundred thousand calls is gone.
const fadedAfter = 15

// glance returns what a pick sees haste by; usual is what a call takes, 0 when not known.
func (y *hurry) glance(now, usual time.Duration) glance {
	if usual <= 0 {
		usual = foldEvery
	}
	return glance{uint32(now / tick), float32(usual) / tick, int64(now) <= y.until.Load()}
}

// add counts one more at a provider.
func (y *hurry) add(h *haste, now, usual time.Duration) {
	g := y.glance(now, usual)
	h.add(g)
	until := int64(now) + int64(fadedAfter*tick*float64(g.usual))
	for old := y.until.Load(); old < until && !y.until.CompareAndSwap(old, until); {
		old = y.until.Load()
	}
}

// hasty reports whether an attempt ended too soon: without a value, sooner than is usual.
func hasty(inv *protocol.Invocation, o protocol.Outcome, usual time.Duration) bool {
	switch {
	case o.Verdict == protocol.Neutral:
		return false
	case o.Verdict == protocol.Succeeded && o.Err == nil:
		return inv.OneWay
	}
	return o.Elapsed < usual
}

// add counts one more.
func (h *haste) add(g glance) {
	for {
		old := h.bits.Load()
		next := uint64(math.Float32bits(left(old, g)+1))<<32 | uint64(g.tick)
		if h.bits.CompareAndSwap(old, next) {
			return
		}
	}
}

// count returns how many there are, nearly always none.
func (h *haste) count(g glance) float32 {
	bits := h.bits.Load()
	if bits == 0 || !g.any {
		return 0
	}
	n := left(bits, g)
	if n == 0 {
		h.bits.CompareAndSwap(bits, 0)
	}
	return n
}

// left returns what has not faded.
func left(bits uint64, g glance) float32 {
	n, passed := math.Float32frombits(uint32(bits>>32)), int32(g.tick-uint32(bits))
	if passed > 0 {
		n *= float32(math.Exp(-float64(float32(passed) / g.usual)))
	}
	if n < 1.0/16 {
		return 0
	}
	return n
}
