package sim

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// busyScenario has something of everything.
func busyScenario() *Scenario {
	return &Scenario{
		Name: "busy", Duration: 12 * time.Second, Settle: time.Second, Load: 0.6, Consumers: 4,
		Requests: []Request{{Share: 9, Mean: 5 * time.Millisecond}, {Mean: 40 * time.Millisecond, CV: 2, Wait: 10 * time.Millisecond}},
		Keys:     &Keys{Count: 500, Hot: 0.1},
		Long:     &Long{Each: 1.5, Lasts: 5 * time.Second},
		Providers: []Provider{
			{Count: 2, Cache: &Cache{Keys: 100, Hits: 0.5}, Faults: []Fault{{At: 2 * time.Second, For: 50 * time.Millisecond, Every: 2 * time.Second, Pause: true}}},
			{Faults: []Fault{{At: 4 * time.Second, For: 2 * time.Second, Error: 0.5}, {At: 8 * time.Second, For: time.Second, Slow: 4}}},
			{Sharing: true, Threads: 50, Faults: []Fault{{At: 3 * time.Second, For: 3 * time.Second, Kill: true}}, Cold: &Cold{Slow: 5, Requests: 100}},
			{Joins: At(2 * time.Second), Cold: &Cold{Slow: 3, For: 2 * time.Second, Heal: time.Second}, Leaked: 1},
			{Faults: []Fault{{At: 5 * time.Second, For: 2 * time.Second, Leave: true}}},
		},
	}
}

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

// choose gives the consumers of a world their policy.
func choose(t *testing.T, w *world, policy string) {
	t.Helper()
	one, err := find(policy, nil)
	require.NoError(t, err)
	require.NoError(t, w.choose(t.Context(), one))
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

func TestUnknownPolicy(t *testing.T) {
	_, err := Run(t.Context(), busyScenario(), Options{Policy: "leastactiv"})
	require.Error(t, err)
	assert.Contains(t, err.Error(), `unknown policy "leastactiv", did you mean "leastactive"?`)
}
