package main

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTables(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run([]string{"-scenarios", "steady3", "-policies", "leastload,random", "-loads", "50", "-seeds", "1"}, &out, io.Discard))
	assert.Contains(t, out.String(), "99th percentile over the best possible")
	assert.Contains(t, out.String(), "mean over the best possible")
	assert.Equal(t, 2, strings.Count(out.String(), "steady3 at 50 %\n")/4, out.String())
	assert.Less(t, strings.Index(out.String(), "\nleastload"), strings.Index(out.String(), "\nrandom"), "the best first")
}

func TestBadFlags(t *testing.T) {
	for _, c := range [][]string{
		{"-loads", "many", `"many"`}, {"-loads", "0", `"0"`}, {"-seeds", "0", "-seeds"}, {"-variant", "lifo", `"lifo"`},
		{"-scenarios", "steady4", `did you mean "steady3"`}, {"-policies", "leastlod", `"leastlod"`},
	} {
		args := c[:2]
		if c[0] != "-scenarios" {
			args = append(args, "-scenarios", "steady3")
		}
		assert.ErrorContains(t, run(args, io.Discard, io.Discard), c[2], "%v", args)
	}
}
