//go:build !race

// A simulation is one goroutine: there is no race to detect, and the detector would make
// it many times as long.

package sim

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSameSeedSameBytes(t *testing.T) {
	for _, policy := range Policies() {
		var first string
		for range 2 {
			r, err := Run(t.Context(), busyScenario(), Options{Policy: policy, Seed: 42, Detail: true})
			require.NoError(t, err)
			text, err := json.Marshal(r)
			require.NoError(t, err)
			if first == "" {
				first = string(text)
			}
			require.Equal(t, first, string(text), policy)
		}
		other, err := Run(t.Context(), busyScenario(), Options{Policy: policy, Seed: 43, Detail: true})
		require.NoError(t, err)
		text, err := json.Marshal(other)
		require.NoError(t, err)
		assert.NotEqual(t, first, string(text), "another seed is another run")
	}
}

// watched runs a scenario and returns all requests as they came.
func watched(t *testing.T, policy string) []arrival {
	t.Helper()
	s := busyScenario().filled()
	w := newWorld(s, 5, false)
	choose(t, w, policy)
	var all []arrival
	w.watch = func() {
		if a := w.arrivals.next; a.at == w.now && a.at < w.end {
			all = append(all, a)
		}
	}
	require.NoError(t, w.run(t.Context()))
	return all
}

func TestEveryPolicyMeetsTheSameRequests(t *testing.T) {
	want := watched(t, "oracle")
	require.Greater(t, len(want), 5_000)
	for _, policy := range Policies() {
		assert.Equal(t, want, watched(t, policy), policy)
	}
}

func TestNothingIsLeftUnderWay(t *testing.T) {
	// Once requests stop, every counter of this module's strategies comes home.
	s := busyScenario()
	s.Long = nil
	s = s.filled()
	for _, policy := range Policies() {
		w := newWorld(s, 5, true)
		choose(t, w, policy)
		require.NoError(t, w.run(t.Context()))
		for _, r := range w.requests.all {
			if r.open {
				w.complete(r, late)
			}
		}
		for c, one := range w.choosers {
			_, leaks := one.(*java)
			for id, n := range w.figures.active[c] {
				want := 0
				if leaks {
					want = w.servers[id].conf.Leaked
				}
				assert.EqualValues(t, want, n, "%s: server %d", policy, id)
			}
			if one, ok := one.(*real); ok {
				for _, n := range one.nodes {
					if n != nil {
						assert.Zero(t, n.Status(one.method.Slot).Active(), policy)
					}
				}
			}
		}
	}
}
