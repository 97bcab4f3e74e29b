package loadbalance

import "github.com/gofer-rpc/gofer/protocol"

// Preparer is a [LoadBalance] that can derive what it needs of a list before the
// list is in force, so that no call has to wait for it.
type Preparer interface {
	// Prepare is called for a list that is about to replace the one before, once for
	// each method that was called. Calls may pick from the old list meanwhile.
	Prepare(c *protocol.Candidates, slot int)
}
