//go:build !race

package loadbalance_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// The first pick from a list that was prepared for builds nothing, also when the
// list is another one each time.
func TestFirstPickAllocations(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for name := range loadbalance.Builtin() {
		f := newFleet()
		for range 500 {
			f.add(warm(100), 0)
		}
		b := balancer(t, name, loadbalance.Config{})
		p, ok := b.(loadbalance.Preparer)
		if !assert.True(t, ok, "%s prepares", name) {
			continue
		}
		pick := func(c *protocol.Candidates) uint64 {
			inv := f.call()
			inv.Arguments = []any{"key"}
			inv.ArgumentText = func(v any) string { return v.(string) }
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n := b.Select(c, inv)
			runtime.ReadMemStats(&after)
			assert.NotNil(t, n, name)
			return after.Mallocs - before.Mallocs
		}
		list := f.list()
		assert.NotZero(t, pick(list), "%s: nobody prepared", name)
		allocs := uint64(0)
		for i := range 20 {
			list = protocol.NewCandidates(f.nodes[i+1:], list)
			p.Prepare(list, f.method.Slot)
			allocs += pick(list)
		}
		assert.Zero(t, allocs, name)
	}
}
