package gofer

import (
	"slices"
	"sync"
	"time"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// steadyLeast is how long providers have to be the same before their shares are those
// of that time.
const steadyLeast = 30 * time.Second

// steady remembers what calls there had been when the providers or their parameters
// last changed: shares can only be compared over a time in which all was the same. It looks at the figures
// once per change, and never at a call.
type steady struct {
	mu          sync.Mutex
	list        *protocol.Candidates
	last, older *look // older lasted long enough; nil when weights may have been others
}

// look is the calls of every method, by slot, at the lives of a list.
type look struct {
	at    time.Time
	lives []*protocol.Life
	calls [][]int64
}

// changed takes note of a list.
func (s *steady) changed(list *protocol.Candidates, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if list == s.list {
		return
	}
	s.list = list
	nodes := list.Nodes()
	next := &look{at: now, lives: make([]*protocol.Life, len(nodes)), calls: make([][]int64, len(nodes))}
	for i, n := range nodes {
		life := n.Life()
		next.lives[i] = life
		for slot, status := range life.Statuses {
			for len(next.calls[i]) <= slot {
				next.calls[i] = append(next.calls[i], 0)
			}
			c := status.Counters()
			next.calls[i][slot] = c.Total + int64(c.Active)
		}
	}
	switch {
	case s.last == nil:
	case slices.Equal(s.last.lives, next.lives): // so it is parameters that have changed
		s.older = nil
	case now.Sub(s.last.at) >= steadyLeast:
		s.older = s.last
	}
	s.last = next
}

// since returns the figures to compare with.
func (s *steady) since(now time.Time) *look {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.older != nil && now.Sub(s.last.at) < steadyLeast {
		return s.older
	}
	return s.last
}

// share adds how many calls each provider has had since then, or recently if that is
// later, and what share of them it was worth by its weight. Those that have come since are
// left out, and those that were away for some of the time: what they did not get was more
// for the others.
func (s *steady) share(f *fleet, nodes []*protocol.Node) {
	then := s.since(f.now)
	if then == nil {
		return
	}
	from := then.at
	recent := from.Before(f.recent)
	if recent {
		from = f.recent
	}
	before := make(map[*protocol.Life][]int64, len(then.lives))
	for i, life := range then.lives {
		before[life] = then.calls[i]
	}
	there := make([]bool, len(nodes))
	for i, n := range nodes {
		_, known := before[n.Life()]
		there[i] = known && !f.providers[i].away(n, from, f.now)
	}
	for slot := range f.methods {
		m := &f.methods[slot]
		m.steady = f.now.Sub(from)
		for i, fair := range fairShares(nodes, slot, there, from, f.now) {
			p, calls := &m.providers[i], before[nodes[i].Life()]
			if p.fair, p.calls = fair, p.life.Total; recent {
				p.calls = p.Total
			} else if slot < len(calls) {
				p.calls -= calls[slot]
			}
			p.calls += int64(p.Active)
		}
	}
}

// away reports whether a provider could not be chosen for some of a time: it was not
// connected, wanted no calls or was ejected. A connection may take a moment.
func (p providerFigures) away(n *protocol.Node, from, to time.Time) bool {
	ready, is := n.ReadySince()
	return !is || ready.Sub(from) > to.Sub(from)/20 || p.ejection.Ejected || p.ejection.Until.After(from)
}

// fairShares returns what each provider's weight is worth on average of a time, in
// which some may have warmed up; 0 for those that were not there.
func fairShares(nodes []*protocol.Node, slot int, there []bool, from, to time.Time) []float64 {
	samples := 1
	for i, n := range nodes {
		if start, warmup := n.Life().Start, n.Method(slot).Warmup; there[i] && !start.IsZero() && from.Before(start.Add(warmup)) {
			samples = 32
			break
		}
	}
	shares, weights := make([]float64, len(nodes)), make([]float64, len(nodes))
	for k := range samples {
		at := from.Add(to.Sub(from) / time.Duration(2*samples) * time.Duration(2*k+1))
		sum := 0.0
		for i, n := range nodes {
			if there[i] {
				weights[i] = float64(loadbalance.Weight(n.Method(slot), n.Life().Start, at))
				sum += weights[i]
			}
		}
		for i, w := range weights {
			if sum > 0 {
				shares[i] += w / sum / float64(samples)
			}
		}
	}
	return shares
}
