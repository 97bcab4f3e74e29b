package main

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer"
)

func TestPercentile(t *testing.T) {
	assert.Zero(t, percentile(nil, 50))
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for p, want := range map[float64]time.Duration{0: 1, 0.5: 1, 1: 1, 1.5: 2, 50: 50, 99: 99, 99.5: 100, 100: 100} {
		assert.Equal(t, want, percentile(hundred, p), "p%v", p)
	}
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(0, 20).Draw(t, "ms")) * time.Millisecond
		}), 1, 300).Draw(t, "times")
		slices.Sort(times)
		p := rapid.IntRange(1, 100).Draw(t, "p")
		got := percentile(times, float64(p))
		assert.Contains(t, times, got)
		within, below := 0, 0 // times that are not longer, and shorter
		for _, d := range times {
			if d <= got {
				within++
			}
			if d < got {
				below++
			}
		}
		assert.GreaterOrEqual(t, 100*within, p*len(times), "p percent are within")
		assert.Less(t, 100*below, p*len(times), "and would not be within any less")
	})
}

func TestSummarize(t *testing.T) {
	samples := []sample{
		{provider: "a", begun: 0, took: 10, active: 1},
		{provider: "b", begun: 5, took: 30, active: 4},
		{provider: "a", begun: 9, took: 20, active: 2, failed: true},
		{provider: "a", begun: 10, took: 99, active: 9}, // of the next phase
	}
	each, all := summarize(samples, 0, 10, []string{"a", "b", "c"})
	assert.Equal(t, []figures{
		{provider: "a", calls: 2, failed: 1, share: 2.0 / 3, peak: 2, p50: 10, p99: 20},
		{provider: "b", calls: 1, share: 1.0 / 3, peak: 4, p50: 30, p99: 30},
		{provider: "c"},
	}, each)
	assert.Equal(t, figures{calls: 3, failed: 1, share: 1, peak: 4, p50: 20, p99: 30}, all)

	each, all = summarize(nil, 0, 10, []string{"a"})
	assert.Equal(t, []figures{{provider: "a"}}, each)
	assert.Equal(t, figures{}, all)
}

// restarted is an outcome in which C had so many of 100 calls in each quarter of its
// warm-up, and the times given before and after.
func restarted(before, after time.Duration, quarters ...int) outcome {
	o := outcome{
		strategy: "random", restarted: "C", names: map[string]string{"1.1.1.1:1": "A", "1.1.1.1:2": "B", "1.1.1.1:3": "C"},
		stopped: 100, back: 100 + 20*time.Millisecond,
	}
	add := func(address string, begun, took time.Duration, active int) {
		o.calls++
		o.samples = append(o.samples, sample{provider: address, begun: begun, took: took, active: active})
	}
	add("1.1.1.1:1", 0, before, 7)
	add("1.1.1.1:2", 0, before, 7)
	add("1.1.1.1:3", 0, before, 7)
	o.ended = o.back + 400
	for q, n := range quarters {
		for i := range 100 {
			at := o.back + time.Duration(100*q+i)
			if i < n {
				add("1.1.1.1:3", at, after, 2)
			} else {
				add([]string{"1.1.1.1:1", "1.1.1.1:2"}[i%2], at, after, 5)
			}
		}
	}
	return o
}

func TestSentenceOfARestart(t *testing.T) {
	o := restarted(10*time.Millisecond, 15*time.Millisecond, 5, 10, 20, 25)
	assert.Equal(t, "C was away for 20 ms, came back cold and was spared: 15.0 % of the calls (fair: 33.3 %), "+
		"5.0 % in the first quarter of its warm-up, 25.0 % in the last; at most 2 at once, elsewhere 5; "+
		"the callers' p99 went from 10.0 ms to 15.0 ms; none of 403 calls failed.", o.sentence())

	for want, quarters := range map[string][]int{
		"got nothing to do":        {0, 0, 0, 0},
		"was spared":               {29, 29, 29, 29},
		"got about its fair share": {30, 30, 36, 36},
		"was flooded":              {90, 40, 30, 20},
	} {
		o := restarted(10*time.Millisecond, 10*time.Millisecond, quarters...)
		assert.Contains(t, o.sentence(), "came back cold and "+want+":")
		assert.Contains(t, o.sentence(), "the callers' p99 stayed at 10.0 ms;")
	}

	o.failed, o.first = 2, errors.New("cut off")
	assert.Contains(t, o.sentence(), "; 2 of 403 calls failed.")
	assert.EqualError(t, o.failure(), "random: 2 of 403 calls failed, the first one: cut off")
}

func TestSentenceWithoutARestart(t *testing.T) {
	o := outcome{strategy: "random", ended: 100}
	assert.Equal(t, "nothing was called.", o.sentence())

	o.calls = 1
	o.samples = []sample{{provider: "x:1", took: 250 * time.Microsecond}}
	assert.Equal(t, "there is one provider, x:1, and it got all calls, at a p99 of 0.25 ms; none of 1 calls failed.", o.sentence())

	o.calls = 3
	o.samples = append(o.samples, sample{provider: "y:1", took: 3 * time.Millisecond}, sample{provider: "x:1"}, sample{provider: "x:1", failed: true})
	assert.Equal(t, "of 2 providers x:1 got the most calls, 75.0 %, and y:1 the fewest, 25.0 %; the slowest was y:1 with a p99 of 3.0 ms; "+
		"none of 3 calls failed, as retries made good 1 failed attempts.", o.sentence())
	assert.NoError(t, o.failure())
}

func TestIdleProvidersAreInTheTable(t *testing.T) {
	o := outcome{strategy: "random", ended: 100, calls: 1, samples: []sample{{provider: "x:1"}}}
	weighs := []gofer.MethodSnapshot{{Name: "put", Weight: 1}, {Name: "find", Weight: 7}}
	o.look(gofer.ReferenceSnapshot{Providers: []gofer.ProviderSnapshot{{Address: "x:1", Methods: weighs}, {Address: "a:1"}}}, "find")
	var out bytes.Buffer
	o.write(&out)
	providers, all := tables(t, out.String())
	require.Len(t, providers, 2, out.String())
	assert.Equal(t, []string{"steady", "a:1", "0", "0.0", "0", "0", "0.00", "0.00"}, providers[0][1:])
	assert.Equal(t, []string{"x:1", "1", "100.0"}, providers[1][2:5])
	assert.Len(t, all, 1)
	require.Len(t, sentences(out.String()), 1)
	assert.Contains(t, sentences(out.String())[0], "of 2 providers x:1 (weight 7) got the most calls, 100.0 %, and a:1 the fewest, 0.0 %;")
}

func TestWrapped(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("ninechars ", 20)) + " " + strings.Repeat("x", 200)
	lines := strings.Split(wrapped("  →", text), "\n")
	assert.Equal(t, "  → "+strings.TrimSpace(strings.Repeat("ninechars ", 9)), lines[0])
	assert.Equal(t, "    "+strings.TrimSpace(strings.Repeat("ninechars ", 9)), lines[1])
	assert.Equal(t, strings.Fields("→ "+text), strings.Fields(strings.Join(lines, "\n")), "no word is lost")
	assert.Equal(t, "    "+strings.Repeat("x", 200), lines[3], "a long word stays whole")
}
