package loadbalance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gofer-rpc/gofer/protocol"
)

// BenchmarkHash is the hash of a call's key.
func BenchmarkHash(b *testing.B) {
	for name, inv := range map[string]*protocol.Invocation{
		"string": call("user-12345"), "long": call(int64(1234567890123)), "double": call(3.14), "string 10k": call(strings.Repeat("x", 10_000)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			indices := []int{0}
			for b.Loop() {
				hashArguments(inv, indices)
			}
		})
	}
}

// BenchmarkWalk is a pick without the hash of its key, at random positions: the
// owner, and the first three nodes.
func BenchmarkWalk(b *testing.B) {
	for _, n := range []int{3, 100, 1000, 10_000} {
		var m nodeMaker
		nodes := make([]*protocol.Node, n)
		for i := range nodes {
			nodes[i] = m.node(fmt.Sprintf("10.0.%d.%d:20880", i>>8, i&255))
		}
		r := newRing(nodes, 40, nil)
		inv := call()
		positions := make([]uint32, 1<<16)
		for i := range positions {
			positions[i] = rand.Uint32()
		}
		for _, steps := range []int{1, 3} {
			b.Run(fmt.Sprintf("%d/%d", steps, n), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					w := r.walk(positions[i%len(positions)])
					for range steps {
						w.next(inv)
					}
				}
			})
		}
	}
}
