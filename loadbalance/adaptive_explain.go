package loadbalance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// Explain implements [Explainer].
func (s *adaptive) Explain(c *protocol.Candidates, inv *protocol.Invocation) Explanation {
	now := s.book.since(inv)
	u := s.usually(now, inv.Method.Slot)
	x := Explanation{Rule: fmt.Sprintf("of two drawn at random the lower load: cpu × (√latency in ms + 1) × (calls under way + 1) / "+
		"(success × weight + 1); usual are %.1f %% cpu and %.1f ms", u.report, u.tookMs)}
	p := s.book.openAt(c, inv, now)
	if p == nil {
		return x
	}
	cs := s.book.survey(p, inv)
	x.Candidates = cs
	var drawn []int
	for i := range cs {
		b := s.load(p, i, u, inv)
		cs[i].WeightUsed = true
		cs[i].Active = int(b.active)
		cs[i].Latency = time.Duration(b.tookMs * float64(time.Millisecond))
		cs[i].Score, cs[i].Scored = b.score, true
		if !p.sidelined(i, &cs[i]) {
			drawn = append(drawn, i)
			cs[i].Reason = b.reason()
		}
	}
	if !p.spare(cs) {
		p.duel(cs, drawn)
	}
	return x
}

func (b burden) reason() string {
	if b.reported {
		return fmt.Sprintf("load %.3g: cpu %.1f %% as reported", b.score, b.cpu)
	}
	return fmt.Sprintf("load %.3g: cpu not reported, %.1f %% assumed", b.score, b.cpu)
}

// duel gives the chances of nodes that are drawn two at a time.
func (w *weights) duel(cs []Candidate, drawn []int) {
	if len(drawn) == 1 {
		cs[drawn[0]].Chance = 1
		return
	}
	slices.SortFunc(drawn, func(i, j int) int { return cmp.Compare(cs[i].Score, cs[j].Score) })
	pairs := float64(len(drawn)) * float64(len(drawn)-1) / 2
	for from := 0; from < len(drawn); {
		to := from + 1
		weights := map[int64]int{w.of[drawn[from]]: 1} // of all with this load
		for ; to < len(drawn) && cs[drawn[to]].Score == cs[drawn[from]].Score; to++ {
			weights[w.of[drawn[to]]]++
		}
		for _, i := range drawn[from:to] {
			won := float64(len(drawn)-to) - 0.5 // not against itself
			for _, other := range slices.Sorted(maps.Keys(weights)) {
				won += float64(weights[other]) * float64(w.of[i]) / float64(w.of[i]+other)
			}
			cs[i].Chance = won / pairs
		}
		from = to
	}
}
