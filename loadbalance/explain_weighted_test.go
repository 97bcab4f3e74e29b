package loadbalance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// explain returns the explanation of a strategy, whose chances add up.
func explain(t require.TestingT, lb loadbalance.LoadBalance, c *protocol.Candidates, inv *protocol.Invocation) loadbalance.Explanation {
	x := lb.(loadbalance.Explainer).Explain(c, inv)
	require.NotEmpty(t, x.Rule)
	require.Len(t, x.Candidates, c.Len())
	sum, allowed := 0.0, 0
	for i, cand := range x.Candidates {
		require.Same(t, c.Nodes()[i], cand.Node)
		require.Equal(t, inv.Allows(cand.Node), cand.Allowed)
		require.NotEmpty(t, cand.Reason)
		if cand.Allowed {
			allowed++
		} else {
			require.Zero(t, cand.Chance)
		}
		sum += cand.Chance
	}
	if allowed > 0 {
		require.InDelta(t, 1, sum, 1e-9)
	}
	return x
}

// What random and leastactive say they will do is what they do.
func TestExplainedDraws(t *testing.T) {
	for _, name := range []string{"random", "leastactive"} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w := drawWorld(t)
				lb, err := loadbalance.Builtin()[name](loadbalance.Config{Now: w.clock.now, Rand: source(rapid.Uint64().Draw(t, "seed"))})
				require.NoError(t, err)
				x := explain(t, lb, w.list, w.inv)
				counts := make([]int, len(w.nodes))
				const picks = 2000
				for range picks {
					n := lb.Select(w.list, w.inv)
					if n == nil {
						return
					}
					counts[w.index(t, n)]++
				}
				for i, c := range x.Candidates {
					require.InDelta(t, c.Chance, float64(counts[i])/picks, byChance, "node %d: %s; %v", i, c.Reason, counts)
					if c.Chance == 0 {
						require.Zero(t, counts[i], c.Reason)
					}
				}
				require.Equal(t, x, explain(t, lb, w.list, w.inv), "nothing has changed")
			})
		})
	}
}

// roundrobin tells who has the next turn, and takes none.
func TestExplainedTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		lb, err := loadbalance.NewRoundRobin(loadbalance.Config{Now: w.clock.now, Rand: source(rapid.Uint64().Draw(t, "seed"))})
		require.NoError(t, err)
		for range 30 {
			x := explain(t, lb, w.list, w.inv)
			require.Equal(t, x, explain(t, lb, w.list, w.inv), "no turn was taken")
			n := lb.Select(w.list, w.inv)
			if n == nil {
				return
			}
			chosen := x.Candidates[w.index(t, n)]
			require.Positive(t, chosen.Chance, chosen.Reason)
		}
	})
}

func TestExplainedReasons(t *testing.T) {
	f := newFleet().weights(100, 300, 0)
	f.add(warm(100), 1) // has just started
	for name, want := range map[string][]string{
		"random":      {"100 of 401 by weight", "300 of 401 by weight", "has weight 0, and others can be called", "1 of 401 by weight"},
		"roundrobin":  {"has turn 2 from now", "has the next turn", "has weight 0, and others can be called", "has none of the next 20 turns"},
		"leastactive": {"this call alone: nobody has less, but others have less for their weight", "this call alone: nobody has less, also for the weight", "has weight 0, and others can be called", "this call alone: nobody has less, but others have less for their weight"},
	} {
		lb := balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: zero})
		var reasons []string
		x := explain(t, lb, f.list(), f.call())
		for _, c := range x.Candidates {
			reasons = append(reasons, c.Reason)
		}
		assert.Equal(t, want, reasons, name)
		last := x.Candidates[3]
		assert.Equal(t, []any{1, 100, true}, []any{last.Weight, last.FullWeight, last.Warming}, name)
	}
	empty := protocol.NewCandidates(nil, nil)
	for name := range loadbalance.Builtin() {
		lb := balancer(t, name, loadbalance.Config{})
		assert.Empty(t, lb.(loadbalance.Explainer).Explain(empty, f.call()).Candidates, name)
	}
}
