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
// A provider with less weight keeps fewer of its keys, one that warms up gets them
// back as its successors get busy, and one that fails keeps none (F4).
func NewRingLoad(cfg Config) (LoadBalance, error) {
	if err := hashUsable(); err != nil {
		return nil, err
	}
	return &ringLoad{leastLoad: newLeastLoad(cfg)}, nil
}

// Select implements [LoadBalance].
func (s *ringLoad) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	p := s.fresh(c, inv)
	if p == nil {
		return nil
	}
	best, least, price := s.nearest(c, p, inv)
	if p.own.floor.load()*price < least {
		if i, load := p.own.least(p.nodes, inv, s.book.rand()); load*price < least {
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
func (s *ringLoad) nearest(c *protocol.Candidates, p *page[*loads], inv *protocol.Invocation) (best int, least, price float32) {
	best, least, price = -1, float32(math.Inf(1)), 1
	places, n := s.places(c, p, inv)
	for _, i := range places[:n] {
		if load := p.own.plain(i) * price; load < least {
			best, least = i, load
		}
		price *= ringSpill
	}
	return best, least, price
}

// places returns the indices of the nodes with weight that are nearest to a call on
// the ring, and how many these are.
func (s *ringLoad) places(c *protocol.Candidates, p *page[*loads], inv *protocol.Invocation) (places [ringReach]int, n int) {
	index, w := indexOf(c), s.walk(c, inv)
	for n < ringReach {
		node := w.next(inv)
		if node == nil {
			break
		}
		if i := index[node]; p.own.nodes[i].weight > 0 {
			places[n] = i
			n++
		}
	}
	return places, n
}

// Prepare implements [Preparer].
func (s *ringLoad) Prepare(c *protocol.Candidates, slot int) {
	s.leastLoad.Prepare(c, slot)
	s.hasher.Prepare(c, slot)
	if c.Len() > 0 {
		indexOf(c)
	}
}

// indices is the owner of a list's index.
type indices struct{}

// indexOf returns the place of each node in a list.
func indexOf(c *protocol.Candidates) map[*protocol.Node]int {
	return c.State(indices{}, 0, func(any) any {
		index := make(map[*protocol.Node]int, c.Len())
		for i, n := range c.Nodes() {
			index[n] = i
		}
		return index
	}).(map[*protocol.Node]int)
}
