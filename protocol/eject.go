package protocol

// A node that keeps failing can be taken out of the choice for a while. Who decides
// that is not the business of load balancers, which only ask [Invocation.Allows]:
// one mechanism serves them all. An ejection ends with the provider's life, so that
// a restarted provider begins without one.

// Ejected reports whether the node is out of the choice. It is one atomic load.
func (n *Node) Ejected() bool { return n.ejected.Load() }

// Eject takes the node out of the choice for the rest of a life, or until
// [Node.Readmit]. It reports whether that life is still the node's.
func (n *Node) Eject(life *Life) bool { return n.setEjected(life, true) }

// Readmit ends the ejection of a life. Calls that wait for a slot look again.
func (n *Node) Readmit(life *Life) { n.setEjected(life, false) }

func (n *Node) setEjected(life *Life, ejected bool) bool {
	n.mu.Lock()
	current := n.life.Load() == life
	if current {
		n.ejected.Store(ejected)
	}
	n.mu.Unlock()
	if current {
		n.methods.Changed() // the calls that wait have other candidates now
	}
	return current
}
