package cluster_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// learning is a load balancer that learns from attempts.
type learning struct {
	first
	seen []string
}

func (l *learning) Begun(inv *protocol.Invocation, _ *protocol.Life) {
	l.seen = append(l.seen, "begun "+inv.Node.Address())
}

func (l *learning) Ended(inv *protocol.Invocation, o protocol.Outcome) {
	l.seen = append(l.seen, o.Verdict.String()+" "+inv.Node.Address())
}

// A load balancer that observes learns of each attempt of a call once, of those that
// its provider's limit refuses or a filter answers not at all, and of other methods'
// calls, too.
func TestLoadBalancerLearnsOfAttempts(t *testing.T) {
	const a, b, c = "192.0.2.10:20880", "192.0.2.11:20880", "192.0.2.12:20880"
	lost := failing(protocol.ErrNetwork, protocol.RetryPolicy)
	boom := func(context.Context, *protocol.Invocation) (*protocol.Result, error) { panic("bug") }
	for _, tt := range []struct {
		name    string
		scripts []script
		method  string
		want    []string
	}{
		{"value", []script{ok, ok, ok}, "find", []string{"begun " + a, "succeeded " + a}},
		{"another strategy's method", []script{ok, ok, ok}, "other", []string{"begun " + a, "succeeded " + a}},
		{"retried", []script{lost, slow(time.Hour), ok}, "find", []string{"begun " + a, "failed " + a, "begun " + b, "timed out " + b, "begun " + c, "succeeded " + c}},
		{"executes", []script{failing(protocol.ErrLimitExceeded, protocol.RetryAlways), ok, ok}, "find", []string{"begun " + a, "failed " + a, "begun " + b, "succeeded " + b}},
		{"panic", []script{boom, ok, ok}, "find", []string{"begun " + a, "neutral " + a}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lb := &learning{}
				w := newWorld(t, "retries=2&timeout=500&loadbalance=learning&other.loadbalance=first", setup{config: func(cfg *cluster.Config) {
					withFirst(cfg)
					cfg.Balancers["learning"] = func(loadbalance.Config) (loadbalance.LoadBalance, error) { return lb, nil }
				}}, tt.scripts...)
				_, _ = w.call(t.Context(), tt.method)
				assert.Equal(t, tt.want, lb.seen)
				assert.Zero(t, w.active())
			})
		})
	}
}

// A slot that was lost, and an attempt that a filter answers, have not begun.
func TestLoadBalancerDoesNotLearnOfRefusals(t *testing.T) {
	lb := &learning{}
	aside := own(func(filter.Config) (filter.Pair, error) {
		return filter.Pair{Attempt: func(next protocol.Invoker) protocol.Invoker {
			return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
				if inv.Tag == "cached" {
					return ok(ctx, inv)
				}
				if inv.Node.Address() == "192.0.2.10:20880" { // somebody takes the last slot
					inv.Node.Status(inv.Method.Slot).Begin(1)
				}
				return next.Invoke(ctx, inv)
			})
		}}, nil
	})
	w := newWorld(t, "actives=1&retries=0&reference.filter=own&loadbalance=learning", setup{filters: aside, config: func(cfg *cluster.Config) {
		withBalance(cfg, "learning", lb)
	}}, ok, ok)
	inv := w.invocation("find")
	inv.Tag = "cached"
	_, err := w.invoker.Invoke(t.Context(), inv)
	require.NoError(t, err)
	assert.Empty(t, lb.seen)
	assert.Equal(t, "192.0.2.11:20880", target(t, w, "find"))
	assert.Equal(t, []string{"begun 192.0.2.11:20880", "succeeded 192.0.2.11:20880"}, lb.seen)
}
