package cluster

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// plan is how the calls of one method go, worked out once per list.
type plan struct {
	balance *balancer
	shadow  *shadow       // nil: none
	timeout time.Duration // for waiting; an attempt has its provider's
	retries int
	sticky  *atomic.Pointer[stuck] // nil: not sticky

	called atomic.Bool
	idle   int // how many lists before this one in a row were not used by the method
}

// use notes that the method is called.
func (p *plan) use() {
	if !p.called.Load() { // a write per call would be dear
		p.called.Store(true)
	}
}

// plan returns the plan of a method for the directory's list.
func (c *Invoker) plan(list *protocol.Candidates, slot int) *plan {
	return list.State(c, slot, func(before any) any {
		old, _ := before.(*plan)
		return c.makePlan(list.Nodes(), slot, old)
	}).(*plan)
}

func (c *Invoker) makePlan(nodes []*protocol.Node, slot int, old *plan) *plan {
	own, _ := url.CompileMethod(c.reference, c.methods.Name(slot)) // as long as there is no provider
	name := majority(nodes, slot, meant(own.LoadBalance), func(m *url.Method) string { return meant(m.LoadBalance) })
	p := &plan{
		balance: c.balancers.get(name),
		timeout: majority(nodes, slot, own.Timeout, func(m *url.Method) time.Duration { return m.Timeout }),
		retries: vote(nodes, slot, own.Retries, func(m *url.Method) int { return m.Retries }, func(v, best int) bool { return v < best }),
	}
	if old != nil && !old.called.Load() {
		p.idle = old.idle + 1
	}
	if p.balance == nil { // an override or a provider named it: what was in force stays
		if old != nil {
			p.balance = old.balance
		} else {
			p.balance = c.balancers.get(meant(own.LoadBalance))
		}
	}
	p.shadow = c.shadows.of(slot, nodes,
		majority(nodes, slot, own.Shadow, func(m *url.Method) string { return m.Shadow }),
		majority(nodes, slot, own.ShadowSample, func(m *url.Method) int { return m.ShadowSample }),
		p.balance.name)
	if majority(nodes, slot, own.Sticky, func(m *url.Method) bool { return m.Sticky }) {
		p.sticky = new(atomic.Pointer[stuck])
		if old != nil && old.sticky != nil {
			p.sticky = old.sticky
		}
	}
	return p
}

// majority returns the value that most providers have for a method; of those that
// as many have, one that is stated rather than none, the reference's or the default,
// which is the value too when there is no provider. Several that are stated go by the
// order of the list.
func majority[T comparable](nodes []*protocol.Node, slot int, none T, of func(*url.Method) T) T {
	return vote(nodes, slot, none, of, func(v, best T) bool { return best == none && v != none })
}

// vote is majority with a word of its own on what is better of two values that as
// many providers have.
func vote[T comparable](nodes []*protocol.Node, slot int, none T, of func(*url.Method) T, better func(v, best T) bool) T {
	if len(nodes) == 0 {
		return none
	}
	first := of(nodes[0].Method(slot))
	if !slices.ContainsFunc(nodes, func(n *protocol.Node) bool { return of(n.Method(slot)) != first }) {
		return first
	}
	counts := map[T]int{}
	for _, n := range nodes {
		counts[of(n.Method(slot))]++
	}
	best := first
	for _, n := range nodes {
		v := of(n.Method(slot))
		if counts[v] > counts[best] || counts[v] == counts[best] && better(v, best) {
			best = v
		}
	}
	return best
}
