package loadbalance

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/gofer-rpc/gofer/protocol"
)

// Explain implements [Explainer].
func (s *adaptive) Explain(c *protocol.Candidates, inv *protocol.Invocation) Explanation {
	now := s.book.since(inv)
	u := s.usually(now, inv.Method.Slot)
	x := Explanation{Rule: fmt.Sprintf("of two drawn at random the lower load, a tenth more is not more: cpu × (√latency in ms + 1) × (calls under way + 1) / "+
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
		cs[i].Latency = inMs(b.tookMs)
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
	cpu := "cpu not reported, %.1f %% assumed"
	if b.reported {
		cpu = "cpu %.1f %% as reported"
	}
	text := fmt.Sprintf("load %.3g: "+cpu, b.score, b.cpu)
	if b.again >= leastAgain {
		text += fmt.Sprintf("; has been left alone: gets %.0f %% of what it is drawn for anyway", 100*b.again)
	}
	return text
}

// leastAgain is what is worth telling.
const leastAgain = 0.01

// duel gives the chances of nodes that are drawn two at a time.
func duel(cs []Candidate, burdens []burden, drawn []int) {
	if len(drawn) == 1 {
		cs[drawn[0]].Chance = 1
		return
	}
	slices.SortStableFunc(drawn, func(i, j int) int { return cmp.Compare(burdens[i].score, burdens[j].score) })
	var classes []*class
	of := map[float64]*class{} // by weight
	for _, i := range drawn {
		b := &burdens[i]
		for _, c := range classes {
			cs[i].Chance += c.meet(b)
		}
		c := of[b.weight]
		if c == nil {
			c = new(class)
			of[b.weight], classes = c, append(classes, c)
		}
		c.nodes, c.lower = append(c.nodes, i), append(c.lower, b)
	}
	pairs := float64(len(drawn)) * float64(len(drawn)-1) / 2
	for _, c := range classes {
		won := 0.0
		for k, i := range c.nodes {
			if k < len(c.won) {
				won += c.won[k]
			}
			cs[i].Chance = max(0, cs[i].Chance+won) / pairs
		}
	}
}

// class is the nodes of the same weight, by load: what [odds] says of each of them and
// another node is the same for a few ranges.
type class struct {
	nodes []int
	lower []*burden
	won   []float64 // against nodes with more load, by how much more than the one before
}

// meet pairs a node with all of the class, which have no more load than it has, and
// returns how many of the calls it gets.
func (c *class) meet(b *burden) (won float64) {
	for from, n := 0, len(c.lower); from < n; {
		first := odds(c.lower[from], b)
		to := from + sort.Search(n-from, func(k int) bool { return odds(c.lower[from+k], b) != first })
		c.win(from, first)
		c.win(to, -first)
		won += float64(to-from) * (1 - first)
		from = to
	}
	return won
}

func (c *class) win(from int, calls float64) {
	for len(c.won) <= from {
		c.won = append(c.won, 0)
	}
	c.won[from] += calls
}
