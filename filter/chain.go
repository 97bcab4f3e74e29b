package filter

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
		p, err := factories[name](cfg)
		if err != nil {
			return nil, fmt.Errorf("filter %q: %w", name, err)
		}
		c.pairs = append(c.pairs, p)
	}
	return c, nil
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
		case name != "default" && factories[name] == nil:
			return nil, protocol.UnknownName("filter", name, factories)
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
// one of them fails the call, not the process.
func (c *Chain) Call(next protocol.Invoker) protocol.Invoker {
	filtered := false
	for _, p := range slices.Backward(c.pairs) {
		if p.Call != nil {
			next, filtered = p.Call(next), true
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
	for _, p := range slices.Backward(c.pairs) {
		if p.Attempt != nil {
			next = p.Attempt(next)
		}
	}
	return next
}

// guard turns a panic into the error of the call.
type guard struct {
	next protocol.Invoker
	log  *zap.Logger
}

func (g *guard) Invoke(ctx context.Context, inv *protocol.Invocation) (res *protocol.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			e := protocol.Recovered(v)
			e.Service, e.Method, e.Attempts = inv.Method.Service, inv.Method.Name, inv.Attempt
			e.Sent = inv.Attempt > 0
			g.log.Error("panic in a filter: the call fails", zap.String("method", inv.Method.Name),
				zap.Error(e.Cause), zap.ByteString("stack", e.Cause.(*protocol.PanicError).Stack))
			res, err = nil, e
		}
	}()
	return g.next.Invoke(ctx, inv)
}
