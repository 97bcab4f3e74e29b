package filter_test

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// endpoint is a scripted provider, always ready.
type endpoint struct {
	script func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error)
}

func (e *endpoint) Invoke(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	if e.script == nil {
		return &inv.Result, nil
	}
	return e.script(ctx, inv)
}
func (e *endpoint) State() protocol.State { return protocol.Ready }
func (e *endpoint) StateReason() error    { return nil }
func (e *endpoint) Update(url.URL)        {}
func (e *endpoint) Close()                {}

// provider is one node of a reference.
type provider struct {
	methods *protocol.MethodTable
	node    *protocol.Node
	url     url.URL
}

// newProvider returns a provider with the parameters, behind wrap.
func newProvider(t require.TestingT, parameters string, script func(context.Context, *protocol.Invocation) (*protocol.Result, error),
	wrap func(protocol.Invoker) protocol.Invoker) *provider {
	u, err := url.Parse("dubbo://192.0.2.10:20880/com.example.DemoService?" + parameters)
	require.NoError(t, err)
	p := &provider{methods: new(protocol.MethodTable), url: u}
	p.node = protocol.NewNode(u.Address(), u, time.Time{}, p.methods, &endpoint{script}, wrap)
	return p
}

// invocation returns an attempt of the method find at the provider.
func (p *provider) invocation() *protocol.Invocation {
	m := &protocol.Method{Service: "com.example.DemoService", Name: "find", Slot: p.methods.Slot("find")}
	inv := &protocol.Invocation{Method: m, Start: time.Now()}
	inv.StartAttempt(p.node, inv.Start, inv.Start.Add(time.Second))
	return inv
}

// status returns the counters of find.
func (p *provider) status() protocol.Counters {
	return p.node.Status(p.methods.Slot("find")).Counters()
}

// fail is a script that fails with the error.
func fail(err error) func(context.Context, *protocol.Invocation) (*protocol.Result, error) {
	return func(context.Context, *protocol.Invocation) (*protocol.Result, error) { return nil, err }
}

// counts is what a test compares of counters.
func counts(c protocol.Counters) string {
	return fmt.Sprintf("active %d, total %d, failed %d", c.Active, c.Total, c.Failed)
}
