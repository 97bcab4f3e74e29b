//go:build !race

package loadbalance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// The keys that calls usually have cost no allocation, however long, typed or
// generic.
func TestHashAllocatesNothing(t *testing.T) {
	f := newFleet()
	for range 10 {
		f.add(params{"hash.arguments": "0,1,2"}, 0)
	}
	lb, c := consistentHash(t), f.list()
	generic := *f.method
	generic.Generic = "true"
	for name, inv := range map[string]*protocol.Invocation{
		"string":      f.callOf("user-12345"),
		"long string": f.callOf(strings.Repeat("x", 10_000)),
		"numbers":     f.callOf(int64(-1<<63), int32(7), 42),
		"small":       f.callOf(int8(1), int16(2), true),
		"null":        f.callOf(nil, "a", nil),
		"none":        f.callOf(),
		"generic":     {Method: &generic, Arguments: []any{"find", []string{"long", "long"}, []any{int64(1), "b"}}},
	} {
		lb.Select(c, inv)
		assert.Zero(t, testing.AllocsPerRun(200, func() { lb.Select(c, inv) }), name)
	}
}

// A provider that comes or goes costs the hashes of its own address, not those of
// all: in allocations, the ring's and a few for each address.
func TestNextRingAllocations(t *testing.T) {
	for _, n := range []int{100, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			f := hashFleet(n)
			lb, c, inv := consistentHash(t), f.list(), f.callOf("key")
			lb.Select(c, inv)
			i := 0
			assert.LessOrEqual(t, testing.AllocsPerRun(20, func() {
				i++
				c = protocol.NewCandidates(f.nodes[i%2:], c)
				lb.Select(c, inv)
			}), float64(2*n+100), "another list")
			c = protocol.NewCandidates(f.nodes, c)
			lb.Select(c, inv)
			assert.LessOrEqual(t, testing.AllocsPerRun(20, func() {
				c = protocol.NewCandidates(f.nodes, c)
				lb.Select(c, inv)
			}), 40.0, "the same nodes")
		})
	}
}

// F9: calls that go to two parts of a list in turn, and retries, build nothing; nor
// does the first call to a list that was prepared.
func TestNothingIsBuiltInCalls(t *testing.T) {
	f := hashFleet(100)
	lb, inv := consistentHash(t), f.callOf("key")
	all := f.list()
	parts := []*protocol.Candidates{protocol.NewCandidates(f.nodes[:50], nil), protocol.NewCandidates(f.nodes[50:], nil)}
	retry := f.callOf("key")
	retry.MarkTried(lb.Select(all, inv))
	for _, c := range parts {
		lb.Select(c, inv)
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		lb.Select(parts[0], inv)
		lb.Select(parts[1], inv)
		lb.Select(all, retry)
	}))
	var lists []*protocol.Candidates
	for i := range 51 { // AllocsPerRun runs once more
		all = protocol.NewCandidates(f.nodes[i:], all)
		lb.(loadbalance.Preparer).Prepare(all, f.method.Slot)
		lists = append(lists, all)
	}
	i := 0
	assert.Zero(t, testing.AllocsPerRun(50, func() {
		lb.Select(lists[i], inv)
		i++
	}))
}
