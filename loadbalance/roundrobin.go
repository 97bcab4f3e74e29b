package loadbalance

import (
	"math/rand/v2"

	"github.com/gofer-rpc/gofer/protocol"
)

// roundRobin takes turns.
type roundRobin struct {
	book *book[*rotation]
	seed uint64
}

// NewRoundRobin returns the strategy "roundrobin": smooth weighted round robin, the
// turns of Dubbo 2.6.5 and later. Shares are exact, also between goroutines (B089).
// Unlike there
//
//   - a provider keeps what it is owed when its weight or the list changes, counted
//     in turns; warm-up, which changes weights all the time, is fair therefore (F10);
//   - consumers begin at different points of the cycle, not all at the same
//     provider (F10);
//   - a weight of 0 is never chosen while another provider has weight (F11), and
//     when all are 0 all are equal, not the first the only one (B091).
//
// The turn of a provider that the call may not go to is lost.
func NewRoundRobin(cfg Config) (LoadBalance, error) {
	s := new(roundRobin)
	s.book = newBook(cfg, func(p *page[*rotation], slot int, before *page[*rotation]) *rotation {
		if before == nil {
			return newRotation(&p.weights, s.beginning(slot))
		}
		return before.own.succeed(&p.weights)
	})
	s.seed = rand.Uint64()
	return s, nil
}

// beginning returns the random numbers that a method's turns begin with: the same ones
// each time, so that what is explained before the first call is what that call will find.
func (s *roundRobin) beginning(slot int) func() uint64 {
	if rand := s.book.cfg.Rand; rand != nil {
		return rand
	}
	r := scramble(s.seed + uint64(slot))
	return func() uint64 {
		r = scramble(r)
		return r
	}
}

// Select implements [LoadBalance].
func (s *roundRobin) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	p := s.book.open(c, inv)
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
