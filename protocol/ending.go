package protocol

import (
	"sync/atomic"
	"time"
)

// Ending is how a call ended, as far as a [Status] tells it apart. The load balancers
// and who ejects go by the [Verdict]; this is for those who look at figures.
type Ending uint8

// The endings.
const (
	EndedWithValue     Ending = iota
	EndedWithException        // the service method has thrown
	EndedOneWay               // sent; nobody answers
	EndedUselessly            // see [Useless]
	EndedRefused              // for a limit of the provider's own
	EndedGivenUp              // the caller did, before the method's timeout was over
	EndedInFailure            // any other

	endingCount
)

// failed reports whether the ending counts as a failure: exceptions are answers.
func (e Ending) failed() bool { return e >= EndedUselessly }

// EndingOf returns the ending of an attempt with that outcome.
func EndingOf(inv *Invocation, o Outcome) Ending {
	switch o.Verdict {
	case Succeeded:
		switch {
		case o.Err != nil:
			return EndedWithException
		case inv.OneWay:
			return EndedOneWay
		}
		return EndedWithValue
	case Useless:
		return EndedUselessly
	case Failed:
		if AsError(o.Err).Code == ErrLimitExceeded {
			return EndedRefused
		}
	case TimedOut:
		if own := inv.Node.Method(inv.Method.Slot).Timeout; o.Elapsed < own-own/10 {
			return EndedGivenUp
		}
	case Neutral:
		if o.Err != nil && AsError(o.Err).Code == ErrCanceled {
			return EndedGivenUp
		}
	}
	return EndedInFailure
}

// CanceledLate reports whether the caller cancelled an attempt that it had waited for twice
// as long as answers take there: then the answer is late. Most cancel for reasons of their
// own, as the answer came from elsewhere or nobody wants it any more, and that tells
// nothing.
func CanceledLate(o Outcome, usual time.Duration) bool {
	if o.Verdict != Neutral || o.Err == nil || o.Elapsed < 2*usual {
		return false
	}
	e := AsError(o.Err)
	return e.Code == ErrCanceled && e.Sent
}

// EndWith counts the end of a call that began then, as [Status.End] does, and how it
// ended.
func (s *Status) EndWith(e Ending, begun time.Time, elapsed time.Duration) {
	if e == EndedOneWay {
		elapsed = 0 // it was sent then, not done
	}
	s.note(e, sinceEpoch(begun)+elapsed, elapsed)
	s.End(elapsed, e.failed())
}

// endings are the calls of a [Status] by how they ended. Most have none of those that
// are told apart here, and pay one load.
type endings struct {
	tallies               [endingCount]struct{ calls, elapsed atomic.Int64 }
	worthless, unanswered row
	refusing, failing     row
	failure               atomic.Int64 // when the latest of failing was
}

func (all *endings) of(e Ending) (calls int64, elapsed time.Duration) {
	t := &all.tallies[e]
	return t.calls.Load(), time.Duration(t.elapsed.Load())
}

// note counts an ending that is told apart, or that ends a row. at is when it was.
func (s *Status) note(e Ending, at, elapsed time.Duration) {
	second := clockAt(at)
	if second >= s.due.Load() {
		s.turn(second)
	}
	if e == EndedWithValue && s.valued.Load() != second {
		s.valued.Store(second)
	}
	all := s.endings.Load()
	if all == nil && e == EndedWithValue {
		return
	}
	for all == nil {
		s.endings.CompareAndSwap(nil, new(endings))
		all = s.endings.Load()
	}
	switch e {
	case EndedWithValue:
		all.worthless.end()
		all.unanswered.end()
		all.refusing.end()
		all.failing.end()
		return
	case EndedWithException, EndedUselessly:
		all.worthless.add(at)
		all.unanswered.end()
		all.refusing.end()
		all.failing.end()
	case EndedRefused:
		all.refusing.add(at)
		all.failing.end()
	case EndedGivenUp:
		all.unanswered.add(at)
	case EndedInFailure:
		all.failing.add(at)
		all.failure.Store(int64(at))
		return // the sum of all is known
	}
	all.tallies[e].elapsed.Add(int64(elapsed))
	all.tallies[e].calls.Add(1)
}

// row is how often in a row something has happened, and since when.
type row struct{ length, began atomic.Int64 }

func (r *row) add(at time.Duration) {
	if r.length.Add(1) == 1 {
		r.began.Store(int64(at))
	}
}

// end ends a row, without a write where there is none.
func (r *row) end() {
	if r.length.Load() != 0 {
		r.length.Store(0)
	}
}

func (r *row) read(now time.Duration) Row {
	n := r.length.Load()
	if n == 0 {
		return Row{}
	}
	return Row{Calls: n, For: max(0, now-time.Duration(r.began.Load()))}
}

// Row is how many calls in a row ended in one way, up to the latest, and for how long.
type Row struct {
	Calls int64
	For   time.Duration
}

// Lately is what a method at a provider has been like up to now, whatever it was before.
type Lately struct {
	// Worthless are the answers since the latest value: exceptions, and those of no use.
	// Calls without an answer do not matter.
	Worthless Row
	// Unanswered are the callers that gave up since the latest answer. Failures of another
	// kind do not matter.
	Unanswered Row
	// Refusing are the refusals since the latest answer of another kind. Calls without an
	// answer do not matter.
	Refusing Row
	// Failing are the failures since the latest answer of any kind, refusals included, for
	// the time up to the latest of them: those that came at once, as a connection was lost,
	// took none. Callers that gave up do not matter.
	Failing Row
	// Value is how long ago the latest value was, to a second; less than 0 when there was
	// none.
	Value time.Duration
}

// Lately returns what the calls counted by [Status.EndWith] have been like up to now.
func (s *Status) Lately(now time.Time) Lately {
	l, at := Lately{Value: -1}, sinceEpoch(now)
	if second := s.valued.Load(); second != 0 {
		l.Value = max(0, at-sinceClock(second))
	}
	if all := s.endings.Load(); all != nil {
		l.Worthless, l.Unanswered = all.worthless.read(at), all.unanswered.read(at)
		l.Refusing = all.refusing.read(at)
		l.Failing = all.failing.read(time.Duration(all.failure.Load()))
	}
	return l
}

// sinceEpoch is the time by the monotonic clock, never in its first second.
func sinceEpoch(t time.Time) time.Duration { return t.Sub(epoch) + time.Second }
