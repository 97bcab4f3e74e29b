package sim

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The scenarios were written before the first comparison, and may not be changed to
// suit a result.
func TestScenariosAreWhatTheyWere(t *testing.T) {
	want, err := os.ReadFile("testdata/scenarios.sha256")
	require.NoError(t, err)
	entries, err := files.ReadDir("scenarios")
	require.NoError(t, err)
	var got strings.Builder
	var names []string
	for _, e := range entries {
		data, err := files.ReadFile("scenarios/" + e.Name())
		require.NoError(t, err)
		fmt.Fprintf(&got, "%x  %s\n", sha256.Sum256(data), e.Name())
		names = append(names, strings.TrimSuffix(e.Name(), ".yml"))
	}
	assert.Equal(t, string(want), got.String())
	assert.ElementsMatch(t, slices.Concat(Core, More, Hashing), names)
	assert.Len(t, Core, 21)
}

func TestScenariosCanRun(t *testing.T) {
	for _, name := range slices.Concat(Core, More, Hashing) {
		s, err := Named(name)
		require.NoError(t, err)
		assert.Equal(t, name, s.Name)
		assert.NotEmpty(t, s.About, name)
		for _, v := range Variants() {
			require.NoError(t, v.Of(s).Check(), "%s, %s", name, v.Name)
		}
	}
}

func TestCapacity(t *testing.T) {
	// In providers of 4 workers at 10 ms, what is really there during the disturbance.
	of := map[string]float64{
		"steady3": 3, "gray3": 2 + 1.0/3, "resident": 2 + 1.0/3, "jit": 4.5, "hang": 4, "hetero": 5, "hetero-core": 2.5,
		"blackhole": 4, "flaky": 4, "err5all": 5, "slow1": 4.2, "slowpool": 4.2, "many-slow": 9.2, "one": 7,
		"gc": 9.7, "scale": 5, "rolling": 5, "big": 90, "hash": 8 / 1.21, "hash-down": 7 / 1.21,
	}
	for name, providers := range of {
		s, err := Named(name)
		require.NoError(t, err)
		assert.InEpsilon(t, providers*400, s.Capacity(), 1e-9, name)
	}
}

// Who may work on a few only has no use for more workers.
func TestCapacityOfThreads(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
	}{
		{"providers: [{count: 2, workers: 8, threads: 2}]", 400},
		{"providers: [{count: 2, workers: 8, threads: 8}]", 1600},
		{"providers: [{count: 2, workers: 8, threads: 2, speed: 3}]", 1200},
		{"providers: [{workers: 8, threads: 2, faults: [{at: 1s, for: 1s, slow: 4}]}]", 50},
		{"providers: [{sharing: true, threads: 200}]\nrequests: [{mean: 4ms, wait: 600ms}]", 200 / 0.604},
		{"providers: [{sharing: true, threads: 200}]\nrequests: [{mean: 4ms, wait: 100ms}]", 1000},
		{"providers: [{}, {threads: 200, faults: [{at: 1s, for: 1s, kill: true}]}]", 400},
	} {
		s, err := Parse("x.yml", []byte(c.text))
		require.NoError(t, err)
		assert.InEpsilon(t, c.want, s.Capacity(), 1e-9, c.text)
		if c.want > 100 {
			r, err := Run(t.Context(), s, Options{Load: 0.5})
			require.NoError(t, err)
			assert.Less(t, float64(r.Refused), 0.25*float64(r.Requests), c.text)
		}
	}
}

func TestUnknownScenario(t *testing.T) {
	_, err := Named("grey3")
	require.Error(t, err)
	assert.Contains(t, err.Error(), `unknown scenario "grey3", did you mean "gray3"? (known: big, `)
}

func TestVariantsLeaveTheScenarioAlone(t *testing.T) {
	s, err := Named("gray3")
	require.NoError(t, err)
	before := fmt.Sprintf("%+v", s)
	for _, v := range Variants() {
		v.Of(s)
		assert.Equal(t, before, fmt.Sprintf("%+v", s), v.Name)
		assert.Equal(t, v.Name != "fifo", v.Held)
	}
}
