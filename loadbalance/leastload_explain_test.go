package loadbalance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// What is explained is what picks do: the chances are their shares, and to explain
// changes nothing.
func TestLoadExplained(t *testing.T) {
	for _, name := range []string{"leastload", "ringload"} {
		for _, n := range []int{2, 5, 300} {
			run := func(explain bool) (picks []int) {
				f := newFleet()
				for i := range n {
					f.add(weight(100*(1+i%2)), 0)
				}
				lb := balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: source(1)})
				c, inv := f.list(), f.callOf("video")
				for i, node := range f.nodes {
					f.learn(lb, node, protocol.Succeeded, time.Duration(8+i%7)*milli)
					for range i % 3 {
						f.attempt(lb, node, f.call())
					}
				}
				setState(f.nodes[n-1], protocol.Down)
				f.clock.advance(70 * milli)
				for range 20 {
					var chances []float64
					if explain {
						x := lb.(loadbalance.Explainer).Explain(c, inv)
						sum := 0.0
						for i, one := range x.Candidates {
							chances = append(chances, one.Chance)
							sum += one.Chance
							assert.Equal(t, i%3, one.Active)
							assert.NotEmpty(t, one.Reason)
							assert.Equal(t, i < n-1, one.Allowed)
						}
						require.InDelta(t, 1, sum, 1e-9)
						require.Zero(t, chances[n-1], "it is down")
					}
					pick := f.index(t, lb.Select(c, inv))
					picks = append(picks, pick)
					if explain {
						assert.Positive(t, chances[pick], "%s of %d: chosen against all chances", name, n)
					}
				}
				return picks
			}
			assert.Equal(t, run(false), run(true), "%s of %d: explaining has changed a pick", name, n)
		}
	}
}

// The parts of a decision are told.
func TestLeastLoadExplainsItsParts(t *testing.T) {
	f := newFleet()
	f.add(weight(100), 0)
	f.add(weight(0), 0)
	f.add(warm(100), time.Minute)
	f.add(weight(100), 0)
	lb := leastLoad(t, f, source(1))
	c := f.list()
	f.learn(lb, f.nodes[0], protocol.Succeeded, 10*milli, 10*milli)
	f.attempt(lb, f.nodes[3], f.call())
	f.clock.advance(50 * milli)
	x := lb.(loadbalance.Explainer).Explain(c, f.call())
	assert.Contains(t, x.Rule, "10ms is usual")
	got := x.Candidates
	assert.Equal(t, "this call alone × 1 times the usual latency, less 16 % as that is of few calls: nobody has less", got[0].Reason)
	assert.InDelta(t, 10*milli, got[0].Latency, float64(milli))
	assert.Greater(t, got[0].Score, got[3].Score/2, "what is known is hoped to be less for it")
	assert.InDelta(t, 1, got[0].Chance, 1e-9)
	assert.False(t, got[1].Scored)
	assert.True(t, got[2].Warming)
	assert.Equal(t, 10, got[2].Weight)
	assert.True(t, got[2].WeightUsed)
	assert.InEpsilon(t, 2.5*got[3].Score, got[2].Score, 1e-4, "half of the calls, a fifth of the full weight")
	assert.Contains(t, got[2].Reason, "nothing known of its latency, warming up: others have less")
	assert.Zero(t, got[2].Latency)
	assert.InDelta(t, 2.0/100, got[3].Score, 0.3*2.0/100)
}

func TestRingLoadExplainsPlaces(t *testing.T) {
	f := newFleet().weights(100, 100, 100, 100)
	lb, c := ringLoad(t, f), f.list()
	ns := nearest(t, f, c, "video", 4)
	for range 2 {
		f.attempt(lb, ns[0], f.call())
	}
	x := lb.(loadbalance.Explainer).Explain(c, f.callOf("video"))
	for i, want := range []struct {
		score, chance float64
		place         string
	}{
		{3.0 / 100, 0, "the owner of the key"},
		{2.5 / 100, 1, "next to the owner"},
		{6.25 / 100, 0, "next but one to the owner"},
		{15.625 / 100, 0, "not near the key"},
	} {
		got := x.Candidates[f.index(t, ns[i])]
		first := x.Candidates[f.index(t, ns[0])].Score
		assert.InEpsilon(t, want.score, 3.0/100*got.Score/first, 1e-4, "beside the first")
		assert.InDelta(t, want.chance, got.Chance, 1e-9)
		assert.Contains(t, got.Reason, want.place)
	}
}

// What is explained is what the pick at the same moment does, whatever has been learned
// since the figures were brought up to date: callers want that of each pick.
func TestLoadExplainedUnderTraffic(t *testing.T) {
	for _, name := range []string{"leastload", "ringload"} {
		for _, number := range []int{1, 3} {
			f, rand := newFleet().weights(100, 100, 100, 50), source(1)
			s := f.callers(balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: rand}), number, rand, 5, 5, 5, 5)
			s.think, s.expected = 3*milli, make([]float64, 4)
			s.run(t, 20*time.Second)
			for i := range s.counts {
				assert.InDelta(t, s.expected[i], s.counts[i], 0.02*float64(s.calls))
			}
		}
	}
}
