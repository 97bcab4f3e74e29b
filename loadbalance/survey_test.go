package loadbalance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// byChance is how far what was picked in 2000 picks may be from what was said: seven
// standard deviations at most, which in all the comparisons of a run happens less than
// once in 10⁹ times.
const byChance = 0.08

// What a strategy says it will do is what it does, and saying so changes nothing.
func TestExplainedChances(t *testing.T) {
	for _, name := range []string{"shortestresponse", "adaptive"} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w := drawWorld(t)
				lb, err := loadbalance.Builtin()[name](loadbalance.Config{Now: w.clock.now, Rand: source(rapid.Uint64().Draw(t, "seed"))})
				require.NoError(t, err)
				for range rapid.IntRange(0, 10).Draw(t, "calls") {
					n := rapid.SampledFrom(w.nodes).Draw(t, "called")
					took := time.Duration(rapid.IntRange(0, 50).Draw(t, "took")) * time.Millisecond
					end := w.attempt(lb, n, w.call())
					if rapid.Bool().Draw(t, "ends") {
						end(took, rapid.SampledFrom([]protocol.Verdict{protocol.Succeeded, protocol.Failed, protocol.Neutral}).Draw(t, "verdict"))
					}
				}
				x := lb.(loadbalance.Explainer).Explain(w.list, w.inv)
				require.NotEmpty(t, x.Rule)
				require.Len(t, x.Candidates, len(w.nodes))
				chances, sum := make([]float64, len(w.nodes)), 0.0
				for i, c := range x.Candidates {
					require.Same(t, w.nodes[i], c.Node)
					require.Equal(t, w.inv.Allows(c.Node), c.Allowed)
					require.NotEmpty(t, c.Reason)
					require.False(t, c.Chance > 0 && !c.Allowed, "a chance for who cannot be called")
					require.GreaterOrEqual(t, c.Chance, 0.0)
					chances[i] = c.Chance
					sum += c.Chance
				}
				if sum == 0 {
					require.Nil(t, lb.Select(w.list, w.inv))
					return
				}
				require.InDelta(t, 1, sum, 1e-6)
				// Those that are as good as impossible are not worth a test.
				counts := make([]int, len(w.nodes))
				const picks = 2000
				for range picks {
					counts[w.index(t, lb.Select(w.list, w.inv))]++
				}
				for i := range counts {
					got := float64(counts[i]) / picks
					require.InDelta(t, chances[i], got, byChance, "node %d: %v, %v", i, chances, counts)
					if chances[i] == 0 {
						require.Zero(t, counts[i], "node %d: %s", i, x.Candidates[i].Reason)
					}
				}
				assert.Equal(t, x, lb.(loadbalance.Explainer).Explain(w.list, w.inv))
			})
		})
	}
}
