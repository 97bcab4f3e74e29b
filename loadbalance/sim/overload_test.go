//go:build !race

// A simulation is one goroutine: there is no race to detect, and the detector would make
// it many times as long.

package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
)

// Two providers have more to do than they can, and what they do comes too late; then a
// third joins. To eject those that time out for long would leave idle what could work: no
// strategy may lose more by it than it does without.
func TestOverload(t *testing.T) {
	failed := func(policy string, outlier bool) float64 {
		s, err := Parse("overload.yml", []byte(fmt.Sprintf(`
about: two providers that have too much to do; a third joins cold
duration: 60s
consumers: 10
rate: 900
providers:
  - count: 2
    params: {outlier: %[1]t}
  - joins: 20s
    cold: {slow: 3, for: 30s, heal: 30s}
    params: {outlier: %[1]t}
`, outlier)))
		require.NoError(t, err)
		r, err := Run(t.Context(), s, Options{Policy: policy, Seed: 1})
		require.NoError(t, err)
		return float64(r.Failed) / float64(r.Requests)
	}
	for policy := range loadbalance.Builtin() {
		if policy == "consistenthash" || policy == "ringload" { // there are no keys
			continue
		}
		assert.Less(t, failed(policy, true), failed(policy, false)+0.01, policy)
	}
}

// lost runs a world of alike providers, of which each does 800 requests a second, with a
// fault of some of them; and returns the share of requests that fail.
func lost(t *testing.T, policy string, providers, ill int, load float64, fault string, outlier bool) float64 {
	t.Helper()
	group := func(n int) string {
		return fmt.Sprintf("\n  - {count: %d, workers: 8, threads: 200, params: {outlier: %t}", n, outlier)
	}
	text := fmt.Sprintf(`about: eight threads, ten milliseconds each
duration: 30s
consumers: 1
rate: %g
deadline: 200ms
network: {delay: 0.1ms}
requests: [{cv: 0}]
providers:`, 800*load*float64(providers)) + group(ill) + ", faults: [" + fault + "]}"
	if ill < providers {
		text += group(providers-ill) + "}"
	}
	s, err := Parse("lost.yml", []byte(text))
	require.NoError(t, err)
	r, err := Run(t.Context(), s, Options{Policy: policy, Seed: 1})
	require.NoError(t, err)
	return float64(r.Failed) / float64(r.Requests)
}

// A time with more to do than all can do leaves nothing behind: to eject who times out
// then costs no more than if nobody was ejected. What went out would overload the rest for
// ever, for whoever comes back finds the next one overloaded.
func TestOverloadEnds(t *testing.T) {
	for _, providers := range []int{2, 3, 6} {
		for _, policy := range []string{"random", "leastload"} {
			for _, load := range []float64{0.5, 0.69, 0.85} {
				for _, peak := range []float64{1.2, 1.5} {
					fault := fmt.Sprintf("{at: 5s, for: 5s, slow: %g}", peak/load)
					without := lost(t, policy, providers, providers, load, fault, false)
					with := lost(t, policy, providers, providers, load, fault, true)
					assert.Less(t, with, without+0.01, "%d providers, %s, load %g, then %g", providers, policy, load, peak)
				}
			}
		}
	}
}

// Whoever hangs, or is much too slow, is left out as long as the others can do its work; if
// they cannot, ejection makes nothing worse.
func TestEjectionSaves(t *testing.T) {
	for _, fault := range []string{"{at: 5s, for: 20s, pause: true}", "{at: 5s, for: 20s, slow: 10}", "{at: 5s, for: 20s, slow: 3}"} {
		for _, providers := range []int{2, 4} {
			for _, policy := range []string{"random", "roundrobin"} {
				assert.Less(t, lost(t, policy, providers, 1, 0.45, fault, true), 0.02, "%s, %d providers, %s", fault, providers, policy)
				assert.Greater(t, lost(t, policy, providers, 1, 0.45, fault, false), 0.12, "%s, %d providers, %s", fault, providers, policy)

				without := lost(t, policy, providers, 1, 0.85, fault, false)
				assert.Less(t, lost(t, policy, providers, 1, 0.85, fault, true), without+0.03, "%s, %d busy providers, %s", fault, providers, policy)
			}
		}
	}
}
