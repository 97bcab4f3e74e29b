package loadbalance

import "github.com/gofer-rpc/gofer/protocol"

// random chooses at random by weight: Dubbo's default.
type random struct {
	book *book[lottery]
}

// NewRandom returns the strategy "random": each provider is chosen with the
// probability of its weight, whatever it was asked before. A weight of 0 means
// never while another provider has weight; all 0 counts as all equal (B091). Every
// provider's own weight counts (F22).
func NewRandom(cfg Config) (LoadBalance, error) {
	return &random{newBook(cfg, func(p *page[lottery], _ int, _ *page[lottery]) lottery {
		return newLottery(&p.weights)
	})}, nil
}

// Select implements [LoadBalance].
func (s *random) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	p := s.book.open(c, inv)
	if p == nil {
		return nil
	}
	return p.at(p.own.drawFrom(&p.weights, inv, s.book.rand()))
}
