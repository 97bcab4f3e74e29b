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

// window is the mean of amounts over the latest period, moved on in tenths. An amount
// counts less with every tenth that passes, until it is forgotten: ten times as much
// when it is new as at last. Dubbo forgets all at once when a period is over, for all
// methods of all services together, and every provider reads 0 then (F21).
//
// Time is counted in ticks, of a tenth of the period each. Reading takes no lock
// but when a tick has passed.
type window struct {
	tick    atomic.Int64 // up to which it was moved
	average atomic.Int64 // at least 1; 0: nothing happened within the period
	weight  atomic.Int64 // how many amounts it is the mean of, in tenths
	known   real         // what [window.expected] is made of: this, and
	seen    real         // of what is usual all but so much, 0 … 1

	mu    sync.Mutex
	all   pane         // what happened within the period
	faded pane         // the same, in tenths, as far as it counts
	past  *[panes]pane // by tick modulo panes; nil before the first
}

// pane is the sum of what happened within a tick.
type pane struct{ sum, n int64 }

// plus adds another pane so many times.
func (p *pane) plus(q pane, times int64) {
	p.sum += times * q.sum
	p.n += times * q.n
}

// add counts one more amount. What comes late, from a tick that is over, counts
// in the present one.
func (w *window) add(tick, amount int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.past == nil {
		w.past = new([panes]pane)
	}
	w.move(tick)
	one := pane{min(amount, mostAmount), 1}
	w.past[w.tick.Load()%panes].plus(one, 1)
	w.all.plus(one, 1)
	w.faded.plus(one, panes)
	w.publish()
}

// mostAmount, 73 minutes in ns, lets a window add up two hundred thousand of them.
const mostAmount = 1 << 42

// mean returns the mean amount at a tick, 0 when there is none.
func (w *window) mean(tick int64) int64 {
	mean, _ := w.weighed(tick)
	return mean
}

// weighed is mean and how many amounts it is of, in tenths.
func (w *window) weighed(tick int64) (mean, weight int64) {
	if w.average.Load() != 0 && tick > w.tick.Load() {
		w.moved(tick)
	}
	return w.average.Load(), w.weight.Load()
}

// supposed amounts, as usual ones, stand beside those that a window has seen where it
// says what is to be expected.
const supposed = 4

// expected is what the next amount may be, given what is usual (0: not known): the mean
// with some more that are usual. The window must have been moved to the present tick.
// It is read by every pick, so what takes long is worked out when the window changes.
func (w *window) expected(usual int64) int64 {
	if usual == 0 {
		return w.average.Load()
	}
	return int64(w.known.load() + (1-w.seen.load())*float64(usual) + 0.5)
}

// moved forgets what is to be forgotten; who finds somebody else at it takes the mean
// before.
func (w *window) moved(tick int64) {
	if w.mu.TryLock() {
		w.move(tick)
		w.publish()
		w.mu.Unlock()
	}
}

// move forgets what is to be forgotten at a tick. The caller holds w.mu.
func (w *window) move(tick int64) {
	last := w.tick.Load()
	for t := last + 1; t <= min(tick, last+panes); t++ {
		w.faded.plus(w.all, -1)
		gone := &w.past[t%panes]
		w.all.plus(*gone, -1)
		*gone = pane{}
	}
	if tick > last {
		w.tick.Store(tick)
	}
}

func (w *window) publish() {
	if w.faded.n == 0 {
		w.average.Store(0)
		w.weight.Store(0)
		w.known.store(0)
		w.seen.store(0)
		return
	}
	mean := max(1, w.faded.sum/w.faded.n)
	seen := float64(w.faded.n) / float64(w.faded.n+supposed*panes)
	w.average.Store(mean)
	w.weight.Store(w.faded.n)
	w.known.store(float64(mean) * seen)
	w.seen.store(seen)
}
