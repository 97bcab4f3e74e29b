package loadbalance_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
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
// costs nothing, as the time when a call began. Every provider has one call under way, so that leastactive has to look at
// all of them.
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
