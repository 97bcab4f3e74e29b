package cluster

import (
	"context"

	"github.com/gofer-rpc/gofer/protocol"
)

// Strategy carries out one call: it decides how many providers are tried and what
// becomes of failures. It is what Dubbo calls a cluster. It is called concurrently.
//
// Most strategies are made of [Invoker.Attempt] and, for when it fails,
// [Invoker.Retry], which also completes the error.
type Strategy func(ctx context.Context, c *Invoker, inv *protocol.Invocation) (*protocol.Result, error)

// Factory makes the strategy of one reference. Its error fails the reference, so
// it should name the parameter that is wrong.
type Factory func(cfg Config) (Strategy, error)

// Default is the name of the strategy of a reference that names none.
const Default = "failover"

// Builtin returns the strategies that come with gofer, by Dubbo's names, in a
// fresh map.
func Builtin() map[string]Factory {
	return map[string]Factory{
		"failover": Failover,
		"failfast": Failfast,
	}
}
