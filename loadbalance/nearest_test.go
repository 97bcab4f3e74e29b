package loadbalance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// The first is the owner of consistenthash, the others are its successors: who would
// own the key without those before.
func TestNearest(t *testing.T) {
	f := newFleet().weights(100, 100, 100, 100, 100)
	list, lb := f.list(), consistentHash(t)
	var near loadbalance.Nearest
	near.Prepare(list, f.method.Slot)
	for _, key := range someKeys(50) {
		nodes := near.Append(nil, 3, list, f.callOf(key))
		require.Len(t, nodes, 3)
		inv := f.callOf(key)
		for _, n := range nodes {
			assert.Same(t, lb.Select(list, inv), n)
			inv.MarkTried(n)
		}
	}
}

func TestNearestLeavesOut(t *testing.T) {
	f := newFleet().weights(100, 100, 100)
	var near loadbalance.Nearest
	all := near.Append(nil, 8, f.list(), f.callOf("a"))
	assert.Len(t, all, 3, "each once")
	all[0].Endpoint().(*endpoint).state.Store(int32(protocol.Down))
	assert.Equal(t, all[1:], near.Append(nil, 8, f.list(), f.callOf("a")))
	assert.Equal(t, all[1:2], near.Append(nil, 1, f.list(), f.callOf("a")))
	assert.Empty(t, near.Append(nil, 0, f.list(), f.callOf("a")))
	assert.Empty(t, near.Append(nil, 3, newFleet().list(), f.callOf("a")))
}

func TestNearestDoesNotAllocate(t *testing.T) {
	f := newFleet().weights(100, 100, 100, 100)
	var near loadbalance.Nearest
	list, inv := f.list(), f.callOf("a")
	var room [3]*protocol.Node
	near.Append(room[:0], 3, list, inv)
	assert.Zero(t, testing.AllocsPerRun(100, func() { near.Append(room[:0], 3, list, inv) }))
}
