package loadbalance_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// eachExplainer runs a test for the strategies that explain: all but a user's own.
func eachExplainer(t *testing.T, run func(t *testing.T, s traits)) {
	each(t, func(t *testing.T, s traits) {
		if _, ok := s.new(t, loadbalance.Config{}).(loadbalance.Explainer); ok {
			run(t, s)
		}
	})
}

// requireChances checks an explanation by itself: every node of the list in its order,
// nothing for those that the call may not go to, one in all for the others.
func requireChances(tb rapid.TB, x loadbalance.Explanation, c *protocol.Candidates, inv *protocol.Invocation) {
	require.NotEmpty(tb, x.Rule)
	require.Len(tb, x.Candidates, c.Len())
	sum, want := 0.0, 0.0
	for i, n := range c.Nodes() {
		one := x.Candidates[i]
		require.Same(tb, n, one.Node)
		require.Equal(tb, inv.Allows(n), one.Allowed)
		require.NotEmpty(tb, one.Reason)
		if one.Allowed {
			want = 1
		} else {
			require.Zero(tb, one.Chance)
		}
		require.GreaterOrEqual(tb, one.Chance, -1e-9)
		sum += one.Chance
	}
	require.InDelta(tb, want, sum, 1e-6)
}

func chanceOf(x loadbalance.Explanation, n *protocol.Node) float64 {
	for _, one := range x.Candidates {
		if one.Node == n {
			return one.Chance
		}
	}
	return 0
}

// What is explained is what is picked, whatever the condition of the fleet.
func TestExplainIsWhatSelectDoes(t *testing.T) {
	eachExplainer(t, func(t *testing.T, s traits) {
		rapid.Check(t, func(t *rapid.T) {
			w := drawWorld(t)
			lb := s.new(t, loadbalance.Config{Now: w.clock.now, Rand: source(rapid.Uint64().Draw(t, "seed"))})
			for _, n := range w.nodes {
				took := time.Duration(rapid.IntRange(1, 200).Draw(t, "took")) * time.Millisecond
				w.learn(lb, n, protocol.Verdict(rapid.IntRange(0, 3).Draw(t, "verdict")), took)
			}
			for range 5 {
				x := lb.(loadbalance.Explainer).Explain(w.list, w.inv)
				requireChances(t, x, w.list, w.inv)
				if n := lb.Select(w.list, w.inv); n != nil {
					require.Positive(t, chanceOf(x, n), "picked what had no chance")
				}
			}
		})
	})
}

// The chances are the frequencies: the sum of what happened less what was expected, pick
// by pick, stays within 4.5 standard deviations.
func TestChancesAreFrequencies(t *testing.T) {
	eachExplainer(t, func(t *testing.T, s traits) {
		f := newFleet().weights(100, 50, 200, 100, 0, 100)
		f.add(warm(100), 3*time.Minute)
		lb := s.new(t, loadbalance.Config{Now: f.clock.now, Rand: source(7)})
		for i, n := range f.nodes {
			f.learn(lb, n, protocol.Succeeded, time.Duration(10+i)*time.Millisecond)
		}
		setState(f.nodes[5], protocol.Down)
		c, inv := f.list(), f.call()
		const picks = 1500
		off, variance := make([]float64, len(f.nodes)), make([]float64, len(f.nodes))
		for range picks {
			x := lb.(loadbalance.Explainer).Explain(c, inv)
			chosen := lb.Select(c, inv)
			for i, one := range x.Candidates {
				off[i] -= one.Chance
				variance[i] += one.Chance * (1 - one.Chance)
				if one.Node == chosen {
					off[i]++
				}
			}
		}
		for i := range off {
			assert.LessOrEqual(t, math.Abs(off[i]), 4.5*math.Sqrt(max(0, variance[i]))+1e-6, "node %d", i)
		}
	})
}

// Explaining takes no turn, draws no number and learns nothing: the picks of a strategy
// that is explained all the time are those of one that never is.
func TestExplainChangesNothing(t *testing.T) {
	eachExplainer(t, func(t *testing.T, s traits) {
		assert.Equal(t, history(t, s, 9, false), history(t, s, 9, true))
	})
}

// The same random numbers and the same clock make the same picks.
func TestSelectIsDeterministic(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		assert.Equal(t, history(t, s, 9, false), history(t, s, 9, false))
	})
}

// history returns the picks of some seconds with calls under way, a change of the list
// and a restart.
func history(tb testing.TB, s traits, seed uint64, explained bool) (picks []int) {
	f := newFleet().weights(100, 50, 200)
	f.add(warm(100), time.Minute)
	lb := s.new(tb, loadbalance.Config{Now: f.clock.now, Rand: source(seed)})
	c := f.list()
	var ends []func(time.Duration, protocol.Verdict)
	for i := range 600 {
		inv := f.call()
		if explained {
			lb.(loadbalance.Explainer).Explain(c, inv)
		}
		n := lb.Select(c, inv)
		picks = append(picks, f.index(tb, n))
		ends = append(ends, f.attempt(lb, n, inv))
		f.clock.advance(7 * time.Millisecond)
		if len(ends) > 5 {
			ends[0](time.Duration(30+i%11)*time.Millisecond, protocol.Verdict(i%17/16))
			ends = ends[1:]
		}
		switch i {
		case 200:
			f.add(weight(100), 0)
			c = protocol.NewCandidates(f.nodes, c)
		case 400:
			f.nodes[1].Update(f.nodes[1].URL(), f.clock.now())
		}
	}
	return picks
}
