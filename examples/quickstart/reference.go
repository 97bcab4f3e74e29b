package main

import (
	"context"
	"strings"

	"github.com/gofer-rpc/gofer"
)

// caller makes one call.
type caller func(ctx context.Context) (answer any, err error)

// typed is the call to our own providers. Its types are known here, so the method is
// bound to them once, and a call gives a Go string.
func typed(r *gofer.Reference) caller {
	describe, err := gofer.Method[string](r, method)
	return func(ctx context.Context) (any, error) {
		if err != nil {
			return nil, err
		}
		return describe.Call(ctx, int64(id))
	}
}

// untyped is a generic call, which needs no Go types: objects come and go as maps.
func untyped(r *gofer.Reference, signature string, args []any) caller {
	return func(ctx context.Context) (any, error) { return r.Generic(ctx, signature, args...) }
}

// strategies are the load balancers to measure: all, or the one that the service's
// parameters ask for.
func (c *config) strategies() []string {
	for _, key := range []string{c.balancer(), "loadbalance"} {
		if own := parameter(c.service, key); own != "" {
			return []string{own}
		}
	}
	return []string{"random", "roundrobin", "leastactive"}
}

// balancer is the parameter that chooses the load balancer of the method, as in
// describe.loadbalance: whatever providers say, it goes first.
func (c *config) balancer() string { return c.name() + ".loadbalance" }

// name is that of the method, without types.
func (c *config) name() string {
	name, _, _ := strings.Cut(c.method, "(")
	return strings.TrimSpace(name)
}

// reference is what is given to Refer: the service with our parameters on top.
func (c *config) reference(strategy string) string {
	filters := "meter"
	if own := parameter(c.service, "reference.filter"); own != "" {
		filters = own + ",meter"
	}
	return with(with(c.service, "reference.filter", filters), c.balancer(), strategy)
}

// parameter returns a parameter of a reference's text, "" when it is not there.
func parameter(reference, key string) string {
	_, query, _ := strings.Cut(reference, "?")
	for pair := range strings.SplitSeq(query, "&") {
		if k, v, _ := strings.Cut(pair, "="); k == key {
			return v
		}
	}
	return ""
}

// with sets a parameter in a reference's text.
func with(reference, key, value string) string {
	name, query, _ := strings.Cut(reference, "?")
	var pairs []string
	for pair := range strings.SplitSeq(query, "&") {
		if k, _, _ := strings.Cut(pair, "="); k != key && pair != "" {
			pairs = append(pairs, pair)
		}
	}
	return name + "?" + strings.Join(append(pairs, key+"="+value), "&")
}
