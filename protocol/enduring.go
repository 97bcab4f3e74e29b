package protocol

import "time"

// Enduring is an [Endpoint] that tells since when it has been [Ready] without a break:
// shares of calls can be compared only over a time in which all could be chosen.
type Enduring interface {
	// ReadySince returns the zero time when it is not ready.
	ReadySince() time.Time
}

// ReadySince tells since when the node's endpoint has been [Ready] without a break, false
// when it is not. The zero time is that of endpoints that do not say.
func (n *Node) ReadySince() (time.Time, bool) {
	if n.State() != Ready {
		return time.Time{}, false
	}
	e, ok := n.endpoint.(Enduring)
	if !ok {
		return time.Time{}, true
	}
	since := e.ReadySince()
	return since, !since.IsZero()
}
