package protocol

// Reading is what a choice finds at a node at one moment.
type Reading struct {
	State     State
	Ejected   bool
	Tried     bool // by this call
	Saturated bool // the method's "actives" are used up
	Allowed   bool // the call may go there, see [Invocation.Allows]
}

// Read looks at a node.
func (inv *Invocation) Read(n *Node) Reading {
	if inv.pick.frozen != nil {
		return inv.pick.frozen[n]
	}
	r := Reading{State: n.State(), Ejected: n.Ejected(), Tried: inv.Tried(n), Saturated: n.Saturated(inv.Method.Slot)}
	gives := func(up Relax) bool { return inv.pick.relax&up != 0 }
	switch {
	case r.State != Ready && (r.State != ReadOnly || !gives(RelaxState)),
		r.Ejected && !gives(RelaxEjected),
		r.Tried && !gives(RelaxTried),
		r.Saturated && !gives(RelaxSaturated):
	default:
		r.Allowed = true
	}
	return r
}

// Freeze looks at nodes once: until [Invocation.Thaw] that is what [Invocation.Allows]
// and [Invocation.Read] answer, so that an explanation does not contradict itself while
// other calls begin and end. Of other nodes none is allowed.
func (inv *Invocation) Freeze(nodes []*Node) {
	inv.Thaw()
	readings := make(map[*Node]Reading, len(nodes))
	for _, n := range nodes {
		readings[n] = inv.Read(n)
	}
	inv.pick.frozen = readings
}

// Thaw ends what [Invocation.Freeze] began.
func (inv *Invocation) Thaw() { inv.pick.frozen = nil }
