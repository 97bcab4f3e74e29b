package loadbalance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type event struct{ tick, took int64 }

// sum adds up what is within the period at a tick, in tenths of what counts in full.
func sum(all []event, tick int64) (elapsed, calls int64) {
	for _, e := range all {
		if e.tick > tick-panes {
			counts := panes - max(0, tick-e.tick)
			elapsed, calls = elapsed+counts*e.took, calls+counts
		}
	}
	return elapsed, calls
}

// The window against a list of all that happened.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w window
		var all []event
		tick := rapid.Int64Range(0, 30).Draw(t, "first")
		latest := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			tick += rapid.SampledFrom([]int64{0, 0, 0, 1, 1, 3, 9, 10, 11, 1000}).Draw(t, "later")
			if rapid.Bool().Draw(t, "add") {
				took := rapid.Int64Range(0, int64(time.Hour)).Draw(t, "took")
				at := max(0, tick-rapid.SampledFrom([]int64{0, 0, 0, 1, 20}).Draw(t, "late"))
				w.add(at, took)
				latest = max(latest, at)
				all = append(all, event{latest, took}) // late ones count where the window is
			}
			got, weight := w.weighed(tick)
			if _, calls := sum(all, latest); calls > 0 { // else there is nothing to move
				latest = max(latest, tick)
			}
			elapsed, calls := sum(all, tick)
			require.Equal(t, calls, weight)
			if calls == 0 {
				require.Zero(t, got)
				continue
			}
			require.Equal(t, max(1, elapsed/calls), got)
		}
	})
}
