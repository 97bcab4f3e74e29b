package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// Directory offers the providers of a reference.
type Directory interface {
	// List returns the listing in force, never nil. It is called for every attempt.
	List() *protocol.Listing
}

// Config says what a cluster is made of. Directory and Methods are required.
type Config struct {
	// Reference is the reference's own URL: "cluster" names the strategy, and it has
	// the parameters of methods as long as there is no provider.
	Reference url.URL
	Directory Directory
	// Methods numbers the reference's methods; the nodes have the same table.
	Methods *protocol.MethodTable
	// Router narrows the list; nil: not at all.
	Router Router
	// Clusters are the strategies and Balancers the load balancers that can be
	// named; nil: Builtin of this package and of loadbalance.
	Clusters  map[string]Factory
	Balancers map[string]loadbalance.Factory
	// Balancing is what load balancers are made with.
	Balancing loadbalance.Config
	// Trace is told how one of TraceEvery calls was decided, drawn at random, when it has
	// ended; 1 is each. Nil: nobody is. It runs on the caller's goroutine.
	Trace      func(Trace)
	TraceEvery int
	// Logger is silent when nil.
	Logger *zap.Logger
}

// Invoker is the cluster of one reference. It is safe for concurrent use.
type Invoker struct {
	reference url.URL
	directory Directory
	methods   *protocol.MethodTable
	router    Router
	strategy  Strategy
	balancers *balancers
	shadows   *shadows
	tracer    *tracer // nil: off
	outliers  *Outliers
	once      bool // one attempt that counts, whatever "retries" says
	panics    *panics
	closed    atomic.Bool
}

// New makes the cluster of a reference. A strategy or load balancer that nobody
// knows is an error that lists the known ones.
func New(cfg Config) (*Invoker, error) {
	if cfg.Directory == nil || cfg.Methods == nil {
		return nil, errors.New("cluster: Config.Directory and Config.Methods are required")
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	if cfg.Clusters == nil {
		cfg.Clusters = Builtin()
	}
	if cfg.Balancers == nil {
		cfg.Balancers = loadbalance.Builtin()
	}
	p := &panics{log: cfg.Logger}
	c := &Invoker{
		reference: cfg.Reference,
		directory: cfg.Directory,
		methods:   cfg.Methods,
		router:    cfg.Router,
		balancers: newBalancers(cfg, balanceKey, p),
		shadows:   newShadows(cfg, p),
		tracer:    newTracer(cfg, p),
		panics:    p,
	}
	if err := c.balancers.check(cfg.Reference); err != nil {
		return nil, err
	}
	if err := c.shadows.balancers.check(cfg.Reference); err != nil {
		return nil, err
	}
	c.outliers = NewOutliers(func() *protocol.Candidates { return c.directory.List().Candidates }, cfg.Logger)
	c.methods.Observe(c.outliers)
	name := cfg.Reference.ParamOr("cluster", Default)
	c.once = name == "failfast"
	var err error
	if c.strategy, err = newStrategy(cfg, name, p); err != nil {
		return nil, err
	}
	return c, nil
}

func newStrategy(cfg Config, name string, p *panics) (Strategy, error) {
	what := fmt.Sprintf("cluster %q", name)
	factory, known := cfg.Clusters[name]
	switch {
	case !known:
		return nil, fmt.Errorf("parameter cluster: %w", protocol.UnknownName("cluster", name, cfg.Clusters))
	case factory == nil:
		return nil, fmt.Errorf("%s: its factory is nil", what)
	}
	return made(p, what, func() (Strategy, error) {
		s, err := factory(cfg)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", what, err)
		case s == nil:
			return nil, fmt.Errorf("%s: its factory returned neither a strategy nor an error", what)
		}
		return s, nil
	})
}

