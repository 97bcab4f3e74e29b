package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/loadbalance/sim"
)

func TestDefaults(t *testing.T) {
	cfg, err := parseFlags(nil, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, sim.Core, cfg.grid.Scenarios)
	assert.Equal(t, sim.Policies(), cfg.grid.Policies)
	assert.Equal(t, []float64{0.5, 0.7, 0.9}, cfg.grid.Loads)
	assert.Equal(t, []uint64{1, 2, 3}, cfg.grid.Seeds)
	assert.Equal(t, "fifo", cfg.grid.Variant.Name)
	assert.False(t, cfg.markdown)
}

func TestLists(t *testing.T) {
	cfg, err := parseFlags([]string{"-scenarios", " hashing ,steady3", "-policies", "ringload , jsq", "-variant", "ps", "-markdown"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, append(slices.Clone(sim.Hashing), "steady3"), cfg.grid.Scenarios)
	assert.Equal(t, []string{"ringload", "jsq"}, cfg.grid.Policies)
	assert.Equal(t, "ps", cfg.grid.Variant.Name)
	assert.True(t, cfg.markdown)
	cfg, err = parseFlags([]string{"-scenarios", "all"}, io.Discard)
	require.NoError(t, err)
	assert.Len(t, cfg.grid.Scenarios, len(sim.Core)+len(sim.More)+len(sim.Hashing))
}

func TestLoads(t *testing.T) {
	for text, want := range map[string]float64{
		"70%": 0.7, "70": 0.7, "0.7": 0.7, "70 %": 0.7, "7%": 0.07, "0.07": 0.07, ".07": 0.07, "1%": 0.01, "0.01": 0.01,
		"10": 0.1, "12.5": 0.125, "0.125": 0.125, "100%": 1, "100": 1, "200": 2, "0.999": 0.999,
	} {
		got, err := parseLoads(text)
		require.NoError(t, err, text)
		assert.Equal(t, []float64{want}, got, text)
	}
}

// A load comes back as it is labelled.
func TestLoadsAreLabelledExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		load := float64(rapid.IntRange(10, 2000).Draw(t, "tenths of a percent")) / 1000
		got, err := parseLoad(percent(load) + "%")
		if err != nil || got != load {
			t.Fatalf("%v is labelled %s %%, which means %v (%v)", load, percent(load), got, err)
		}
	})
}

func TestBadFlags(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat("50,", mostLoads+1), ",")
	for _, c := range [][]string{
		{"-loads", "many", `-loads: "many" is not a load such as 70%, 70 or 0.7`},
		{"-loads", "", `-loads: there is an empty name in ""`},
		{"-loads", "NaN", `"NaN" is not a load`},
		{"-loads", "Inf", `"Inf" is not a load`},
		{"-loads", "0", `"0" is not between 1 % and 200 %`},
		{"-loads", "-70", `"-70" is not between`},
		{"-loads", "1e-9", `"1e-9" is not between`},
		{"-loads", "0.7%", `"0.7%" is not between`},
		{"-loads", "201", `"201" is not between`},
		{"-loads", "1e300%", `"1e300%" is not between`},
		{"-loads", "1", `"1" may be 1 % or 100 %: write it with %`},
		{"-loads", "7", `"7" may be 7 % or 700 %: write it with %`},
		{"-loads", "33.33", `"33.33" has more than one decimal of a percent`},
		{"-loads", "70,0.7", `"0.7" is there twice: 70 %`},
		{"-loads", many, `21 are more than 20`},
		{"-seeds", "0", `-seeds: 0 is not between 1 and 100`},
		{"-seeds", "-1", `-seeds: -1 is not between 1 and 100`},
		{"-seeds", "1000000000", `-seeds: 1000000000 is not between 1 and 100`},
		{"-seeds", "x", `invalid value "x" for flag -seeds`},
		{"-variant", "lifo", `-variant: unknown variant "lifo", did you mean "fifo"? (known: cv3, fifo, ps)`},
		{"-scenarios", "steady3,steady4", `-scenarios: unknown scenario "steady4", did you mean "steady3"? (known: all, big, blackhole, canary, core, `},
		{"-scenarios", "hasing", `-scenarios: unknown scenario "hasing", did you mean "hashing"?`},
		{"-scenarios", "core,steady3", `-scenarios: "steady3" is there twice`},
		{"-scenarios", "steady3,,gray3", `-scenarios: there is an empty name in "steady3,,gray3"`},
		{"-scenarios", "../steady3", `unknown scenario "../steady3"`},
		{"-policies", "random,leastlod", `-policies: unknown policy "leastlod", did you mean "leastload"? (known: adaptive, `},
		{"-policies", "", `-policies: there is an empty name in ""`},
		{"-policies", "random, random", `-policies: "random" is there twice`},
		{"-policies", "all,random", `-policies: "random" is there twice`},
		{"-fast", "", `-fast (-help lists the flags)`},
		{"now", "", `"now" belongs to no flag`},
	} {
		var usage bytes.Buffer
		_, err := parseFlags(c[:2], &usage)
		assert.ErrorContains(t, err, c[2], "%q", c[:2])
		assert.Empty(t, usage.String())
		code, out, errs := command(c[:2]...)
		assert.Equal(t, misused, code)
		assert.Empty(t, out)
		assert.Equal(t, 1, strings.Count(errs, c[2]), "said once: %s", errs)
		assert.Equal(t, 1, strings.Count(errs, "\n"), "one line: %s", errs)
	}
}

func FuzzLoads(f *testing.F) {
	for _, text := range []string{"50,70,90", "0.7", "70 %", "1e-9", "%", "١٠"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		loads, err := parseLoads(text)
		if err != nil {
			return
		}
		require.NotEmpty(t, loads)
		require.LessOrEqual(t, len(loads), mostLoads)
		for _, l := range loads {
			require.True(t, l >= leastLoad && l <= mostLoad, "%q: %v", text, l)
		}
	})
}
