package gofer

import (
	"fmt"
	"math"
	"slices"
)

// overShare finds providers with far more calls than their weight says.
func overShare(f fleet, m methodFigures) []Finding {
	fair, all := m.worth(f.ailing)
	if all == 0 || m.sticky || m.steady < overLeast {
		return nil
	}
	what := "its weight was worth"
	if m.balance == "consistenthash" {
		what = "an equal share is"
	}
	var out []Finding
	for i, p := range m.providers {
		calls, expected := float64(p.calls), fair[i]*all
		if fair[i] == 0 || p.calls-int64(p.Active) < enoughCalls || calls < m.tooMany(expected, all) || m.deserved(i) {
			continue
		}
		out = append(out, Finding{
			Kind: FindingOverShare, Providers: []string{p.address},
			Text: fmt.Sprintf("has had %s of the calls for %s, %s %s (loadbalance=%s)",
				percent(calls/all), short(m.steady), what, percent(fair[i]), m.balance),
			Remedy: m.spread(),
		})
	}
	return out
}

// worth returns what share of the calls each provider is worth, and how many calls
// that is of; 0 when there is nobody to compare. Providers that the strategy keeps calls
// away from for a reason are left out: the others have to have more. The ring of
// consistenthash knows no weights.
func (m methodFigures) worth(ailing []bool) (shares []float64, all float64) {
	shares = make([]float64, len(m.providers))
	for i, p := range m.providers {
		if shares[i] = p.fair; p.fair > 0 {
			all += float64(p.calls)
			if m.balance == "consistenthash" {
				shares[i] = 1
			}
		}
	}
	aware := m.balance == "leastactive" || slices.Contains(latencyAware, m.balance)
	counted, left, sum, there := all, all, 0.0, 0
	for i, p := range m.providers {
		if aware && ailing[i] && float64(p.calls) < shares[i]*counted {
			left, shares[i] = left-float64(p.calls), 0
		}
		if shares[i] > 0 {
			sum, there = sum+shares[i], there+1
		}
	}
	if there < 2 {
		return shares, 0
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares, left
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
