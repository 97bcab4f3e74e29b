package cluster

import (
	"context"

	"github.com/gofer-rpc/gofer/protocol"
)

// Failover is Dubbo's default: a call that fails is tried at another provider, up
// to "retries" times (method level, default 2; 0 or less: one attempt). A provider's
// own "retries" counts where the reference has none, as in Dubbo 2.7.
//
// Not retried are business exceptions and what would fail everywhere (B067).
// Failures in which provably nothing was executed (a refused connection, a full
// thread pool) do not count as long as there is a provider that was not tried yet.
// There is no pause between attempts; each has the full timeout, and the context's
// deadline bounds them all.
func Failover(Config) (Strategy, error) {
	return func(ctx context.Context, c *Invoker, inv *protocol.Invocation) (*protocol.Result, error) {
		res, err := c.Attempt(ctx, inv)
		if err == nil {
			return res, nil
		}
		return c.Retry(ctx, inv, err, c.Retries(inv.Method.Slot))
	}, nil
}
