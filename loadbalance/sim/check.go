package sim

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// problem is what is wrong with one value of a scenario. path is the place in a
// file: providers[1].faults[0].for.
type problem struct{ path, text string }

// checker collects problems.
type checker struct {
	path     string
	problems []problem
}

func (c *checker) bad(key, format string, args ...any) {
	c.problems = append(c.problems, problem{join(c.path, key), fmt.Sprintf(format, args...)})
}

func join(path, key string) string {
	if path == "" || key == "" {
		return path + key
	}
	return path + "." + key
}

// in runs check for a part of the scenario.
func (c *checker) in(part string, check func()) {
	outer := c.path
	c.path = join(outer, part)
	check()
	c.path = outer
}

func within[T int | float64](c *checker, key string, v, least, most T) {
	if !(v >= least && v <= most) { // not a number is not within
		c.bad(key, "%v is not between %v and %v", v, least, most)
	}
}

func (c *checker) time(key string, v, least, most time.Duration) {
	if v < least || v > most {
		c.bad(key, "%v is not between %v and %v", v, least, most)
	}
}

// Bounds that keep a slip of the pen from running for a day.
const (
	maxTime      = 24 * time.Hour
	maxProviders = 20_000
	maxConsumers = 10_000
	maxNodes     = 2_000_000 // providers × consumers
	maxRequests  = 500e6     // that a run may have
)

// Check returns what is wrong with the scenario, nil for nothing: one error for
// each value, joined.
func (s *Scenario) Check() error {
	var errs []error
	for _, p := range s.problems() {
		errs = append(errs, fmt.Errorf("%s: %s", join(s.Name, p.path), p.text))
	}
	return errors.Join(errs...)
}

func (s *Scenario) problems() []problem {
	c := new(checker)
	s = s.filled()
	c.time("duration", s.Duration, time.Second, maxTime)
	c.time("settle", s.Settle, 0, maxTime)
	within(c, "load", s.Load, 0, 10)
	within(c, "rate", s.Rate, 0, 10e6)
	within(c, "consumers", s.Consumers, 1, maxConsumers)
	c.time("deadline", s.Deadline, time.Millisecond, maxTime)
	c.time("notify", s.Notify, time.Nanosecond, maxTime)
	c.in("network", func() { c.network(s.Network) })
	for i := range s.Requests {
		c.in(fmt.Sprintf("requests[%d]", i), func() { c.request(&s.Requests[i]) })
	}
	if s.Keys != nil {
		c.in("keys", func() {
			within(c, "count", s.Keys.Count, 1, 10_000_000)
			within(c, "zipf", s.Keys.Zipf, 0.01, 10)
			within(c, "hot", s.Keys.Hot, 0, 0.99)
		})
	}
	if s.Long != nil {
		c.in("long", func() {
			within(c, "each", s.Long.Each, 0.01, 1000)
			c.time("lasts", s.Long.Lasts, s.Deadline, maxTime)
			within(c, "cpu", s.Long.CPU, 0, 1)
		})
	}
	n := 0
	for i := range s.Providers {
		c.in(fmt.Sprintf("providers[%d]", i), func() { c.provider(s, &s.Providers[i]) })
		n += s.Providers[i].Count
	}
	switch {
	case len(s.Providers) == 0:
		c.bad("providers", "there is none")
	case n > maxProviders || n*s.Consumers > maxNodes:
		c.bad("providers", "%d providers for %d consumers are too many: at most %d, and %d of both multiplied", n, s.Consumers, maxProviders, maxNodes)
	case len(c.problems) == 0:
		s.checkRate(c)
	}
	return c.problems
}

func (s *Scenario) checkRate(c *checker) {
	rate := s.rate()
	switch {
	case rate <= 0 && s.Rate == 0:
		c.bad("load", "the cluster has no capacity to take a share of: say rate, in requests per second")
	case rate*(s.Duration+s.Settle).Seconds() > maxRequests:
		c.bad("duration", "%v at %.0f requests per second are too many requests", s.Duration, rate)
	}
}

func (c *checker) network(n *Network) {
	c.time("delay", n.Delay, 0, time.Minute)
	c.time("jitter", n.Jitter, 0, time.Minute)
}

func (c *checker) request(r *Request) {
	within(c, "share", r.Share, 0, 1e9)
	c.time("mean", r.Mean, time.Microsecond, maxTime)
	within(c, "cv", r.CV, 0.001, 20)
	c.time("wait", r.Wait, 0, maxTime)
}

func (c *checker) provider(s *Scenario, p *Provider) {
	within(c, "count", p.Count, 1, maxProviders)
	within(c, "workers", p.Workers, 1, 100_000)
	within(c, "speed", p.Speed, 0.001, 1000)
	within(c, "threads", p.Threads, 0, 1_000_000)
	within(c, "weight", p.Weight, 0, math.MaxInt32)
	within(c, "leaked", p.Leaked, 0, 1_000_000)
	if p.Joins != nil {
		c.time("joins", *p.Joins, 0, s.Duration)
	}
	c.in("network", func() { c.network(p.Network) })
	if p.Cache != nil {
		c.in("cache", func() {
			within(c, "keys", p.Cache.Keys, 1, 100_000_000)
			within(c, "miss", p.Cache.Miss, 1, 10_000)
			within(c, "hits", p.Cache.Hits, 0, 1)
			if s.Keys == nil {
				c.bad("", "there is a cache, but the scenario has no keys")
			}
		})
	}
	if p.Cold != nil {
		c.in("cold", func() { c.cold(p.Cold) })
	}
	for i := range p.Faults {
		c.in(fmt.Sprintf("faults[%d]", i), func() { c.fault(&p.Faults[i], s) })
	}
}

func (c *checker) cold(k *Cold) {
	within(c, "slow", k.Slow, 1, 10_000)
	within(c, "cpu", k.CPU, 0, 10_000)
	c.time("for", k.For, 0, maxTime)
	c.time("heal", k.Heal, 0, maxTime)
	within(c, "requests", k.Requests, 0, 1e9)
	if k.Requests > 0 && (k.For > 0 || k.Heal > 0) {
		c.bad("requests", "the cold start is either by requests or by time (for, heal), not both")
	}
	if k.Requests == 0 && k.For == 0 && k.Heal == 0 {
		c.bad("for", "is needed: how long is it cold?")
	}
}

func (c *checker) fault(f *Fault, s *Scenario) {
	c.time("at", f.At, 0, s.Duration)
	c.time("for", f.For, time.Millisecond, maxTime)
	c.time("stagger", f.Stagger, 0, maxTime)
	c.time("in", f.In, 0, maxTime)
	within(c, "error", f.Error, 0, 1)
	if f.Slow != 0 {
		within(c, "slow", f.Slow, 1, 10_000)
	}
	if f.Every != 0 {
		c.time("every", f.Every, 2*f.For, maxTime)
	}
	kinds := 0
	for _, set := range []bool{f.Error > 0, f.Slow > 0, f.Pause, f.Kill, f.Leave} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		c.bad("", "exactly one of error, slow, pause, kill and leave is needed, not %d", kinds)
	}
	if f.Every > 0 && !f.Pause {
		c.bad("every", "is for pauses alone")
	}
}
