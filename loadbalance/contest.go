package loadbalance

import (
	"cmp"
	"sync/atomic"
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
	entrants []entrant

	// Where times are compared:
	usual *window // of what calls take at all nodes
	ticks ticking
	due   atomic.Int64 // when the windows are moved next
}

// entrant is what a pick reads of a node in a contest.
type entrant struct {
	status  *protocol.Status // of the node's life when the page was written
	haste   *haste
	showing *showing // nil: every call takes the same
	effect  int64    // weight against which the cost counts, in tenths
}

// newContest prepares the contest of a page's nodes.
func newContest(w *weights, slot int, haste func(*protocol.Life) *haste) *contest {
	c := &contest{lottery: newLottery(w), entrants: make([]entrant, len(w.nodes))}
	for i, n := range w.nodes {
		life := n.Life()
		c.entrants[i] = entrant{status: life.Status(slot), haste: haste(life), effect: w.effect(i, slot)}
	}
	return c
}

// move has all windows forget what they are to forget at a moment, every tick: so a
// pick reads what they have published, and no more. One pick does so, at its beginning;
// others do not wait for it.
func (c *contest) move(now time.Duration) {
	due := c.due.Load()
	if int64(now) < due {
		return
	}
	tick := c.ticks.at(now)
	if !c.due.CompareAndSwap(due, (tick+1)*int64(c.ticks)) {
		return
	}
	c.usual.mean(tick)
	for i := range c.entrants {
		c.entrants[i].showing.mean(tick)
	}
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
	usual  int64 // ns, what is known of all providers; 0: nothing
}

const (
	costUnit = int64(100 * time.Microsecond) // a call that takes longer costs so many, one that does not take 1 ms that

	// maxCost keeps cost × effect within 64 bits. It is 1000 calls of 26 s.
	maxCost = 1 << 28

	nearly = 10 // what costs a tenth more than another costs the same

	proven  = 30 // calls tell enough of a provider
	curious = 10 // an idle provider of which little is known, or lately nothing, keeps one in so many calls that it is drawn for
	lately  = time.Second
)

// cost is what one more call costs at a node: 1 or more.
func (e *entrant) cost(m *moment) int64 {
	if e.showing == nil {
		return e.calls(m)
	}
	return e.timed(e.calls(m), m)
}

// calls is how many would be under way with one more.
func (e *entrant) calls(m *moment) int64 {
	if m.glance.any {
		return e.hurried(m)
	}
	return int64(e.status.Active()) + 1
}

// hurried is calls while somebody has haste.
//
//go:noinline
func (e *entrant) hurried(m *moment) int64 {
	return int64(e.status.Active()) + 1 + int64(e.haste.count(m.glance)+0.5)
}

// timed is the time of calls at a node.
func (e *entrant) timed(calls int64, m *moment) int64 {
	return min(min(calls, maxCost)*inUnits(e.showing.expected(m.usual)), maxCost)
}

// inUnits returns ns as a cost.
func inUnits(ns int64) int64 {
	return min(max(int64(time.Millisecond), ns)/costUnit, maxCost)
}

// unproven reports whether something is known of a node, but little, or nothing lately,
// and it has no call under way: it may be better than that.
func (e *entrant) unproven(m *moment) bool {
	if e.showing == nil || e.calls(m) > 1 {
		return false
	}
	weight := e.showing.weight.Load()
	return weight > 0 && (weight < proven*panes || int64(m.now)-e.showing.latest.Load() > int64(lately))
}

// near reports whether a cost at a node is the least, or nearly so where times are
// compared.
func (e *entrant) near(cost, least int64) bool {
	return cost <= least || e.showing != nil && cost*nearly <= least*(nearly+1)
}

// contend returns the index of the node that gets the call, -1 for none.
func (c *contest) contend(w *weights, m *moment, inv *protocol.Invocation, r uint64) int {
	drawn := c.drawFrom(w, inv, r)
	if drawn < 0 {
		return drawn
	}
	e := &c.entrants[drawn]
	cost := e.cost(m)
	if cost == 1 || e.effect == 0 { // nobody can cost less, or nobody has weight
		return drawn
	}
	// Nearly always the best provider may be called, so ask only about that one; if
	// it may not, look again and ask about all that might be in its place.
	r = scramble(^r)
	found := c.look(w, m, r, nil)
	if !found.allowed(w, inv, drawn) {
		found = c.look(w, m, scramble(^r), inv)
	}
	if found.best < 0 || e.near(cost, found.least) || e.unproven(m) && below(scramble(^r), curious) == 0 {
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

// allowed reports whether the call may go to the nodes found, as it may to the one drawn.
func (l looked) allowed(w *weights, inv *protocol.Invocation, drawn int) bool {
	return l.best >= 0 && (l.best == drawn || inv.Allows(w.nodes[l.best])) &&
		(l.cheapest == l.best || l.cheapest == drawn || inv.Allows(w.nodes[l.cheapest]))
}

// look finds the nodes with the least cost/effect and with the least cost, of those
// that inv may go to; nil: of all.
func (c *contest) look(w *weights, m *moment, r uint64, inv *protocol.Invocation) looked {
	found := looked{best: -1, cheapest: -1}
	var load, effect, ties int64 // cost and effect of the best, weight of all like it
	for i := range c.entrants {
		e := &c.entrants[i]
		if e.effect == 0 {
			continue
		}
		cost, order := e.calls(m), -1
		if e.showing != nil { // as in cost, which is not inlined
			cost = e.timed(cost, m)
		}
		if found.best >= 0 {
			order = cmp.Compare(cost*effect, load*e.effect)
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
			found.best, load, effect, ties = i, cost, e.effect, w.of[i]
		case order == 0:
			ties += w.of[i]
			if r = scramble(r); below(r, ties) < w.of[i] {
				found.best = i
			}
		}
	}
	return found
}
