package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// What a run may come to, so that it ends and has room: generous, and the same on
// every machine. See [Scenario.Check].
const (
	maxRequests = 100_000_000 // that come, long ones included
	maxUnderWay = 1_000_000   // of them at a time
	maxLong     = maxUnderWay / 2
	minRequests = 20             // in the mean; fewer measure nothing
	maxNodes    = 1_000_000      // providers × consumers
	maxChoices  = 100e9          // requests × providers
	maxPoints   = 160 * maxNodes // on the rings of all consumers
	maxCached   = 20_000_000     // keys in the caches of all providers
	maxPauses   = 1_000_000      // of all providers
	maxNews     = 50_000_000     // starts and ends of providers × consumers × providers
	maxLooks    = 100_000_000    // that working out the capacity takes
	maxDetail   = 1_000_000_000  // bytes
	perSecond   = 24_000         // bytes of detail
	perServer   = 16             // bytes of the detail of a second
	farNS       = int64(1) << 60 // ns: see ns
)

// sum adds up what each provider contributes to something that has a limit, and
// remembers the place of the largest part.
type sum struct {
	all, largest float64
	place        string
}

func (s *sum) add(part float64, place string, args ...any) {
	s.all += part
	if part > s.largest {
		s.largest, s.place = part, fmt.Sprintf(place, args...)
	}
}

// atMost tells of a sum that is too large, at its largest part.
func (c *checker) atMost(s sum, most float64, what string) {
	if s.all > most {
		c.bad(s.place, "%s %s are too many: at most %s", amount(s.all), what, amount(most))
	}
}

// amount writes a number that may be large.
func amount(n float64) string {
	if n < 1e15 {
		return strconv.FormatFloat(n, 'f', 0, 64)
	}
	return strconv.FormatFloat(n, 'g', 3, 64)
}

// sizes checks what a run would come to. Every value for itself is right.
func (c *checker) sizes(s *Scenario) {
	n := 0
	for i := range s.Providers {
		n += s.Providers[i].Count
	}
	if n > maxProviders || n*s.Consumers > maxNodes {
		c.bad("providers", "%d providers for %d consumers are too many: at most %d, and %d of both multiplied", n, s.Consumers, maxProviders, maxNodes)
		return
	}
	c.parts(s, float64(n))
	if looks := s.looks(); s.Rate == 0 && looks > maxLooks {
		c.bad("load", "to work out the capacity of so many staggered faults takes %s looks, at most %d: a rate does not need it", amount(looks), maxLooks)
	}
	if len(c.problems) == 0 {
		c.requests(s, float64(n))
	}
}

// parts checks the sizes of what the scenario lists.
func (c *checker) parts(s *Scenario, providers float64) {
	var cached, pauses, news, points sum
	for i := range s.Providers {
		p := &s.Providers[i]
		count := float64(p.Count)
		points.add(count*float64(p.points()*s.Consumers), "providers[%d].params.hash.nodes", i)
		if p.Cache != nil {
			cached.add(count*float64(min(p.Cache.Keys, s.Keys.Count+1)), "providers[%d].cache.keys", i)
		}
		for j := range p.Faults {
			switch f := &p.Faults[j]; {
			case f.Every > 0:
				pauses.add(count*float64((s.Duration-f.At)/f.Every+1), "providers[%d].faults[%d].every", i, j)
			case f.Kill || f.Leave:
				news.add(2*count*providers*float64(s.Consumers), "providers[%d].faults[%d]", i, j)
			}
		}
		if p.Joins != nil {
			news.add(count*providers*float64(s.Consumers), "providers[%d].joins", i)
		}
	}
	c.atMost(points, maxPoints, "points on the rings of all consumers")
	c.atMost(cached, maxCached, "keys in all caches")
	c.atMost(pauses, maxPauses, "pauses of all providers")
	c.atMost(news, maxNews, "starts and ends × consumers × providers")
	if s.Long != nil && s.residents() > maxLong {
		c.bad("long.each", "%s long requests are too many: at most %d", amount(s.residents()), maxLong)
	}
}

