package loadbalance

import (
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// leastActive sends a call to where the fewest are under way.
type leastActive struct {
	book  *book[*contest]
	usual bySlot[average] // ms that a value of a method takes
	hurry hurry
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
// Calls are counted whether or not "actives" is set (F2, B077). One that brought no value
// sooner than a value takes on average is counted for about as long as that: else a
// provider that fails fast, or throws at once, would look idle and draw the calls (F4).
// Calls made one by one cannot show which provider is slow (F25, B093): a strategy that
// looks at latency does better there. A weight of 0 means never while another provider
// has weight.
func NewLeastActive(cfg Config) (LoadBalance, error) {
	s := new(leastActive)
	s.book = newBook(cfg, func(p *page[*contest], slot int, _ *page[*contest]) *contest {
		return newContest(&p.weights, slot, func(l *protocol.Life) *haste { return s.haste(l, slot) })
	})
	return s, nil
}

func (s *leastActive) haste(l *protocol.Life, slot int) *haste {
	return l.State(s, newHastes).(*bySlot[haste]).at(slot)
}

func newHastes() any { return new(bySlot[haste]) }

// Select implements [LoadBalance].
func (s *leastActive) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	now := s.book.since(inv)
	p := s.book.openAt(c, inv, now)
	if p == nil {
		return nil
	}
	m := s.moment(now, inv)
	return p.at(p.own.contend(&p.weights, &m, inv, s.book.rand()))
}

func (s *leastActive) moment(now time.Duration, inv *protocol.Invocation) moment {
	return moment{now: now, glance: s.hurry.glance(now, inMs(s.usual.at(inv.Method.Slot).value()))}
}

// Begun implements [protocol.Observer].
func (s *leastActive) Begun(*protocol.Invocation, *protocol.Life) {}

// Ended implements [protocol.Observer]: it learns who ended too soon.
func (s *leastActive) Ended(inv *protocol.Invocation, o protocol.Outcome) {
	slot, usual := inv.Method.Slot, s.usual.at(inv.Method.Slot)
	takes := inMs(usual.value())
	switch {
	case hasty(inv, o, takes):
		s.hurry.add(s.haste(o.Life, slot), s.book.ended(inv, o), takes)
	case o.Verdict == protocol.Succeeded && o.Err == nil:
		took := max(quickest, millis(o.Elapsed))
		usual.seed(took)
		usual.add(took)
		usual.foldFew(s.book.ended(inv, o), methodMemory)
	}
}
