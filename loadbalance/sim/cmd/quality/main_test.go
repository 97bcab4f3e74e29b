package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// command runs the command.
func command(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestTables(t *testing.T) {
	code, out, errs := command("-scenarios", "steady3", "-policies", "random, leastload", "-loads", "0.5, 12.5%", "-seeds", "1")
	require.Zero(t, code, errs)
	assert.Empty(t, errs, "no progress where there is no terminal")
	assert.Equal(t, 2, strings.Count(out, "\nGeometric means over loads of 50, 12.5 %; 1 seed; variant fifo.\n"), out)
	first, second, ok := strings.Cut(out, "\nMean of the time of a call")
	require.True(t, ok, out)
	assert.True(t, strings.HasPrefix(first, "99th percentile of the time of a call"), out)
	for _, table := range []string{first, second} {
		assert.Regexp(t, `(?m)^policy +all +worst +steady3$`, table)
		assert.Less(t, strings.Index(table, "\nleastload"), strings.Index(table, "\nrandom"), "the best first")
		for _, name := range []string{"oracle", "jsq", "leastload", "random"} {
			assert.Regexp(t, `(?m)^`+name+` .* steady3 at (50|12\.5) % +[\d.]+$`, table, "a load is labelled as it is")
		}
	}
	assert.NotContains(t, out, "NaN")
}

func TestWideTablesGoOnBelow(t *testing.T) {
	code, out, errs := command("-scenarios", "steady3,gray3,resident,hetero,hetero-eq,hetero-core,flaky,slow1,one", "-policies", "java-leastactive-weighted", "-loads", "1%", "-seeds", "1")
	require.Zero(t, code, errs)
	heads := 0
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		assert.LessOrEqual(t, len(line), 100, line)
		if strings.HasPrefix(line, "policy ") {
			heads++
		}
	}
	assert.Equal(t, 4, heads, "two parts of each table")
	for _, name := range []string{"gray3", "hetero-core", "one"} {
		assert.Regexp(t, `(?m)^policy .*\b`+name+`\b`, out)
	}
}

func TestMarkdown(t *testing.T) {
	code, out, errs := command("-scenarios", "steady3", "-policies", "leastload", "-loads", "1%", "-seeds", "2", "-markdown")
	require.Zero(t, code, errs)
	assert.Contains(t, out, " %; 2 seeds; ")
	assert.Equal(t, 2, strings.Count(out, "\n| policy | all | worst | steady3 |\n|---|---|---|---|\n"), out)
	assert.NotContains(t, out, "NaN", "the least load")
}

// One's own cluster is compared as those of the package are.
func TestAFileOfOnesOwn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.yml")
	require.NoError(t, os.WriteFile(file, []byte("duration: 10s\nproviders:\n  - count: 2\n  - speed: 0.5\n"), 0o600))
	args := []string{"-file", file, "-policies", "leastload", "-loads", "10%", "-seeds", "1"}
	code, out, errs := command(args...)
	require.Zero(t, code, errs)
	assert.Regexp(t, `(?m)^policy +all +worst +shop$`, out)
	assert.Regexp(t, `(?m)^leastload +[\d.]+ +[\d.]+, shop at 10 % +[\d.]+$`, out)
	code, out, errs = command(append(args, "-scenarios", "steady3")...)
	require.Zero(t, code, errs)
	assert.Regexp(t, `(?m)^policy +all +worst +steady3 +shop$`, out)

	twin := filepath.Join(t.TempDir(), "steady3.yml")
	require.NoError(t, os.WriteFile(twin, []byte("providers: [{count: 2}]"), 0o600))
	for list, want := range map[string]string{
		file + "," + file: `-file: "shop" is there twice`,
		twin:              `-file: "steady3" is there twice`,
		file + "x":        `-file: open ` + file + `x: no such file or directory`,
		"":                `-file: there is an empty name in ""`,
	} {
		code, out, errs = command("-scenarios", "steady3", "-file", list)
		assert.Equal(t, misused, code)
		assert.Empty(t, out)
		assert.Equal(t, "quality: "+want+"\n", errs)
	}
	require.NoError(t, os.WriteFile(file, []byte("duration: 10s\nproviders:\n  - cuont: 2\n"), 0o600))
	_, _, errs = command(args...)
	assert.Contains(t, errs, `shop.yml:3: providers[0].cuont`)
}

func TestAWrongCommandLineRunsNothing(t *testing.T) {
	code, out, errs := command("-scenarios", "steady3", "steady4", "-seeds", "1")
	assert.Equal(t, misused, code)
	assert.Empty(t, out)
	assert.Equal(t, "quality: \"steady4\" belongs to no flag, and what follows would not be read (-help lists the flags)\n", errs)
}

func TestHelp(t *testing.T) {
	for _, flag := range []string{"-h", "-help"} {
		code, out, errs := command(flag)
		assert.Equal(t, done, code)
		assert.Empty(t, errs)
		for _, name := range []string{"-scenarios", "-file", "-policies", "-loads", "-seeds", "-variant", "-markdown"} {
			assert.Equal(t, 1, strings.Count(out, "\n  "+name), name)
		}
		for _, known := range []string{"steady3", "transcode", "java-leastactive-weighted", "ringload", "cv3:", "0.7"} {
			assert.Contains(t, out, known)
		}
		for line := range strings.Lines(out) {
			assert.LessOrEqual(t, len(line), 100, line)
		}
	}
}

func TestAnInterruptLeavesNoTables(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	assert.Equal(t, interrupted, run(ctx, []string{"-scenarios", "steady3", "-seeds", "1"}, &out, &errs))
	assert.Empty(t, out.String())
	assert.Equal(t, "quality: interrupted\n", errs.String())
}

// broken is an output that nobody reads.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestTablesThatCannotBeWritten(t *testing.T) {
	var errs bytes.Buffer
	args := []string{"-scenarios", "steady3", "-policies", "leastload", "-loads", "10", "-seeds", "1"}
	assert.Equal(t, failed, run(context.Background(), args, broken{}, &errs))
	assert.Equal(t, "quality: broken pipe\n", errs.String())
}
