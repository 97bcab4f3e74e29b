package loadbalance

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// Explain implements [Explainer].
func (s *leastLoad) Explain(c *protocol.Candidates, inv *protocol.Invocation) Explanation {
	usual, text := s.learner.usualOf(inv.Method.Slot)
	x := Explanation{Rule: "the least (calls under way + 1) × latency^1.2, failures charged, / weight"}
	if n := c.Len(); n > examineAll {
		x.Rule += fmt.Sprintf(", of %d of the %d providers at random", examineSome, n)
	}
	x.Rule += text
	if p, g := s.fresh(c, inv); p != nil {
		x.Candidates = s.book.survey(p, inv)
		p.own.explain(p, usual, g, x.Candidates)
	}
	return x
}

// usualOf returns what a method takes on average, and the end of a sentence that says
// so; 0 and no text when it is not known.
func (l *learner) usualOf(slot int) (usual time.Duration, text string) {
	if usual = inMs(l.methods.at(slot).value()); usual > 0 {
		text = fmt.Sprintf("; %v is usual", usual.Round(time.Microsecond))
	}
	return usual, text
}

// figures is what a pick reads of a node.
type figures struct {
	latency float64 // relative
	samples float64 // of which that is the mean
	old     int
	calls   float32 // under way, with one more
	hasty   float32 // of these, that have ended too soon
	behind  bool    // has had less than its share
	load    float32 // as leastload compares it
	score   float32 // as ringload does, at a place of the call
}

// figures looks at a node as a pick at that moment would.
func (l *loads) figures(i int, g glance) figures {
	s, picks := &l.nodes[i], l.picks.Load()
	f := figures{calls: s.calls(g), hasty: s.record.haste.count(g), old: int(s.record.old.Load()), behind: l.behind(i, picks)}
	f.latency, f.samples = l.learner.relative(s.record)
	f.load = l.load(i, picks, f.calls)
	return f
}

// known reports whether a latency is known by calls, not too long ago.
func (f *figures) known() bool { return f.samples > 0.01 }

// explain tells how leastload would decide, and returns what it would do so by.
func (l *loads) explain(p *page[*loads], usual time.Duration, g glance, cs []Candidate) []figures {
	all := make([]figures, len(cs))
	best := math.Inf(1)
	for i := range cs {
		f, c := l.figures(i, g), &cs[i]
		all[i] = f
		c.Active = int(l.nodes[i].record.active.Load())
		c.WeightUsed = l.shares != nil && !f.behind
		if f.known() {
			c.Latency = time.Duration(f.latency * float64(usual))
		}
		if score := float64(f.load); !math.IsInf(score, 1) {
			c.Score, c.Scored = score, true
		}
		if !p.sidelined(i, c) {
			best = min(best, c.Score)
		}
	}
	if p.spare(cs) {
		return all
	}
	l.chances(p, cs)
	for i := range cs {
		if c := &cs[i]; c.Allowed && p.of[i] > 0 {
			c.Reason = all[i].text(c) + verdict(c.Score == best)
		}
	}
	return all
}

// text tells what a node's load is made of.
func (f *figures) text(c *Candidate) string {
	latency := "nothing known of its latency"
	if f.known() {
		latency = fmt.Sprintf("%.3g times the usual latency", f.latency)
		if hope := hoped(1, f.samples); hope < 0.95 {
			latency += fmt.Sprintf(", less %.0f %% as that is of few calls", 100-100*hope)
		}
	}
	text := fmt.Sprintf("%s × %s", counted(float64(f.calls), " of all methods"), latency)
	if f.hasty > 0 {
		text += fmt.Sprintf(", %.2g of them ended too soon", f.hasty)
	}
	if f.old > 0 {
		text += fmt.Sprintf(", %d aged", f.old)
	}
	switch {
	case f.behind:
		text += ", behind its share: as if it had the most weight"
	case c.Warming:
		text += ", warming up"
	}
	return text
}

// counted tells how many calls, of which methods, would be under way with the one to be
// sent.
func counted(calls float64, of string) string {
	if calls == 1 {
		return "this call alone"
	}
	return fmt.Sprintf("%.4g calls%s with this one", calls, of)
}

func verdict(best bool) string {
	if best {
		return ": nobody has less"
	}
	return ": others have less"
}

// chances gives the chance of each node: all for the best, or in a long list what it
// takes to be the best of a sample. Equal ones share evenly.
func (l *loads) chances(p *page[*loads], cs []Candidate) {
	n, sample := len(cs), len(cs)
	if n > examineAll {
		sample = examineSome
	}
	order := ranked(p, cs)
	// That none of the k best is in the sample has the chance C(n-k, sample)/C(n, sample).
	missed, rank := 1.0, 0
	for len(order) > 0 {
		ties := 1
		for ties < len(order) && cs[order[ties]].Score == cs[order[0]].Score {
			ties++
		}
		before := missed
		for range ties {
			missed *= max(0, float64(n-rank-sample)/float64(n-rank))
			rank++
		}
		for _, i := range order[:ties] {
			cs[i].Chance = (before - missed) / float64(ties)
		}
		order = order[ties:]
	}
}

// ranked returns the nodes that can be chosen, by their score.
func ranked(p *page[*loads], cs []Candidate) []int {
	var order []int
	for i := range cs {
		if cs[i].Allowed && p.of[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cs[a].Score, cs[b].Score) })
	return order
}
