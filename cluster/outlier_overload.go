package cluster

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

const (
	leastLost    = 20               // calls that go by, at least, before ejections are regretted; "outlier.failures" if more
	lostShare    = 0.2              // of the attempts, from which on they are
	leastWatch   = time.Second      // that an overload has to last
	mostWatch    = 10 * time.Second // for which few calls are counted together
	enoughCalls  = 200              // that are judged without waiting for more
	mostAnswers  = 1 << 17          // counted without a loss
	firstRegret  = 30 * time.Second // for which timeouts eject nobody then, doubled each time
	longRegret   = 4 * time.Minute  // up to this
	regretForget = 5 * time.Minute  // after which it begins anew
	calm         = 5 * time.Second  // without a timeout, which ends an overload
)

// overload watches what becomes of the others when providers are ejected because calls
// time out there. If a provider hangs, they answer. If there is more to do than all can,
// they have its share to do as well: they time out the more, and go on to do so when there
// is no more to do than usual, for a provider that comes back is the next one's relief. A
// row of timeouts tells neither from the other, but what follows does.
//
// So losses are counted, timeouts and refusals for a limit, at providers in service while
// others are ejected for timeouts; those of a method that nobody answers are not, for it
// is not the load that is to blame. When they are a fifth of the attempts for a second
// those ejections are regretted: all come back, and timeouts eject nobody for half a
// minute, and for twice as long each time it happens again. Then nothing is worse than
// without any ejections, except for seconds. It ends early when nothing times out any more.
//
// While nothing is lost that costs an answer one atomic load.
type overload struct {
	counting atomic.Bool
	answers  atomic.Int64

	// The rest is guarded by Outliers.mu.
	losses int64
	begun  time.Time     // of the count
	until  time.Time     // timeouts eject nobody
	last   time.Duration // for which that was
	late   time.Time     // the latest loss then
}

// answered counts an answer of a provider in service.
func (w *overload) answered() {
	if w.counting.Load() && w.answers.Add(1) >= mostAnswers {
		w.counting.Store(false) // whoever loses a call begins anew
	}
}

// tolerates reports whether timeouts eject nobody at the moment.
func (w *overload) tolerates(at time.Time) bool { return at.Before(w.until) }

// lost reports whether an attempt was one too many, as it seems: it was refused, or was not
// answered in the time that answers take.
func lost(slot int, end protocol.Outcome) bool {
	if end.Verdict == protocol.TimedOut {
		return end.Elapsed >= answerTime(end.Life, slot)
	}
	return end.Verdict == protocol.Failed && errors.Is(end.Err, protocol.ErrLimitExceeded)
}

// lost counts an attempt at a provider in service that has timed out, or was refused for
// a limit.
func (o *Outliers) lost(slot int, at time.Time, set settings) {
	w := &o.overload
	if o.unanswered(slot, at) {
		return
	}
	if w.tolerates(at) {
		if at.Sub(w.late) >= calm {
			w.until = at
		}
		w.late = at
		return
	}
	if !slices.ContainsFunc(o.ejected, (*record).hangs) {
		w.counting.Store(false)
		return
	}
	lasted := at.Sub(w.begun)
	if !w.counting.Load() && lasted >= leastWatch || lasted >= mostWatch {
		w.answers.Store(0)
		w.losses, w.begun, lasted = 0, at, 0
	}
	w.counting.Store(true)
	w.losses++
	all := w.losses + w.answers.Load()
	switch {
	case lasted < leastWatch:
	case w.losses >= int64(max(leastLost, set.failures)) && float64(w.losses) >= lostShare*float64(all):
		o.regret(at, w.losses, all)
	case all >= enoughCalls:
		w.counting.Store(false)
	}
}

// hangs reports whether all of the row were calls that nobody answered in time, so an
// ejected provider is out because of those.
func (r *record) hangs() bool { return r.mute.Load() }

// regret ends all ejections for timeouts, and keeps timeouts from ejecting for a while.
func (o *Outliers) regret(at time.Time, losses, all int64) {
	w := &o.overload
	w.counting.Store(false)
	if at.Sub(w.until) >= regretForget {
		w.last = 0
	}
	w.last = min(max(2*w.last, firstRegret), longRegret)
	w.until, w.late = at.Add(w.last), at
	why := fmt.Sprintf("%d of %d calls were lost without it: timeouts eject nobody for %v", losses, all, w.last)
	for _, r := range slices.Clone(o.ejected) {
		if r.hangs() {
			r.trips = 0
			o.readmit(r, at, why)
		}
	}
}
