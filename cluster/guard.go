package cluster

import (
	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
)

// guard lets a load balancer that is not gofer's own, or only compared with, learn
// from calls without being able to harm them: whatever it does, the call goes on, and
// the other observers learn of it.
type guard struct {
	protocol.Observer
	balancer *balancer
	shadow   bool // one panic is enough
}

// Begun implements [protocol.Observer].
func (g *guard) Begun(inv *protocol.Invocation, life *protocol.Life) {
	defer g.recover(inv)
	if !g.balancer.broken() {
		g.Observer.Begun(inv, life)
	}
}

// Ended implements [protocol.Observer].
func (g *guard) Ended(inv *protocol.Invocation, o protocol.Outcome) {
	defer g.recover(inv)
	if !g.balancer.broken() {
		g.Observer.Ended(inv, o)
	}
}

func (g *guard) recover(inv *protocol.Invocation) {
	v := recover()
	switch {
	case v == nil:
	case g.shadow:
		g.balancer.fail(v)
	default:
		g.balancer.panics.add("a load balancer panicked as it was told of a call; the call goes on", protocol.Recovered(v),
			zap.String(balanceKey, g.balancer.name), zap.String("method", inv.Method.Name))
	}
}
