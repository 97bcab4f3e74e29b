package protocol

import (
	"sync/atomic"
	"time"
)

// Status counts the calls of one method at one provider during one of its lives:
// Dubbo's RpcStatus. Who changes it is the active limit filter alone, whether or
// not "actives" is set (F2); load balancers and snapshots read it.
//
// All methods are safe for concurrent use. The counters are read one by one, so a
// [Counters] value may be off by a call that ends meanwhile.
type Status struct {
	// What every call changes or looks at comes first.
	active   atomic.Int64
	total    atomic.Int64
	elapsed  atomic.Int64 // ns, all ended calls
	underWay atomic.Uint64
	maxima   longest                 // of the calls since the latest page
	valued   atomic.Int64            // when the latest value was, see clockAt
	due      atomic.Int64            // the second at which the next page begins, 0 before the first call
	endings  atomic.Pointer[endings] // nil as long as all calls ended with values

	failed        atomic.Int64
	failedElapsed atomic.Int64 // ns
	full          atomic.Int64
	page          atomic.Pointer[page] // see recent.go
	_             [64]byte             // nodes are allocated side by side
}

// Begin counts a call that is about to start and reports whether it may: false
// when limit > 0 calls are active already. The check and the increment are one
// step (B096); a refused call is not counted at any moment (B100). Every true
// must be followed by exactly one [Status.End].
func (s *Status) Begin(limit int) bool {
	if limit <= 0 {
		s.active.Add(1)
		return true
	}
	for {
		n := s.active.Load()
		if n >= int64(limit) {
			return false
		}
		if s.active.CompareAndSwap(n, n+1) {
			if n+1 == int64(limit) {
				s.full.Add(1)
			}
			return true
		}
	}
}

// End counts the end of a call.
func (s *Status) End(elapsed time.Duration, failed bool) {
	d := int64(elapsed)
	s.total.Add(1)
	s.elapsed.Add(d)
	if failed {
		s.failed.Add(1)
		s.failedElapsed.Add(d)
		raise(&s.maxima.failure, d)
	} else {
		raise(&s.maxima.answer, d)
	}
	s.active.Add(-1)
}

// longest are the durations of the longest calls.
type longest struct{ answer, failure atomic.Int64 } // ns

func raise(m *atomic.Int64, d int64) {
	for old := m.Load(); d > old && !m.CompareAndSwap(old, d); {
		old = m.Load()
	}
}

func (l *longest) read() maxima { return maxima{l.answer.Load(), l.failure.Load()} }

// reset begins anew, and returns what there was.
func (l *longest) reset() maxima { return maxima{l.answer.Swap(0), l.failure.Swap(0)} }

// maxima is a copy of longest.
type maxima struct{ answer, failure int64 }

// or returns the greater ones.
func (m maxima) or(o maxima) maxima {
	return maxima{max(m.answer, o.answer), max(m.failure, o.failure)}
}

func (m maxima) tell(c *Counters) {
	c.MaxElapsed, c.MaxAnswered = time.Duration(max(m.answer, m.failure)), time.Duration(m.answer)
}

// Entered notes when a call began that [Status.Begin] has let in; [Status.Left] takes
// that back.
func (s *Status) Entered(begun time.Time) { s.underWay.Add(entered(begun)) }

// Left is to be called once for each [Status.Entered], with the same time.
func (s *Status) Left(begun time.Time) { s.underWay.Add(-entered(begun)) }

// UnderWay returns how many calls have entered and not left, and how long ago that was
// on average: what tells a burst of calls from those that do not return.
func (s *Status) UnderWay(now time.Time) (calls int, age time.Duration) {
	v := s.underWay.Load()
	n := v & (1<<countBits - 1)
	if n == 0 {
		return 0, 0
	}
	all := (millis(now)*n - v>>countBits) << countBits >> countBits
	return int(n), time.Duration(all/n) * time.Millisecond
}

// A status has how many calls are under way in the lower bits of one number, and in
// the others the sum of the milliseconds at which they began: so both are of the same
// moment. That sum wraps around; the sum of the ages that comes of it does not, below
// 500 years.
const countBits = 20

// epoch is when milliseconds begin. They are those of the monotonic clock.
var epoch = time.Now()

func millis(t time.Time) uint64 { return uint64(t.Sub(epoch).Milliseconds()) }

func entered(begun time.Time) uint64 { return millis(begun)<<countBits | 1 }

// Active returns the number of calls between Begin and End.
func (s *Status) Active() int { return int(s.active.Load()) }

// Counters is a copy of a [Status].
type Counters struct {
	Active        int
	Total         int64 // ended calls
	Failed        int64 // of them, failed: everything but a value or a business exception
	Elapsed       time.Duration
	FailedElapsed time.Duration
	MaxElapsed    time.Duration
	MaxAnswered   time.Duration // the longest that has not failed
	// Full is how often a call has taken the last slot of "actives": until it was free again
	// other calls went elsewhere, or waited.
	Full int64

	// Exceptions is how many of Total were answered with a business exception: the method
	// has thrown. Those have not failed.
	Exceptions        int64
	ExceptionsElapsed time.Duration
	// OneWay is how many of Total were sent without anybody to answer (return=false): how
	// long they took nobody knows, so Elapsed leaves them out.
	OneWay int64
	// Useless is how many of Failed were answered to the effect that the provider cannot
	// do anything with the call, or unreadably: see the [Verdict] of that name.
	Useless        int64
	UselessElapsed time.Duration
	// Refused is how many of Failed the provider has refused for a limit of its own,
	// "executes" or its thread pool. Those did not run, and went elsewhere if they could.
	Refused        int64
	RefusedElapsed time.Duration
	// GivenUp is how many of Failed had no answer when their caller gave up, before the
	// method's timeout was over.
	GivenUp        int64
	GivenUpElapsed time.Duration
}

// Counters returns the present figures.
func (s *Status) Counters() Counters {
	c := Counters{
		Active:        s.Active(),
		Total:         s.total.Load(),
		Failed:        s.failed.Load(),
		Elapsed:       time.Duration(s.elapsed.Load()),
		FailedElapsed: time.Duration(s.failedElapsed.Load()),
		Full:          s.full.Load(),
	}
	m := s.maxima.read()
	if p := s.page.Load(); p != nil {
		m = m.or(p.ever)
	}
	m.tell(&c)
	if all := s.endings.Load(); all != nil {
		c.Exceptions, c.ExceptionsElapsed = all.of(EndedWithException)
		c.OneWay, _ = all.of(EndedOneWay)
		c.Useless, c.UselessElapsed = all.of(EndedUselessly)
		c.Refused, c.RefusedElapsed = all.of(EndedRefused)
		c.GivenUp, c.GivenUpElapsed = all.of(EndedGivenUp)
	}
	return c
}

// Answers is how many calls were answered with a value or an exception, and their mean
// duration, 0 when there is none.
func (c Counters) Answers() (calls int64, mean time.Duration) {
	if calls = c.Total - c.Failed - c.OneWay; calls > 0 {
		mean = (c.Elapsed - c.FailedElapsed) / time.Duration(calls)
	}
	return calls, mean
}

// AverageElapsed is the mean duration of the ended calls of which it is known, 0 when
// there is none.
func (c Counters) AverageElapsed() time.Duration {
	if c.Total <= c.OneWay {
		return 0
	}
	return c.Elapsed / time.Duration(c.Total-c.OneWay)
}
