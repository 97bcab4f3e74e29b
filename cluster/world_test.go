package cluster_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// script is what an endpoint does with a call.
type script func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error)

// endpoint is a scripted provider.
type endpoint struct {
	script script
	state  atomic.Int32
	reason error
	active atomic.Int32
	peak   atomic.Int32
	calls  atomic.Int32
}

func (e *endpoint) Invoke(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	if e.script == nil { // a benchmark
		return &inv.Result, nil
	}
	e.calls.Add(1)
	n := e.active.Add(1)
	defer e.active.Add(-1)
	for p := e.peak.Load(); n > p && !e.peak.CompareAndSwap(p, n); p = e.peak.Load() {
	}
	return e.script(ctx, inv)
}

func (e *endpoint) State() protocol.State { return protocol.State(e.state.Load()) }
func (e *endpoint) set(s protocol.State)  { e.state.Store(int32(s)) }
func (e *endpoint) StateReason() error    { return e.reason }
func (e *endpoint) Update(url.URL)        {}
func (e *endpoint) Close()                {}

// ok answers a call.
func ok(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	inv.Result.Value = inv.Node.Address()
	return &inv.Result, nil
}

// failing fails every call.
func failing(code protocol.Code, retry protocol.Retry) script {
	return func(context.Context, *protocol.Invocation) (*protocol.Result, error) {
		return nil, &protocol.Error{Code: code, Retry: retry, Sent: retry != protocol.RetryAlways, Detail: "as scripted"}
	}
}

// slow answers after d, unless the context or the attempt's deadline ends first,
// as a wire does.
func slow(d time.Duration) script {
	return func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
		select {
		case <-time.After(d):
			return ok(ctx, inv)
		case <-time.After(time.Until(inv.Deadline)):
			return nil, &protocol.Error{Code: protocol.ErrTimeout, Sent: true, Cause: context.DeadlineExceeded}
		case <-ctx.Done():
			return nil, &protocol.Error{Code: protocol.ErrCanceled, Sent: true, Retry: protocol.RetryNever, Cause: ctx.Err()}
		}
	}
}

// world is a reference with its providers.
type world struct {
	t         testing.TB
	reference url.URL
	methods   protocol.MethodTable
	listing   atomic.Pointer[protocol.Listing]
	endpoints []*endpoint
	chain     *filter.Chain
	cluster   *cluster.Invoker
	invoker   protocol.Invoker
	logs      *observer.ObservedLogs
}

// setup changes how a world is made.
type setup struct {
	filters  map[string]filter.Factory
	limit    filter.Filter // instead of the active limit
	config   func(*cluster.Config)
	provider []string // parameters of the providers, in turn
}

func newWorld(t testing.TB, parameters string, s setup, scripts ...script) *world {
	t.Helper()
	w := &world{t: t}
	var err error
	w.reference, err = url.Parse("consumer://192.0.2.1/com.example.DemoService?interface=com.example.DemoService&" + parameters)
	require.NoError(t, err)
	core, logs := observer.New(zapcore.DebugLevel)
	w.logs = logs
	log := zap.New(core)
	filters := filter.Builtin()
	for name, f := range s.filters {
		filters[name] = f
	}
	w.chain, err = filter.NewChain(filter.Config{Reference: w.reference, Application: "test", Logger: log}, filters)
	require.NoError(t, err)
	wrap := w.chain.Attempt
	if s.limit != nil {
		wrap = func(next protocol.Invoker) protocol.Invoker { return w.attempt(s, next) }
	}
	var nodes []*protocol.Node
	for i, script := range scripts {
		own := ""
		if len(s.provider) > 0 {
			own = s.provider[i%len(s.provider)]
		}
		nodes = append(nodes, w.node(i, own, script, wrap))
	}
	w.publish(nodes...)
	cfg := cluster.Config{Reference: w.reference, Directory: w, Methods: &w.methods, Logger: log}
	if s.config != nil {
		s.config(&cfg)
	}
	w.cluster, err = cluster.New(cfg)
	require.NoError(t, err)
	w.invoker = w.chain.Call(w.cluster)
	return w
}

