package loadbalance

import "github.com/gofer-rpc/gofer/protocol"

type roundRobin struct {
	book *book[*rotation]
}

// NewRoundRobin returns the strategy "roundrobin".
func NewRoundRobin(cfg Config) (LoadBalance, error) {
	s := new(roundRobin)
	s.book = newBook(cfg, func(p *page[*rotation], _ int, before *page[*rotation]) *rotation {
		if before == nil {
			return newRotation(&p.weights, s.book.rand)
		}
		return before.own.succeed(&p.weights)
	})
	return s, nil
}

// Select implements [LoadBalance].
func (s *roundRobin) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	p := s.book.open(c, inv.Method.Slot)
	if p == nil {
		return nil
	}
	for range redraws(len(p.nodes)) {
		if n := p.nodes[p.own.ticket()]; inv.Allows(n) {
			return n
		}
	}
	return p.at(p.scan(inv, s.book.rand()))
}
