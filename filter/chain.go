package filter

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// parameter holds the chain in Dubbo's syntax.
const parameter = "reference.filter"

// Chain is the filters of one reference.
type Chain struct {
	names []string // outermost first
	pairs []Pair
	log   *zap.Logger
}

// NewChain makes the filters that the reference's parameter "reference.filter"
// names, from factories. As in Dubbo 2.7, the parameter is a list separated by
// commas in which
//
//   - x adds the filter x, once, in the order of the list,
//   - -x takes out x, and -default all filters that a reference has unasked,
//   - default says where those go; without it they are outermost.
//
// A name that is not in factories, with or without the minus, is an error that
// lists the known names. The active limit is innermost and cannot be taken out.
// What providers put into the parameter names Java classes and is not looked at.
func NewChain(cfg Config, factories map[string]Factory) (*Chain, error) {
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	text := cfg.Reference.Param(parameter)
	names, err := resolve(text, factories)
	if err != nil {
		return nil, fmt.Errorf("parameter %s=%q: %w", parameter, text, err)
	}
	c := &Chain{names: names, log: cfg.Logger}
	for _, name := range names {
		p, err := made(factories[name], cfg)
		if err != nil {
			return nil, fmt.Errorf("filter %q: %w", name, err)
		}
		c.pairs = append(c.pairs, p)
	}
	return c, nil
}

// made calls a factory, whose panic becomes an error. The stack is logged.
func made(f Factory, cfg Config) (p Pair, err error) {
	defer func() {
		if v := recover(); v != nil {
			e := protocol.Recovered(v).Cause.(*protocol.PanicError)
			cfg.Logger.Error("a filter's factory panicked", zap.Error(e), zap.ByteString("stack", e.Stack))
			err = fmt.Errorf("its factory: %w", e)
		}
	}()
	return f(cfg)
}

// resolve turns the parameter's text into names, outermost first.
func resolve(text string, factories map[string]Factory) ([]string, error) {
	var listed []string
	removed := map[string]bool{}
	for _, item := range url.SplitList(text) {
		item = strings.TrimSpace(item)
		name, minus := strings.CutPrefix(item, "-")
		switch {
		case item == "":
			continue
		case isActiveLimit(name) && minus:
			return nil, fmt.Errorf("%q cannot be taken out, it counts the calls that balancers look at; actives=0, the default, means no limit", name)
		case isActiveLimit(name):
			continue // is there anyway
		}
		if factory, known := factories[name]; !known && name != "default" {
			return nil, protocol.UnknownName("filter", name, factories)
		} else if known && factory == nil {
			return nil, fmt.Errorf("filter %q: its factory is nil", name)
		}
		if minus {
			removed[name] = true
		} else if !slices.Contains(listed, name) {
			listed = append(listed, name)
		}
	}
	if !slices.Contains(listed, "default") {
		listed = slices.Insert(listed, 0, "default")
	}
	var names []string
	for _, name := range listed {
		group := []string{name}
		if name == "default" {
			group = activated(listed, factories)
		}
		if !removed[name] {
			names = append(names, group...)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return removed[name] }), nil
}

// activated returns the default filters that the list does not place itself.
func activated(listed []string, factories map[string]Factory) []string {
	var names []string
	for _, name := range defaults {
		if factories[name] != nil && !slices.Contains(listed, name) {
			names = append(names, name)
		}
	}
	return names
}

// isActiveLimit knows the filter's name in Dubbo 2 and in Dubbo 3.
func isActiveLimit(name string) bool { return name == "activelimit" || name == "active-limit" }

// Names returns the filters of the reference, outermost first.
func (c *Chain) Names() []string { return append(slices.Clone(c.names), "activelimit") }

// Call puts the filters that work per call before next, the cluster. A panic in
// one of them fails the call, not the process; its errors are each an
// [*protocol.Error] that names the call, and a result of its own becomes that of the
// invocation, see [protocol.Invocation.Settle].
func (c *Chain) Call(next protocol.Invoker) protocol.Invoker {
	filtered := false
	for i, p := range slices.Backward(c.pairs) {
		if p.Call != nil {
			next, filtered = stand(c.names[i], p.Call, next), true
		}
	}
	if !filtered {
		return next
	}
	return &guard{next: next, log: c.log}
}

// Attempt puts the filters that work per attempt before next, a provider. Panics
// pass, after they were counted; the cluster recovers them.
func (c *Chain) Attempt(next protocol.Invoker) protocol.Invoker {
	next = ActiveLimit(next)
	for i, p := range slices.Backward(c.pairs) {
		if p.Attempt != nil {
			next = stand(c.names[i], p.Attempt, next)
		}
	}
	return next
}

// stand puts a filter before next. One that makes no invoker, or panics, fails the
// calls, with its name: to leave it out might leave out a check. That of a provider
// stands when the registry lists it, on a goroutine where a panic would end the process.
func stand(name string, f Filter, next protocol.Invoker) (made protocol.Invoker) {
	why := "its function returned nil"
	defer func() {
		if v := recover(); v != nil {
			made, why = nil, "its function panicked: "+fmt.Sprint(v)
		}
		if made == nil {
			made = broken(fmt.Sprintf("filter %q made no invoker: %s", name, why))
		}
	}()
	return f(next)
}

// broken fails every call.
func broken(text string) protocol.Invoker {
	return protocol.InvokerFunc(func(context.Context, *protocol.Invocation) (*protocol.Result, error) {
		e := protocol.Errorf(protocol.ErrUnknown, "%s", text)
		e.Retry = protocol.RetryNever
		return nil, e
	})
}

// guard is where the filters of a call end: it turns a panic into the error of the
// call, and settles what they return.
type guard struct {
	next protocol.Invoker
	log  *zap.Logger

	until  atomic.Int64 // by the clock of the system: panics are not logged before
	missed atomic.Int64 // since the last that was
}

// A filter that panics may do so in every call: one in so long is logged.
const panicPeriod = 10 * time.Second

func (g *guard) Invoke(ctx context.Context, inv *protocol.Invocation) (res *protocol.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			e := protocol.Recovered(v)
			e.Service, e.Method, e.Attempts = inv.Method.Service, inv.Method.Name, inv.Attempt
			e.Sent = inv.Sent()
			g.tell(inv, e.Cause.(*protocol.PanicError))
			res, err = nil, e
		}
	}()
	return inv.Settle(g.next.Invoke(ctx, inv))
}

func (g *guard) tell(inv *protocol.Invocation, p *protocol.PanicError) {
	now, until := time.Now(), g.until.Load()
	if now.UnixNano() < until || !g.until.CompareAndSwap(until, now.Add(panicPeriod).UnixNano()) {
		g.missed.Add(1)
		return
	}
	g.log.Error("panic in a filter: the call fails", zap.String("method", inv.Method.Name), zap.Error(p),
		zap.Int64("notLogged", g.missed.Swap(0)), zap.ByteString("stack", p.Stack))
}
