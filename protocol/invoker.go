package protocol

import (
	"context"

	"github.com/gofer-rpc/gofer/url"
)

// Invoker carries out invocations. Clusters, filters and endpoints are invokers.
//
// Invoke returns the invocation's result, or an error that is (or wraps) an
// [*Error]. The result is &inv.Result: it is valid until the invocation is used
// for another attempt. Invoke may be called concurrently, each time with an
// invocation of its own.
type Invoker interface {
	Invoke(ctx context.Context, inv *Invocation) (*Result, error)
}

// InvokerFunc makes a function an [Invoker].
type InvokerFunc func(ctx context.Context, inv *Invocation) (*Result, error)

// Invoke calls f.
func (f InvokerFunc) Invoke(ctx context.Context, inv *Invocation) (*Result, error) {
	return f(ctx, inv)
}

// State tells what an endpoint can do for new calls.
type State int32

// The states of an endpoint, from best to worst.
const (
	Ready    State = iota // connected, takes calls
	ReadOnly              // connected, but asked for no new calls or does not answer: last resort only
	Down                  // not connected: a call fails at once, unsent
)

// String returns the state in lower case.
func (s State) String() string {
	switch s {
	case Ready:
		return "ready"
	case ReadOnly:
		return "readonly"
	default:
		return "down"
	}
}

// Endpoint is one provider as a wire protocol sees it: the innermost invoker.
type Endpoint interface {
	Invoker
	// State is read on every pick: it must be one atomic load. The error says
	// why the endpoint is not [Ready]; it is for people, and may be nil.
	State() State
	StateReason() error
	// Update gives the endpoint a new merged URL of the same identity
	// (protocol, address, path, group, version). Calls under way keep the old one.
	Update(u url.URL)
	// Close takes no new calls, lets the running ones finish within the protocol's
	// drain time and releases the connection. It does not block.
	Close()
}

// Protocol makes endpoints.
type Protocol interface {
	// Refer returns the endpoint for a merged provider URL. It does not wait for
	// a connection. The error names what in the URL cannot be served.
	Refer(u url.URL) (Endpoint, error)
	// Close ends all endpoints and waits for every goroutine of the protocol;
	// calls under way fail at once.
	Close() error
}
