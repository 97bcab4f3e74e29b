package loadbalance

import (
	"cmp"

	"github.com/gofer-rpc/gofer/protocol"
)

// leastActive sends a call to where the fewest are under way.
type leastActive struct {
	book *book[*actives]
}

// actives is what leastactive knows about a list and method.
type actives struct {
	lottery
	status []*protocol.Status // of the node's life when the page was written
	effect []int64            // weight against which calls under way count, in tenths
}

// NewLeastActive returns the strategy "leastactive". A provider drawn at random by
// weight gets the call if no other has fewer calls under way; else the provider
// with the least (calls under way + 1) / weight gets it, equal ones at random by
// weight. So
//
//   - among equal weights the provider with the fewest calls under way is next, and
//     equal counts share by weight, as in Dubbo (B075);
//   - a provider of low weight, one that warms up above all, is not flooded because
//     it alone has the fewest calls under way, where Dubbo does not look at the
//     weight (F3), and yet has its share by weight when it is idle;
//   - when the others are busy a provider that warms up helps with at least a tenth
//     of its full weight, whatever the ramp says: else it would stay idle while they
//     drown.
//
// Calls are counted whether or not "actives" is set (F2, B077). A provider that
// fails fast looks idle and draws calls (F4), and calls made one by one cannot
// show which provider is slow (F25, B093): a strategy that looks at latency does
// better there. A weight of 0 means never while another provider has weight.
func NewLeastActive(cfg Config) (LoadBalance, error) {
	return &leastActive{newBook(cfg, newActives)}, nil
}

func newActives(p *page[*actives], slot int, _ *page[*actives]) *actives {
	a := &actives{
		lottery: newLottery(&p.weights),
		status:  make([]*protocol.Status, len(p.nodes)),
		effect:  make([]int64, len(p.nodes)),
	}
	for i, n := range p.nodes {
		a.status[i] = n.Status(slot)
		if p.of[i] > 0 {
			a.effect[i] = max(10*p.of[i], fullWeight(n.Method(slot)))
		}
	}
	return a
}

// Select implements [LoadBalance].
func (s *leastActive) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	p := s.book.open(c, inv)
	if p == nil {
		return nil
	}
	a := p.own
	drawn := drawFrom(s.book, a.lottery, &p.weights, inv)
	if drawn < 0 {
		return nil
	}
	active := a.active(drawn)
	if active == 0 || a.effect[drawn] == 0 { // nobody has fewer, nobody has weight
		return p.nodes[drawn]
	}
	// Nearly always the best provider may be called, so ask only about that one; if
	// it may not, look again and ask about all that might be in its place.
	found := a.look(p, s.book.rand(), nil)
	if !found.allowed(p, inv) {
		found = a.look(p, s.book.rand(), inv)
	}
	if active <= found.least || found.best < 0 {
		return p.nodes[drawn]
	}
	return p.nodes[found.best]
}

func (a *actives) active(i int) int64 { return int64(a.status[i].Active()) }

// looked is what a look at all calls under way has found.
type looked struct {
	best  int   // the node with the least load, -1 for none
	idle  int   // the first of those with the fewest calls under way
	least int64 // how many these are
}

// allowed reports whether the call may go to the nodes found.
func (l looked) allowed(p *page[*actives], inv *protocol.Invocation) bool {
	return l.best >= 0 && inv.Allows(p.nodes[l.best]) && (l.idle == l.best || inv.Allows(p.nodes[l.idle]))
}

// look finds the nodes with the least (active+1)/effect and with the least active,
// of those that inv may go to; nil: of all.
func (a *actives) look(p *page[*actives], r uint64, inv *protocol.Invocation) looked {
	found := looked{best: -1, idle: -1}
	var load, effect, ties int64 // active+1 and effect of the best, weight of all like it
	for i, e := range a.effect {
		if e == 0 {
			continue
		}
		active, order := a.active(i), -1
		if found.best >= 0 {
			order = cmp.Compare((active+1)*effect, load*e)
			if order > 0 && active >= found.least {
				continue
			}
		}
		if inv != nil && !inv.Allows(p.nodes[i]) {
			continue
		}
		if found.idle < 0 || active < found.least {
			found.idle, found.least = i, active
		}
		switch {
		case order < 0:
			found.best, load, effect, ties = i, active+1, e, p.of[i]
		case order == 0:
			ties += p.of[i]
			if r = scramble(r); below(r, ties) < p.of[i] {
				found.best = i
			}
		}
	}
	return found
}
