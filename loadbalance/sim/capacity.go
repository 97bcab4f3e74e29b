package sim

import (
	"slices"
	"time"
)

// Capacity returns how many requests per second the cluster can take when it can
// take the fewest: what Load is a share of. It counts what is really there during a
// disturbance:
//
//   - a provider that is down, has left, pauses for a second or more, or fails a
//     fourth of its requests or more counts nothing then;
//   - one that is slow, by a fault or because it is cold for a time, counts that
//     much less, one that is cold for a number of requests half;
//   - short pauses count with their share of the time;
//   - a cache counts with the hits that the scenario says.
func (s *Scenario) Capacity() float64 {
	f := s.filled()
	least := 0.0
	for i, t := range f.moments() {
		if c := f.capacityAt(t); i == 0 || c < least {
			least = c
		}
	}
	return least / f.meanWork().Seconds()
}

// rate returns the requests per second that arrive.
func (s *Scenario) rate() float64 {
	if s.Rate > 0 {
		return s.Rate
	}
	return s.Load * s.Capacity()
}

// meanWork is the mean time on a worker of speed 1.
func (s *Scenario) meanWork() time.Duration {
	var sum, shares float64
	for _, r := range s.Requests {
		sum += r.Share * float64(r.Mean)
		shares += r.Share
	}
	return time.Duration(sum / shares)
}

// moments are the times at which the capacity can change for the worse.
func (s *Scenario) moments() []time.Duration {
	at := []time.Duration{0}
	for _, p := range s.Providers {
		if p.Joins != nil {
			at = append(at, *p.Joins)
		}
		for _, f := range p.Faults {
			for i := range p.Count {
				begin := f.At + time.Duration(i)*f.Stagger
				at = append(at, begin, begin+f.For)
			}
		}
	}
	slices.Sort(at)
	return slices.DeleteFunc(slices.Compact(at), func(t time.Duration) bool { return t > s.Duration })
}

// capacityAt returns the work that can be done in a second at a moment, in seconds
// of a worker of speed 1. A provider that is not there yet does not count until it
// joins, but the moments before that do: the least of all is taken.
func (s *Scenario) capacityAt(t time.Duration) float64 {
	sum := 0.0
	for i := range s.Providers {
		p := &s.Providers[i]
		for j := range p.Count {
			sum += p.capacityAt(t, j)
		}
	}
	return sum
}

func (p *Provider) capacityAt(t time.Duration, member int) float64 {
	if p.Joins != nil && t < *p.Joins {
		return 0
	}
	c := float64(p.Workers) * p.Speed
	if p.Cache != nil {
		c /= p.Cache.Hits + (1-p.Cache.Hits)*p.Cache.Miss
	}
	if p.Joins != nil {
		c /= p.Cold.expected(t - *p.Joins)
	}
	for i := range p.Faults {
		c *= p.Faults[i].leaves(t, member, p.Cold)
	}
	return c
}

// leaves returns the share of a provider's capacity that a fault leaves.
func (f *Fault) leaves(t time.Duration, member int, cold *Cold) float64 {
	if f.Every > 0 {
		return 1 - f.For.Seconds()/f.Every.Seconds()
	}
	begin := f.At + time.Duration(member)*f.Stagger
	end := begin + f.For
	switch {
	case t < begin:
		return 1
	case t >= end && (f.Kill || f.Leave):
		return 1 / cold.expected(t-end)
	case t >= end:
		return 1
	case f.Slow > 0:
		return 1 / f.Slow
	case f.Error > 0 && f.Error < 0.25, f.Pause && f.For < time.Second:
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
