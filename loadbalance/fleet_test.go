package loadbalance_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// endpoint is a provider whose state the test sets.
type endpoint struct{ state atomic.Int32 }

func (e *endpoint) Invoke(context.Context, *protocol.Invocation) (*protocol.Result, error) {
	return nil, nil
}
func (e *endpoint) State() protocol.State { return protocol.State(e.state.Load()) }
func (e *endpoint) StateReason() error    { return nil }
func (e *endpoint) Update(url.URL)        {}
func (e *endpoint) Close()                {}

// clock is a hand-driven clock.
type clock struct{ ns atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.ns.Store(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.ns.Load()) }
func (c *clock) advance(d time.Duration) { c.ns.Add(int64(d)) }

// fleet is the providers of one reference.
type fleet struct {
	table  protocol.MethodTable
	method *protocol.Method
	clock  *clock
	nodes  []*protocol.Node
	made   int
}

const methodName = "find"

func newFleet() *fleet {
	f := &fleet{clock: newClock()}
	f.method = f.methodOf(methodName)
	return f
}

func (f *fleet) methodOf(name string) *protocol.Method {
	return &protocol.Method{Service: "com.example.S", Name: name, WireName: name, Slot: f.table.Slot(name)}
}

// params are the parameters of a provider.
type params map[string]string

// weight returns the parameters of a provider without warm-up.
func weight(w int) params { return params{"weight": strconv.Itoa(w), "warmup": "0"} }

// warm returns the parameters of a provider with the default warm-up.
func warm(w int) params { return params{"weight": strconv.Itoa(w)} }

// add adds a provider that has been up for some time; 0: start unknown.
func (f *fleet) add(p params, up time.Duration) *protocol.Node {
	n := f.node(p, up)
	f.nodes = append(f.nodes, n)
	return n
}

func (f *fleet) node(p params, up time.Duration) *protocol.Node {
	f.made++
	address := fmt.Sprintf("10.%d.%d.%d", f.made>>16, f.made>>8&255, f.made&255)
	return protocol.NewNode(address, f.url(address, p), f.start(up), &f.table, new(endpoint), nil)
}

func (f *fleet) url(address string, p params) url.URL {
	return url.New("dubbo", address, 20880, "com.example.S", maps.Clone(p))
}

func (f *fleet) start(up time.Duration) time.Time {
	if up == 0 {
		return time.Time{}
	}
	return f.clock.now().Add(-up)
}

// weights adds providers without warm-up.
func (f *fleet) weights(ws ...int) *fleet {
	for _, w := range ws {
		f.add(weight(w), 0)
	}
	return f
}

func (f *fleet) list() *protocol.Candidates { return protocol.NewCandidates(f.nodes, nil) }

func (f *fleet) call() *protocol.Invocation { return &protocol.Invocation{Method: f.method} }

// attempt begins an attempt at a node as the active limit filter does, and returns
// what ends it.
func (f *fleet) attempt(lb loadbalance.LoadBalance, n *protocol.Node, inv *protocol.Invocation) func(time.Duration, protocol.Verdict) {
	return f.attemptThat(lb, n, inv, nil)
}

// attemptThat is an attempt that ends with an error.
func (f *fleet) attemptThat(lb loadbalance.LoadBalance, n *protocol.Node, inv *protocol.Invocation, err error) func(time.Duration, protocol.Verdict) {
	inv.StartAttempt(n, f.clock.now(), time.Time{})
	life := n.Life()
	status := life.Status(inv.Method.Slot)
	status.Begin(0)
	observer, _ := lb.(protocol.Observer)
	if observer != nil {
		observer.Begun(inv, life)
	}
	return func(d time.Duration, v protocol.Verdict) {
		status.End(d, v != protocol.Succeeded)
		if observer != nil {
			observer.Ended(inv, protocol.Outcome{Life: life, Elapsed: d, Verdict: v, Err: err})
		}
		inv.Result.Return()
		inv.EndAttempt()
	}
}

// learn makes calls that take as long as given, and ends them at once.
func (f *fleet) learn(lb loadbalance.LoadBalance, n *protocol.Node, v protocol.Verdict, took ...time.Duration) {
	for _, d := range took {
		f.attempt(lb, n, f.call())(d, v)
	}
}

func setState(n *protocol.Node, s protocol.State) {
	n.Endpoint().(*endpoint).state.Store(int32(s))
}

// index returns the position of a node in the fleet.
func (f *fleet) index(tb rapid.TB, n *protocol.Node) int {
	for i := range f.nodes {
		if f.nodes[i] == n {
			return i
		}
	}
	tb.Helper() // which takes longer than the search
	require.Fail(tb, "picked a node that is not in the list")
	return -1
}

// source returns a seeded random source for one goroutine.
func source(seed uint64) func() uint64 { return rand.New(rand.NewPCG(seed, 1)).Uint64 }

// zero is a random source that always returns 0: roundrobin starts at its first turn.
func zero() uint64 { return 0 }

func balancer(tb testing.TB, name string, cfg loadbalance.Config) loadbalance.LoadBalance {
	tb.Helper()
	b, err := loadbalance.New(loadbalance.Builtin(), name, cfg)
	require.NoError(tb, err)
	return b
}
