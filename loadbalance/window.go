package loadbalance

import (
	"sync"
	"sync/atomic"
	"time"
)

// panes is the number of parts that a window moves in: it covers between nine and
// ten tenths of its period.
const panes = 10

// window is the mean of durations over the latest period, moved on in tenths.
// Dubbo forgets all at once when a period is over, for all methods of all services
// together, and every provider reads 0 then (F21); here only the oldest tenth goes.
//
// Time is counted in ticks, of a tenth of the period each. Reading takes no lock
// but when a tick has passed.
type window struct {
	tick    atomic.Int64 // up to which it was moved
	average atomic.Int64 // ns; 0: nothing happened within the period

	mu   sync.Mutex
	all  pane
	past *[panes]pane // by tick modulo panes; nil before the first
}

// pane is the sum of what happened within a tick.
type pane struct{ elapsed, calls int64 }

// add counts one more duration. What comes late, from a tick that is over, counts
// in the present one.
func (w *window) add(tick int64, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.past == nil {
		w.past = new([panes]pane)
	}
	w.move(tick)
	now := &w.past[w.tick.Load()%panes]
	now.elapsed += int64(d)
	now.calls++
	w.all.elapsed += int64(d)
	w.all.calls++
	w.publish()
}

// mean returns the mean duration at a tick in ns, 0 when there is none.
func (w *window) mean(tick int64) int64 {
	mean := w.average.Load()
	if mean > 0 && w.tick.Load() < tick && w.mu.TryLock() {
		w.move(tick)
		w.publish()
		mean = w.average.Load()
		w.mu.Unlock()
	}
	return mean
}

// move forgets what is older than a period at a tick. The caller holds w.mu.
func (w *window) move(tick int64) {
	last := w.tick.Load()
	for t := last + 1; t <= min(tick, last+panes); t++ {
		gone := &w.past[t%panes]
		w.all.elapsed -= gone.elapsed
		w.all.calls -= gone.calls
		*gone = pane{}
	}
	if tick > last {
		w.tick.Store(tick)
	}
}

func (w *window) publish() {
	if w.all.calls == 0 {
		w.average.Store(0)
		return
	}
	w.average.Store(max(1, w.all.elapsed/w.all.calls))
}
