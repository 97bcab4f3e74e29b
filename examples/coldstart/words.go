package main

import (
	"fmt"
	"strings"
	"time"
)

// fair is the share of one of three providers; apt is one in proportion to the speed.
const (
	fair = 1.0 / providers
	apt  = 1 - alone
)

// reported is what the report says: share of calls and CPU of the new provider, and
// CPU of the old ones.
var reported = struct{ share, cpu, others float64 }{0.72, 0.90, 0.30}

// intro says what the question is.
func intro() string {
	return fmt.Sprintf("A report: three providers behind Dubbo's leastactive, one of them restarted. Cold, it is %d times slower, and yet it gets %.0f %% of the calls, at %.0f %% CPU while the others idle at %.0f %%. To blame, it says, is that a provider which alone has the fewest calls under way gets the next call whatever its weight, so that warm-up is skipped. Is it?",
		slower, 100*reported.share, 100*reported.cpu, 100*reported.others)
}

// setting says what all clusters have in common.
func setting() string {
	return fmt.Sprintf("Each suspected cause is simulated in a cluster of its own: %d providers of %d workers each, %d consumers, calls of %s on average. After %s the third provider appears, a new process at a new address; consumers learn of it within %.1f s. It is cold for as long as we look, so that its share can settle: each of its calls takes %d times as long. Its weight warms up as Dubbo's default says, over 10 min.",
		providers, workers, consumers, ms(work), brief(before), notice.Seconds(), slower)
}

// legend says what the columns are.
func (c config) legend() string {
	return fmt.Sprintf("Shares are the new provider's part of all calls, over so long from the moment it is there. A fair share is %s, one in proportion to its speed %s. Sole: the part of all calls that it got while it alone had the fewest under way at the caller. CPU is that of the old, the other old and the new provider. Sole, CPU, p99 and failed are over %s. The figures are of %s; other seeds give somewhat others.",
		percent(fair), percent(apt), brief(c.span()), c.runsText())
}

// span is the length of the main window.
func (c config) span() time.Duration { return c.spans()[c.main()] }

// by returns what a strategy made of a cause, over the main window.
func (r *results) by(cause, strategy string) window {
	return r.outcome(cause, strategy).windows[r.main()]
}

func (r *results) outcome(cause, strategy string) *outcome {
	for i := range r.outcomes {
		if o := &r.outcomes[i]; o.cause.key == cause && o.strategy.key == strategy {
			return o
		}
	}
	panic("coldstart: no cause " + cause + " with strategy " + strategy)
}

// finding says what a cause does, in a few sentences.
func (r *results) finding(cause int) string {
	key := r.causes[cause].key
	java, own := r.by(key, "java"), r.by(key, "leastload")
	text := fmt.Sprintf("Java's leastactive gives the new provider %s of the calls, %s; CPU is at %s.", rough(java.share), fairly(java.share), load(java))
	text += fmt.Sprintf(" gofer's leastload gives it %s; CPU is at %s.", rough(own.share), load(own))
	if ms(own.p99) == ms(java.p99) {
		text += fmt.Sprintf(" The callers' p99 is %s with both.", ms(own.p99))
	} else {
		text += fmt.Sprintf(" The callers' p99 is %s with leastload and %s with Java's leastactive.", ms(own.p99), ms(java.p99))
	}
	return text + " " + r.failing(cause)
}

// fairly compares a share with a fair one.
func fairly(share float64) string {
	switch ratio := share / fair; {
	case ratio > 1.1:
		return fmt.Sprintf("%.1f times a fair share", ratio)
	case ratio > 0.9:
		return "about a fair share"
	default:
		return fmt.Sprintf("%.0f %% of a fair share", 100*ratio)
	}
}

// load says how busy the providers are.
func load(w window) string {
	old := fmt.Sprintf("%.0f and %.0f %%", 100*w.cpu[0], 100*w.cpu[1])
	if one, other, _ := strings.Cut(strings.TrimSuffix(old, " %"), " and "); one == other {
		old = one + " %"
	}
	return fmt.Sprintf("%s on the old providers and %.0f %% on the new one", old, 100*w.cpu[newcomer])
}

// failing says with whom calls fail.
func (r *results) failing(cause int) string {
	var who []string
	for _, o := range r.of(cause) {
		if w := o.windows[r.main()]; w.failed > 0 {
			who = append(who, fmt.Sprintf("%s (%s)", o.strategy.label, losses(w, rough)))
		}
	}
	if len(who) == 0 {
		return fmt.Sprintf("No call fails with any of the strategies over %s.", brief(r.span()))
	}
	return "Calls fail with " + list(who) + "."
}

// failures is the part of the calls that failed, in a table.
func failures(w window) string { return losses(w, percent) }

// losses is the part of the calls that failed, "0" only if none has.
func losses(w window, text func(float64) string) string {
	switch part := w.lost(); {
	case w.failed == 0:
		return "0"
	case part < 0.0005:
		return "< 0.1 %"
	default:
		return text(part)
	}
}

// lost is the part of the calls that failed.
func (w window) lost() float64 { return float64(w.failed) / float64(max(1, w.calls)) }
