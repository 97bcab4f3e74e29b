package loadbalance

import (
	"cmp"

	"github.com/gofer-rpc/gofer/protocol"
)

// contest is the rule that leastactive and shortestresponse share: a provider drawn
// at random by weight gets the call if no other costs less; else the one with the
// least cost for its weight gets it, equal ones at random by weight. What a call
// costs is how many would be under way then, times how long each is expected to
// take.
type contest struct {
	lottery
	status  []*protocol.Status // of the node's life when the page was written
	effect  []int64            // weight against which the cost counts, in tenths
	latency []*window          // nil: every call takes the same
}

// newContest prepares the contest of a page's nodes.
func newContest(w *weights, slot int, latency func(*protocol.Life) *window) *contest {
	c := &contest{
		lottery: newLottery(w),
		status:  make([]*protocol.Status, len(w.nodes)),
		effect:  make([]int64, len(w.nodes)),
	}
	if latency != nil {
		c.latency = make([]*window, len(w.nodes))
	}
	for i, n := range w.nodes {
		life := n.Life()
		c.status[i] = life.Status(slot)
		if latency != nil {
			c.latency[i] = latency(life)
		}
		c.effect[i] = w.effect(i, slot)
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
	tick  int64 // of the windows
	usual int64 // ms, of a provider about which nothing is known
}

// maxCost keeps cost × effect within 64 bits. It is 1000 calls of four minutes.
const maxCost = 1 << 28

// cost is what one more call costs at a node: 1 or more.
func (c *contest) cost(i int, m moment) int64 {
	if c.latency == nil {
		return c.calls(i)
	}
	return c.timed(i, m, c.calls(i))
}

// calls is how many would be under way with one more.
func (c *contest) calls(i int) int64 { return int64(c.status[i].Active()) + 1 }

// timed is the time of calls at a node.
func (c *contest) timed(i int, m moment, calls int64) int64 {
	ms := m.usual
	if mean := c.latency[i].mean(m.tick); mean > 0 {
		ms = wholeMillis(mean)
	}
	return min(min(calls, maxCost)*ms, maxCost)
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
	if cost <= found.least || found.best < 0 {
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
		cost, order := c.calls(i), -1
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
