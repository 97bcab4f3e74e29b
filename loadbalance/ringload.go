package loadbalance

import (
	"math"

	"github.com/gofer-rpc/gofer/protocol"
)

const (
	ringReach = 3   // places of a key on the ring
	ringSpill = 2.5 // how many times the load of the next place is worth being at home
)

// ringLoad sends equal calls to the same node unless that has much to do.
type ringLoad struct {
	*leastLoad
	hasher
}

// NewRingLoad returns the strategy "ringload": consistenthash that spills over. It is
// for calls that are much cheaper where a call with the same arguments was before (a
// cache, an open file, a warm model), when no provider may drown for it.
//
// A call is placed as [NewConsistentHash] places it, by the same "hash.arguments" and
// "hash.nodes", so while all providers are equal and little is to do calls go where
// consistenthash sends them. Of the owner and the next two providers on the ring the
// call goes to the one with the least
//
//	(calls under way + 1) × latency^1.2 / weight × 2.5^r
//
// where r is 0, 1, 2, and all is counted as [NewLeastLoad] counts it; or to the one
// that leastload would choose, with an r of 3. So a key stays at its owner until that is
// 2.5 times worse off than the next, calls that spill over go to the same second
// provider, which learns them, and no key takes more than there is: where even three
// are busy the others help.
//
// A provider with less weight than others keeps a part of its keys, always the same
// ones, as large as its weight is beside the greatest; for the rest the next on the ring
// comes before it, and it competes by its weight. One that warms up gets its keys back one
// by one, and one that fails keeps none (F4).
func NewRingLoad(cfg Config) (LoadBalance, error) {
	if err := hashUsable(); err != nil {
		return nil, err
	}
	return &ringLoad{leastLoad: newLeastLoad(cfg)}, nil
}

// Select implements [LoadBalance].
func (s *ringLoad) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	p, g := s.fresh(c, inv)
	if p == nil {
		return nil
	}
	best, least, price := s.nearest(c, p, inv, g)
	if p.own.floor.load()*price < least {
		if i, load := p.own.least(p.nodes, inv, s.book.rand(), g); load*price < least {
			best = i
		}
	}
	if best < 0 {
		return p.at(p.scan(inv, s.book.rand()))
	}
	p.own.charge(best)
	return p.nodes[best]
}

// nearest returns the index of the best of the places of a call, -1 for none, its
// load, and what a node that is none of them is charged.
func (s *ringLoad) nearest(c *protocol.Candidates, p *page[*loads], inv *protocol.Invocation, g glance) (best int, least, price float32) {
	best, least, price = -1, float32(math.Inf(1)), 1
	places, n, key := s.places(c, p, inv)
	for _, i := range places[:n] {
		if load := p.own.near(i, key, g) * price; load < least {
			best, least = i, load
		}
		price *= ringSpill
	}
	return best, least, price
}

// near is the load of a node that is near to a call's position on the ring.
func (l *loads) near(i int, key uint32, g glance) float32 {
	e := &l.nodes[i]
	if l.keeps(i, key) {
		return e.least(e.calls(g))
	}
	return e.plain(e.calls(g))
}

// keeps reports whether a key is of the part that a node keeps: as large as its weight is
// beside the greatest.
func (l *loads) keeps(i int, key uint32) bool {
	w := l.nodes[i].weight
	return w >= l.top || float32(scramble(uint64(key))>>40) < w/l.top*(1<<24)
}

// places returns the indices of the nodes with weight that are nearest to a call on
// the ring, those first that keep its key, how many these are, and the call's position.
func (s *ringLoad) places(c *protocol.Candidates, p *page[*loads], inv *protocol.Invocation) (places [ringReach]int, n int, key uint32) {
	w := s.walk(c, inv)
	kept := 0
	for n < ringReach {
		i := w.index(inv)
		if i < 0 {
			break
		}
		if p.own.nodes[i].weight <= 0 {
			continue
		}
		at := n
		if n++; p.own.keeps(i, w.from) {
			for ; at > kept; at-- {
				places[at] = places[at-1]
			}
			kept++
		}
		places[at] = i
	}
	return places, n, w.from
}

// Prepare implements [Preparer].
func (s *ringLoad) Prepare(c *protocol.Candidates, slot int) {
	s.leastLoad.Prepare(c, slot)
	s.hasher.Prepare(c, slot)
}
