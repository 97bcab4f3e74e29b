package cluster_test

import (
	"context"
	"fmt"
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
