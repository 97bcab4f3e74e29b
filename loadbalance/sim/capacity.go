package sim

import (
	"slices"
	"time"
)

// Capacity returns how many requests per second the cluster can take when it can
// take the fewest: what Load is a share of. It counts what is really there during a
// disturbance:
//
//   - a provider that is down, has left, fails a fourth of its requests or more, or has
//     a single pause of a second or more counts nothing then; a shorter one is none;
//   - one that is slow, by a fault or because it is cold for a time, counts that
//     much less, one that is cold for a number of requests half;
//   - pauses that come back (every), of whatever length, count at all times with their
//     share of the time;
//   - a cache counts with the hits that the scenario says;
//   - where threads are limited, no more requests than threads are worked on, or wait
//     ([Request.Wait]), at a time.
//
// It is 0 if Check finds something wrong that has nothing to do with how much comes.
func (s *Scenario) Capacity() float64 {
	if s == nil {
		return 0
	}
	c, f := new(checker), s.filled()
	if c.scenario(f); len(c.problems) > 0 || f.looks() > maxLooks {
		return 0
	}
	return f.capacity()
}

// capacity is Capacity of a scenario that is filled in.
func (s *Scenario) capacity() float64 {
	least := 0.0
	for i, t := range s.moments() {
		if c := s.capacityAt(t); i == 0 || c < least {
			least = c
		}
	}
	return least / s.meanWork().Seconds()
}

// rate returns the requests per second that arrive. The scenario is filled in.
func (s *Scenario) rate() float64 {
	if s.Rate > 0 {
		return s.Rate
	}
	return s.Load * s.capacity()
}

// meanWork is the mean time on a worker of speed 1.
func (s *Scenario) meanWork() time.Duration {
	return s.meanOf(func(r *Request) time.Duration { return r.Mean })
}

// meanWait is the mean time that requests wait after it.
func (s *Scenario) meanWait() time.Duration {
	return s.meanOf(func(r *Request) time.Duration { return r.Wait })
}

func (s *Scenario) meanOf(of func(*Request) time.Duration) time.Duration {
	var sum, shares float64
	for i := range s.Requests {
		r := &s.Requests[i]
		sum += r.Share * float64(of(r))
		shares += r.Share
	}
	return time.Duration(sum / shares)
}

// moments are the times at which the capacity can change for the worse.
func (s *Scenario) moments() []time.Duration {
	at := []time.Duration{0}
	for i := range s.Providers {
		p := &s.Providers[i]
		if p.Joins != nil {
			at = append(at, *p.Joins)
		}
		for _, f := range p.Faults {
			for i := range f.times(p) {
				begin := f.At + time.Duration(i)*f.Stagger
				at = append(at, begin, begin+f.For)
			}
		}
	}
	slices.Sort(at)
	return slices.DeleteFunc(slices.Compact(at), func(t time.Duration) bool { return t > s.Duration })
}

// times is at how many different times the members of a group have a fault.
func (f *Fault) times(p *Provider) int {
	if f.Stagger == 0 {
		return 1
	}
	return p.Count
}

// alike reports whether at every time all members of a group can do the same.
func (p *Provider) alike() bool {
	return !slices.ContainsFunc(p.Faults, func(f Fault) bool { return f.Stagger > 0 })
}

// looks is how often capacity has to look at something.
func (s *Scenario) looks() float64 {
	moments, each := 1.0, 0.0
	for i := range s.Providers {
		p := &s.Providers[i]
		if p.Joins != nil {
			moments++
		}
		for j := range p.Faults {
			moments += 2 * float64(p.Faults[j].times(p))
		}
		faults := float64(1 + len(p.Faults))
		if !p.alike() {
			faults *= float64(p.Count)
		}
		each += float64(p.Count) + faults
	}
	return moments * each
}

// capacityAt returns the work that can be done in a second at a moment, in seconds
// of a worker of speed 1. A provider that is not there yet does not count until it
// joins, but the moments before that do: the least of all is taken.
func (s *Scenario) capacityAt(t time.Duration) float64 {
	sum, work, wait := 0.0, s.meanWork().Seconds(), s.meanWait().Seconds()
	for i := range s.Providers {
		p := &s.Providers[i]
		of := func(member int) float64 { return p.threaded(p.capacityAt(t, member), work, wait) }
		c, alike := of(0), p.alike()
		for j := range p.Count {
			if j > 0 && !alike {
				c = of(j)
			}
			sum += c
		}
	}
	return sum
}

// threaded returns what is left of a provider's capacity by its threads, which requests
// of so much work keep until they have waited, too.
func (p *Provider) threaded(capacity, work, wait float64) float64 {
	if p.Threads == 0 || capacity == 0 {
		return capacity
	}
	pace := capacity / float64(p.Workers)
	return min(capacity, float64(p.Threads)*work/(work/pace+wait))
}

func (p *Provider) capacityAt(t time.Duration, member int) float64 {
	if p.Joins != nil && t < *p.Joins {
		return 0
	}
	c := float64(p.Workers) * p.Speed
	if p.Cache != nil {
		c /= p.Cache.Hits + (1-p.Cache.Hits)*p.Cache.Miss
	}
	for i := range p.Faults {
		c *= p.Faults[i].spares(t, member)
	}
	switch started, restarted, up := p.started(t, member); {
	case !up:
		return 0
	case restarted:
		c *= 1 / p.Cold.expected(t-started)
	case p.Joins != nil:
		c /= p.Cold.expected(t - started)
	}
	return c
}

// started returns when the life began that a member of a group has at a moment, if it
// has one. It joins before that.
func (p *Provider) started(t time.Duration, member int) (at time.Duration, restarted, up bool) {
	if p.Joins != nil {
		at = *p.Joins
	}
	for i := range p.Faults {
		f := &p.Faults[i]
		if !f.Kill && !f.Leave {
			continue
		}
		begin := f.At + time.Duration(member)*f.Stagger
		switch end := begin + f.For; {
		case t >= begin && t < end:
			return 0, false, false
		case t >= end && (!restarted || end > at):
			at, restarted = end, true
		}
	}
	return at, restarted, true
}

// spares returns the share of a provider's capacity that a fault leaves it while it is
// up.
func (f *Fault) spares(t time.Duration, member int) float64 {
	if f.Every > 0 {
		return 1 - f.For.Seconds()/f.Every.Seconds()
	}
	begin := f.At + time.Duration(member)*f.Stagger
	switch {
	case t < begin, t >= begin+f.For:
		return 1
	case f.Slow > 0:
		return 1 / f.Slow
	case f.Kill, f.Leave, f.Error > 0 && f.Error < 0.25, f.Pause && f.For < time.Second:
		return 1
	}
	return 0
}

// expected is how many times as long requests take at an age.
func (k *Cold) expected(age time.Duration) float64 {
	switch {
	case k == nil:
		return 1
	case k.Requests > 0:
		return 2
	}
	return k.slow(age, 0)
}
