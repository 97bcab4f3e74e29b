//go:build !race

// A simulation is one goroutine: there is no race to detect, and the detector would make
// it many times as long.

package sim

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// grid is the one that TestQuality runs: one seed, and with -short a few scenarios at one
// load.
func grid(scenarios []string, policies ...string) Grid {
	g := Grid{Scenarios: scenarios, Policies: policies, Loads: []float64{0.5, 0.7, 0.9}, Seeds: []uint64{1}}
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
		"leastload", "leastactive", "java-leastactive", "shortestresponse", "adaptive", "roundrobin", "random",
		"java-shortestresponse-2.7", "java-shortestresponse-3.3", "java-adaptive", "java-roundrobin", "java-random",
	}
	if testing.Short() {
		policies = policies[:3]
	}
	q := run(t, grid(Core, policies...))
	show(t, q, "core scenarios")
	guard(t, "core", []string{
		"strategy", "p99, all 21", "mean, all 21", "worst p99",
		"third provider joins cold", "long requests resident", "same weights, other speeds", "one fails fast", "one 5 × slower", "1000 consumers", "rolling restart",
	}, q.table(append(q.byRatio(), references...), []string{"gray3", "resident", "hetero-eq", "blackhole", "slow1", "many1k", "rolling"}))

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

// byRatio returns the policies of this module, then Dubbo's, the best first.
func (q *Quality) byRatio() []string {
	return slices.SortedFunc(slices.Values(q.Grid.Policies), func(a, b string) int {
		java := func(p string) int { return strings.Count(p, "java-") }
		return cmp.Or(java(a)-java(b), cmp.Compare(q.Geometric(a).P99, q.Geometric(b).P99), cmp.Compare(a, b))
	})
}

// Where consumers have one call at a time, or none, the calls under way say nothing.
func TestQualityWithLittleToDo(t *testing.T) {
	scenarios := []string{"steady3", "hetero-eq", "slow1", "gray3", "flaky", "rolling"}
	q := run(t, Grid{Scenarios: scenarios, Policies: []string{"leastload", "shortestresponse", "adaptive", "leastactive", "roundrobin", "random"}, Loads: []float64{0.03, 0.1}, Seeds: []uint64{1}})
	show(t, q, "little to do")
	guard(t, "little", []string{
		"strategy", "p99, all 6", "mean, all 6", "worst p99", "steady", "same weights, other speeds", "one 5 × slower", "third provider joins cold", "one fails half of them", "rolling restart",
	}, q.table(q.byRatio(), scenarios))
	assert.LessOrEqual(t, q.Geometric("leastload").P99, 1.20)
	for _, other := range []string{"adaptive", "leastactive", "roundrobin", "random"} {
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
	q := run(t, grid(Hashing, "ringload", "consistenthash", "leastload", "roundrobin", "java-consistenthash"))
	show(t, q, "scenarios with keys")
	guard(t, "hashing", []string{
		"strategy", "p99, all 6", "mean, all 6", "worst p99", "usual", "100 consumers", "one dies", "a hot key", "one fails", "transcoding",
	}, q.table(append(q.byRatio(), references...), []string{"hash", "hash-many", "hash-down", "hash-hot", "hash-sink", "transcode"}))
	assert.LessOrEqual(t, q.Geometric("ringload").P99, 1.25)
	for _, other := range q.Grid.Policies[1:] {
		assert.Less(t, q.Geometric("ringload").P99, q.Geometric(other).P99, other)
	}
}
