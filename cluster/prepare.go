package cluster

import (
	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// maxIdle is for how many lists in a row strategies prepare for a method that is not
// called. It then has to wait for its next call.
const maxIdle = 4

// Prepare builds what the calls of a listing need before it is in force: the plans
// of all methods and what the load balancers of those that are called derive from
// the list. So no call pays for a change of ten thousand providers, and calls go on
// with the old listing meanwhile. What a router leaves of a list is built when it
// is first asked for. The directory calls it before it replaces a listing.
func (c *Invoker) Prepare(old, next *protocol.Listing) {
	if old != nil && old.Candidates == next.Candidates || next.Candidates.Len() == 0 {
		return
	}
	for slot := range c.methods.Names() {
		if p := c.plan(next.Candidates, slot); p.idle < maxIdle && next.Candidates.Len() > 1 {
			p.balance.prepare(next.Candidates, slot)
			if p.shadow != nil && !p.shadow.balance.broken() {
				p.shadow.balance.prepare(next.Candidates, slot)
			}
		}
	}
}

// prepare lets the load balancer build what it derives from a list, if it can. A
// panic there is not the registry's problem: calls will build what is missing.
func (b *balancer) prepare(list *protocol.Candidates, slot int) {
	p, ok := b.LoadBalance.(loadbalance.Preparer)
	if !ok {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			b.panics.add("a load balancer panicked while it prepared for a list", protocol.Recovered(v), zap.String(balanceKey, b.name))
		}
	}()
	p.Prepare(list, slot)
}
