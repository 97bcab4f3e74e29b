package protocol

// pick is the state of provider selection within one call: whom the call has
// tried and how choosy the selection is at the moment.
type pick struct {
	tried  [4]*Node
	n      int32 // how many were tried
	relax  Relax
	more   []*Node
	frozen map[*Node]Reading // see [Invocation.Freeze]
}

// Relax says which conditions a selection gives up.
type Relax uint8

// What a selection may give up when nobody meets all conditions. The cluster
// relaxes step by step; a load balancer only asks [Invocation.Allows].
const (
	RelaxTried     Relax = 1 << iota // a provider that this call has tried
	RelaxState                       // a provider that is ReadOnly; one that is Down never is allowed
	RelaxSaturated                   // a provider whose actives are used up
	RelaxEjected                     // a provider that was ejected for its failures
)

// Allows reports whether the call may go to n now: not tried by this call, ready,
// not ejected, and with a free slot under its "actives" limit, as far as these
// conditions are not relaxed. Load balancers skip nodes that are not allowed.
func (inv *Invocation) Allows(n *Node) bool {
	p := &inv.pick
	if p.frozen != nil {
		return inv.Read(n).Allowed
	}
	if s := n.endpoint.State(); s != Ready && (s != ReadOnly || p.relax&RelaxState == 0) {
		return false
	}
	if n.ejected.Load() && p.relax&RelaxEjected == 0 {
		return false
	}
	if p.n > 0 && p.relax&RelaxTried == 0 && inv.Tried(n) {
		return false
	}
	return p.relax&RelaxSaturated != 0 || !n.Saturated(inv.Method.Slot)
}

// SetRelax sets what the selection gives up. Clusters call it.
func (inv *Invocation) SetRelax(r Relax) { inv.pick.relax = r }

// Relaxed returns what the selection gives up at the moment.
func (inv *Invocation) Relaxed() Relax { return inv.pick.relax }

// MarkTried notes that this call has been tried at n.
func (inv *Invocation) MarkTried(n *Node) {
	p := &inv.pick
	if int(p.n) < len(p.tried) {
		p.tried[p.n] = n
	} else {
		p.more = append(p.more, n)
	}
	p.n++
}

// NewRound forgets whom the call has been tried at, but for the latest one: when
// all were tried, they are tried again in turn, and nobody twice in a row (B058).
func (inv *Invocation) NewRound() {
	if last := inv.LastTried(); last != nil {
		inv.pick.tried, inv.pick.n, inv.pick.more = [4]*Node{last}, 1, nil
	}
}

// TriedCount returns how many attempts were marked.
func (inv *Invocation) TriedCount() int { return int(inv.pick.n) }

// LastTried returns the provider of the previous attempt, nil before the first.
func (inv *Invocation) LastTried() *Node {
	p := &inv.pick
	switch {
	case p.n == 0:
		return nil
	case int(p.n) <= len(p.tried):
		return p.tried[p.n-1]
	default:
		return p.more[len(p.more)-1]
	}
}

// Tried reports whether this call has been tried at n.
func (inv *Invocation) Tried(n *Node) bool {
	p := &inv.pick
	for i := range min(int(p.n), len(p.tried)) {
		if p.tried[i] == n {
			return true
		}
	}
	for _, m := range p.more {
		if m == n {
			return true
		}
	}
	return false
}
