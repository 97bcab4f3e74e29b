package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// fair is the share of one of three providers.
const fair = 1.0 / providers

// reported is what the report says: share of calls and CPU of the new provider, and
// CPU of the old ones.
var reported = struct{ share, cpu, others float64 }{0.72, 0.90, 0.30}

// intro says what the question is.
func (r *results) intro() string {
	return fmt.Sprintf("A report: three providers behind leastactive, one restarted. Cold, it is %d times slower, and yet it gets %.0f %% of the calls, at %.0f %% CPU while the others idle at %.0f %%. To blame, it says, is that a provider which alone has the fewest calls under way gets the next call whatever its weight, so that warm-up is skipped. Is it?",
		slower, 100*reported.share, 100*reported.cpu, 100*reported.others)
}

// legend says what the columns are.
func (r *results) legend() string {
	return fmt.Sprintf("Shares are of the new provider, from the moment it is there; a fair share is %s. Sole: the share of all calls that it got while it alone had the fewest under way. Without a time, figures are over %s.",
		percent(fair), brief(r.span()))
}

// span is the length of the main window.
func (r *results) span() time.Duration { return r.spans()[r.main()] }

// by returns what a strategy made of a cause, over the main window.
func (r *results) by(cause, strategy string) window {
	for i := range r.outcomes {
		if o := &r.outcomes[i]; o.cause.key == cause && o.strategy.key == strategy {
			return o.windows[r.main()]
		}
	}
	panic("coldstart: no cause " + cause + " with strategy " + strategy)
}

// finding says what a cause does, in a few sentences.
func (r *results) finding(cause int) string {
	key := r.causes[cause].key
	java, own := r.by(key, "java"), r.by(key, "leastload")
	text := fmt.Sprintf("Dubbo's leastactive gives the new provider %s of the calls, %s, with CPU at %s.", percent(java.share), fairly(java.share), cpus(java))
	text += fmt.Sprintf(" gofer's leastload gives it %s at %s; the callers' p99 is %s", percent(own.share), cpus(own), ms(own.p99))
	if ms(own.p99) == ms(java.p99) {
		text += " with both."
	} else {
		text += fmt.Sprintf(" instead of %s.", ms(java.p99))
	}
	return text + " " + r.failing(cause)
}

// fairly compares a share with a fair one.
func fairly(share float64) string {
	switch ratio := share / fair; {
	case ratio > 1.1:
		return fmt.Sprintf("%.1f times its fair share", ratio)
	case ratio > 0.9:
		return "about its fair share"
	case ratio > 0.15:
		return fmt.Sprintf("%.0f %% of its fair share", 100*ratio)
	}
	return "hardly any"
}

// failing says with whom calls fail.
func (r *results) failing(cause int) string {
	var who []string
	for _, o := range r.of(cause) {
		if w := o.windows[r.main()]; w.failed > 0 {
			who = append(who, fmt.Sprintf("%s (%s)", o.strategy.label, failures(w)))
		}
	}
	if len(who) == 0 {
		return "No call fails."
	}
	return "Calls fail with " + list(who) + "."
}

