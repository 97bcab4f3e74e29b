package cluster

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// leastGivenUp is how many calls in a row are given up, at least, before that ejects;
// as many as "outlier.failures" if that is more.
const leastGivenUp = 10

// silence is a row of calls that were given up before the provider's timeout was over,
// in which the provider has answered nothing at all: not one call of any method.
//
// One such call tells nothing: its caller was impatient. But a provider that hangs
// would stay in the choice for ever if no caller had the patience its timeout asks for.
// So the row ejects when it has lasted for that timeout, and only calls count whose
// method another provider has answered in the row: a deadline that is too short for
// everybody ejects nobody.
type silence struct {
	calls atomic.Int32 // that count; 0: the provider has answered

	// Guarded by Outliers.mu.
	since  time.Time
	moment uint64 // of the answers of others
}

// broken ends the row.
func (s *silence) broken() {
	if s.calls.Load() != 0 {
		s.calls.Store(0)
	}
}

// givenUp judges a call that was given up early, and returns what failure that is, nil
// for none.
func (o *Outliers) givenUp(r *record, inv *protocol.Invocation, end protocol.Outcome, set settings) error {
	s, slot, at := &r.silence, inv.Method.Slot, inv.Begun.Add(end.Elapsed)
	n := s.calls.Load()
	switch out := r.out.Load(); {
	case end.Elapsed < answerTime(end.Life, slot):
		return nil // it could not have been answered
	case out && !o.answers.since(slot, s.moment):
		return nil
	case out && errors.As(r.last, new(*silentError)):
		return silent(int(r.failures.Load())+1, at.Sub(s.since)) // the row goes on
	case out:
		return end.Err
	case n == 0:
		o.answers.watch(slot)
		s.since, s.moment = at, o.answers.begin()
		s.calls.Store(1)
		return nil
	case !o.answers.since(slot, s.moment), !s.calls.CompareAndSwap(n, n+1): // or it has answered just now
		return nil
	}
	n++
	lasted := at.Sub(s.since)
	if int(n) < max(leastGivenUp, set.failures) || lasted < r.node.Method(slot).Timeout {
		return nil
	}
	r.failures.Store(n - 1) // this one is the last
	r.first, r.limits, r.slow = s.since, false, true
	return silent(int(n), lasted)
}

func silent(calls int, lasted time.Duration) error {
	return &protocol.Error{Code: protocol.ErrTimeout, Sent: true, Cause: &silentError{calls, lasted}}
}

// silentError is why a silent provider is ejected.
type silentError struct {
	calls  int
	lasted time.Duration
}

func (e *silentError) Error() string {
	return fmt.Sprintf("%d calls in a row were given up unanswered in %v, while others answer", e.calls, e.lasted.Round(10*time.Millisecond))
}

// answerTime is the mean time of the provider's answers, 0 when there is none. A call that
// is given up sooner could not have been answered: its caller had hardly time left.
func answerTime(life *protocol.Life, slot int) time.Duration {
	_, mean := life.Status(slot).Counters().Answers()
	return mean
}

// answers tell whether a method was answered, by whomever, since some moment. That costs
// the calls of a fleet in which nobody gives up one atomic load, and others a write only
// after a moment that somebody asks for.
type answers struct {
	moment atomic.Uint64                    // counts them
	latest atomic.Pointer[[]*atomic.Uint64] // moment at which a method was answered, of those that were given up
}

// note is told of every answer.
func (a *answers) note(slot int) {
	p := a.latest.Load()
	if p == nil || slot >= len(*p) {
		return
	}
	if latest, now := (*p)[slot], a.moment.Load(); latest.Load() != now {
		latest.Store(now)
	}
}

// begin begins a moment.
func (a *answers) begin() uint64 { return a.moment.Add(1) }

// watch has the answers of a method noted from now on. It needs Outliers.mu, as since
// does.
func (a *answers) watch(slot int) {
	var all []*atomic.Uint64
	if p := a.latest.Load(); p != nil {
		all = *p
	}
	if slot < len(all) {
		return
	}
	all = slices.Clone(all)
	for len(all) <= slot {
		all = append(all, new(atomic.Uint64))
	}
	a.latest.Store(&all)
}

// since reports whether a method was answered since a moment.
func (a *answers) since(slot int, moment uint64) bool {
	a.watch(slot)
	return (*a.latest.Load())[slot].Load() >= moment
}
