package loadbalance

import (
	"sync"
	"sync/atomic"
	"time"
)

// panes is the number of parts that a window moves in: it covers between nine and
// ten tenths of its period.
const panes = 10

// ticking counts time in ticks; it is the length of one.
type ticking time.Duration

// newTicking returns the ticks of a window over a period.
func newTicking(period time.Duration) ticking { return ticking(max(1, period/panes)) }

// at returns the tick of a moment on a book's clock.
func (t ticking) at(now time.Duration) int64 { return int64(max(0, now)) / int64(t) }

// window is the mean of amounts over the latest period, moved on in tenths.
// Dubbo forgets all at once when a period is over, for all methods of all services
// together, and every provider reads 0 then (F21); here only the oldest tenth goes.
//
// Time is counted in ticks, of a tenth of the period each. Reading takes no lock
// but when a tick has passed.
type window struct {
	tick    atomic.Int64 // up to which it was moved
	average atomic.Int64 // at least 1; 0: nothing happened within the period

	mu   sync.Mutex
	all  pane
	past *[panes]pane // by tick modulo panes; nil before the first
}

// pane is the sum of what happened within a tick.
type pane struct{ sum, n int64 }

// add counts one more amount. What comes late, from a tick that is over, counts
// in the present one.
func (w *window) add(tick, amount int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.past == nil {
		w.past = new([panes]pane)
	}
	w.move(tick)
	now := &w.past[w.tick.Load()%panes]
	now.sum += amount
	now.n++
	w.all.sum += amount
	w.all.n++
	w.publish()
}

// mean returns the mean amount at a tick, 0 when there is none.
func (w *window) mean(tick int64) int64 {
	mean := w.average.Load()
	if mean == 0 || tick <= w.tick.Load() {
		return mean
	}
	return w.moved(tick)
}

// moved is the mean after a look at what is to be forgotten; who finds somebody else
// at it takes the one before.
func (w *window) moved(tick int64) int64 {
	if w.mu.TryLock() {
		w.move(tick)
		w.publish()
		w.mu.Unlock()
	}
	return w.average.Load()
}

// move forgets what is older than a period at a tick. The caller holds w.mu.
func (w *window) move(tick int64) {
	last := w.tick.Load()
	for t := last + 1; t <= min(tick, last+panes); t++ {
		gone := &w.past[t%panes]
		w.all.sum -= gone.sum
		w.all.n -= gone.n
		*gone = pane{}
	}
	if tick > last {
		w.tick.Store(tick)
	}
}

func (w *window) publish() {
	if w.all.n == 0 {
		w.average.Store(0)
		return
	}
	w.average.Store(max(1, w.all.sum/w.all.n))
}
