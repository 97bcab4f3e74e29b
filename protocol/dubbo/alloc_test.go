//go:build !race

package dubbo

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// A string echo allocates its result and nothing else, whatever the context.
func TestStringEchoAllocatesItsResult(t *testing.T) {
	d := newProtocol(t)
	e := refer(t, d, listenRaw(t))
	cancellable, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, ctx := range map[string]context.Context{"plain": context.Background(), "cancellable": cancellable} {
		for _, size := range []int{100, 5000} {
			s := strings.Repeat("x", size)
			args := []any{s}
			var got string
			inv := rawCall(&got, args)
			inv.Attach("trace-id", "abc")
			inv.Tag = "gray"
			n := testing.AllocsPerRun(2000, func() {
				inv.Deadline = time.Now().Add(time.Second)
				if _, err := e.Invoke(ctx, inv); err != nil || len(got) != size {
					t.Fatal(len(got), err)
				}
			})
			assert.LessOrEqual(t, n, 1.0, "%s context, %d bytes", name, size)
		}
	}
}

// A one-way call allocates nothing.
func TestOneWayAllocatesNothing(t *testing.T) {
	d := newProtocol(t)
	e := refer(t, d, listenRaw(t))
	inv := rawCall(nil, []any{"x"})
	inv.OneWay = true
	var methods protocol.MethodTable
	methods.Slot(rawMethod.Name)
	inv.Node = protocol.NewNode("", providerURL(t, "127.0.0.1:1"), time.Time{}, &methods, e, nil)
	_, err := e.Invoke(t.Context(), rawCall(nil, []any{"connected"}))
	require.NoError(t, err)
	n := testing.AllocsPerRun(2000, func() {
		inv.Deadline = time.Now().Add(time.Second)
		if _, err := e.Invoke(context.Background(), inv); err != nil {
			t.Fatal(err)
		}
	})
	assert.Zero(t, n)
}

// Reading the state of an endpoint is what every pick does.
func TestStateAllocatesNothing(t *testing.T) {
	e := refer(t, newProtocol(t), "127.0.0.1:1", "lazy", "true")
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = e.State() }))
}
