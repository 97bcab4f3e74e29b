//go:build !race

// A simulation is one goroutine: there is no race to detect, and the detector would make
// it many times as long.

package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// again returns how long after it is as fast as the others a provider has its next call
// that was slow for a time, one of five: of six seeds, three loads and three degrees of
// slowness, the least first. One consumer, few calls.
func again(t *testing.T, policy string, slow time.Duration) (all []time.Duration) {
	t.Helper()
	for _, load := range []float64{0.01, 0.03, 0.1} {
		for _, times := range []float64{5, 50, 200} {
			s := &Scenario{
				Name: "again", Duration: slow + time.Minute, Load: load, Consumers: 1,
				Providers: []Provider{{Count: 4}, {Faults: []Fault{{At: 0, For: slow, Slow: times}}}},
			}
			for seed := range uint64(6) {
				next := s.Duration
				_, err := Run(t.Context(), s, Options{Policy: policy, Seed: seed, Detail: true, Calls: func(c Call) {
					if c.Provider == 4 && c.At >= slow {
						next = min(next, c.At)
					}
				}})
				require.NoError(t, err)
				all = append(all, next-slow)
			}
		}
	}
	slices.Sort(all)
	return all
}

// Who was slow is tried again, in time.
func TestQualityOfTryingAgain(t *testing.T) {
	var rows [][]string
	for _, policy := range []string{"leastload", "shortestresponse"} {
		row := []string{policy}
		for _, slow := range []time.Duration{3 * time.Second, 20 * time.Second, time.Minute} {
			all := again(t, policy, slow)
			most := all[len(all)-1]
			assert.Less(t, most, 30*time.Second, "%s, slow for %v", policy, slow)
			row = append(row, fmt.Sprintf("%.1f, at most %.1f", all[len(all)/2].Seconds(), most.Seconds()))
		}
		rows = append(rows, row)
	}
	guard(t, "again", []string{"strategy", "slow for 3 s", "slow for 20 s", "slow for 1 min"}, rows)
}
