package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// problem is what is wrong with one value of a scenario. path is the place in a
// file: providers[1].faults[0].for.
type problem struct{ path, text string }

// maxProblems is how many mistakes are told; of more the number.
const maxProblems = 10

// checker collects problems.
type checker struct {
	zeros    map[string]bool // paths of what a file says is 0, where the zero value is a default
	path     string
	problems []problem
	more     int
}

func (c *checker) bad(key, format string, args ...any) {
	if len(c.problems) == maxProblems {
		c.more++
		return
	}
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

// zero reports whether a file says that a value is 0.
func (c *checker) zero(key string) bool { return c.zeros[join(c.path, key)] }

func within[T int | float64 | time.Duration](c *checker, key string, v, least, most T) {
	if c.zero(key) {
		v = 0
	}
	if !(v >= least && v <= most) { // not a number is not within
		c.bad(key, "%s is not between %s and %s", number(v), number(least), number(most))
	}
}

// number writes a value as a file would have it.
func number[T int | float64 | time.Duration](v T) string {
	if f, ok := any(v).(float64); ok && (f == 0 || math.Abs(f) >= 1e-9 && math.Abs(f) <= 1e12) {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// Bounds of single values; those of all together are in limits.go.
const (
	maxTime      = 24 * time.Hour
	maxProviders = 20_000
	maxConsumers = 10_000
	maxKinds     = 100 // of requests
	maxFaults    = 100 // of a provider
)

// Check returns what is wrong with the scenario, nil for nothing: one error for each
// value, ten at most, joined. Every value has bounds, and what would have no effect is a
// mistake. A run has to end, and to have room, so all that it may come to is bounded, too,
// generously: at most 100 million requests (20 at least), of which a million are under
// way at a time; 20,000 providers, 10,000 consumers, and a million pairs of both, with 160 points each on the rings; 20
// million keys in caches, a million pauses.
func (s *Scenario) Check() error {
	c := s.check(nil)
	var errs []error
	for _, p := range c.problems {
		errs = append(errs, errors.New(s.called()+": "+sentence(p.path, p.text)))
	}
	if c.more > 0 {
		errs = append(errs, fmt.Errorf("%s: and %d more mistakes", s.called(), c.more))
	}
	return errors.Join(errs...)
}

// sentence says where something is wrong, and what.
func sentence(path, text string) string {
	if path == "" {
		return text
	}
	return path + ": " + text
}

// called is how errors speak of the scenario.
func (s *Scenario) called() string {
	if s == nil || s.Name == "" {
		return "scenario"
	}
	return "scenario " + plain(s.Name)
}

// plain quotes a text that is not plain.
func plain(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// check looks at the scenario as it is written; zeros are the paths at which a 0 is
// written.
func (s *Scenario) check(zeros map[string]bool) *checker {
	c := &checker{zeros: zeros}
	if s == nil {
		c.bad("", "there is none")
		return c
	}
	if s.Load != 0 && s.Rate != 0 {
		c.bad("load", "there is a rate, too: one of them")
	}
	f := s.filled()
	c.scenario(f)
	if len(c.problems) == 0 {
		c.sizes(f)
	}
	return c
}

func (c *checker) scenario(s *Scenario) {
	within(c, "duration", s.Duration, time.Second, maxTime)
	within(c, "settle", s.Settle, 0, maxTime)
	if s.Rate == 0 || c.zero("load") {
		within(c, "load", s.Load, 1e-6, 10)
	}
	if s.Rate != 0 || c.zero("rate") {
		within(c, "rate", s.Rate, 0.001, 10e6)
	}
	within(c, "consumers", s.Consumers, 1, maxConsumers)
	within(c, "deadline", s.Deadline, time.Millisecond, maxTime)
	within(c, "notify", s.Notify, 0, maxTime)
	c.in("network", func() { c.network(s.Network) })
	if len(s.Requests) > maxKinds {
		c.bad("requests", "%d kinds are too many: at most %d", len(s.Requests), maxKinds)
	}
	for i := range s.Requests {
		c.in(fmt.Sprintf("requests[%d]", i), func() { c.request(&s.Requests[i]) })
	}
	if s.Keys != nil {
		c.in("keys", func() {
			within(c, "count", s.Keys.Count, 1, 10_000_000)
			within(c, "zipf", s.Keys.Zipf, 0, 10)
			within(c, "hot", s.Keys.Hot, 0, 0.99)
		})
	}
	if s.Long != nil {
		c.in("long", func() { c.long(s) })
	}
	if len(s.Providers) > maxProviders {
		c.bad("providers", "%d groups are too many: at most %d providers", len(s.Providers), maxProviders)
		return
	}
	for i := range s.Providers {
		c.in(fmt.Sprintf("providers[%d]", i), func() { c.provider(s, &s.Providers[i]) })
	}
	if len(s.Providers) == 0 {
		c.bad("providers", "there is none")
	}
}

func (c *checker) network(n *Network) {
	within(c, "delay", n.Delay, 0, time.Minute)
	within(c, "jitter", n.Jitter, 0, time.Minute)
}

func (c *checker) request(r *Request) {
	within(c, "share", r.Share, 1e-9, 1e9)
	within(c, "mean", r.Mean, time.Microsecond, maxTime)
	within(c, "cv", r.CV, 0, 20)
	within(c, "wait", r.Wait, 0, maxTime)
}

func (c *checker) long(s *Scenario) {
	within(c, "each", s.Long.Each, 0.01, 1000)
	within(c, "lasts", s.Long.Lasts, s.Deadline, maxTime)
	within(c, "cpu", s.Long.CPU, 0, 1)
	if len(s.Providers) > 0 && !slices.ContainsFunc(s.Providers, func(p Provider) bool { return p.Joins == nil }) {
		c.bad("", "nobody has any: every provider joins later")
	}
}

func (c *checker) provider(s *Scenario, p *Provider) {
	within(c, "count", p.Count, 1, maxProviders)
	within(c, "workers", p.Workers, 1, 100_000)
	within(c, "speed", p.Speed, 0.001, 1000)
	within(c, "threads", p.Threads, 0, 1_000_000)
	if p.Weight != None {
		within(c, "weight", p.Weight, 0, math.MaxInt32)
	}
	within(c, "leaked", p.Leaked, 0, 1_000_000)
	if p.Joins != nil {
		c.begins("joins", *p.Joins, s)
	}
	if p.Network != s.Network {
		c.in("network", func() { c.network(p.Network) })
	}
	c.in("params", func() { c.params(s, p) })
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
		c.in("cold", func() { c.cold(p) })
	}
	if len(p.Faults) > maxFaults {
		c.bad("faults", "%d are too many: at most %d", len(p.Faults), maxFaults)
		return
	}
	for i := range p.Faults {
		c.in(fmt.Sprintf("faults[%d]", i), func() { c.fault(&p.Faults[i], p, s) })
	}
}

// begins checks when something begins.
func (c *checker) begins(key string, at time.Duration, s *Scenario) {
	within(c, key, at, 0, s.Duration)
	if at == s.Duration {
		c.bad(key, "%v is the end: nothing comes after it", at)
	}
}

// asFast is said of a slowness of 1.
const asFast = "1 is as fast as without it"

func (c *checker) cold(p *Provider) {
	k := p.Cold
	within(c, "slow", k.Slow, 1, 10_000)
	within(c, "cpu", k.CPU, 0, 10_000)
	switch {
	case k.Slow == 1 && k.CPU == 1:
		c.bad("slow", asFast)
	case k.CPU > k.Slow:
		c.bad("cpu", "%s is more than slow, %s: no request takes more of the CPU than the time that it is on a worker", number(k.CPU), number(k.Slow))
	}
	within(c, "for", k.For, 0, maxTime)
	within(c, "heal", k.Heal, 0, maxTime)
	within(c, "requests", k.Requests, 0, 1e9)
	if k.Requests > 0 && (k.For > 0 || k.Heal > 0) {
		c.bad("requests", "the cold start is either by requests or by time (for, heal), not both")
	}
	if k.Requests == 0 && k.For == 0 && k.Heal == 0 {
		c.bad("for", "is needed: how long is it cold?")
	}
	if p.Joins == nil && !slices.ContainsFunc(p.Faults, func(f Fault) bool { return f.Kill || f.Leave }) {
		c.bad("", "the provider is up from long before the beginning: joins, or a fault with kill or leave, begins a life that is cold")
	}
}

func (c *checker) fault(f *Fault, p *Provider, s *Scenario) {
	c.begins("at", f.At, s)
	within(c, "for", f.For, time.Millisecond, maxTime)
	within(c, "stagger", f.Stagger, 0, maxTime)
	within(c, "in", f.In, 0, maxTime)
	within(c, "error", f.Error, 0, 1)
	if f.Slow != 0 || c.zero("slow") {
		within(c, "slow", f.Slow, 1, 10_000)
	}
	if f.Slow == 1 {
		c.bad("slow", asFast)
	}
	if f.Every != 0 || c.zero("every") {
		within(c, "every", f.Every, 2*f.For, maxTime)
	}
	kinds := 0
	for _, set := range []bool{f.Error > 0, f.Slow != 0, f.Pause, f.Kill, f.Leave} {
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
	if f.In != 0 && f.Error == 0 {
		c.bad("in", "is for errors alone")
	}
	c.faultMembers(f, p, s)
}

// faultMembers checks when the members of a group have a fault.
func (c *checker) faultMembers(f *Fault, p *Provider, s *Scenario) {
	if p.Joins != nil && f.At < *p.Joins && f.Every == 0 {
		c.bad("at", "%v is before the provider joins, at %v", f.At, *p.Joins)
	}
	last := time.Duration(max(0, p.Count-1)) * f.Stagger
	switch {
	case f.Stagger <= 0 || f.Stagger > maxTime || p.Count > maxProviders:
	case p.Count <= 1:
		c.bad("stagger", "there is one provider in the group: nobody to have it later")
	case f.Every > 0:
		c.bad("stagger", "with every, each provider has moments of its own")
	case f.At+last >= s.Duration:
		c.bad("stagger", "the last of %d providers would have it at %v, after the end", p.Count, f.At+last)
	}
}
