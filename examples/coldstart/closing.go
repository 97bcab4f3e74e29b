package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// part is what one cause contributes to the flood.
type part struct {
	cause    cause
	share    float64
	over     float64 // what it adds to the first
	honoured float64 // the share with the weight honoured
}

// parts are what the causes contribute with Java's leastactive. The last cause is
// none.
func (r *results) parts() []part {
	var all []part
	for _, c := range r.causes[:len(r.causes)-1] {
		p := part{cause: c, share: r.by(c.key, "java").share, honoured: r.by(c.key, "weighted").share}
		if c.adds {
			p.over = p.share - all[0].share
		}
		all = append(all, p)
	}
	return all
}

// partsIntro says how to read what each cause contributes.
func (r *results) partsIntro() string {
	var added, others []string
	for i, p := range r.parts() {
		switch {
		case i == 0:
		case p.cause.adds:
			added = append(added, fmt.Sprint(i+1))
		default:
			others = append(others, fmt.Sprint(i+1))
		}
	}
	return fmt.Sprintf("The new provider's share of the calls over %s with Java's leastactive, and in the same cluster with the patched one, which always honours the weight. Each row is a cluster of its own: %s are cluster 1 with one thing added each, not one upon the other; %s has other calls.",
		brief(r.span()), list(added), list(others))
}

// aloneIntro says why the mechanism is tried in further clusters.
func aloneIntro() string {
	text := "Fewer consumers see more of the queues, and more load makes the queues longer. So here is the mechanism that is usually blamed, again with nothing else, for other numbers of consumers and other loads."
	for _, c := range clusters() {
		if c.drowning() {
			text += fmt.Sprintf(" With %s load the two old providers, which can take %.0f %%, have a queue before the third is there.", c, 100*alone)
		}
	}
	return text
}

// paragraph is a part of what it all means.
type paragraph struct{ title, text string }

// closing says what it all means.
func (r *results) closing() []paragraph {
	return []paragraph{
		{"The mechanism that is blamed", r.onTheBlamed()},
		{"The figures that were reported", r.onTheCauses()},
		{"A cold start in CPU only", r.onTheCPU()},
		{"What the cures do", r.onTheCures()},
		{"What gofer does", r.onGofer()},
		{"Where gofer does worse", r.onTheCosts()},
	}
}

// peak returns the largest share that the mechanism gives by itself over any time but
// the main one.
func (r *results) peak() (share float64, span time.Duration, at cluster) {
	for i, o := range r.clusters {
		for k, w := range o.windows {
			if k != r.main() && w.share >= share {
				share, span, at = w.share, r.spans()[k], clusters()[i]
			}
		}
	}
	return share, span, at
}

func (r *results) onTheBlamed() string {
	java := r.by("blamed", "java")
	text := fmt.Sprintf("It exists: in cluster 1 the new provider gets %s of the calls because it alone has the fewest under way, whatever its weight.", rough(java.sole))
	least, most, below := 1.0, 0.0, 0
	for _, o := range r.clusters {
		share := o.windows[r.main()].share
		least, most = min(least, share), max(most, share)
		if share < fair {
			below++
		}
	}
	text += fmt.Sprintf(" With nothing else in the cluster the new provider gets %s of the calls over %s, depending on the number of consumers and the load: less than a fair share in %s of the %d clusters tried.",
		rangeOf(least, most), brief(r.span()), count(below, len(r.clusters)), len(r.clusters))
	if below == len(r.clusters) {
		text += fmt.Sprintf(" Two things hold it back: calls that take %d times as long are under way %d times as long, and where counts are equal the weight does decide.", slower, slower)
	}
	peak, span, at := r.peak()
	text += fmt.Sprintf(" The most over any other time is %s, over %s with %s load: ", rough(peak), brief(span), at)
	switch {
	case peak < fair:
		text += "less than a fair share, too"
	case peak == fair:
		text += "just a fair share"
	default:
		text += "more than a fair share"
		if at.drowning() {
			text += ", as the old providers have a queue there when it comes"
		}
	}
	return text + "."
}

// near is how close to the report a figure must be to count as what was reported.
const near = 0.08

func fits(figure, wanted float64) bool { return max(figure-wanted, wanted-figure) <= near }

func (r *results) onTheCauses() string {
	var floods, others, sole []string
	adds := true
	for _, p := range r.parts()[1:] {
		w := r.by(p.cause.key, "java")
		what := fmt.Sprintf("%s (%s of the calls; CPU at %s", lower(p.cause.title), rough(p.share), load(w))
		switch old := fits(w.cpu[0], reported.others) && fits(w.cpu[1], reported.others); {
		case !fits(p.share, reported.share) || !fits(w.cpu[newcomer], reported.cpu):
			others = append(others, what+")")
			continue
		case old:
			what += ": all that was reported)"
		default:
			what += fmt.Sprintf(": not the reported %.0f %% on the old ones)", 100*reported.others)
		}
		floods = append(floods, what)
		adds = adds && p.cause.adds
		sole = append(sole, rough(w.sole))
	}
	var text []string
	if len(floods) > 0 {
		text = append(text, fmt.Sprintf("What was reported, about %.0f %% of the calls and %.0f %% CPU, comes with %s.", 100*reported.share, 100*reported.cpu, list(floods)))
		if adds {
			text = append(text, fmt.Sprintf("Such a cause puts calls under way on the old providers that do not end soon and that the new one does not have, so that it alone has the fewest again and again: %s of the calls went to it because of that.", list(sole)))
		}
	}
	switch {
	case len(floods) == 0:
		text = append(text, fmt.Sprintf("What was reported, about %.0f %% of the calls and %.0f %% CPU, does not come with %s.", 100*reported.share, 100*reported.cpu, list(others)))
	case len(others) > 0:
		text = append(text, fmt.Sprintf("It does not come with %s.", list(others)))
	}
	return strings.Join(text, " ")
}