// points is how many a provider has on a ring at most.
func (p *Provider) points() int {
	most := 160
	for key, value := range p.Params {
		if n, err := strconv.Atoi(value); err == nil && strings.HasSuffix(key, "hash.nodes") {
			most = max(most, min(n, maxPoints))
		}
	}
	return most
}

// residents is how many long requests there are.
func (s *Scenario) residents() float64 {
	up := 0
	for i := range s.Providers {
		if s.Providers[i].Joins == nil {
			up += s.Providers[i].Count
		}
	}
	return s.Long.Each * float64(s.Consumers) * float64(up)
}

// requests checks how many come.
func (c *checker) requests(s *Scenario, providers float64) {
	rate, key := s.rate(), "rate"
	if s.Rate == 0 {
		key = "load"
	}
	seconds := (s.Settle + s.Duration).Seconds()
	all := rate * seconds
	if s.Long != nil {
		again := s.residents() * (settling*s.Settle + s.Duration).Seconds() / s.Long.Lasts.Seconds()
		if all += again; again > maxRequests/2 {
			c.bad("long.lasts", "%s long requests after each other are too many: at most %d", amount(again), maxRequests/2)
			return
		}
	}
	switch {
	case rate <= 0:
		c.bad(key, "the cluster has no capacity to take a share of: say rate, in requests per second")
	case all > maxRequests && s.Settle > s.Duration:
		c.bad("settle", "%v at %.0f requests per second are too many requests: at most %d in a run", s.Settle, rate, maxRequests)
	case all > maxRequests:
		c.bad("duration", "%v at %.0f requests per second are too many requests: at most %d in a run", s.Duration, rate, maxRequests)
	case all*providers > maxChoices:
		c.bad("duration", "%s requests × %.0f providers are too much: at most %s", amount(all), providers, amount(maxChoices))
	case rate*s.Duration.Seconds() < minRequests:
		c.bad(key, "%.3g requests in %v measure nothing: at least %d", rate*s.Duration.Seconds(), s.Duration, minRequests)
	default:
		c.backlog(s, rate, key)
	}
}

// backlog checks how many requests will certainly be under way at a time: those that
// come faster than every provider in its best time could work, and those that wait.
func (c *checker) backlog(s *Scenario, rate float64, key string) {
	best, refuses := 0.0, false
	for i := range s.Providers {
		p := &s.Providers[i]
		best += float64(p.Count) * float64(p.Workers) * p.Speed / s.meanWork().Seconds()
		refuses = refuses || p.Threads > 0
	}
	seconds := (s.Settle + s.Duration).Seconds()
	if waiting := (rate - best) * seconds; waiting > maxUnderWay && !refuses {
		c.bad(key, "%.0f requests per second are more than the providers can take, %.0f: %s would wait at the end, at most %d; with threads they are refused",
			rate, best, amount(waiting), maxUnderWay)
	}
	shares := 0.0
	for _, r := range s.Requests {
		shares += r.Share
	}
	for i, r := range s.Requests {
		if held := rate * r.Share / shares * min(r.Wait.Seconds(), seconds); held > maxUnderWay {
			c.bad(fmt.Sprintf("requests[%d].wait", i), "%v makes %s requests wait at a time: at most %d", r.Wait, amount(held), maxUnderWay)
		}
	}
}

// room returns what is wrong with asking for detail.
func (s *Scenario) room() error {
	n := 0
	for i := range s.Providers {
		n += s.Providers[i].Count
	}
	seconds := float64((s.Duration + time.Second - 1) / time.Second)
	if bytes := seconds * float64(perSecond+perServer*n); bytes > maxDetail {
		return fmt.Errorf("the detail of %v with %d providers takes %s bytes, at most %d: a shorter duration, or no detail", s.Duration, n, amount(bytes), maxDetail)
	}
	return nil
}

// ns makes a time of a number of nanoseconds that may be beyond all bounds: decades are
// enough, and sums of them fit.
func ns(f float64) int64 {
	if f >= float64(farNS) {
		return farNS
	}
	return int64(f)
}
