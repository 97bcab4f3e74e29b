package main

import (
	"bytes"
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
	r := story(t)
	var text string
	for _, p := range r.closing() {
		text += p.text + "\n"
	}
	for _, want := range []string{
		"less than a fair share in all of the 6 clusters tried", "Two things hold it back",
		"over 1 s with 1 consumer, 90 % load: more than a fair share, as the old providers have a queue there",
		"comes with resident long requests (7", "and leaked counts (7", ": all that was reported)", ": not the reported 30 % on the old ones)",
		"It does not come with a cold start that costs CPU only (2", "High CPU on a new provider is no proof of a flood.",
		"Another strategy has a lower p99 in clusters 1, 2", "With gofer's leastactive it is ", "in cluster 5, which is the most: ", ", with CPU at 100 % on the old providers and ",
		"No call fails over ",
	} {
		assert.Contains(t, text, want)
	}
	assert.Equal(t, 1, strings.Count(text, "all that was reported"), "leaks leave the old providers idle")
}

func TestOtherFiguresMeanOtherWords(t *testing.T) {
	flooded := func(w *window) { w.share, w.cpu = 0.72, [providers]float64{0.3, 0.3, 0.9} }
	spared := func(w *window) { w.share, w.cpu = 0.1, [providers]float64{0.3, 0.3, 0.1} }
	losing := func(w *window) { w.failed = w.calls / 4 }

	r := changed(t, "blamed", "java", flooded)
	assert.Contains(t, r.finding(0), "72 % of the calls, 2.2 times a fair share; CPU is at 30 % on the old providers and 90 % on the new one.")

	r = changed(t, "resident", "java", spared)
	assert.NotContains(t, r.onTheCauses(), "all that was reported")
	assert.Contains(t, r.onTheCauses(), "It does not come with resident long requests (10 %")
	for i := range r.outcomes {
		if o := &r.outcomes[i]; o.cause.key == "leaked" && o.strategy.key == "java" {
			o.windows = slices.Clone(o.windows)
			spared(&o.windows[r.main()])
		}
	}
	assert.Contains(t, r.onTheCauses(), "does not come with resident long requests (10 %")
	assert.NotContains(t, r.onTheCauses(), "Such a cause")

	r = changed(t, "cpu", "java", flooded)
	assert.NotContains(t, r.onTheCauses(), "not come with")
	assert.NotContains(t, r.onTheCPU(), "no proof")

	r = changed(t, "busy", "leastload", losing)
	assert.Contains(t, r.onGofer(), " Calls fail in cluster 5.")
	assert.Contains(t, r.finding(4), "gofer leastload (25 %)")
	assert.Contains(t, story(t).finding(0), "No call fails with any of the strategies over ")

	as := func(p99 time.Duration) func(w *window) { return func(w *window) { w.p99 = p99 } }
	java := func(cause string) time.Duration { return story(t).by(cause, "java").p99 }
	r = changed(t, "blamed", "leastload", as(java("blamed")*1004/1000))
	assert.NotRegexp(t, `\b1\.0\d* times`, r.onTheCosts(), "no figure for what is none")
	r = changed(t, "blamed", "leastload", as(java("blamed")*3/2))
	assert.Contains(t, r.onTheCosts(), " with leastload is 1.5 times that with Java's leastactive in cluster 1, which is the most: ")
	r = changed(t, "resident", "gofer", as(java("resident")*4))
	assert.Contains(t, r.onTheCosts(), "With gofer's leastactive it is 4.0 times that with Java's leastactive in cluster 2, which is the most: ")
	r = changed(t, "cpu", "shortest", func(w *window) { w.p99, w.share = time.Millisecond, 0.25 })
	assert.Contains(t, r.onTheCosts(), "by the most in cluster 4: 1 ms with Java shortestresponse, which gives the new provider 25 % of the calls, against ")

	r = changed(t, "busy", "weighted", func(w *window) { w.failed = 0 })
	assert.Regexp(t, `In the busy cluster no call fails over \d+ s, with the patch or without it; the callers' p99 is `, r.onTheCures())
	assert.NotContains(t, r.onTheCures(), "is needed", "what is not seen is not claimed")
	assert.NotContains(t, r.causes[4].about, "must")

	r = changed(t, "resident", "shortest", func(w *window) { w.runs = []float64{0.14, 0.069, 0.244} })
	r.runs = 3
	assert.Contains(t, r.onTheCures(), "gives the new provider 6.9 % to 24 % of the calls over ")
	assert.Contains(t, r.onTheCures(), "(the least and the most of 3 runs, which the tables pool); weights set by hand give it 11 %, and they stay as they are when it has long been warm.")
	r.runs = 1
	assert.Contains(t, r.onTheCures(), "(one run: others differ much)")

	r = changed(t, "leaked", "weighted", flooded)
	assert.Contains(t, r.onTheCures(), "more than a fair share in one of them at least")
	assert.Contains(t, changed(t, "busy", "weighted", losing).onTheCures(), "25 % of the calls fail with the patch, and ")
}

