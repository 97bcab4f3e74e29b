package cluster

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// explainChoice explains what pick would do. It looks at each provider once.
func (c *Invoker) explainChoice(list *protocol.Listing, left *protocol.Candidates, inv *protocol.Invocation) Explanation {
	now := time.Now()
	trial := c.outliers.Next(left, inv, now, c.spare(list, inv))
	inv.Freeze(left.Nodes())
	defer inv.Thaw()
	p, slot := c.plan(list.Candidates, inv.Method.Slot), inv.Method.Slot
	x := Explanation{
		Service: c.reference.ServiceKey(), Method: inv.Method.Name, Attempt: inv.Attempt + 1,
		LoadBalance: p.balance.name, Origin: c.origin(list.Candidates.Nodes(), slot, p.balance.name),
		Funnel: explain(c.reference.ServiceKey(), list, left, "").Funnel,
	}
	x.Candidates = make([]Candidate, left.Len())
	for i, n := range left.Nodes() {
		x.Candidates[i] = c.candidate(n, inv, now)
	}
	if trial != nil {
		x.trial(trial)
		return x
	}
	c.decide(&x, p, left, inv)
	if waiting := c.methods.Waiting(slot); waiting > 0 {
		x.Decision += fmt.Sprintf("; calls that wait in line for a slot go first: %d", waiting)
	}
	return x
}

// decide adds who decides, and what that says.
func (c *Invoker) decide(x *Explanation, p *plan, left *protocol.Candidates, inv *protocol.Invocation) {
	nodes := left.Nodes()
	allowed := firstAllowed(nodes, inv)
	switch {
	case allowed == nil && x.Funnel.Available == 0:
		x.Decision = "there is no provider: " + remedy(x.Funnel)
		x.Explained = true
		return
	case allowed == nil:
		x.Decision = "nobody can be called now: the call waits in line for the first free slot"
		if slices.ContainsFunc(nodes, func(n *protocol.Node) bool { return inv.Read(n).Ejected }) {
			x.Decision += ", and after half of its time for one of an ejected provider, too"
		}
		x.Explained = true
		return
	case len(nodes) == 1:
		x.Decision = "there is one candidate, so the load balancer is not asked"
		x.only(allowed, "it is the only one")
		return
	}
	if p.sticky != nil {
		if s := p.sticky.Load(); s != nil && slices.Contains(nodes, s.node) && inv.Allows(s.node) {
			x.Decision = "the method is sticky: it stays with the provider of the calls before, and the load balancer is not asked"
			x.only(s.node, "sticky")
			return
		}
		x.Decision = "the method is sticky: it will stay with whom the load balancer chooses now"
	} else {
		x.Decision = "the load balancer chooses"
	}
	e, ok := p.balance.LoadBalance.(loadbalance.Explainer)
	if !ok {
		x.Decision += "; it does not explain itself, so chances are not known"
		return
	}
	told := e.Explain(left, inv)
	x.Rule, x.Explained = told.Rule, true
	for i := range told.Candidates {
		if i < len(x.Candidates) {
			x.Candidates[i].tell(&told.Candidates[i])
		}
	}
}

// trial makes the call the trial of an ejected provider.
func (x *Explanation) trial(n *protocol.Node) {
	x.Decision = "the pause of a provider that was ejected for its failures is over, and this call is the trial: the load balancer is not asked"
	for i := range x.Candidates {
		if c := &x.Candidates[i]; c.key == n.Key() {
			c.Allowed, c.Refusal = true, ""
		}
	}
	x.only(n, "this call is its trial")
}

// only makes one candidate the sure choice.
func (x *Explanation) only(n *protocol.Node, reason string) {
	x.Explained = true
	for i := range x.Candidates {
		if c := &x.Candidates[i]; c.key == n.Key() {
			c.Chance, c.Reason = 1, reason
		} else if c.Allowed {
			c.Reason = "the call goes elsewhere"
		}
	}
}

