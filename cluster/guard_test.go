package cluster_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// clumsy is a load balancer that panics as it learns.
type clumsy struct {
	first
	begun, ended string // what it panics with; "" not at all
	told         int
}

func (c *clumsy) Begun(*protocol.Invocation, *protocol.Life) {
	c.told++
	if c.begun != "" {
		panic(c.begun)
	}
}

func (c *clumsy) Ended(*protocol.Invocation, protocol.Outcome) {
	if c.ended != "" {
		panic(c.ended)
	}
}

// A load balancer of somebody's own that panics as it learns from calls harms nobody:
// the calls end as they would, the other strategies count, and who fails is ejected.
func TestLoadBalancersThatPanicAsTheyLearn(t *testing.T) {
	for _, lb := range []*clumsy{{begun: "at the beginning"}, {ended: "at the end"}, {begun: "in both", ended: "in both"}} {
		w := newWorld(t, "loadbalance=clumsy&long.loadbalance=leastload&retries=0&outlier.failures=3", setup{config: func(cfg *cluster.Config) {
			cfg.Balancers = loadbalance.Builtin()
			cfg.Balancers["clumsy"] = func(loadbalance.Config) (loadbalance.LoadBalance, error) { return lb, nil }
		}}, failing(protocol.ErrNetwork, protocol.RetryPolicy), ok)
		bad := w.nodes()[0]
		for range 3 {
			_, err := w.call(t.Context(), "find")
			require.ErrorIs(t, err, protocol.ErrNetwork, "the outcome stands")
		}
		assert.True(t, bad.Ejected(), "%+v", lb)
		for range 5 {
			target(t, w, "find")
			target(t, w, "long")
		}
		assert.Equal(t, 13, lb.told)
		for _, c := range w.explain("long").Candidates {
			assert.Zero(t, c.Active)
			assert.Contains(t, c.Reason+c.Refusal, map[bool]string{true: "ejected", false: "this call alone"}[c.Ejected])
		}
		lines := w.logs.FilterMessageSnippet("panicked as it was told").All()
		require.Len(t, lines, 1)
		assert.Equal(t, "clumsy", lines[0].ContextMap()["loadbalance"])
		assert.Contains(t, lines[0].ContextMap()["stack"], "guard_test.go")
		assert.Zero(t, w.active())
	}
}

// One load balancer under two names is told of a call once.
func TestLoadBalancerOfTwoNames(t *testing.T) {
	lb := &clumsy{}
	w := newWorld(t, "loadbalance=a&find.loadbalance=b", setup{config: func(cfg *cluster.Config) {
		cfg.Balancers = loadbalance.Builtin()
		for _, name := range []string{"a", "b"} {
			cfg.Balancers[name] = func(loadbalance.Config) (loadbalance.LoadBalance, error) { return lb, nil }
		}
	}}, ok, ok)
	target(t, w, "find")
	target(t, w, "count")
	assert.Equal(t, 2, lb.told)
}

// stumbling is an observer that panics before anything is sent.
type stumbling struct{}

func (stumbling) Begun(*protocol.Invocation, *protocol.Life)   { panic("odd") }
func (stumbling) Ended(*protocol.Invocation, protocol.Outcome) {}

// What panics before anything was sent says so, after an earlier attempt was as well.
func TestPanicsBeforeTheWire(t *testing.T) {
	lost := failing(protocol.ErrNetwork, protocol.RetryPolicy)
	boom := own(func(filter.Config) (filter.Pair, error) {
		return filter.Pair{Attempt: func(next protocol.Invoker) protocol.Invoker {
			return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
				if inv.Tag == "early" || inv.Attempt == 2 {
					panic("odd")
				}
				res, err := next.Invoke(ctx, inv)
				if inv.Tag == "late" {
					panic("odd")
				}
				return res, err
			})
		}}, nil
	})
	for _, c := range []struct {
		name, tag string
		scripts   []script
		observed  bool
		sent      bool
	}{
		{"a filter", "early", []script{ok, ok}, false, false},
		{"a filter, later", "late", []script{ok, ok}, false, true},
		{"the wire", "", []script{func(context.Context, *protocol.Invocation) (*protocol.Result, error) { panic("odd") }, ok}, false, true},
		{"a filter in the second attempt", "", []script{lost, ok}, false, true},
		{"an observer", "", []script{ok, ok}, true, false},
	} {
		w := newWorld(t, "loadbalance=first&reference.filter=own", setup{filters: boom, config: withFirst}, c.scripts...)
		if c.observed {
			w.methods.Observe(stumbling{})
		}
		for range 2 {
			inv := w.invocation("find")
			inv.Tag = c.tag
			_, err := w.invoker.Invoke(t.Context(), inv)
			var e *protocol.Error
			require.True(t, errors.As(err, &e), c.name)
			require.ErrorContains(t, err, "panic: odd", c.name)
			assert.Equal(t, c.sent, e.Sent, c.name)
		}
		assert.Zero(t, w.active())
	}
}
