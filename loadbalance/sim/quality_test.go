//go:build !race

// A simulation is one goroutine: there is no race to detect, and the detector would make
// it many times as long.

package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// grid is the one that TestQuality runs: one seed, and with -short a few scenarios at one
// load.
func grid(scenarios []string, policies ...string) Grid {
	g := Grid{Scenarios: scenarios, Policies: policies, Loads: []float64{0.5, 0.9}, Seeds: []uint64{1}}
	if testing.Short() {
		few := []string{"gray3", "resident", "blackhole", "scale", "rolling", "hash"}
		g.Scenarios = slices.DeleteFunc(slices.Clone(scenarios), func(s string) bool { return !slices.Contains(few, s) })
		g.Loads = []float64{0.7}
	}
	return g
}

func show(t *testing.T, q *Quality, title string) {
	t.Helper()
	for _, mean := range []bool{false, true} {
		var b strings.Builder
		require.NoError(t, q.WriteTable(&b, mean, false))
		what := "p99"
		if mean {
			what = "mean"
		}
		t.Logf("%s, %s over the better reference, geometric means over the loads:\n%s", title, what, b.String())
	}
}

// What the strategies promise, over the core scenarios.
func TestQuality(t *testing.T) {
	policies := []string{
		"leastload", "leastactive", "java-leastactive", "shortestresponse", "adaptive", "random", "roundrobin",
		"java-shortestresponse-3.3", "java-adaptive",
	}
	if testing.Short() {
		policies = policies[:3]
	}
	small := slices.DeleteFunc(slices.Clone(Core), func(s string) bool { return s == "big" })
	q := run(t, grid(small, policies...))
	show(t, q, "core scenarios")

	assert.LessOrEqual(t, q.Geometric("leastload").P99, 1.20)
	worst, scenario, load := q.Worst("leastload")
	assert.LessOrEqual(t, worst, 2.5, "%s at %v", scenario, load)
	for _, other := range q.Grid.Policies[1:] {
		assert.Less(t, q.Geometric("leastload").P99, q.Geometric(other).P99, other)
	}

	cold := slices.DeleteFunc([]string{"gray3", "resident", "scale", "rolling"}, func(s string) bool { return !slices.Contains(q.Grid.Scenarios, s) })
	assert.Less(t, q.Geometric("leastactive", cold...).P99, q.Geometric("java-leastactive", cold...).P99, "where a provider is cold")

	// One of five answers with errors for a third of the time.
	black := blackhole(t)
	for _, policy := range q.Grid.Policies {
		if strings.HasPrefix(policy, "java-") {
			continue
		}
		for _, load := range q.Grid.Loads {
			assert.LessOrEqual(t, q.Share(policy, "blackhole", load, black), 1.5/5, "%s at %v", policy, load)
		}
	}
}

// The one scenario that takes longer than all others together, at one load and with whom
// a fleet of that size has to be compared.
func TestQualityOfBig(t *testing.T) {
	q := run(t, Grid{Scenarios: []string{"big"}, Policies: []string{"leastload", "leastactive", "random"}, Loads: []float64{0.7}, Seeds: []uint64{1}})
	show(t, q, "many providers, many consumers")
	assert.LessOrEqual(t, q.Geometric("leastload").P99, 1.20)
	for _, other := range q.Grid.Policies[1:] {
		assert.Less(t, q.Geometric("leastload").P99, q.Geometric(other).P99, other)
	}
}

// blackhole is the index of the provider that fails in the scenario of that name.
func blackhole(t *testing.T) int {
	t.Helper()
	s, err := Named("blackhole")
	require.NoError(t, err)
	i := 0
	for _, p := range s.filled().Providers {
		if len(p.Faults) > 0 {
			return i
		}
		i += max(1, p.Count)
	}
	t.Fatal("nobody fails in scenario blackhole")
	return 0
}

// Where keys have a home.
func TestQualityOfHashing(t *testing.T) {
	q := run(t, grid(Hashing, "ringload", "consistenthash", "leastload", "java-consistenthash"))
	show(t, q, "scenarios with keys")
	assert.LessOrEqual(t, q.Geometric("ringload").P99, 1.25)
	for _, other := range q.Grid.Policies[1:] {
		assert.Less(t, q.Geometric("ringload").P99, q.Geometric(other).P99, other)
	}
}
