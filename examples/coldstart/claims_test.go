package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// claim is a sentence that the report may say, and whether it is true. The checks look
// at the figures themselves, not at what the words are made with.
type claim struct {
	text  *regexp.Regexp
	holds func(r *results, cause int, m []string) bool
}

// claims are all of them: a sentence that matches none is not known to be true.
var claims = sync.OnceValue(func() []claim {
	is := func(text string, holds func(r *results, cause int, m []string) bool) claim {
		text = strings.NewReplacer("#", `([\d.]+) %`, "@", `(\d+ (?:s|min))`).Replace(text)
		return claim{regexp.MustCompile("^" + text + `\.$`), holds}
	}
	return []claim{
		is(`Java's leastactive gives the new provider # of the calls, (.+); CPU is at (.+)`, func(r *results, cause int, m []string) bool {
			w := r.at(cause, "java")
			return says(m[1], w.share) && saysFair(m[2], w.share) && saysCPU(m[3], w)
		}),
		is(`gofer's leastload gives it #; CPU is at (.+)`, func(r *results, cause int, m []string) bool {
			w := r.at(cause, "leastload")
			return says(m[1], w.share) && saysCPU(m[2], w)
		}),
		is(`The callers' p99 is (\d+ ms) with both`, func(r *results, cause int, m []string) bool {
			return saysMS(m[1], r.at(cause, "java").p99) && saysMS(m[1], r.at(cause, "leastload").p99)
		}),
		is(`The callers' p99 is (\d+ ms) with leastload and (\d+ ms) with Java's leastactive`, func(r *results, cause int, m []string) bool {
			return saysMS(m[1], r.at(cause, "leastload").p99) && saysMS(m[2], r.at(cause, "java").p99)
		}),
		is(`No call fails with any of the strategies over @`, func(r *results, cause int, m []string) bool {
			return len(r.losers(cause)) == 0 && m[1] == brief(r.span())
		}),
		is(`Calls fail with (.+)`, func(r *results, cause int, m []string) bool {
			named := regexp.MustCompile(`([\w ]+?(?: 50/200)?) \((< )?([\d.]+) %\)`).FindAllStringSubmatch(strings.ReplaceAll(m[1], " and ", ", "), -1)
			losers := r.losers(cause)
			ok := len(named) == len(losers)
			for _, n := range named {
				part := losers[strings.TrimSpace(n[1])]
				ok = ok && part > 0 && (says(n[3], part) || n[2] != "" && part < 0.0005)
			}
			return ok
		}),
		is(`It exists: in cluster 1 the new provider gets # of the calls because it alone has the fewest under way, whatever its weight`, func(r *results, _ int, m []string) bool {
			return says(m[1], r.at(0, "java").sole)
		}),
		is(`With nothing else in the cluster the new provider gets (.+) of the calls over @, depending on the number of consumers and the load: less than a fair share in (\w+) of the 6 clusters tried`, func(r *results, _ int, m []string) bool {
			shares := r.alone(r.main())
			return saysRange(m[1], shares) && m[2] == brief(r.span()) && saysCount(m[3], below(shares), len(shares))
		}),
		is(`Two things hold it back: calls that take 3 times as long are under way 3 times as long, and where counts are equal the weight does decide`, func(r *results, _ int, _ []string) bool {
			return below(r.alone(r.main())) == len(r.clusters)
		}),
		is(`The most over any other time is #, over @ with (\d+) consumers?, (\d+) % load: (less than|just|more than) a fair share(?:, (too|as the old providers have a queue there when it comes))?`, func(r *results, _ int, m []string) bool {
			most, ok := 0.0, false
			for k, span := range r.spans() {
				if k == r.main() {
					continue
				}
				shares := r.alone(k)
				most = max(most, slices.Max(shares))
				for i, c := range clusters() {
					ok = ok || brief(span) == m[2] && fmt.Sprint(c.consumers) == m[3] && fmt.Sprintf("%.0f", 100*c.load) == m[4] && says(m[1], shares[i])
				}
			}
			percent, _ := strconv.ParseFloat(m[4], 64)
			queue := percent/100*(2+1.0/3) > 2 // of 2 and a third of a provider
			return ok && says(m[1], most) && m[5] == compared(most) && (m[6] == "" || m[6] == "too" && most < 1.0/3 || queue && strings.HasPrefix(m[6], "as"))
		}),
		is(`What was reported, about 72 % of the calls and 90 % CPU, comes with (.+)`, func(r *results, _ int, m []string) bool {
			return saysCauses(r, m[1], true)
		}),
		is(`What was reported, about 72 % of the calls and 90 % CPU, does not come with (.+)`, func(r *results, _ int, m []string) bool {
			return saysCauses(r, m[1], false)
		}),
		is(`It does not come with (.+)`, func(r *results, _ int, m []string) bool { return saysCauses(r, m[1], false) }),
		is(`Such a cause puts calls under way on the old providers that do not end soon and that the new one does not have, so that it alone has the fewest again and again: (.+) of the calls went to it because of that`, func(r *results, _ int, m []string) bool {
			said := strings.Split(strings.ReplaceAll(m[1], " %", ""), " and ")
			for i := 1; i < 4; i++ {
				if asReported(r.at(i, "java")) {
					s := r.causes[i].scenario
					if s.Long == nil && s.Providers[0].Leaked == 0 || len(said) == 0 || !says(said[0], r.at(i, "java").sole) {
						return false
					}
					said = said[1:]
				}
			}
			return len(said) == 0
		}),
		is(`A cold start that costs CPU and hardly any time gives the new provider # of the calls; CPU is at (.+? on the new one)(?:: ([\d.]+) times that of the old ones, with less than a fair share of the calls)?`, func(r *results, _ int, m []string) bool {
			w := r.at(3, "java")
			if !says(m[1], w.share) || !saysCPU(m[2], w) {
				return false
			}
			return m[3] == "" || w.share < 1.0/3 && saysNumber(m[3], 2*w.cpu[2]/(w.cpu[0]+w.cpu[1]), 0.051)
		}),
		is(`High CPU on a new provider is no proof of a flood`, func(r *results, _ int, _ []string) bool {
			w := r.at(3, "java")
			return w.share < 1.0/3 && w.cpu[2] > 1.5*(w.cpu[0]+w.cpu[1])/2
		}),
		is(`With the patched leastactive the new provider gets (.+) of the calls in clusters 1 to 4 over @: (.+)`, func(r *results, _ int, m []string) bool {
			var shares []float64
			for i := range 4 {
				shares = append(shares, r.at(i, "weighted").share)
			}
			flood := slices.Max(shares) > 1.0/3
			return saysRange(m[1], shares) && m[2] == brief(r.span()) &&
				flood == (m[3] == "more than a fair share in one of them at least") &&
				(slices.Max(shares) < 0.01) == (m[3] == "no flood, but hardly a call either")
		}),
		is(`In the busy cluster, where the new provider is needed, ((?:< )?[\d.]+ %) of the calls fail with the patch, and (none|(?:< )?[\d.]+ %) without it( \(one run: others differ much\))?`, func(r *results, _ int, m []string) bool {
			return (m[3] != "") == (len(r.at(4, "weighted").runs) == 1) && saysLost(m[1], r.at(4, "weighted")) && saysLost(m[2], r.at(4, "java"))
		}),
		is(`In the busy cluster no call fails over @ with the patch, and ((?:< )?[\d.]+ %) without it( \(one run: others differ much\))?`, func(r *results, _ int, m []string) bool {
			return (m[3] != "") == (len(r.at(4, "java").runs) == 1) && m[1] == brief(r.span()) && r.at(4, "weighted").failed == 0 && saysLost(m[2], r.at(4, "java"))
		}),
		is(`In the busy cluster no call fails over @, with the patch or without it; the callers' p99 is (\d+ ms) with it and (\d+ ms) without`, func(r *results, _ int, m []string) bool {
			patched, java := r.at(4, "weighted"), r.at(4, "java")
			return m[1] == brief(r.span()) && patched.failed+java.failed == 0 && saysMS(m[2], patched.p99) && saysMS(m[3], java.p99)
		}),
		is(`With resident requests Java's shortestresponse gives the new provider (.+?) of the calls over @(?: and (.+?) of the calls over @)? \((?:(one run: others differ much)|the least and the most of (\d+) runs, which the tables pool)\); weights set by hand give it #, and they stay as they are when it has long been warm`, func(r *results, _ int, m []string) bool {
			o, last := r.of(1)[1], len(r.spans())-1
			main, all := o.windows[r.main()].runs, o.windows[last].runs
			return o.strategy.key == "shortest" && saysRange(m[1], main) && m[2] == brief(r.span()) &&
				(m[3] == "") == (last == r.main()) && (m[3] == "" || saysRange(m[3], all) && m[4] == brief(r.spans()[last])) &&
				(m[5] != "") == (len(main) == 1) && (m[5] != "" || m[6] == fmt.Sprint(len(main))) && says(m[7], r.at(1, "random").share)
		}),
		is(`gofer's leastload gives the new provider (.+) of the calls over @, the most in cluster (\d); in proportion to its speed it would be #`, func(r *results, _ int, m []string) bool {
			var shares []float64
			for i := range r.causes {
				shares = append(shares, r.at(i, "leastload").share)
			}
			n, _ := strconv.Atoi(m[3])
			return saysRange(m[1], shares) && m[2] == brief(r.span()) && shares[n-1] == slices.Max(shares) && says(m[4], 1.0/7)
		}),
		is(`(?:No call fails over @|Calls fail in clusters? ([\d, and]+))`, func(r *results, _ int, m []string) bool {
			var lost []string
			for i := range r.causes {
				if r.at(i, "leastload").failed > 0 {
					lost = append(lost, fmt.Sprint(i+1))
				}
			}
			return slices.Equal(lost, regexp.MustCompile(`\d`).FindAllString(m[2], -1)) && (m[1] == "" || m[1] == brief(r.span()))
		}),
		is(`For leastload latency counts beside the calls under way, and what has been under way for very long counts little`, func(*results, int, []string) bool {
			return true // how it works, not what came out
		}),
		is(`gofer's leastactive keeps Dubbo's rule that a call is a call: with resident requests it gives the new provider # of the calls over @, but # at the end of @, as the weight of the new provider grows`, func(r *results, _ int, m []string) bool {
			o := r.of(1)[4]
			end := o.points[len(o.points)-1].share
			return o.strategy.key == "gofer" && says(m[1], o.windows[r.main()].share) && m[2] == brief(r.span()) &&
				says(m[3], end) && m[4] == brief(r.after) && end > 1.0/3
		}),
		is(`The callers' p99 over @ with leastload is (.+)`, func(r *results, _ int, m []string) bool {
			return m[1] == brief(r.span()) && saysBeside(r, m[2], "leastload")
		}),
		is(`No other strategy has a lower p99 in any cluster`, func(r *results, _ int, _ []string) bool {
			where, _ := r.behind()
			return where == nil
		}),
		is(`Another strategy has a lower p99 in clusters? ([\d, and]+?)(, by the most in cluster (\d))?: (\d+ ms) with (.+), which gives the new provider # of the calls, against (\d+ ms)`, func(r *results, _ int, m []string) bool {
			where, worst := r.behind()
			if !slices.Equal(where, regexp.MustCompile(`\d`).FindAllString(m[1], -1)) || (m[2] == "") != (len(where) == 1) || m[2] != "" && m[3] != fmt.Sprint(worst+1) {
				return false
			}
			least, who := r.lowest(worst)
			i := slices.IndexFunc(r.strategies, func(s strategy) bool { return s.label == m[5] })
			return slices.Contains(who, m[5]) && saysMS(m[4], least) && says(m[6], r.of(worst)[i].windows[r.main()].share) && saysMS(m[7], r.at(worst, "leastload").p99)
		}),
		is(`With gofer's leastactive it is (nowhere .+|.+? against \d+ ms)(?:, with CPU at (.+))?`, func(r *results, _ int, m []string) bool {
			worst := 0
			for i, ratio := range r.ratios("gofer") {
				if ratio > r.ratios("gofer")[worst] {
					worst = i
				}
			}
			dear := r.ratios("gofer")[worst] > 1.05
			return saysBeside(r, m[1], "gofer") && dear == (m[2] != "") && (!dear || saysCPU(m[2], r.at(worst, "gofer")))
		}),
	}
})

