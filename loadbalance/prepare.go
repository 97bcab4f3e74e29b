package loadbalance

import "github.com/gofer-rpc/gofer/protocol"

// Preparer is a [LoadBalance] that can derive what it needs of a list before the
// list is in force, so that no call has to wait for it.
type Preparer interface {
	// Prepare is called for a list that is about to replace the one before, once for
	// each method that was called. Calls may pick from the old list meanwhile.
	Prepare(c *protocol.Candidates, slot int)
}

// prepare writes the first page of a list and method.
func (b *book[T]) prepare(c *protocol.Candidates, slot int) {
	if c.Len() > 0 {
		b.entry(c, slot)
	}
}

// Prepare implements [Preparer].
func (s *random) Prepare(c *protocol.Candidates, slot int) { s.book.prepare(c, slot) }

// Prepare implements [Preparer].
func (s *roundRobin) Prepare(c *protocol.Candidates, slot int) { s.book.prepare(c, slot) }

// Prepare implements [Preparer].
func (s *leastActive) Prepare(c *protocol.Candidates, slot int) { s.book.prepare(c, slot) }
