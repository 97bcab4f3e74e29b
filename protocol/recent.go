package protocol

import "time"

// RecentPeriod is the least time that [Status.Recent] looks back, where a status is old
// enough; twice that is the most.
const RecentPeriod = 4 * time.Minute

// recentSeconds is that in seconds. Periods are counted by the clock, so that those of all
// statuses begin together and their figures can be compared.
const recentSeconds = int64(RecentPeriod / time.Second)

// clockAt is the second of a time since the epoch. Virtual time may be some decades before
// that: it begins a round number of periods earlier.
func clockAt(at time.Duration) int64 { return int64((at + clockBegins) / time.Second) }

const clockBegins = 10_000_000 * RecentPeriod

// sinceClock is the time since the epoch at which a second begins.
func sinceClock(second int64) time.Duration {
	return time.Duration(second)*time.Second - clockBegins
}

// page is what a status had counted when its latest two periods began. There is none as
// long as the first one lasts. It is not written after it was made.
type page struct {
	period       int64 // that began with newer
	older, newer Counters
	before       maxima // of the calls between the two
	ever         maxima // and of all up to newer
}

// turn begins the period of that second, at the first call that ends in it: so nothing
// has been counted since the one before was over. Of several callers one does it.
func (s *Status) turn(second int64) {
	due := s.due.Load()
	if second < due {
		return
	}
	period := second / recentSeconds
	if !s.due.CompareAndSwap(due, (period+1)*recentSeconds) || due == 0 {
		return
	}
	next, old := &page{period: period}, s.page.Load()
	if old == nil {
		old = new(page)
	}
	last := s.maxima.reset()
	next.newer = s.Counters()
	next.ever = old.ever.or(last)
	next.older = next.newer
	if period == due/recentSeconds { // the one before was the latest but this
		next.older, next.before = old.newer, last
	}
	s.page.Store(next)
}

// Recent returns the figures of a recent time alone, and when that began: one
// [RecentPeriod] to two ago, the same for every status. A status that has begun later is
// counted whole, and so is one that [Status.EndWith] is not used with.
func (s *Status) Recent(now time.Time) (c Counters, since time.Time) {
	p, due := s.page.Load(), s.due.Load()
	period := clockAt(sinceEpoch(now)) / recentSeconds
	since = epoch.Add(sinceClock((period-1)*recentSeconds) - sinceEpoch(epoch))
	c = s.Counters()
	if due == 0 {
		return c, since
	}
	if p == nil {
		p = &page{period: due/recentSeconds - 1}
	}
	switch last := s.maxima.read(); {
	case period <= p.period:
		c = c.less(p.older)
		last.or(p.before).tell(&c)
	case period == p.period+1: // nothing has ended since it should have been turned
		c = c.less(p.newer)
		last.tell(&c)
	default:
		c = c.less(c)
	}
	return c, since
}

// less returns what has been counted since then. The maxima are left to the caller.
func (c Counters) less(then Counters) Counters {
	return Counters{
		Active:            c.Active,
		Total:             c.Total - then.Total,
		Failed:            c.Failed - then.Failed,
		Elapsed:           c.Elapsed - then.Elapsed,
		FailedElapsed:     c.FailedElapsed - then.FailedElapsed,
		Exceptions:        c.Exceptions - then.Exceptions,
		ExceptionsElapsed: c.ExceptionsElapsed - then.ExceptionsElapsed,
		OneWay:            c.OneWay - then.OneWay,
		Useless:           c.Useless - then.Useless,
		UselessElapsed:    c.UselessElapsed - then.UselessElapsed,
		Refused:           c.Refused - then.Refused,
		RefusedElapsed:    c.RefusedElapsed - then.RefusedElapsed,
		GivenUp:           c.GivenUp - then.GivenUp,
		GivenUpElapsed:    c.GivenUpElapsed - then.GivenUpElapsed,
		Full:              c.Full - then.Full,
	}
}
