package cluster

import (
	"context"

	"github.com/gofer-rpc/gofer/protocol"
)

// Failfast makes one attempt, for calls that must not run twice. Unlike Java's it
// goes on to another provider as long as nothing was executed: a refused
// connection, a full thread pool or a saturated provider is no attempt.
func Failfast(Config) (Strategy, error) {
	return func(ctx context.Context, c *Invoker, inv *protocol.Invocation) (*protocol.Result, error) {
		res, err := c.Attempt(ctx, inv)
		if err == nil {
			return res, nil
		}
		return c.Retry(ctx, inv, err, 0)
	}, nil
}
