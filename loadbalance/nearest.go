package loadbalance

import "github.com/gofer-rpc/gofer/protocol"

// Nearest finds the nodes nearest to a call on the ring of consistenthash, for
// strategies of an application's own. The zero value is ready. It is safe for
// concurrent use; a strategy has one, and with it is a [Preparer], too.
type Nearest struct{ hasher }

// Append appends to nodes the first k that the call may go to, clockwise from its
// key, and returns the result: nodes of different addresses, the owner of the key
// first. There are fewer than k if fewer may be called, and at most 8. Parameters
// "hash.nodes" and "hash.arguments" count as for consistenthash, so the owner is the
// same. It allocates nothing when nodes has room.
func (n *Nearest) Append(nodes []*protocol.Node, k int, c *protocol.Candidates, inv *protocol.Invocation) []*protocol.Node {
	if c.Len() == 0 {
		return nodes
	}
	w := n.walk(c, inv)
	for range k {
		next := w.next(inv)
		if next == nil {
			break
		}
		nodes = append(nodes, next)
	}
	return nodes
}
