package loadbalance

import (
	"fmt"
	"math"

	"github.com/gofer-rpc/gofer/protocol"
)

// Explain implements [Explainer]. The score of a node is what it competes with: its
// load, times what its place on the ring makes of it.
func (s *ringLoad) Explain(c *protocol.Candidates, inv *protocol.Invocation) Explanation {
	usual, text := s.learner.usualOf(inv.Method.Slot)
	x := Explanation{Rule: fmt.Sprintf("the least (calls under way + 1) × latency^1.2, failures charged, / weight × %v^r, "+
		"r = 0, 1, 2 for the owner of the key and its successors on the ring, 3 for the choice of leastload", ringSpill) + text}
	p, g := s.fresh(c, inv)
	if p == nil {
		return x
	}
	x.Candidates = s.book.survey(p, inv)
	all := p.own.explain(p, usual, g, x.Candidates)
	if !p.spare(x.Candidates) {
		ranks, key := s.ranks(c, p, inv)
		for i, r := range ranks {
			all[i].score = p.own.near(i, key, g) * spilled(r)
		}
		explainRing(p, ranks, all, x.Candidates)
	}
	return x
}

// spilled returns what a load counts times at a place on the ring.
func spilled(place int) float32 {
	price := float32(1)
	for range place {
		price *= ringSpill
	}
	return price
}

// ranks returns the places of a call by the index of the node, and its position.
func (s *ringLoad) ranks(c *protocol.Candidates, p *page[*loads], inv *protocol.Invocation) (map[int]int, uint32) {
	ranks := map[int]int{}
	places, n, key := s.places(c, p, inv)
	for r, i := range places[:n] {
		ranks[i] = r
	}
	return ranks, key
}

var ringPlaces = [ringReach]string{"the owner of the key", "next to the owner", "next but one to the owner"}

// explainRing goes on from the decision of leastload, in which everybody's chance is
// that of being the choice of leastload.
func explainRing(p *page[*loads], ranks map[int]int, all []figures, cs []Candidate) {
	best, least := -1, float32(math.Inf(1))
	for i := range ranks {
		if all[i].score < least || all[i].score == least && ranks[i] < ranks[best] {
			best, least = i, all[i].score
		}
	}
	left, price := 1.0, spilled(len(ranks))
	for i := range cs {
		if !cs[i].Allowed || p.of[i] == 0 {
			continue
		}
		score := all[i].load * price
		if cs[i].Score = float64(score); score >= least {
			cs[i].Chance = 0
		}
		left -= cs[i].Chance
	}
	if best >= 0 {
		cs[best].Chance += left
	}
	for i := range cs {
		c := &cs[i]
		if !c.Allowed || p.of[i] == 0 {
			continue
		}
		place := "not near the key"
		if r, near := ranks[i]; near {
			place = ringPlaces[r]
			c.Score = min(c.Score, float64(all[i].score))
		}
		c.Reason = place + ": " + all[i].text(c) + verdict(c.Chance > 0)
	}
}