// What the configuration is called in words is what is simulated.
func TestTheClustersAreWhatIsSaid(t *testing.T) {
	all := causes()
	for i, c := range all {
		s := c.scenario
		require.NoError(t, s.Check(), c.key)
		assert.Equal(t, i == 1 || i == 2, c.adds, c.key)
		assert.Equal(t, c.adds, s.Long != nil || s.Providers[0].Leaked > 0, c.key)
		assert.Equal(t, c.adds, strings.HasPrefix(c.label, "cluster 1 + "), c.key)
		assert.Equal(t, consumers, s.Consumers)
		assert.Equal(t, float64(slower), s.Providers[1].Cold.Slow)
	}
	for i, want := range []float64{0.18, 0.18, 0.18, 0.35, 0.90} {
		s := all[i].scenario
		assert.InDelta(t, want, s.Rate*s.Requests[0].Mean.Seconds()/(4*(2+1.0/3)), 1e-9, all[i].key)
	}
	assert.Contains(t, all[1].about, "keeps 2 long requests (10 min on average")
	assert.Equal(t, 2.0, all[1].scenario.Long.Each)
	assert.Equal(t, 10*time.Minute, all[1].scenario.Long.Lasts)
	assert.Contains(t, all[1].about, "together they take 22.5 % of the CPU of an old provider")
	assert.InDelta(t, 0.225, 2*10*all[1].scenario.Long.CPU/4, 1e-9)
	assert.Contains(t, all[2].about, "lost 2 calls per old provider")
	assert.Equal(t, 2, all[2].scenario.Providers[0].Leaked)
	assert.Contains(t, all[3].about, "4 ms of CPU and 60 ms of waiting for a database, at 35 %")
	assert.Contains(t, all[3].about, "72 ms on the new provider and 64 ms on the others")
	assert.Contains(t, all[4].about, "5 times the load, 90 %")
	assert.Contains(t, all[4].about, "The other two alone can take 86 %")
	assert.Contains(t, setting(), "3 providers of 4 workers each, 10 consumers, calls of 10 ms on average. After 20 s")
	assert.Contains(t, defaults().legend(), "over 60 s. The figures are of 3 runs pooled, of seeds 1 to 3 (fewer where there are more calls: of the busy cluster 1); other seeds give")
	assert.Contains(t, tiny().legend(), "over 10 s. The figures are of one run, of seed 7; other seeds give")
	for _, s := range strategies() {
		assert.True(t, strings.HasSuffix(s.about, "."), s.key)
	}
	random := strategies()[3]
	assert.Equal(t, [2]int{200, 50}, random.weight)
	assert.Contains(t, random.about, "weight 50 for the new provider and 200 for each of the old ones, so 50 of 450 calls, 11.1 %")
}

// gofer loses no counts: for it the cluster of leaks is the first one, as is said.
func TestForGoferLeaksAreNone(t *testing.T) {
	r := story(t)
	for _, key := range []string{"gofer", "leastload"} {
		assert.Equal(t, r.outcome("blamed", key).windows, r.outcome("leaked", key).windows, key)
	}
}

func TestEverythingOnTheTerminalIsExplainedAndFits(t *testing.T) {
	r := story(t)
	var question, answer bytes.Buffer
	r.writeQuestion(&question)
	r.writeAnswer(&answer)
	for _, s := range r.strategies {
		assert.Contains(t, question.String(), "\n  "+s.label+" ", "explained before it is used")
		assert.GreaterOrEqual(t, strings.Count(answer.String(), "\n "+s.label+" "), len(r.causes))
	}
	for _, want := range []string{
		"\n  1: weight skipped, nothing else ", "\n  2: cluster 1 + resident long requests ", "\n  3: cluster 1 + leaked counts ", "\n  4: a cold start in CPU only ",
	} {
		assert.Contains(t, answer.String(), want)
	}
	plain := strings.Join(strings.Fields(answer.String()), " ")
	assert.Contains(t, plain, "Each row is a cluster of its own: 2 and 3 are cluster 1 with one thing added each, not one upon the other; 4 has other calls.")
	for line := range strings.Lines(question.String() + answer.String()) {
		line = strings.TrimSuffix(line, "\n")
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
		assert.Equal(t, strings.TrimRight(line, " "), line)
	}
}

func TestSharesInWords(t *testing.T) {
	for share, want := range map[float64]string{0: "0 % of a fair share", 0.1: "30 % of a fair share", 0.33: "about a fair share", 0.6: "1.8 times a fair share"} {
		assert.Equal(t, want, fairly(share))
	}
	assert.Equal(t, "a", list([]string{"a"}))
	assert.Equal(t, "a, b and c", list([]string{"a", "b", "c"}))
	assert.Empty(t, list(nil))
	assert.Equal(t, "60 s", brief(time.Minute))
	assert.Equal(t, "5 min", brief(5*time.Minute))
	assert.Equal(t, "121 s", brief(121*time.Second))
	assert.Equal(t, "0", failures(window{calls: 9}))
	assert.Equal(t, "< 0.1 %", failures(window{calls: 1e6, failed: 1}), "not as if there were none")
	assert.Equal(t, "50.0 %", failures(window{calls: 2, failed: 1}))
}

func TestFold(t *testing.T) {
	text := intro()
	folded := fold(text, lineWidth)
	assert.Equal(t, text, strings.ReplaceAll(folded, "\n", " "), "nothing is lost")
	for line := range strings.SplitSeq(folded, "\n") {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), lineWidth)
	}
	assert.Equal(t, strings.Repeat("x", 70)+"\n65.5 % y", fold(strings.Repeat("x", 70)+" 65.5 % y", 76), "a number stays with its unit")
	long := strings.Repeat("x", 70)
	assert.Equal(t, " → "+long+"\n   "+long, indent(" → ", long+" "+long))
	assert.Equal(t, "the callers’ 5\u00a0%", typeset("the callers' 5 %"))
}
