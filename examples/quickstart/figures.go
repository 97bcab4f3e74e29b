package main

import (
	"math"
	"slices"
	"time"
)

// figures are what one provider, or all of them, did in one phase.
type figures struct {
	provider string // address; "" for all
	calls    int
	failed   int
	share    float64 // of all calls in the phase, 0 to 1
	peak     int     // most calls under way at once
	p50, p99 time.Duration
}

// summarize counts the samples that began in a phase, for each of the providers in
// order, and for all of them.
func summarize(samples []sample, from, to time.Duration, providers []string) (each []figures, all figures) {
	latencies := map[string][]time.Duration{}
	by := map[string]*figures{"": {}}
	for _, p := range providers {
		by[p] = &figures{provider: p}
	}
	for _, s := range samples {
		if s.begun < from || s.begun >= to {
			continue
		}
		for _, key := range []string{s.provider, ""} {
			f := by[key]
			f.calls++
			f.peak = max(f.peak, s.active)
			if s.failed {
				f.failed++
			}
			latencies[key] = append(latencies[key], s.took)
		}
	}
	total := by[""].calls
	for key, f := range by {
		if total > 0 {
			f.share = float64(f.calls) / float64(total)
		}
		slices.Sort(latencies[key])
		f.p50, f.p99 = percentile(latencies[key], 50), percentile(latencies[key], 99)
	}
	for _, p := range providers {
		each = append(each, *by[p])
	}
	return each, *by[""]
}

// percentile returns the smallest of the sorted times that p percent of them do not
// exceed (nearest rank); 0 for no times.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// addresses are the providers that occur in samples.
func addresses(samples []sample) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range samples {
		if !seen[s.provider] {
			seen[s.provider] = true
			out = append(out, s.provider)
		}
	}
	return out
}

// find returns the figures of a provider.
func find(each []figures, provider string) figures {
	i := slices.IndexFunc(each, func(f figures) bool { return f.provider == provider })
	if i < 0 {
		return figures{provider: provider}
	}
	return each[i]
}

// maxBy returns the figures with the greatest key.
func maxBy(each []figures, key func(figures) int) (found figures) {
	for i, f := range each {
		if i == 0 || key(f) > key(found) {
			found = f
		}
	}
	return found
}

func calls(f figures) int   { return f.calls }
func fewest(f figures) int  { return -f.calls }
func peak(f figures) int    { return f.peak }
func slowest(f figures) int { return int(f.p99) }
