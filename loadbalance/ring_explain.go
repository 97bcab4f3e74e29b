package loadbalance

import (
	"fmt"

	"github.com/gofer-rpc/gofer/protocol"
)

// Explain implements [Explainer].
func (s *consistentHash) Explain(c *protocol.Candidates, inv *protocol.Invocation) Explanation {
	if c.Len() == 0 {
		return Explanation{Rule: "the next provider on the ring from where the key is"}
	}
	h := s.hashing(c, inv.Method.Slot)
	r, position, of := h.on(c), s.position(h, inv), "the key of the application's own"
	if s.key == nil {
		of = fmt.Sprintf("arguments %v", h.arguments)
	}
	w := r.walk(position)
	chosen, ranks := w.next(inv), r.ranks(position)
	x := Explanation{
		Rule:       fmt.Sprintf("the next provider on the ring from %08x on, the hash of %s; each has %d points", position, of, r.digests*pointsPerDigest),
		Candidates: make([]Candidate, c.Len()),
	}
	for i, n := range c.Nodes() {
		x.Candidates[i] = Candidate{
			Node: n, Allowed: inv.Allows(n), Active: int(n.Status(inv.Method.Slot).Active()),
			Reason: fmt.Sprintf("no. %d on the ring from the key", ranks[n]),
		}
		switch one := &x.Candidates[i]; {
		case n == chosen:
			one.Chance = 1
			one.Reason += ", the first that can be called"
		case !one.Allowed:
			one.Reason += "; the call cannot go there now"
		}
	}
	return x
}

// ranks returns in which order the nodes follow on the ring from a position, from
// 1. Nodes of one address have the same.
func (r *ring) ranks(position uint32) map[*protocol.Node]int {
	ranks, rank := make(map[*protocol.Node]int, len(r.list)), 0
	for i := r.find(position); rank < len(r.nodes); i = (i + 1) % len(r.points) {
		place := uint32(r.points[i])
		if ranks[r.list[r.nodes[place]]] > 0 {
			continue
		}
		rank++
		ranks[r.list[r.nodes[place]]] = rank
		for _, j := range r.others[place] {
			ranks[r.list[j]] = rank
		}
	}
	return ranks
}
