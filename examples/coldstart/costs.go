package main

import (
	"fmt"
	"time"
)

// onTheCosts says where gofer's strategies do worse than others.
func (r *results) onTheCosts() string {
	text := fmt.Sprintf("The callers' p99 over %s with leastload is %s.", brief(r.span()), r.besideJava("leastload"))
	text += " " + r.overtaken()
	text += fmt.Sprintf(" With gofer's leastactive it is %s", r.besideJava("gofer"))
	if ratio, i := r.dearest("gofer"); ratio > alike {
		text += fmt.Sprintf(", with CPU at %s", load(r.by(r.causes[i].key, "gofer")))
	}
	return text + "."
}

// alike is up to which ratio a p99 counts as about the same: other seeds make as much of
// a difference.
const alike = 1.05

// dearest returns the largest ratio of the p99 with a strategy to that with Java's
// leastactive, and of which cause it is.
func (r *results) dearest(strategy string) (ratio float64, cause int) {
	for i, c := range r.causes {
		if q := float64(r.by(c.key, strategy).p99) / float64(r.by(c.key, "java").p99); q > ratio {
			ratio, cause = q, i
		}
	}
	return ratio, cause
}

// besideJava compares the p99 with a strategy to that with Java's leastactive.
func (r *results) besideJava(strategy string) string {
	switch ratio, i := r.dearest(strategy); {
	case ratio <= 1:
		return "nowhere higher than with Java's leastactive"
	case ratio <= alike:
		return fmt.Sprintf("nowhere more than %.0f %% higher than with Java's leastactive", 100*(alike-1))
	default:
		key := r.causes[i].key
		return fmt.Sprintf("%.1f times that with Java's leastactive in cluster %d, which is the most: %s against %s",
			ratio, i+1, ms(r.by(key, strategy).p99), ms(r.by(key, "java").p99))
	}
}

// overtaken says where another strategy has a lower p99 than leastload, in the figures
// of the tables.
func (r *results) overtaken() string {
	shown := func(w window) time.Duration { return w.p99.Round(time.Millisecond) }
	var where []string
	var best *outcome
	most, at := 0.0, 0
	for i, c := range r.causes {
		own, lower := shown(r.by(c.key, "leastload")), false
		for k := range r.of(i) {
			o := &r.of(i)[k]
			other := shown(o.windows[r.main()])
			lower = lower || other < own
			if ratio := float64(own) / float64(other); other < own && ratio > most {
				most, at, best = ratio, i, o
			}
		}
		if lower {
			where = append(where, fmt.Sprint(i+1))
		}
	}
	if best == nil {
		return "No other strategy has a lower p99 in any cluster."
	}
	text := fmt.Sprintf("Another strategy has a lower p99 in cluster %s: ", where[0])
	if len(where) > 1 {
		text = fmt.Sprintf("Another strategy has a lower p99 in clusters %s, by the most in cluster %d: ", list(where), at+1)
	}
	w := best.windows[r.main()]
	return text + fmt.Sprintf("%s with %s, which gives the new provider %s of the calls, against %s.", ms(w.p99), best.strategy.label, rough(w.share), ms(r.by(r.causes[at].key, "leastload").p99))
}
