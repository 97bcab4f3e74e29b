//go:build !race

// A simulation is one goroutine: there is no race to detect, and the detector would make
// it many times as long.

package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
)

// Two providers have more to do than they can, and what they do comes too late; then a
// third joins. To eject those that time out for long would leave idle what could work:
// no strategy may lose more than the shortest queue does.
func TestOverload(t *testing.T) {
	s, err := Parse("overload.yml", []byte(`
about: two providers that have too much to do; a third joins cold
duration: 60s
consumers: 10
rate: 900
providers:
  - count: 2
  - joins: 20s
    cold: {slow: 3, for: 30s, heal: 30s}
`))
	require.NoError(t, err)
	failed := func(policy string) float64 {
		r, err := Run(t.Context(), s, Options{Policy: policy, Seed: 1})
		require.NoError(t, err)
		return float64(r.Failed) / float64(r.Requests)
	}
	known := failed("jsq")
	for policy := range loadbalance.Builtin() {
		if policy == "consistenthash" || policy == "ringload" { // there are no keys
			continue
		}
		assert.Less(t, failed(policy), known+0.02, policy)
	}
}
