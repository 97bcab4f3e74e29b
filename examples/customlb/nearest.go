package main

import (
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// nearest is the strategy "custom": calls with the same argument go to the same
// provider, which has their data in its cache, unless it is away or much busier than
// the others; then to the least busy of the three nearest to it.
//
// It is all there is to it: no lock, no allocation, no loop that depends on what
// other calls do.
type nearest struct {
	ring loadbalance.Nearest
}

func newNearest(loadbalance.Config) (loadbalance.LoadBalance, error) { return new(nearest), nil }

// Select implements [loadbalance.LoadBalance].
func (s *nearest) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	var room [3]*protocol.Node
	near := s.ring.Append(room[:0], len(room), c, inv) // those that cannot be called are left out
	if len(near) == 0 {
		return nil
	}
	total := 0
	for _, n := range c.Nodes() {
		total += active(n, inv)
	}
	best := near[0]
	if limit := max(1, 1.5*float64(total)/float64(c.Len())); float64(active(best, inv)) > limit {
		for _, n := range near[1:] {
			if active(n, inv) < active(best, inv) {
				best = n
			}
		}
	}
	return best
}

// Prepare implements [loadbalance.Preparer]: the ring of a list is made before the
// list is in force.
func (s *nearest) Prepare(c *protocol.Candidates, slot int) { s.ring.Prepare(c, slot) }

// active is the number of calls under way.
func active(n *protocol.Node, inv *protocol.Invocation) int {
	return n.Status(inv.Method.Slot).Active()
}
