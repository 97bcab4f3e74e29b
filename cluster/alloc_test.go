//go:build !race

package cluster_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// A call allocates nothing between the front door and the wire.
func TestPipelineAllocations(t *testing.T) {
	for _, parameters := range []string{
		"", "actives=10", "loadbalance=roundrobin", "loadbalance=leastactive", "sticky=true", "cluster=failfast", "dubbo.tag=blue",
		"loadbalance.shadow=roundrobin", "loadbalance=leastload&loadbalance.shadow=leastload&loadbalance.shadow.sample=2",
	} {
		w, m := pipeline(t, 100, parameters)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		inv := new(protocol.Invocation)
		calls := testing.AllocsPerRun(1000, func() {
			*inv = protocol.Invocation{Method: m, Start: time.Now()}
			_, err := w.invoker.Invoke(ctx, inv)
			require.NoError(t, err)
		})
		assert.Zero(t, calls, parameters)
	}
}

// The first call after a change of the list costs no more than any other: what it
// needs was made before the list came into force.
func TestFirstCallAllocations(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, balance := range []string{"random", "roundrobin", "leastactive"} { // others learn at the first call of a provider
		w, m := pipeline(t, 1000, "loadbalance="+balance)
		nodes := w.nodes()
		for _, n := range nodes {
			n.Status(m.Slot) // made at the first call of a provider, not of a list
		}
		call := func() uint64 {
			var before, after runtime.MemStats
			inv := &protocol.Invocation{Method: m, Start: time.Now()}
			runtime.ReadMemStats(&before)
			_, err := w.invoker.Invoke(t.Context(), inv)
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			return after.Mallocs - before.Mallocs
		}
		w.publish(nodes[1:]...)
		assert.NotZero(t, call(), "%s: a list that nobody prepared for", balance)
		allocs := uint64(0)
		for i := range 20 {
			w.change(nodes[i+2:]...)
			allocs += call()
		}
		assert.Zero(t, allocs, balance)
	}
}
