package cluster_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// pipeline returns a reference with n providers whose wire does nothing.
func pipeline(t testing.TB, n int, parameters string) (*world, *protocol.Method) {
	w := newWorld(t, parameters, setup{}, make([]script, n)...)
	return w, w.invocation("echo").Method
}

// BenchmarkPipeline is a call without a network: filters, cluster, balancer, active
// limit, an endpoint that does nothing.
func BenchmarkPipeline(b *testing.B) {
	for _, balance := range []string{"random", "roundrobin", "leastactive"} {
		for _, n := range []int{1, 3, 100} {
			b.Run(fmt.Sprintf("%s/%d", balance, n), func(b *testing.B) {
				w, m := pipeline(b, n, "actives=100&loadbalance="+balance)
				ctx := context.Background()
				b.ReportAllocs()
				for b.Loop() {
					inv := protocol.Invocation{Method: m, Start: time.Now()}
					if _, err := w.invoker.Invoke(ctx, &inv); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkPipelineParallel(b *testing.B) {
	w, m := pipeline(b, 100, "actives=100")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			inv := protocol.Invocation{Method: m, Start: time.Now()}
			if _, err := w.invoker.Invoke(context.Background(), &inv); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkSaturated is a call that waits for its slot, with as many others in line.
func BenchmarkSaturated(b *testing.B) {
	for _, callers := range []int{10, 1000} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			w := newWorld(b, "actives=1&timeout=60000", setup{}, make([]script, 4)...)
			for _, e := range w.endpoints {
				e.script = func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
					runtime.Gosched() // so that others find it busy
					return &inv.Result, nil
				}
			}
			m := w.invocation("echo").Method
			b.SetParallelism(callers / runtime.GOMAXPROCS(0))
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					inv := protocol.Invocation{Method: m, Start: time.Now()}
					if _, err := w.invoker.Invoke(context.Background(), &inv); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// BenchmarkMembershipChange is a change of ten thousand providers while calls go on:
// one leaves, one comes back. first-ns is what the first call with the new list
// takes, and worst-ns the longest of the calls that went on meanwhile.
func BenchmarkMembershipChange(b *testing.B) {
	for _, balance := range strategies() {
		b.Run(balance, func(b *testing.B) {
			w, m := pipeline(b, 10_000, "loadbalance="+balance)
			nodes := w.nodes()
			call := func() time.Duration {
				begun := time.Now()
				inv := protocol.Invocation{Method: m, Start: begun}
				if _, err := w.invoker.Invoke(context.Background(), &inv); err != nil {
					b.Error(err)
				}
				return time.Since(begun)
			}
			call()
			var first, worst time.Duration
			for i := 0; b.Loop(); i++ {
				list := slices.Clone(nodes[i%2:])
				ended := make(chan struct{})
				go func() {
					w.change(list...)
					close(ended)
				}()
				for going := true; going; {
					select {
					case <-ended:
						going = false
					default:
						worst = max(worst, call())
					}
				}
				first += call()
			}
			b.ReportMetric(float64(first)/float64(b.N), "first-ns")
			b.ReportMetric(float64(worst), "worst-ns")
		})
	}
}
