package loadbalance

import (
	"cmp"

	"github.com/gofer-rpc/gofer/protocol"
)

type leastActive struct {
	book *book[*actives]
}

// actives is a page of leastactive.
type actives struct {
	lottery
	status []*protocol.Status // of the node's life when the page was written
	effect []int64            // weight, in tenths, not below a tenth of the full weight
}

// NewLeastActive returns the strategy "leastactive".
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
			a.effect[i] = max(10*p.of[i], int64(n.Method(slot).Weight))
		}
	}
	return a
}

// Select implements [LoadBalance].
func (s *leastActive) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	p := s.book.open(c, inv.Method.Slot)
	if p == nil {
		return nil
	}
	a := p.own
	drawn := drawAllowed(s.book, a.lottery, p.nodes, inv)
	if drawn >= 0 && a.status[drawn].Active() == 0 {
		return p.nodes[drawn]
	}
	least, best := leastOf(p, inv, s.book.rand())
	switch {
	case best < 0:
		return p.scan(inv, s.book.rand())
	case drawn >= 0 && int64(a.status[drawn].Active()) <= least:
		return p.nodes[drawn]
	}
	return p.nodes[best]
}

func leastOf(p *page[*actives], inv *protocol.Invocation, r uint64) (least int64, best int) {
	a := p.own
	best = -1
	var load, effect, ties int64 // of the best
	for i, st := range a.status {
		e := a.effect[i]
		if e == 0 {
			continue
		}
		active := int64(st.Active())
		diff := -1 // how its load compares with the best: (active+1)/effect
		if best >= 0 {
			diff = cmp.Compare((active+1)*effect, load*e)
		}
		if diff > 0 && active >= least || !inv.Allows(p.nodes[i]) {
			continue
		}
		if best < 0 || active < least {
			least = active
		}
		switch {
		case diff < 0:
			best, load, effect, ties = i, active+1, e, p.of[i]
		case diff == 0:
			ties += p.of[i]
			if r = scramble(r); below(r, ties) < p.of[i] {
				best = i
			}
		}
	}
	return least, best
}
