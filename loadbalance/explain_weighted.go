package loadbalance

import (
	"fmt"
	"slices"

	"github.com/gofer-rpc/gofer/protocol"
)

// Explain implements [Explainer].
func (s *random) Explain(c *protocol.Candidates, inv *protocol.Invocation) Explanation {
	x := Explanation{Rule: "at random by weight"}
	if p := s.book.open(c, inv); p != nil {
		x.Candidates = s.book.survey(p, inv)
		p.shares(x.Candidates)
	}
	return x
}

// Explain implements [Explainer].
func (s *leastActive) Explain(c *protocol.Candidates, inv *protocol.Invocation) Explanation {
	x := Explanation{Rule: "drawn by weight if nobody has fewer calls under way, else the least (calls under way + 1) / weight"}
	now := s.book.since(inv)
	if p := s.book.openAt(c, inv, now); p != nil {
		x.Candidates = s.book.survey(p, inv)
		m := s.moment(now, inv)
		p.own.explain(&p.weights, &m, x.Candidates)
	}
	return x
}

// Explain implements [Explainer].
func (s *roundRobin) Explain(c *protocol.Candidates, inv *protocol.Invocation) Explanation {
	x := Explanation{Rule: "in turns by weight"}
	p := s.book.open(c, inv)
	if p == nil {
		return x
	}
	x.Candidates = s.book.survey(p, inv)
	turns := p.own.peek(max(redraws(len(p.nodes)), mostTold))
	mine := slices.IndexFunc(turns[:redraws(len(p.nodes))], func(i int) bool { return x.Candidates[i].Allowed })
	if mine < 0 {
		p.shares(x.Candidates)
		return x
	}
	for i := range x.Candidates {
		cand := &x.Candidates[i]
		cand.WeightUsed = p.of[i] > 0
		turn := slices.Index(turns, i)
		switch {
		case p.sidelined(i, cand):
		case turn == mine:
			cand.Chance, cand.Reason = 1, "has the next turn"
			if mine > 0 {
				cand.Reason = fmt.Sprintf("has turn %d from now; those before it cannot be called", mine+1)
			}
		case turn >= 0:
			cand.Reason = fmt.Sprintf("has turn %d from now", turn+1)
		default:
			cand.Reason = fmt.Sprintf("has none of the next %d turns", len(turns))
		}
	}
	return x
}

// mostTold is how many turns ahead an explanation tells.
const mostTold = 20

// shares explains a draw by weight among those that can be called.
func (w *weights) shares(cs []Candidate) {
	if w.spare(cs) {
		return
	}
	total := int64(0)
	for i := range cs {
		if cs[i].Allowed {
			total += w.of[i]
		}
	}
	for i := range cs {
		if cs[i].WeightUsed = true; w.sidelined(i, &cs[i]) {
			continue
		}
		cs[i].Chance = float64(w.of[i]) / float64(total)
		cs[i].Reason = fmt.Sprintf("%d of %d by weight", w.of[i], total)
	}
}

// peek returns the indices of the nodes that have the next turns, and takes none.
func (r *rotation) peek(turns int) []int {
	next := make([]int, 0, turns)
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.schedule.Load(); s != nil {
		from := r.turns.Load()
		for k := range uint64(turns) {
			next = append(next, int((*s)[(from+k)%uint64(len(*s))]))
		}
		return next
	}
	credit := slices.Clone(r.credit)
	for range turns {
		next = append(next, r.turn(credit))
	}
	return next
}
