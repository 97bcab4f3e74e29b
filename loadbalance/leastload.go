package loadbalance

import (
	"github.com/gofer-rpc/gofer/protocol"
)

// leastLoad sends a call to where the least load is.
type leastLoad struct {
	*learner
	book *book[*loads]
}

// NewLeastLoad returns the strategy "leastload", the one to use unless there is a
// reason for another. Dubbo has none like it; it needs nothing of the providers. The
// call goes to the provider with the least
//
//	(calls under way + 1) × latency^1.2 / weight
//
// of all, or of 64 at random in lists of more than 128.
//
//   - Calls under way are those of all methods, of this reference (F2). One that has
//     been under way for longer than 1 s and 20 times what calls take on average counts
//     a tenth, if the provider does answer others: it waits for something that is no
//     load.
//   - Latency is the provider's mean of the latest 3 s, or of the time that ten calls take
//     if that is longer, and of the latest 50 calls above all. In it each call counts for
//     what is usual for its method; a failure counts as 50 times that, or what it took
//     if that is more. So a provider that fails fast draws no calls (F4), and returns by
//     itself as its failures fade. An exception of the service is an answer; it counts as
//     what is usual at least, so one that throws at once gets its part and no more. A
//     provider of which nothing is known is taken for as fast as all are on average: it is
//     neither flooded nor starved. A restart is a new life, of which nothing is known.
//     A little more than once: a call at a slow provider is in the way of others for
//     longer. In the simulator p99 is 2 % lower for it, and no mean is higher by more.
//   - What is known of few calls, or fades, may be chance: it counts up to a fifth less
//     than it says. So of equal providers each has its turn also when calls are made
//     one by one, and one that was slow, or failed, is tried again: most often within 15 s.
//   - The weight is the one in force, during warm-up at least a fifth of the full one.
//     It is a share in the long run: a provider with less weight than others that has
//     had less than its share of the latest 12 s competes as if it had the most weight. A
//     provider with weight 5 beside three with 100 gets its 1.6 %, unless it is slow.
//
// What is known of a provider is of all its methods. One that is slow for one method alone
// has fewer calls of the others, too; and where a few methods take seconds of processor
// time and many calls of another take none, the calls under way of the long ones count
// too little: give those a reference of their own, or one method leastactive.
//
// Without calls to learn from that is the least calls under way for the weight. A
// weight of 0 means never while another provider has weight.
func NewLeastLoad(cfg Config) (LoadBalance, error) { return newLeastLoad(cfg), nil }

func newLeastLoad(cfg Config) *leastLoad {
	s := new(leastLoad)
	s.book = newBook(cfg, func(p *page[*loads], slot int, before *page[*loads]) *loads {
		return newLoads(s.learner, p, slot, before)
	})
	s.learner = newLearner(s.book.zero, s.book.ended)
	return s
}

// Select implements [LoadBalance].
func (s *leastLoad) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	p, g := s.fresh(c, inv)
	if p == nil {
		return nil
	}
	i, _ := p.own.least(p.nodes, inv, s.book.rand(), g)
	if i < 0 {
		return p.at(p.scan(inv, s.book.rand())) // nobody who has weight
	}
	p.own.charge(i)
	return p.nodes[i]
}

// fresh returns the page of a call with what picks read up to date, nil for an empty
// list.
func (s *leastLoad) fresh(c *protocol.Candidates, inv *protocol.Invocation) (p *page[*loads], g glance) {
	now := s.book.since(inv)
	if p = s.book.openAt(c, inv, now); p != nil {
		p.own.refresh(now)
		g = p.own.glance(now)
	}
	return p, g
}

// Prepare implements [Preparer].
func (s *leastLoad) Prepare(c *protocol.Candidates, slot int) { s.book.prepare(c, slot) }
