package loadbalance_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// fleets are what the benchmarks pick from.
var fleets = []struct {
	name string
	add  func(f *fleet, i int)
}{
	{"equal", func(f *fleet, i int) { f.add(weight(100), 0) }},
	{"weighted", func(f *fleet, i int) { f.add(weight(100+50*(i%3)), 0) }},
	{"warmup", func(f *fleet, i int) { f.add(warm(100), time.Duration(1+i%700)*time.Second) }},
}

// BenchmarkSelect is one pick, a microsecond after the one before on a clock that
// costs nothing, as the time when a call began. Every provider has one call under way, so
// that leastactive has to look at all of them, and has answered a few.
func BenchmarkSelect(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(loadbalance.Builtin())) {
		for _, kind := range fleets {
			for _, n := range []int{3, 10, 100, 1000, 10_000} {
				b.Run(fmt.Sprintf("%s/%s/%d", name, kind.name, n), func(b *testing.B) {
					f := newFleet()
					now := f.clock.now()
					for i := range n {
						kind.add(f, i)
					}
					c, inv := f.list(), f.call()
					for _, node := range f.nodes {
						node.Status(f.method.Slot).Begin(0)
					}
					s := balancer(b, name, loadbalance.Config{Now: func() time.Time { return now }})
					for i, node := range f.nodes {
						f.learn(s, node, protocol.Succeeded, time.Duration(5+i%10)*time.Millisecond)
					}
					require.NotNil(b, s.Select(c, inv))
					for range 1_000_000 / n { // roundrobin has its schedule afterwards
						s.Select(c, inv)
					}
					b.ReportAllocs()
					for b.Loop() {
						now = now.Add(time.Microsecond)
						s.Select(c, inv)
					}
				})
			}
		}
	}
}

// BenchmarkNewList is the first pick from a list that replaces another one.
func BenchmarkNewList(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(loadbalance.Builtin())) {
		for _, n := range []int{3, 100, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				f := newFleet()
				for i := range n {
					f.add(weight(100+50*(i%3)), 0)
				}
				c, inv := f.list(), f.call()
				s := balancer(b, name, loadbalance.Config{})
				s.Select(c, inv)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					c = protocol.NewCandidates(f.nodes[i%2:], c)
					s.Select(c, inv)
				}
			})
		}
	}
}

// BenchmarkObserve is what a strategy learns from one attempt.
func BenchmarkObserve(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(loadbalance.Builtin())) {
		f := newFleet().weights(100, 100, 100)
		lb := balancer(b, name, loadbalance.Config{})
		o, ok := lb.(protocol.Observer)
		if !ok {
			continue
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				inv, n := f.call(), f.nodes[0]
				for i := 0; pb.Next(); i++ {
					now := time.Now()
					inv.StartAttempt(n, now, time.Time{})
					o.Begun(inv, n.Life())
					o.Ended(inv, protocol.Outcome{Life: n.Life(), Elapsed: time.Millisecond, Verdict: protocol.Verdict(i % 2)})
					inv.EndAttempt()
				}
			})
		})
	}
}
