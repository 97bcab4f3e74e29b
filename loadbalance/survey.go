package loadbalance

import (
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// survey returns a page's nodes as the candidates of a decision: their weights, and
// whether the call may go there.
func (b *book[T]) survey(p *page[T], inv *protocol.Invocation) []Candidate {
	now, slot := b.now(), inv.Method.Slot
	cs := make([]Candidate, len(p.nodes))
	for i, n := range p.nodes {
		one := weigh(n.Method(slot), n.Life().Start, now, b.cfg.Ramp)
		cs[i] = Candidate{
			Node: n, Allowed: inv.Allows(n),
			Weight: one.weight, FullWeight: one.full, Warming: one.warmup > 0,
		}
		if !cs[i].Allowed {
			cs[i].Reason = "the call cannot go there now"
		}
	}
	return cs
}

// spare gives the chances when nobody with weight can be called: those that can be
// share evenly. It reports whether that is so.
func (w *weights) spare(cs []Candidate) bool {
	allowed := 0
	for i := range cs {
		switch {
		case !cs[i].Allowed:
		case w.of[i] > 0:
			return false
		default:
			allowed++
		}
	}
	for i := range cs {
		if cs[i].Allowed {
			cs[i].Chance, cs[i].Reason = 1/float64(allowed), "has weight 0, but nobody with weight can be called"
		}
	}
	return true
}

// sidelined explains a node that cannot be called, or has no weight while others
// have some; it reports whether that is so.
func (w *weights) sidelined(i int, c *Candidate) bool {
	if c.Allowed && w.of[i] == 0 {
		c.Reason = "has weight 0, and others can be called"
	}
	return !c.Allowed || w.of[i] == 0
}

// explain tells how a contest would be decided.
func (c *contest) explain(w *weights, m *moment, cs []Candidate) {
	least, best := int64(0), -1
	total, ties := int64(0), int64(0) // weights of all, and of all like the best
	for i := range cs {
		e := &c.entrants[i]
		cs[i].Active = e.status.Active()
		cs[i].WeightUsed = true
		if e.showing != nil {
			cs[i].Latency = time.Duration(e.showing.average.Load())
		}
		cost := e.cost(m)
		if e.effect > 0 {
			cs[i].Score, cs[i].Scored = 10*float64(cost)/float64(e.effect), true
		}
		if w.sidelined(i, &cs[i]) {
			continue
		}
		total += w.of[i]
		if least == 0 || cost < least {
			least = cost
		}
		switch {
		case best < 0 || cs[i].Score < cs[best].Score:
			best, ties = i, w.of[i]
		case cs[i].Score == cs[best].Score:
			ties += w.of[i]
		}
	}
	if w.spare(cs) {
		return
	}
	passed := 1.0 // the chance that whoever is drawn passes the call on
	for i := range cs {
		if cs[i].Allowed && w.of[i] > 0 {
			cs[i].Chance = c.entrants[i].keeps(m, least) * float64(w.of[i]) / float64(total)
			passed -= cs[i].Chance
		}
	}
	for i := range cs {
		if !cs[i].Allowed || w.of[i] == 0 {
			continue
		}
		if passed > 1e-9 && cs[i].Score == cs[best].Score {
			cs[i].Chance += passed * float64(w.of[i]) / float64(ties)
		}
		e := &c.entrants[i]
		cs[i].Reason = e.reason(m, e.near(e.cost(m), least), cs[i].Score == cs[best].Score)
	}
}

// keeps returns how many of the calls that a node is drawn for it gets, 0 … 1.
func (e *entrant) keeps(m *moment, least int64) float64 {
	switch {
	case e.near(e.cost(m), least):
		return 1
	case e.unproven(m):
		return 1.0 / curious
	}
	return 0
}

// reason tells what a call costs at a node, and how that compares.
func (e *entrant) reason(m *moment, cheapest, best bool) string {
	calls := e.calls(m)
	cost := counted(float64(calls), "")
	if e.showing != nil {
		cost = fmt.Sprintf("%.1f ms × %s", float64(e.timed(1, m)*costUnit)/1e6, cost)
		switch {
		case e.showing.average.Load() == 0:
			cost += " (nothing known of it: what is usual)"
		case e.unproven(m):
			cost += fmt.Sprintf(" (little known of it, or nothing lately: gets one in %d of its share anyway)", curious)
		}
	}
	switch {
	case cheapest && best:
		return cost + ": nobody has less, also for the weight"
	case cheapest:
		return cost + ": nobody has less, but others have less for their weight"
	case best:
		return cost + ": nobody has less for the weight"
	}
	return cost + ": others have less"
}

// Explain implements [Explainer].
func (s *shortestResponse) Explain(c *protocol.Candidates, inv *protocol.Invocation) Explanation {
	now := s.book.since(inv)
	x := Explanation{Rule: "average time, failures charged, × (calls under way + 1), divided by the weight: " +
		"whoever is drawn by weight gets the call unless another is expected to be faster, then the least for its weight"}
	if p := s.book.openAt(c, inv, now); p != nil {
		m := s.moment(p.own, now)
		x.Rule += fmt.Sprintf("; %.1f ms is usual", float64(m.usual)/1e6)
		x.Candidates = s.book.survey(p, inv)
		p.own.explain(&p.weights, &m, x.Candidates)
	}
	return x
}
