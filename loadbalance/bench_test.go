package loadbalance_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
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

// BenchmarkSelect is one pick of a call that knows when it began, as every call does.
// Reading the clock is no part of a pick: it is read for one in 64 of them. Every
// provider has one call under way, so that leastactive has to look at all of them, and
// has answered a few.
func BenchmarkSelect(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(loadbalance.Builtin())) {
		for _, kind := range fleets {
			for _, n := range []int{3, 10, 100, 1000, 10_000} {
				b.Run(fmt.Sprintf("%s/%s/%d", name, kind.name, n), func(b *testing.B) {
					f := newFleet()
					f.clock.ns.Store(time.Now().UnixNano())
					for i := range n {
						kind.add(f, i)
					}
					c, inv := f.list(), f.call()
					for _, node := range f.nodes {
						node.Status(f.method.Slot).Begin(0)
					}
					s := balancer(b, name, loadbalance.Config{})
					for i, node := range f.nodes {
						f.learn(s, node, protocol.Succeeded, time.Duration(5+i%10)*time.Millisecond)
					}
					for range 1_000_000 / n { // roundrobin has its schedule afterwards
						inv.Start = time.Now()
						require.NotNil(b, s.Select(c, inv))
					}
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						if i%64 == 0 {
							inv.Start = time.Now()
						}
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

// BenchmarkAttempt is a pick and what the strategy learns from the attempt.
func BenchmarkAttempt(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(loadbalance.Builtin())) {
		for _, n := range []int{3, 100, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				f := newFleet()
				for range n {
					f.add(weight(100), 0)
				}
				lb, c, inv := balancer(b, name, loadbalance.Config{}), f.list(), f.call()
				for _, node := range f.nodes {
					f.learn(lb, node, protocol.Succeeded, time.Millisecond)
				}
				lb.Select(c, inv)
				b.ReportAllocs()
				for b.Loop() {
					inv.Start = time.Now()
					n := lb.Select(c, inv)
					f.attempt(lb, n, inv)(time.Millisecond, protocol.Succeeded)
				}
			})
		}
	}
}

// BenchmarkMembershipChange is the replacement of a list of 10,000, prepared as the
// cluster does it, while another goroutine picks; the metric is the longest pick.
func BenchmarkMembershipChange(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(loadbalance.Builtin())) {
		b.Run(name, func(b *testing.B) {
			f := newFleet()
			for range 10_000 {
				f.add(weight(100), 0)
			}
			lb := balancer(b, name, loadbalance.Config{})
			var list atomic.Pointer[protocol.Candidates]
			list.Store(f.list())
			lb.Select(list.Load(), f.call())
			var longest time.Duration
			var picker sync.WaitGroup
			done := make(chan struct{})
			picker.Go(func() {
				inv := f.call()
				for {
					select {
					case <-done:
						return
					default:
					}
					inv.Start = time.Now()
					lb.Select(list.Load(), inv)
					longest = max(longest, time.Since(inv.Start))
				}
			})
			for i := 0; b.Loop(); i++ {
				c := protocol.NewCandidates(f.nodes[i%2:], list.Load())
				lb.(loadbalance.Preparer).Prepare(c, f.method.Slot)
				list.Store(c)
			}
			close(done)
			picker.Wait()
			b.ReportMetric(float64(longest.Nanoseconds()), "longest-pick-ns")
		})
	}
}
