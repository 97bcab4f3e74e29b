//go:build !race

// Here the whole program runs, several times; the race detector looks at one run in
// TestWhatIsSaidIsTrue.

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSameSeedSameBytes(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	var out, errs bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"-seed", "7", "-runs", "1", "-after", "10s"}, &out, &errs), errs.String())
	assert.Empty(t, errs.String())
	assert.Regexp(t, `\nplots: .*/coldstart\.html\ndone in [0-9.]+ s\n$`, out.String())
	written, err := os.ReadFile("coldstart.html")
	require.NoError(t, err)
	assert.Contains(t, string(written), "go run ./examples/coldstart -seed 7 -runs 1 -after 10s\n", "how to make it again")

	again := story(t)
	if again.after != shortest {
		again, err = measure(context.Background(), tiny())
		require.NoError(t, err)
	}
	assert.Equal(t, string(pageOf(t, again)), string(written))
	var terminal bytes.Buffer
	again.writeQuestion(&terminal)
	again.writeAnswer(&terminal)
	assert.True(t, strings.HasPrefix(out.String(), terminal.String()))

	other := outcome{cause: again.causes[0], strategy: again.strategies[0]}
	cfg := tiny()
	cfg.seed++
	require.NoError(t, other.simulate(t.Context(), cfg))
	assert.NotEqual(t, again.of(0)[0].points, other.points, "another seed is another run")
}

// fullDisk is one without room after some bytes.
type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.room -= len(p); d.room < 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

func TestAReportThatGetsLostIsAnError(t *testing.T) {
	var question bytes.Buffer
	cfg := tiny()
	cfg.writeQuestion(&question)
	for name, room := range map[string]int{"at once": 0, "in the answer": question.Len() + 500} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "page.html")
			var errs bytes.Buffer
			assert.Equal(t, 1, run(t.Context(), []string{"-after", "10s", "-runs", "1", "-html", file}, &fullDisk{room}, &errs))
			assert.Equal(t, "coldstart: the report cannot be written: no space left on device\n", errs.String())
			if room == 0 {
				assert.NoFileExists(t, file, "nothing to work for")
			} else {
				assert.FileExists(t, file, "what can be written is")
			}
		})
	}
	var errs bytes.Buffer
	assert.Equal(t, 1, run(t.Context(), []string{"-help"}, &fullDisk{}, &errs))
	assert.Contains(t, errs.String(), "the report cannot be written")
}
