package gofer

import (
	"fmt"
	"math"
	"slices"
)

// overShare finds providers with far more calls than their weight says.
func overShare(f fleet, m methodFigures) []Finding {
	w := m.worth(f.ailing)
	if m.sticky || m.steady < overLeast {
		return nil
	}
	what := "its weight was worth"
	if unweighed(m.balance) {
		what = "an equal share is"
	}
	var out []Finding
	for i, p := range m.providers {
		calls := float64(p.calls)
		fair, all := w.of(i, p)
		if all == 0 || p.calls-int64(p.Active) < enoughCalls || calls < m.tooMany(fair*all, all) || m.deserved(i) {
			continue
		}
		out = append(out, Finding{
			Kind: FindingOverShare, Providers: []string{p.address},
			Text: fmt.Sprintf("has had %s of the calls for %s, %s %s (loadbalance=%s)",
				percent(calls/all), short(m.steady), what, percent(fair), m.balance),
			Remedy: m.spread(),
		})
	}
	return out
}

// worth is what the providers are worth that can be compared: those that could be chosen all
// the time.
type worth struct {
	each  []float64 // 0: not to be compared
	sum   float64   // of those that could always be chosen
	calls float64   // that they had
	there int       // how many they are
}

// worth compares the weights. Providers that the strategy keeps calls away from for a
// reason are left out: the others have to have more. So are those that had no slot left
// at times: but if they have had too much for all that, they are over their share themselves. The
// ring of consistenthash knows no weights.
func (m methodFigures) worth(ailing []bool) worth {
	w := worth{each: make([]float64, len(m.providers))}
	all := 0.0
	for i, p := range m.providers {
		if w.each[i] = p.fair; p.fair > 0 {
			all += float64(p.calls)
			if unweighed(m.balance) {
				w.each[i] = 1
			}
		}
	}
	aware := m.balance == "leastactive" || slices.Contains(latencyAware, m.balance)
	for i, p := range m.providers {
		if aware && ailing[i] && float64(p.calls) < p.fair*all {
			w.each[i] = 0
		}
		if w.each[i] > 0 && p.Full == 0 {
			w.sum, w.calls, w.there = w.sum+w.each[i], w.calls+float64(p.calls), w.there+1
		}
	}
	return w
}

// of returns the share that a provider is worth, and of how many calls; 0 when there is
// nobody to compare.
func (w worth) of(i int, p providerFigures) (share, calls float64) {
	own, sum, calls, others := w.each[i], w.sum, w.calls, w.there-1
	if p.Full > 0 {
		sum, calls, others = sum+own, calls+float64(p.calls), w.there
	}
	if own == 0 || others < 1 {
		return 0, 0
	}
	return own / sum, calls
}

// tooMany returns how many of all calls are too many where so many are expected. A ring
// spreads its keys unevenly as it is.
func (m methodFigures) tooMany(expected, all float64) float64 {
	factor := overFactor * expected
	if m.balance == "consistenthash" {
		factor = min(2*expected, (expected+all)/2)
	}
	return max(factor, expected+overDeviation*math.Sqrt(expected))
}

// spread is what to do about a provider with too many calls.
func (m methodFigures) spread() string {
	switch {
	case m.bare && slices.Contains(hashing, m.balance):
		return fmt.Sprintf("The method has no arguments, so all its calls have the same key and belong to one provider: give it a strategy that does not hash (%s.loadbalance=leastload)", m.name)
	case slices.Contains(latencyAware, m.balance):
		return "Ask Reference.Explain why it is preferred; look for other findings about this method"
	case slices.Contains(hashing, m.balance):
		return "A few keys have most of the calls: hash more arguments (hash.arguments), or use loadbalance=ringload, which lets a hot key spill over"
	}
	return "Compare loadbalance=leastload in the shadow (loadbalance.shadow=leastload); look for other findings about this method"
}

// deserved reports whether a provider has more calls because it is faster, by a
// strategy that means that.
func (m methodFigures) deserved(i int) bool {
	calls, mean := m.providers[i].succeeded()
	if calls < enoughCalls {
		return false
	}
	if slices.Contains(latencyAware, m.balance) { // the others may have been tried and left
		others, known := m.medianIn(m.tried, 1, i)
		return !known || float64(mean) < 1.1*float64(others)
	}
	others, known := m.medianOfOthers(i)
	return known && m.balance == "leastactive" && float64(mean) < 0.8*float64(others)
}

// ailments reports for each provider whether a strategy has a reason to keep calls away
// from it: a method fails there, or is slow. One call is reason enough: it may be all that
// a strategy needs to see to send no more.
func (f fleet) ailments() []bool {
	var ailing []bool
	for _, m := range f.methods {
		for len(ailing) < len(m.providers) { // the same ones in every method
			ailing = append(ailing, false)
		}
		for i, p := range m.providers {
			if p.Total == 0 { // for a while: a strategy may remember
				p.Counters = p.life
			}
			if p.Failed > 0 && float64(p.Failed) >= failingShare*float64(p.Total) {
				ailing[i] = true
			} else if calls, mean := p.succeeded(); calls > 0 {
				others, known := m.medianOfOthers(i)
				ailing[i] = ailing[i] || known && float64(mean) > overFactor*float64(others)
			}
		}
	}
	return ailing
}
