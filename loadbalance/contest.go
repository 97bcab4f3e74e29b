package loadbalance

import (
	"cmp"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// contest is the rule that leastactive and shortestresponse share: a provider drawn
// at random by weight gets the call if no other costs less; else the one with the
// least cost for its weight gets it, equal ones at random by weight. What a call
// costs is how many would be under way then, times how long each is expected to
// take: then a tenth less is not less, and an idle provider of which little is known
// keeps one in ten of the calls that it is drawn for, whatever it costs.
type contest struct {
	lottery
	status  []*protocol.Status // of the node's life when the page was written
	effect  []int64            // weight against which the cost counts, in tenths
	haste   []*haste
	latency []*showing // nil: every call takes the same
}

// newContest prepares the contest of a page's nodes.
func newContest(w *weights, slot int, haste func(*protocol.Life) *haste) *contest {
	c := &contest{lottery: newLottery(w)}
	for i, n := range w.nodes {
		life := n.Life()
		c.status = append(c.status, life.Status(slot))
		c.haste = append(c.haste, haste(life))
		c.effect = append(c.effect, w.effect(i, slot))
	}
	return c
}

// newTimedContest prepares one in which calls take longer at some nodes.
func newTimedContest(w *weights, slot int, showing func(*protocol.Life) *showing) *contest {
	c := newContest(w, slot, func(l *protocol.Life) *haste { return &showing(l).haste })
	for _, n := range w.nodes {
		c.latency = append(c.latency, showing(n.Life()))
	}
	return c
}

// effect returns the weight, in tenths, against which a node's load counts: while it
// warms up a tenth of its full weight at least, whatever the ramp says. Else it would
// stay idle while the others drown.
func (w *weights) effect(i, slot int) int64 {
	if w.of[i] == 0 {
		return 0
	}
	return max(10*w.of[i], fullWeight(w.nodes[i].Method(slot)))
}

// moment is what calls are expected to take at the time of one pick.
type moment struct {
	now    time.Duration // on the book's clock
	glance glance
	tick   int64 // of the windows
	usual  int64 // ns, what is known of all providers; 0: nothing
}

const (
	costUnit = int64(100 * time.Microsecond) // a call that takes longer costs so many, one that does not take 1 ms that

	// maxCost keeps cost × effect within 64 bits. It is 1000 calls of 26 s.
	maxCost = 1 << 28

	nearly = 10 // what costs a tenth more than another costs the same

	supposed = 4  // calls, as usual ones, are supposed of each provider beside those that were seen
	proven   = 30 // calls tell enough of a provider
	curious  = 10 // an idle provider of which little is known, or lately nothing, keeps one in so many calls that it is drawn for
	lately   = time.Second
)

// cost is what one more call costs at a node: 1 or more.
func (c *contest) cost(i int, m moment) int64 {
	if c.latency == nil {
		return c.calls(i, m)
	}
	return c.timed(i, m, c.calls(i, m))
}

// calls is how many would be under way with one more.
func (c *contest) calls(i int, m moment) int64 {
	calls := int64(c.status[i].Active()) + 1
	if m.glance.any {
		calls += int64(c.haste[i].count(m.glance) + 0.5)
	}
	return calls
}

// timed is the time of calls at a node.
func (c *contest) timed(i int, m moment, calls int64) int64 {
	return min(min(calls, maxCost)*inUnits(m.expected(&c.latency[i].window)), maxCost)
}

// expected returns what a call is expected to take at a node, in ns: what those within
// its window took on average, beside some that took what is usual.
func (m moment) expected(w *window) int64 {
	mean, weight := w.weighed(m.tick)
	if weight == 0 || m.usual == 0 {
		return max(mean, m.usual)
	}
	weight = min(weight, 1<<14) // beside which those supposed are nothing
	return (mean*weight + m.usual*supposed*panes) / (weight + supposed*panes)
}

// inUnits returns ns as a cost.
func inUnits(ns int64) int64 {
	return min(max(int64(time.Millisecond), ns)/costUnit, maxCost)
}

// unproven reports whether something is known of a node, but little, or nothing lately,
// and it has no call under way: it may be better than that.
func (c *contest) unproven(i int, m moment) bool {
	if c.latency == nil || c.calls(i, m) > 1 {
		return false
	}
	_, weight := c.latency[i].weighed(m.tick)
	return weight > 0 && (weight < proven*panes || int64(m.now)-c.latency[i].latest.Load() > int64(lately))
}

// near reports whether a cost is the least, or nearly so where times are compared.
func (c *contest) near(cost, least int64) bool {
	return cost <= least || c.latency != nil && cost*nearly <= least*(nearly+1)
}

// contend returns the index of the node that gets the call, -1 for none.
func contend(b *book[*contest], p *page[*contest], m moment, inv *protocol.Invocation) int {
	c, w := p.own, &p.weights
	drawn := drawFrom(b, c.lottery, w, inv)
	if drawn < 0 || c.effect[drawn] == 0 { // nobody, or nobody has weight
		return drawn
	}
	cost := c.cost(drawn, m)
	if cost == 1 { // nobody can cost less
		return drawn
	}
	// Nearly always the best provider may be called, so ask only about that one; if
	// it may not, look again and ask about all that might be in its place.
	found := c.look(w, m, b.rand(), nil)
	if !found.allowed(w, inv) {
		found = c.look(w, m, b.rand(), inv)
	}
	if found.best < 0 || c.near(cost, found.least) || c.unproven(drawn, m) && below(b.rand(), curious) == 0 {
		return drawn
	}
	return found.best
}

// looked is what a look at all nodes has found.
type looked struct {
	best     int   // the node with the least cost/effect, -1 for none
	cheapest int   // the first of those with the least cost
	least    int64 // what that is
}

// allowed reports whether the call may go to the nodes found.
func (l looked) allowed(w *weights, inv *protocol.Invocation) bool {
	return l.best >= 0 && inv.Allows(w.nodes[l.best]) && (l.cheapest == l.best || inv.Allows(w.nodes[l.cheapest]))
}

// look finds the nodes with the least cost/effect and with the least cost, of those
// that inv may go to; nil: of all.
func (c *contest) look(w *weights, m moment, r uint64, inv *protocol.Invocation) looked {
	found := looked{best: -1, cheapest: -1}
	var load, effect, ties int64 // cost and effect of the best, weight of all like it
	for i, e := range c.effect {
		if e == 0 {
			continue
		}
		cost, order := c.calls(i, m), -1
		if c.latency != nil { // as in cost, which is not inlined
			cost = c.timed(i, m, cost)
		}
		if found.best >= 0 {
			order = cmp.Compare(cost*effect, load*e)
			if order > 0 && cost >= found.least {
				continue
			}
		}
		if inv != nil && !inv.Allows(w.nodes[i]) {
			continue
		}
		if found.cheapest < 0 || cost < found.least {
			found.cheapest, found.least = i, cost
		}
		switch {
		case order < 0:
			found.best, load, effect, ties = i, cost, e, w.of[i]
		case order == 0:
			ties += w.of[i]
			if r = scramble(r); below(r, ties) < w.of[i] {
				found.best = i
			}
		}
	}
	return found
}