func (r *results) onTheCPU() string {
	w := r.by("cpu", "java")
	text := fmt.Sprintf("A cold start that costs CPU and hardly any time gives the new provider %s of the calls; CPU is at %s", rough(w.share), load(w))
	if others := (w.cpu[0] + w.cpu[1]) / 2; others > 0 && w.share < fair && w.cpu[newcomer] > 1.5*others {
		return text + fmt.Sprintf(": %.1f times that of the old ones, with less than a fair share of the calls. High CPU on a new provider is no proof of a flood.", w.cpu[newcomer]/others)
	}
	return text + "."
}

func (r *results) onTheCures() string {
	least, most := 1.0, 0.0
	for _, p := range r.parts() {
		least, most = min(least, p.honoured), max(most, p.honoured)
	}
	text := fmt.Sprintf("With the patched leastactive the new provider gets %s of the calls in clusters 1 to %d over %s: ", rangeOf(least, most), len(r.parts()), brief(r.span()))
	switch {
	case most > fair:
		text += "more than a fair share in one of them at least."
	case most < 0.01:
		text += "no flood, but hardly a call either."
	default:
		text += "no flood."
	}
	text += " " + r.onTheBusy()
	text += fmt.Sprintf(" With resident requests Java's shortestresponse gives the new provider %s;", r.byRun())
	return text + fmt.Sprintf(" weights set by hand give it %s, and they stay as they are when it has long been warm.", rough(r.by("resident", "random").share))
}

// onTheBusy says what the patch does where the new provider is needed. How much of that
// is seen depends on the time: a queue has to grow first.
func (r *results) onTheBusy() string {
	patched, java := r.by("busy", "weighted"), r.by("busy", "java")
	switch {
	case patched.failed > 0:
		return fmt.Sprintf("In the busy cluster, where the new provider is needed, %s of the calls fail with the patch, and %s without it%s.", failing(patched), failing(java), patched.caveat())
	case java.failed > 0:
		return fmt.Sprintf("In the busy cluster no call fails over %s with the patch, and %s without it%s.", brief(r.span()), failing(java), java.caveat())
	}
	return fmt.Sprintf("In the busy cluster no call fails over %s, with the patch or without it; the callers' p99 is %s with it and %s without.", brief(r.span()), ms(patched.p99), ms(java.p99))
}

// byRun is what Java's shortestresponse gives the new provider with resident requests.
// From run to run that is so different that one figure would say too much.
func (r *results) byRun() string {
	windows, spans := r.outcome("resident", "shortest").windows, r.spans()
	over := func(k int) string {
		runs := windows[k].runs
		return fmt.Sprintf("%s of the calls over %s", rangeOf(slices.Min(runs), slices.Max(runs)), brief(spans[k]))
	}
	text := over(r.main())
	if last := len(spans) - 1; last != r.main() {
		text += " and " + over(last)
	}
	if r.runs == 1 {
		return text + oneRun
	}
	return text + fmt.Sprintf(" (the least and the most of %d runs, which the tables pool)", r.runs)
}

func (r *results) onGofer() string {
	least, most := 1.0, 0.0
	var lost []string
	var where int
	for i, c := range r.causes {
		own := r.by(c.key, "leastload")
		least = min(least, own.share)
		if own.share >= most {
			most, where = own.share, i+1
		}
		if own.failed > 0 {
			lost = append(lost, fmt.Sprint(i+1))
		}
	}
	text := fmt.Sprintf("gofer's leastload gives the new provider %s of the calls over %s, the most in cluster %d; in proportion to its speed it would be %s.", rangeOf(least, most), brief(r.span()), where, percent(apt))
	switch len(lost) {
	case 0:
		text += fmt.Sprintf(" No call fails over %s.", brief(r.span()))
	case 1:
		text += fmt.Sprintf(" Calls fail in cluster %s.", lost[0])
	default:
		text += fmt.Sprintf(" Calls fail in clusters %s.", list(lost))
	}
	text += " For leastload latency counts beside the calls under way, and what has been under way for very long counts little."
	o := r.outcome("resident", "gofer")
	if end := o.points[len(o.points)-1].share; end > 1.1*fair {
		text += fmt.Sprintf(" gofer's leastactive keeps Dubbo's rule that a call is a call: with resident requests it gives the new provider %s of the calls over %s, but %s at the end of %s, as the weight of the new provider grows.",
			rough(o.windows[r.main()].share), brief(r.span()), rough(end), brief(r.after))
	}
	return text
}

// oneRun is what to add to a figure that is very different from run to run.
const oneRun = " (one run: others differ much)"

// caveat is what to add to such a figure.
func (w window) caveat() string {
	if len(w.runs) == 1 {
		return oneRun
	}
	return ""
}

// count writes how many of all.
func count(n, all int) string {
	switch n {
	case 0:
		return "none"
	case all:
		return "all"
	}
	return fmt.Sprint(n)
}

// rangeOf is a range of shares.
func rangeOf(least, most float64) string {
	if rough(least) == rough(most) {
		return rough(most)
	}
	return fmt.Sprintf("%s to %s", rough(least), rough(most))
}

// failing is [failures] in a sentence.
func failing(w window) string {
	if w.failed == 0 {
		return "none"
	}
	return losses(w, rough)
}