// attempt composes the filters of an attempt with another active limit than the
// chain's: around an endpoint whose counters nobody looks at.
func (w *world) attempt(s setup, endpoint protocol.Invoker) protocol.Invoker {
	next := s.limit(endpoint)
	for _, name := range w.chain.Names() {
		if f := s.filters[name]; f != nil {
			pair, err := f(filter.Config{})
			require.NoError(w.t, err)
			if pair.Attempt != nil {
				next = pair.Attempt(next)
			}
		}
	}
	return next
}

func (w *world) node(i int, parameters string, s script, wrap func(protocol.Invoker) protocol.Invoker) *protocol.Node {
	own, err := url.Parse(fmt.Sprintf("dubbo://192.0.2.%d:20880/com.example.DemoService?interface=com.example.DemoService&%s", 10+i, parameters))
	require.NoError(w.t, err)
	e := &endpoint{script: s}
	w.endpoints = append(w.endpoints, e)
	return protocol.NewNode(own.Address(), url.Merge(own, w.reference), time.Time{}, &w.methods, e, wrap)
}

func (w *world) List() *protocol.Listing { return w.listing.Load() }

func (w *world) nodes() []*protocol.Node { return w.List().Candidates.Nodes() }

// publish puts a new list in force, as a directory does.
func (w *world) publish(nodes ...*protocol.Node) {
	var before *protocol.Candidates
	if old := w.listing.Load(); old != nil {
		before = old.Candidates
	}
	l := &protocol.Listing{Candidates: protocol.NewCandidates(nodes, before)}
	l.Funnel = protocol.Funnel{Source: "zookeeper://192.0.2.200:2181", Registered: len(nodes), Enabled: len(nodes)}
	w.listing.Store(l)
	if w.cluster != nil {
		w.cluster.Changed()
	}
}

func (w *world) invocation(method string) *protocol.Invocation {
	return &protocol.Invocation{
		Method: &protocol.Method{Service: "com.example.DemoService", Name: method, WireName: method, Slot: w.methods.Slot(method)},
		Start:  time.Now(),
	}
}

func (w *world) call(ctx context.Context, method string) (*protocol.Invocation, error) {
	inv := w.invocation(method)
	_, err := w.invoker.Invoke(ctx, inv)
	return inv, err
}

// active returns the calls that are counted at all providers and methods.
func (w *world) active() int {
	n := 0
	for _, node := range w.nodes() {
		for _, s := range node.Life().Statuses {
			n += s.Active()
		}
	}
	return n
}

// own puts a filter under the name own.
func own(f filter.Factory) map[string]filter.Factory { return map[string]filter.Factory{"own": f} }

// first is a balancer that takes the first allowed provider.
type first struct{}

func (first) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	for _, n := range c.Nodes() {
		if inv.Allows(n) {
			return n
		}
	}
	return nil
}

func withFirst(cfg *cluster.Config) { withBalance(cfg, "first", first{}) }

func withBalance(cfg *cluster.Config, name string, b loadbalance.LoadBalance) {
	cfg.Balancers = loadbalance.Builtin()
	cfg.Balancers[name] = func(loadbalance.Config) (loadbalance.LoadBalance, error) { return b, nil }
}

// load answers after giving others a chance, and fails now and then.
func load(i int) script {
	var calls atomic.Int32
	return func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
		runtime.Gosched()
		if n := calls.Add(1); n%11 == int32(i) {
			return nil, &protocol.Error{Code: protocol.ErrNetwork, Retry: protocol.RetryAlways}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return &inv.Result, nil
	}
}

// oddRouter sends calls by tag to some of the providers.
type oddRouter struct{}

func (oddRouter) Route(c *protocol.Candidates, inv *protocol.Invocation) (*protocol.Candidates, string) {
	if inv.Tag == "" {
		return c, ""
	}
	var left []*protocol.Node
	for i, n := range c.Nodes() {
		if (i%2 == 1) == (inv.Tag == "odd") {
			left = append(left, n)
		}
	}
	return protocol.NewCandidates(left, nil), "the rule of " + inv.Tag
}
