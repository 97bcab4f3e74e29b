package loadbalance

import "github.com/gofer-rpc/gofer/protocol"

// leastActive sends a call to where the fewest are under way.
type leastActive struct {
	book *book[*contest]
}

// NewLeastActive returns the strategy "leastactive". A provider drawn at random by
// weight gets the call if no other has fewer calls under way; else the provider
// with the least (calls under way + 1) / weight gets it, equal ones at random by
// weight. So
//
//   - among equal weights the provider with the fewest calls under way is next, and
//     equal counts share by weight, as in Dubbo (B075);
//   - a provider of low weight, one that warms up above all, is not flooded because
//     it alone has the fewest calls under way, where Dubbo does not look at the
//     weight (F3), and yet has its share by weight when it is idle;
//   - when the others are busy a provider that warms up helps with at least a tenth
//     of its full weight, whatever the ramp says: else it would stay idle while they
//     drown.
//
// Calls are counted whether or not "actives" is set (F2, B077). A provider that
// fails fast looks idle and draws calls (F4), and calls made one by one cannot
// show which provider is slow (F25, B093): a strategy that looks at latency does
// better there. A weight of 0 means never while another provider has weight.
func NewLeastActive(cfg Config) (LoadBalance, error) {
	return &leastActive{newBook(cfg, func(p *page[*contest], slot int, _ *page[*contest]) *contest {
		return newContest(&p.weights, slot, nil)
	})}, nil
}

// Select implements [LoadBalance].
func (s *leastActive) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	p := s.book.open(c, inv)
	if p == nil {
		return nil
	}
	return p.at(contend(s.book, p, moment{}, inv))
}