// next is where a sentence ends and another begins.
var next = regexp.MustCompile(`\. (?:[A-Z]|gofer's)`)

func sentences(text string) (all []string) {
	for {
		at := next.FindStringIndex(text)
		if at == nil {
			return append(all, text)
		}
		all, text = append(all, text[:at[0]+1]), text[at[0]+2:]
	}
}

// untrue returns the sentences of the report that are not true of its figures.
func untrue(r *results) (bad []string) {
	look := func(text string, cause int) {
	sentence:
		for _, s := range sentences(text) {
			for _, c := range claims() {
				if m := c.text.FindStringSubmatch(s); m != nil && c.holds(r, cause, m) {
					continue sentence
				}
			}
			bad = append(bad, s)
		}
	}
	for i := range r.causes {
		look(r.finding(i), i)
	}
	for _, p := range r.closing() {
		look(p.text, -1)
	}
	return bad
}

func TestWhatIsSaidIsTrue(t *testing.T) {
	assert.Empty(t, untrue(story(t)))
}

// Whatever the figures are, the words are true of them.
func TestWhatIsSaidIsTrueOfAnyFigures(t *testing.T) {
	near := func(t *rapid.T, v float64, name string) float64 {
		switch rapid.IntRange(0, 2).Draw(t, name+" kind") {
		case 0:
			return rapid.Float64Range(max(0, v-0.1), min(1, v+0.1)).Draw(t, name)
		case 1:
			return rapid.SampledFrom([]float64{0, 1.0 / 3, 1}).Draw(t, name)
		}
		return rapid.Float64Range(0, 1).Draw(t, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		after := rapid.SampledFrom([]time.Duration{shortest, 30 * time.Second, 90 * time.Second, longest}).Draw(t, "after")
		r := &results{config: config{after: after, runs: rapid.IntRange(1, 3).Draw(t, "runs")}, causes: causes(), strategies: strategies()}
		fill := func(o *outcome) {
			for range r.spans() {
				w := window{calls: 5000, share: near(t, 0.72, "share"), p99: rapid.SampledFrom([]time.Duration{20, 50, 51, 100, 104, 1000}).Draw(t, "p99") * time.Millisecond}
				w.failed = rapid.SampledFrom([]int{0, 0, 1, 600}).Draw(t, "failed")
				w.sole = w.share * rapid.Float64Range(0, 1).Draw(t, "sole")
				w.cpu = [providers]float64{near(t, 0.3, "cpu"), near(t, 0.3, "cpu"), near(t, 0.9, "cpu of new")}
				for range r.runs {
					w.runs = append(w.runs, near(t, 0.2, "share of a run"))
				}
				o.windows = append(o.windows, w)
			}
			o.points = []point{{share: near(t, 0.5, "end")}}
		}
		for _, c := range r.causes {
			for _, s := range r.strategies {
				o := outcome{cause: c, strategy: s}
				fill(&o)
				r.outcomes = append(r.outcomes, o)
			}
		}
		for _, c := range clusters() {
			o := outcome{cause: c.cause(), strategy: r.strategies[0]}
			fill(&o)
			r.clusters = append(r.clusters, o)
		}
		if bad := untrue(r); len(bad) > 0 {
			t.Fatalf("not true:\n%s", strings.Join(bad, "\n"))
		}
	})
}

