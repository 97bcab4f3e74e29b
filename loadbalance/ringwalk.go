package loadbalance

import (
	"slices"

	"github.com/gofer-rpc/gofer/protocol"
)

// mostSteps is the number of nodes that a walk can return.
const mostSteps = 8

// walk goes clockwise round a ring from one position. It is a value: it allocates
// nothing, and ends after one round.
type walk struct {
	ring *ring
	from uint32 // the position it began at
	at   int    // index of the next point
	left int    // points not looked at
	seen [mostSteps]uint32
	n    int // places in seen: those of the nodes returned
}

// walk begins at a position. The ring must have a node.
func (r *ring) walk(position uint32) walk {
	return walk{ring: r, from: position, at: r.find(position), left: len(r.points)}
}

// next returns the next node that the call may go to, nil for none: see index.
func (w *walk) next(inv *protocol.Invocation) *protocol.Node {
	if i := w.index(inv); i >= 0 {
		return w.ring.list[i]
	}
	return nil
}

// index returns where in the list the next node is that the call may go to, of an
// address from which none was returned, -1 when there is none or after mostSteps nodes.
// So the first is the owner of the position, or, while the owner may not be called, the
// one that would own it without the owner: its keys go to its successors and come home
// (F8, F9).
func (w *walk) index(inv *protocol.Invocation) int {
	r := w.ring
	patience := len(r.nodes)
	for w.n < mostSteps && w.left > 0 {
		place := uint32(r.points[w.at])
		w.left--
		if w.at++; w.at == len(r.points) {
			w.at = 0
		}
		if w.returned(place) {
			continue
		}
		if i := r.allowed(place, inv); i >= 0 {
			w.seen[w.n] = place
			w.n++
			return i
		}
		// The fewer nodes are allowed the longer the way to one: 10,000 points to the
		// only one of 10,000 nodes. The whole round to none is 1,600,000: look first.
		if patience--; patience == 0 && !w.rest(inv) {
			w.left = 0
		}
	}
	return -1
}

func (w *walk) returned(place uint32) bool { return slices.Contains(w.seen[:w.n], place) }

// rest reports whether there is a node left to return.
func (w *walk) rest(inv *protocol.Invocation) bool {
	for i := range w.ring.nodes {
		if p := uint32(i); !w.returned(p) && w.ring.allowed(p, inv) >= 0 {
			return true
		}
	}
	return false
}
