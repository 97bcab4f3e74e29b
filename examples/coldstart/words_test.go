package main

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// changed returns the story with other figures for a strategy and a cause, over the
// main window.
func changed(t *testing.T, cause, strategy string, change func(w *window)) *results {
	t.Helper()
	r := *story(t)
	r.outcomes = slices.Clone(r.outcomes)
	for i := range r.outcomes {
		if o := &r.outcomes[i]; o.cause.key == cause && o.strategy.key == strategy {
			o.windows = slices.Clone(o.windows)
			change(&o.windows[r.main()])
			return &r
		}
	}
	require.Fail(t, "not there")
	return nil
}

func TestTheClosingSaysWhatTheFiguresSay(t *testing.T) {
	text := strings.Join(story(t).closing(), "\n")
	for _, want := range []string{
		"That is less than a fair share", "resident long requests (7", "leaked counts (7", "all that was reported",
		"Not enough is a cold start that costs CPU only.", "High CPU on a new provider is no proof of a flood.", "without a failed call",
	} {
		assert.Contains(t, text, want)
	}
	assert.Equal(t, 1, strings.Count(text, "all that was reported"), "leaks leave the old providers idle")
}

func TestOtherFiguresMeanOtherWords(t *testing.T) {
	flooded := func(w *window) { w.share, w.cpu = 0.72, [providers]float64{0.3, 0.3, 0.9} }
	spared := func(w *window) { w.share, w.cpu = 0.1, [providers]float64{0.3, 0.3, 0.1} }
	failing := func(w *window) { w.failed = w.calls / 4 }

	r := changed(t, "blamed", "java", flooded)
	assert.Contains(t, r.onTheBlamed(), "explains a flood by itself")
	assert.Contains(t, r.finding(0), "72.0 % of the calls, 2.2 times its fair share, with CPU at 30/30/90 %")

	r = changed(t, "resident", "java", spared)
	assert.NotContains(t, r.onTheCauses(), "all that was reported")
	assert.Contains(t, r.onTheCauses(), "Not enough is resident long requests and a cold start")
	for i := range r.outcomes {
		if o := &r.outcomes[i]; o.cause.key == "leaked" && o.strategy.key == "java" {
			o.windows = slices.Clone(o.windows)
			spared(&o.windows[r.main()])
		}
	}
	assert.Equal(t, "None of the causes brings about the reported 72 %.", r.onTheCauses())

	r = changed(t, "cpu", "java", flooded)
	assert.Contains(t, r.onTheCauses(), "Each of these brings about")
	assert.NotContains(t, r.onTheCPU(), "no proof")

	r = changed(t, "busy", "leastload", failing)
	assert.Regexp(t, `with \d+ failed calls`, r.onGofer())
	assert.Contains(t, r.finding(4), "gofer leastload (25.0 %)")
	assert.Contains(t, story(t).finding(0), "No call fails.")

	r = changed(t, "leaked", "weighted", flooded)
	assert.Contains(t, r.onTheCures(), "still gets")
	assert.Contains(t, changed(t, "busy", "weighted", failing).onTheCures(), "makes 25.0 % of the calls fail")
}

func TestSharesInWords(t *testing.T) {
	for share, want := range map[float64]string{0: "hardly any", 0.1: "30 % of its fair share", 0.33: "about its fair share", 0.6: "1.8 times its fair share"} {
		assert.Equal(t, want, fairly(share))
	}
	assert.Equal(t, "a", list([]string{"a"}))
	assert.Equal(t, "a, b and c", list([]string{"a", "b", "c"}))
	assert.Empty(t, list(nil))
	assert.Equal(t, "60 s", brief(time.Minute))
	assert.Equal(t, "5 min", brief(5*time.Minute))
	assert.Equal(t, "121 s", brief(121*time.Second))
}

func TestFold(t *testing.T) {
	text := story(t).intro()
	folded := fold(text)
	assert.Equal(t, text, strings.ReplaceAll(folded, "\n", " "), "nothing is lost")
	for line := range strings.SplitSeq(folded, "\n") {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 92)
	}
	assert.Equal(t, strings.Repeat("x", 88)+"\n65.5 % y", fold(strings.Repeat("x", 88)+" 65.5 % y"), "a number stays with its unit")
	assert.Equal(t, " → a\n   b", indent(" → ", "a\nb"))
	assert.Equal(t, "the callers’ 5\u00a0%", typeset("the callers' 5 %"))
}
