package cluster

import "github.com/gofer-rpc/gofer/protocol"

// Router narrows the list that a call may go to: conditions, tags. It is asked
// before every attempt and must be fast and safe for concurrent use.
type Router interface {
	// Route returns the providers of c that the call may go to: c itself when no
	// rule applies, and the same object for the same result, because balancers keep
	// what they derive from a list in it. When nobody is left, rule names the rule
	// that did it (B048).
	Route(c *protocol.Candidates, inv *protocol.Invocation) (left *protocol.Candidates, rule string)
}
