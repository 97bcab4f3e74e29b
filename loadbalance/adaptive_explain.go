package loadbalance

import (
	"fmt"
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
	burdens := make([]burden, len(cs))
	for i := range cs {
		burdens[i] = p.own.load(p.nodes[i], i, u, inv.Method.Slot)
		b := &burdens[i]
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
		duel(cs, burdens, drawn)
	}
	return x
}

func (b *burden) reason() string {
	if b.reported {
		return fmt.Sprintf("load %.3g: cpu %.1f %% as reported", b.score, b.cpu)
	}
	return fmt.Sprintf("load %.3g: cpu not reported, %.1f %% assumed", b.score, b.cpu)
}

// duel gives the chances of nodes that are drawn two at a time.
func duel(cs []Candidate, burdens []burden, drawn []int) {
	if len(drawn) == 1 {
		cs[drawn[0]].Chance = 1
		return
	}
	pair := 2 / (float64(len(drawn)) * float64(len(drawn)-1))
	for k, i := range drawn {
		for _, j := range drawn[:k] {
			first := odds(&burdens[i], &burdens[j])
			cs[i].Chance += first * pair
			cs[j].Chance += (1 - first) * pair
		}
	}
}
