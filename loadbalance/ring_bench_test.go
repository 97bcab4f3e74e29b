package loadbalance_test

import (
	"fmt"
	"testing"

	"github.com/gofer-rpc/gofer/protocol"
)

// hashFleet has n providers.
func hashFleet(n int) *fleet {
	f := newFleet()
	for range n {
		f.add(weight(100), 0)
	}
	return f
}

// BenchmarkConsistentHash is a pick with another key each time; the hash of the key
// alone is BenchmarkHash.
func BenchmarkConsistentHash(b *testing.B) {
	for _, n := range []int{3, 10, 100, 1000, 10_000} {
		f := hashFleet(n)
		lb, c := consistentHash(b), f.list()
		calls := make([]*protocol.Invocation, 1024)
		for i := range calls {
			calls[i] = f.callOf(int64(i))
		}
		lb.Select(c, calls[0])
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				lb.Select(c, calls[i%len(calls)])
			}
		})
	}
}

// BenchmarkNewRing is the ring of a list: the first, and that of a list in which one
// provider of the list before is missing or back.
func BenchmarkNewRing(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		f := hashFleet(n)
		lb, inv := consistentHash(b), f.callOf("key")
		b.Run(fmt.Sprintf("first/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				lb.Select(f.list(), inv)
			}
		})
		b.Run(fmt.Sprintf("next/%d", n), func(b *testing.B) {
			c := f.list()
			lb.Select(c, inv)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c = protocol.NewCandidates(f.nodes[i%2:], c)
				lb.Select(c, inv)
			}
		})
		b.Run(fmt.Sprintf("same/%d", n), func(b *testing.B) {
			c := f.list()
			lb.Select(c, inv)
			b.ReportAllocs()
			for b.Loop() {
				c = protocol.NewCandidates(f.nodes, c)
				lb.Select(c, inv)
			}
		})
	}
}
