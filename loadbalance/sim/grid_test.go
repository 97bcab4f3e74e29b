package sim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func run(t *testing.T, g Grid) *Quality {
	t.Helper()
	q, err := g.Run(t.Context())
	require.NoError(t, err)
	return q
}

// The table is the same whatever the order in which the runs end.
func TestQualityIsDeterministic(t *testing.T) {
	table := func() string {
		q := run(t, Grid{Scenarios: []string{"steady3", "gray3"}, Policies: []string{"random", "leastload"}, Loads: []float64{0.1}, Seeds: []uint64{3, 4}})
		var b strings.Builder
		require.NoError(t, q.WriteTable(&b, false, true))
		return b.String()
	}
	first := table()
	assert.Equal(t, first, table())
	assert.Equal(t, 2+4, strings.Count(first, "\n"), first)
	assert.Contains(t, first, "| leastload | 1.")
}

// A scenario of one's own is compared as those of the package are.
func TestQualityOfOnesOwn(t *testing.T) {
	gray, err := Named("gray3")
	require.NoError(t, err)
	own := *gray
	own.Name = "mine"
	g := Grid{Scenarios: []string{"gray3"}, Own: []*Scenario{&own}, Policies: []string{"random"}, Loads: []float64{0.1}, Seeds: []uint64{3}}
	q := run(t, g)
	assert.Equal(t, []string{"gray3", "mine"}, q.Grid.Scenarios)
	assert.Equal(t, []string{"gray3"}, g.Scenarios)
	assert.Positive(t, q.At("random", "mine", 0.1).P99)
	assert.Equal(t, q.At("random", "gray3", 0.1), q.At("random", "mine", 0.1))
	g.Scenarios = nil
	assert.Equal(t, q.At("random", "mine", 0.1), run(t, g).Geometric("random"))

	for want, own := range map[string]*Scenario{
		"scenario gray3: the grid has two of this name": gray,
		"scenario 2 of the grid has no name":            {Providers: []Provider{{}}},
		"scenario empty: providers: there is none":      {Name: "empty"},
	} {
		_, err := Grid{Scenarios: []string{"gray3"}, Own: []*Scenario{own}, Policies: g.Policies, Loads: g.Loads, Seeds: g.Seeds}.Run(t.Context())
		assert.EqualError(t, err, want)
	}
	_, err = Grid{Own: []*Scenario{nil}, Policies: g.Policies, Loads: g.Loads, Seeds: g.Seeds}.Run(t.Context())
	assert.EqualError(t, err, "scenario 1 of the grid has no name")
}

func TestQualityOfTheUnknown(t *testing.T) {
	_, err := Grid{Scenarios: []string{"gray33"}, Policies: []string{"random"}, Loads: []float64{0.5}, Seeds: []uint64{1}}.Run(t.Context())
	assert.ErrorContains(t, err, `did you mean "gray3"`)
	_, err = Grid{Scenarios: []string{"gray3"}, Policies: []string{"rondom"}, Loads: []float64{0.5}, Seeds: []uint64{1}}.Run(t.Context())
	assert.ErrorContains(t, err, `"rondom"`)
}
