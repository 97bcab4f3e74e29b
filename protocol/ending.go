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

// endings are the calls of a [Status] by how they ended. Most have none of those that
// are told apart here, and pay one load.
type endings struct {
	tallies    [endingCount]struct{ calls, elapsed atomic.Int64 }
	worthless  atomic.Int64 // answers in a row
	unanswered atomic.Int64 // calls in a row
}

func (all *endings) of(e Ending) (calls int64, elapsed time.Duration) {
	t := &all.tallies[e]
	return t.calls.Load(), time.Duration(t.elapsed.Load())
}

// note counts an ending that is told apart, or that ends a row.
func (s *Status) note(e Ending, elapsed int64) {
	all := s.endings.Load()
	if e == EndedInFailure || all == nil && e == EndedWithValue {
		return
	}
	for all == nil {
		s.endings.CompareAndSwap(nil, new(endings))
		all = s.endings.Load()
	}
	switch e {
	case EndedWithValue:
		endRow(&all.worthless)
		endRow(&all.unanswered)
		return
	case EndedWithException, EndedUselessly:
		all.worthless.Add(1)
		endRow(&all.unanswered)
	case EndedGivenUp:
		all.unanswered.Add(1)
	}
	all.tallies[e].elapsed.Add(elapsed)
	all.tallies[e].calls.Add(1)
}

// endRow ends a row, without a write where there is none.
func endRow(row *atomic.Int64) {
	if row.Load() != 0 {
		row.Store(0)
	}
}
