package loadbalance

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// The chances by classes of weight are those of each pair by itself.
func TestDuel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(t, "nodes")
		burdens, cs := make([]burden, n), make([]Candidate, n)
		drawn, want := make([]int, n), make([]float64, n)
		for i := range burdens {
			b := &burdens[i]
			b.cpu = float64(rapid.IntRange(1, 4).Draw(t, "cpu")) * 10
			b.tookMs = float64(rapid.IntRange(0, 20).Draw(t, "took"))
			b.weight = rapid.SampledFrom([]float64{10, 50, 100}).Draw(t, "weight")
			if b.active = rapid.Int64Range(0, 2).Draw(t, "active"); b.active == 0 {
				b.again = rapid.Float64Range(0, 0.2).Draw(t, "again")
			}
			b.score = b.at(b.weight)
			drawn[i] = i
		}
		for i := range n {
			for j := range i {
				won := odds(&burdens[i], &burdens[j])
				want[i] += won * 2 / float64(n*(n-1))
				want[j] += (1 - won) * 2 / float64(n*(n-1))
			}
		}
		duel(cs, burdens, drawn)
		for i := range want {
			assert.InDelta(t, want[i], cs[i].Chance, 1e-12, "node %d", i)
		}
	})
}