// candidate is what is known about a provider, whichever the load balancer.
func (c *Invoker) candidate(n *protocol.Node, inv *protocol.Invocation, now time.Time) Candidate {
	slot, life, m := inv.Method.Slot, n.Life(), n.Method(inv.Method.Slot)
	counters, e, r := life.Status(slot).Counters(), c.Ejection(n), inv.Read(n)
	out := Candidate{
		Address: n.Address(), State: r.State.String(), key: n.Key(),
		Weight: loadbalance.Weight(m, life.Start, now), FullWeight: m.Weight,
		Active: counters.Active, Actives: m.Actives, Total: counters.Total, Failed: counters.Failed,
		Latency: counters.AverageElapsed(), LatencyMeasured: counters.Total > 0,
		FailedInRow: e.Failures, Ejected: r.Ejected,
		Allowed: r.Allowed,
	}
	if !life.Start.IsZero() {
		out.Uptime = max(0, now.Sub(life.Start))
		out.Warming = m.Warmup > 0 && out.Uptime < m.Warmup
	}
	if !out.Allowed {
		out.Refusal = refusal(n, r, inv, e, now)
		out.Reason = out.Refusal
	}
	return out
}

// refusal says why a call may not go to a provider.
func refusal(n *protocol.Node, r protocol.Reading, inv *protocol.Invocation, e Ejection, now time.Time) string {
	slot := inv.Method.Slot
	switch {
	case r.State == protocol.Down:
		return downReason(n.Endpoint().StateReason())
	case r.State == protocol.ReadOnly && inv.Relaxed()&protocol.RelaxState == 0:
		return "has asked for no new calls"
	case r.Tried && inv.Relaxed()&protocol.RelaxTried == 0:
		return "tried by this call"
	case r.Ejected && inv.Relaxed()&protocol.RelaxEjected == 0:
		return e.text(now)
	}
	if actives := n.Method(slot).Actives; actives != 1 {
		return fmt.Sprintf("all %d slots of actives are in use", actives)
	}
	return "its 1 slot of actives is in use"
}

// text says why a provider is out, and for how long.
func (e *Ejection) text(now time.Time) string {
	text := "ejected after " + count(e.Failures, "failure")
	var why *silentError
	if errors.As(e.LastFailure, &why) {
		text = "ejected: " + why.Error()
	}
	if rest := e.Until.Sub(now); rest > 0 {
		return fmt.Sprintf("%s; a trial in %v", text, rest.Round(time.Millisecond))
	}
	return text + "; one call is the trial"
}

// tell adds what the load balancer says.
func (c *Candidate) tell(told *loadbalance.Candidate) {
	if told.FullWeight > 0 { // a strategy that looks at no weight tells none
		c.Weight, c.FullWeight, c.Warming = told.Weight, told.FullWeight, told.Warming
	}
	c.WeightUsed, c.Counted = told.WeightUsed, told.Active
	if told.Latency > 0 {
		c.Latency, c.LatencyMeasured = told.Latency, false
	}
	c.Score, c.Scored, c.Chance = told.Score, told.Scored, told.Chance
	if c.Allowed {
		c.Reason = told.Reason
	}
}

// origin says who has named the load balancer in force.
func (c *Invoker) origin(nodes []*protocol.Node, slot int, name string) string {
	method := c.methods.Name(slot)
	own := meant(c.reference.MethodParam(method, balanceKey))
	named, same := 0, 0
	for _, n := range nodes {
		if n.URL().MethodParam(method, balanceKey) != "" {
			named++
		}
		if meant(n.Method(slot).LoadBalance) == name {
			same++
		}
	}
	switch {
	case len(nodes) > 0 && same == 0:
		return "in force before; what most providers name cannot be used"
	case own == name:
		return "the reference"
	case own == "" && named == 0:
		return "the default"
	case same == len(nodes):
		return "all providers"
	}
	return fmt.Sprintf("%d of %d providers", same, len(nodes))
}