// The check finds what is false: every sentence of the story is false of other figures.
func TestTheCheckFindsWhatIsFalse(t *testing.T) {
	r := story(t)
	var text string
	for _, p := range r.closing() {
		text += " " + p.text
	}
	for i := range r.causes {
		text += " " + r.finding(i)
	}
	said := sentences(strings.TrimSpace(text))
	other := *r
	other.config.after = 20 * time.Second
	other.outcomes = nil
	for _, o := range r.outcomes {
		o.windows = nil
		for range other.spans() {
			o.windows = append(o.windows, window{calls: 1000, failed: 123, share: 0.5, runs: []float64{0.5, 0.6}, sole: 0.45, cpu: [providers]float64{0.11, 0.12, 0.13}, p99: 7 * time.Millisecond})
		}
		other.outcomes = append(other.outcomes, o)
	}
	other.clusters = slices.Clone(r.clusters)
	for i := range other.clusters {
		other.clusters[i].windows = other.outcomes[0].windows
	}
	for i, o := range other.outcomes {
		if o.strategy.key == "leastload" {
			other.outcomes[i].windows = slices.Clone(o.windows)
			for k := range o.windows {
				other.outcomes[i].windows[k].p99 = 99 * time.Millisecond
			}
		}
	}
	require.Greater(t, len(said), 25)
	for _, s := range said {
		if strings.HasPrefix(s, "For leastload latency counts") {
			continue
		}
		for _, c := range claims() {
			if m := c.text.FindStringSubmatch(s); m != nil {
				assert.False(t, c.holds(&other, 0, m), s)
			}
		}
	}
}

func TestSentences(t *testing.T) {
	assert.Equal(t, []string{"A is 1.5 %.", "B in 2 s.", "gofer's C."}, sentences("A is 1.5 %. B in 2 s. gofer's C."))
}
