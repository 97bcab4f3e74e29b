package gofer

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// noWire is a protocol without a network: every provider answers at once.
type noWire struct{}

func (noWire) Refer(url.URL) (protocol.Endpoint, error) { return noEndpoint{}, nil }
func (noWire) Close() error                             { return nil }

type noEndpoint struct{}

func (noEndpoint) Invoke(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	if s, ok := inv.Result.Target.(*string); ok {
		*s, _ = inv.Arguments[0].(string)
	}
	return &inv.Result, nil
}
func (noEndpoint) State() protocol.State { return protocol.Ready }
func (noEndpoint) StateReason() error    { return nil }
func (noEndpoint) Update(url.URL)        {}
func (noEndpoint) Close()                {}

// pipeline returns a reference to n providers that need no network.
func pipeline(tb testing.TB, n int, params string) *Reference {
	c, err := New(WithApplication("bench"))
	require.NoError(tb, err)
	require.NoError(tb, c.wire.Close())
	c.wire = noWire{}
	text := ""
	for i := range n {
		text += fmt.Sprintf("dubbo://127.0.0.1:%d/com.example.Echo?%s;", 20000+i, params)
	}
	r, err := c.Refer(tb.Context(), text)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, c.Close()) })
	return r
}

// BenchmarkPipeline is a call through everything but the network: budget 0.3 µs
// and 2 allocations at 100 providers.
func BenchmarkPipeline(b *testing.B) {
	for _, lb := range []string{"random", "roundrobin", "leastactive"} {
		for _, n := range []int{1, 3, 100} {
			b.Run(fmt.Sprintf("%s/providers=%d", lb, n), func(b *testing.B) {
				echo, err := Method[string](pipeline(b, n, "loadbalance="+lb), "echo(java.lang.String)")
				require.NoError(b, err)
				arg := any("text")
				b.ReportAllocs()
				for b.Loop() {
					if _, err := echo.Call(b.Context(), arg); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