// Invoke carries out a call. The error is a [*protocol.Error] with service, method,
// provider, attempts and elapsed time filled in. A panic on the way, in a filter of
// an attempt, a balancer or a router, fails this call alone. A result that a strategy
// or a filter brings of its own becomes that of the invocation, see
// [protocol.Invocation.Settle].
func (c *Invoker) Invoke(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	if c.tracer != nil && c.tracer.sampled() {
		return c.trace(ctx, inv)
	}
	return c.invoke(ctx, inv)
}

func (c *Invoker) invoke(ctx context.Context, inv *protocol.Invocation) (res *protocol.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			res, err = nil, c.recovered(v, inv)
		}
	}()
	if inv.Start.IsZero() {
		inv.Start = time.Now()
	}
	inv.StartCall()
	return inv.Settle(c.strategy(ctx, c, inv))
}

func (c *Invoker) recovered(v any, inv *protocol.Invocation) error {
	e := protocol.Recovered(v)
	c.panics.add("panic: the call fails", e, zap.String("method", inv.Method.Name))
	e.Sent = inv.Sent()
	if inv.Attempt == 0 {
		return complete(e, inv, "")
	}
	return complete(e, inv, inv.Node.Address())
}

// Attempt tries the call once: it chooses a provider, waits for a slot there if it
// must, and invokes it. What is refused before it begins (a slot lost to another
// call) is no attempt and goes on to the next provider. The error is not yet
// complete: see [Invoker.Retry].
func (c *Invoker) Attempt(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	s := selection{begun: inv.Start.Add(time.Since(inv.Start))}
	if c.tracer != nil {
		if t, ok := ctx.Value(tracingKey{}).(*tracing); ok {
			return c.traceAttempt(ctx, inv, &s, t)
		}
	}
	return c.attempt(ctx, inv, &s)
}

func (c *Invoker) attempt(ctx context.Context, inv *protocol.Invocation, s *selection) (*protocol.Result, error) {
	defer inv.Leave()
	for {
		n, err := c.choose(ctx, inv, s)
		if err != nil {
			return nil, err
		}
		s.chosen = n
		res, err := c.attemptAt(ctx, inv, n, s)
		switch {
		case err == nil:
			return res, nil
		case !refused(err, n):
			inv.MarkTried(n)
			return nil, err
		}
		inv.Attempt--
		s.refused = true
	}
}

// attemptAt invokes the chosen provider.
func (c *Invoker) attemptAt(ctx context.Context, inv *protocol.Invocation, n *protocol.Node, s *selection) (*protocol.Result, error) {
	inv.StartAttempt(n, s.now, s.deadline)
	defer func() {
		inv.EndAttempt()
		if s.trial { // if it has not begun, or not ended
			c.outliers.Abandon(inv, n)
		}
	}()
	return n.Invoke(ctx, inv)
}

// refused reports whether the active limit of this very provider has refused.
func refused(err error, n *protocol.Node) bool {
	var full *protocol.SaturatedError
	return errors.As(err, &full) && full.Node == n
}

// Retries returns how often a method is retried at present: "retries".
func (c *Invoker) Retries(slot int) int {
	return c.plan(c.directory.List().Candidates, slot).retries
}

// Chooses returns who chooses a provider for a method at present: the load balancer
// of that name, and for a sticky method only until one has been called.
func (c *Invoker) Chooses(slot int) (loadBalance string, sticky bool) {
	p := c.plan(c.directory.List().Candidates, slot)
	return p.balance.name, p.sticky != nil
}

// Changed makes calls that wait for a slot look again. It is to be called after
// the directory has a new listing.
func (c *Invoker) Changed() { c.methods.Changed() }

// Ejection returns what is known about the failures of a provider, and whether they
// have taken it out of the choice.
func (c *Invoker) Ejection(n *protocol.Node) Ejection { return c.outliers.Ejection(n) }

// Close makes all further attempts fail, and those that wait for a slot. It does
// not touch calls that are at a provider.
func (c *Invoker) Close() {
	c.closed.Store(true)
	c.methods.Changed()
}