// list joins words as people do.
func list(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// part is what one cause contributes to the flood.
type part struct {
	label    string
	share    float64
	adds     bool
	over     float64 // what it adds to the first
	honoured float64 // the share if the weight counted
}

// parts are what the causes contribute with Dubbo's leastactive. The last cause is
// none.
func (r *results) parts() []part {
	var all []part
	for _, c := range r.causes[:len(r.causes)-1] {
		p := part{label: c.label, adds: c.adds, share: r.by(c.key, "java").share, honoured: r.by(c.key, "weighted").share}
		if p.adds {
			p.over = p.share - all[0].share
		}
		all = append(all, p)
	}
	return all
}

// alone returns the least and the most that the mechanism gives the new provider by
// itself, over the main window, and the most in the first second.
func (r *results) alone() (least, most, first float64) {
	java := r.of(0)[0]
	least, most, first = java.windows[r.main()].share, java.windows[r.main()].share, java.windows[0].share
	for _, o := range r.clusters {
		share := o.windows[r.main()].share
		least, most, first = min(least, share), max(most, share), max(first, o.windows[0].share)
	}
	return least, most, first
}

// closing says what it all means, a paragraph each.
func (r *results) closing() []string {
	return []string{r.onTheBlamed(), r.onTheCauses(), r.onTheCPU(), r.onTheCures(), r.onGofer()}
}

func (r *results) onTheBlamed() string {
	least, most, first := r.alone()
	text := fmt.Sprintf("The mechanism that is blamed is real, but alone it gives the new provider between %s and %s of the calls, depending on the consumers and the load (over %s; at most %s in the first second).",
		percent(least), percent(most), brief(r.span()), percent(first))
	if most < fair {
		return text + fmt.Sprintf(" That is less than a fair share: calls that take %d times as long are under way %d times as long, so the slow provider is seldom the one with the fewest.", slower, slower)
	}
	return text + " That is more than a fair share: it explains a flood by itself."
}

func (r *results) onTheCauses() string {
	var floods, not []string
	for i, p := range r.parts() {
		w := r.by(r.causes[i].key, "java")
		switch near := max(off(p.share, reported.share), off(w.cpu[newcomer], reported.cpu)); {
		case i == 0:
		case p.share > 1.5*fair && near <= 0.08:
			what := fmt.Sprintf("%s (%s of the calls, CPU %s", lower(r.causes[i].title), percent(p.share), cpus(w))
			if max(off(w.cpu[0], reported.others), off(w.cpu[1], reported.others)) <= 0.08 {
				what += ": all that was reported"
			}
			floods = append(floods, what+")")
		default:
			not = append(not, lower(r.causes[i].title))
		}
	}
	switch {
	case len(floods) == 0:
		return fmt.Sprintf("None of the causes brings about the reported %.0f %%.", 100*reported.share)
	case len(not) == 0:
		return fmt.Sprintf("Each of these brings about the reported %.0f %%: %s.", 100*reported.share, list(floods))
	}
	return fmt.Sprintf("About %.0f %% takes counts that the new provider lacks and the old ones do not get rid of: %s. Not enough is %s.", 100*reported.share, list(floods), list(not))
}

func off(a, b float64) float64 { return max(a-b, b-a) }

func lower(title string) string { return strings.ToLower(title[:1]) + title[1:] }

func (r *results) onTheCPU() string {
	w := r.by("cpu", "java")
	text := fmt.Sprintf("A cold start that costs CPU and hardly any time gives the new provider %s of the calls and a CPU of %s", percent(w.share), cpus(w))
	if others := (w.cpu[0] + w.cpu[1]) / 2; w.share < fair && w.cpu[newcomer] > 1.5*others {
		return text + fmt.Sprintf(": %.1f times the CPU of the others with less than a fair share of the calls. High CPU on a new provider is no proof of a flood.", w.cpu[newcomer]/others)
	}
	return text + "."
}

func (r *results) onTheCures() string {
	var least, most float64 = 1, 0
	for _, p := range r.parts() {
		least, most = min(least, p.honoured), max(most, p.honoured)
	}
	shares := percent(most)
	if percent(least) != shares {
		shares = percent(least) + " to " + shares
	}
	busy, java := r.by("busy", "weighted"), r.by("busy", "java")
	text := fmt.Sprintf("The skip opens the door through which the counts push: with the weight honoured the new provider gets %s in all of these clusters.", shares)
	if most >= fair/2 {
		text = fmt.Sprintf("With the weight honoured the new provider still gets %s.", shares)
	}
	if off(float64(busy.failed)/float64(busy.calls), float64(java.failed)/float64(java.calls)) > 0.01 {
		text += fmt.Sprintf(" But in a busy cluster the same cure makes %s of the calls fail, where the uncured rule makes %s.", failures(busy), failures(java))
	}
	short, random := r.by("resident", "shortest"), r.by("resident", "random")
	return text + fmt.Sprintf(" With resident requests shortestresponse gives it %s, and weights set by hand %s; those stay when the provider has long been warm.", percent(short.share), percent(random.share))
}

func (r *results) onGofer() string {
	var most, p99 float64
	failed := 0
	var where int
	for i, c := range r.causes {
		own, java := r.by(c.key, "leastload"), r.by(c.key, "java")
		if own.share >= most {
			most, where = own.share, i
		}
		p99 = max(p99, float64(own.p99)/float64(java.p99))
		failed += own.failed
	}
	text := fmt.Sprintf("gofer's leastload gives the new provider at most %s of the calls (in cluster %d), ", percent(most), where+1)
	if failed == 0 {
		text += "without a failed call, "
	} else {
		text += fmt.Sprintf("with %d failed calls, ", failed)
	}
	text += fmt.Sprintf("at a p99 that is at most %.2f times that of Dubbo's leastactive: what has been under way for long counts little there, and latency counts with it.", p99)
	var last, end float64 // of leastactive with resident requests
	for _, o := range r.of(1) {
		if o.strategy.key == "gofer" {
			last, end = o.windows[len(o.windows)-1].share, o.points[len(o.points)-1].share
		}
	}
	if spans := r.spans(); end > 1.1*fair {
		text += fmt.Sprintf(" gofer's leastactive keeps Dubbo's rule, that a call is a call: with resident requests it is flooded later, as warm-up goes on (%s over %s, %s at the end of it).", percent(last), brief(spans[len(spans)-1]), percent(end))
	}
	return text
}

// fold breaks a text into lines of the tables' width. A number stays with its unit.
func fold(text string) string {
	var b strings.Builder
	n := 0
	for word := range strings.SplitSeq(unbroken(text), " ") {
		switch l := utf8.RuneCountInString(word); {
		case n == 0:
			n = l
		case n+1+l > 92:
			b.WriteByte('\n')
			n = l
		default:
			b.WriteByte(' ')
			n += 1 + l
		}
		b.WriteString(word)
	}
	return strings.ReplaceAll(b.String(), "\u00a0", " ")
}

// unbroken keeps numbers and their units on one line.
func unbroken(text string) string { return bound.ReplaceAllString(text, "$1\u00a0$2") }

// bound is a number with its unit.
var bound = regexp.MustCompile(`(\d) (%|ms\b|s\b|min\b)`)

// indent puts a text behind a mark, and its further lines below.
func indent(mark, text string) string {
	return mark + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", utf8.RuneCountInString(mark)))
}
