package loadbalance

import (
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// LoadBalance chooses the provider of a call. It is safe for concurrent use.
//
// Select returns a node of the list for which [protocol.Invocation.Allows] is
// true, nil when there is none. It does not block and, state that it builds once
// for a list apart, does not allocate. What it needs to remember about a list it
// keeps with [protocol.Candidates.State]; the counters of a node are in its
// [protocol.Life]. The cluster asks for every list of two or more nodes (B095).
//
// A load balancer may also be a [protocol.Observer], who learns how attempts end, an
// [Explainer] and a [Preparer].
type LoadBalance interface {
	Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node
}

// Factory makes a load balancer. The error names what in the configuration it
// cannot serve.
type Factory func(Config) (LoadBalance, error)

// Config is what a load balancer is made with. The zero value is what a client
// uses; tests and simulations set the rest.
type Config struct {
	// Reference is the reference's own URL, for parameters that are no provider's.
	Reference url.URL
	// Now is the clock: a pick reads it once, when a provider of the list is warming
	// up or the strategy looks at time, else not at all. Nil: the system's, which a
	// pick need not read because the call knows when it began.
	Now func() time.Time
	// Rand returns 64 random bits and is safe for concurrent use; nil: the
	// generator of math/rand/v2.
	Rand func() uint64
	// Ramp is the warm-up curve; nil: [LinearRamp].
	Ramp Ramp
}

// Default is the name of the load balancer that Dubbo uses when "loadbalance" is
// not set.
const Default = "random"

// Builtin returns the load balancers of this package by name, in a new map that
// the caller may change.
func Builtin() map[string]Factory {
	return map[string]Factory{
		"random":           NewRandom,
		"roundrobin":       NewRoundRobin,
		"leastactive":      NewLeastActive,
		"shortestresponse": NewShortestResponse,
		"adaptive":         NewAdaptive,
		"consistenthash":   NewConsistentHash,
		"leastload":        NewLeastLoad,
		"ringload":         NewRingLoad,
	}
}

// New makes the load balancer of that name. Names are case-sensitive as in Dubbo;
// the error for an unknown one lists the known ones and the nearest.
func New(factories map[string]Factory, name string, cfg Config) (LoadBalance, error) {
	f, ok := factories[name]
	if !ok {
		return nil, protocol.UnknownName("load balancer", name, factories)
	}
	if f == nil {
		return nil, fmt.Errorf("load balancer %q: its factory is nil", name)
	}
	b, err := f(cfg)
	if err != nil {
		return nil, fmt.Errorf("load balancer %q: %w", name, err)
	}
	return b, nil
}
