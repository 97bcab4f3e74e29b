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

func TestQualityOfTheUnknown(t *testing.T) {
	_, err := Grid{Scenarios: []string{"gray33"}, Policies: []string{"random"}, Loads: []float64{0.5}, Seeds: []uint64{1}}.Run(t.Context())
	assert.ErrorContains(t, err, `did you mean "gray3"`)
	_, err = Grid{Scenarios: []string{"gray3"}, Policies: []string{"rondom"}, Loads: []float64{0.5}, Seeds: []uint64{1}}.Run(t.Context())
	assert.ErrorContains(t, err, `"rondom"`)
}
