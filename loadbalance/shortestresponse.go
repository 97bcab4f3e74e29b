package loadbalance

import (
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// shortestResponse sends a call to where it is expected to be answered first.
type shortestResponse struct {
	book  *book[*contest]
	ticks ticking        // of the slide period
	fleet bySlot[window] // successes of all providers
	hurry hurry
}

// NewShortestResponse returns the strategy "shortestresponse". What a call is
// expected to take at a provider is, as in Dubbo since 3.0.3, its average for the
// method over the latest "shortestResponseSlidePeriod" (30 s), times the calls under
// way + 1. A provider drawn at random by weight gets the call if no other is expected
// to be faster; else the provider with the least expectation for its weight gets it, as
// [NewLeastActive] describes, warm-up included: Dubbo does not look at the weight of
// the one that is fastest (F3).
//
// It differs from Dubbo's in what that average is:
//
//   - An exception counts as what is usual at least, an answer of no use (a status that
//     says that the call cannot be read, or the answer not written) as 8 times that.
//     A failure counts as the provider's timeout, or what it took if that is more, so a
//     provider that fails fast is no fast one. In Dubbo only successes count, and one
//     that never succeeds wins every call (F4). A caller that gives up before that timeout
//     tells only that the answer would have taken longer: as much longer as is usual there.
//     So does one that cancels, after twice what is usual there; sooner that says nothing.
//   - A provider of which nothing is known within the period is taken for as fast as
//     all are on average, not for infinitely fast; so it gets its share, and shows
//     what it can do.
//   - Few calls tell little: an average is worked out with four more calls, as long as
//     they are on average at all providers. And while a provider has shown less than 30
//     calls, or none for a second, it gets, when idle, one in ten of those that it is
//     drawn for whatever is expected of it. So one whose first calls were slow is not left
//     to starve. One that was slow for long is back when that has left the period.
//   - A tenth longer is not longer. In Dubbo one of 20 ms gets every call that comes
//     while nobody has any under way, and one of 21 ms none.
//   - The window slides: a call counts less with every tenth of the period, until it is
//     forgotten. Dubbo forgets everything at once, and then all providers are equal (F21).
//   - Averages are compared in tenths of a millisecond, and one of less than 1 ms counts
//     as 1 ms: Dubbo takes it for 0, and then calls under way do not count.
//   - The average belongs to one life of a provider: a restart begins anew, and nothing
//     is kept of a provider that is gone (F23).
//   - Calls are counted whether or not "actives" is set (F2).
//
// A slow provider is known as such by calls made one by one, too (F25).
func NewShortestResponse(cfg Config) (LoadBalance, error) {
	period := url.NewReader(cfg.Reference).Duration("shortestResponseSlidePeriod")
	s := &shortestResponse{ticks: newTicking(period)}
	s.book = newBook(cfg, func(p *page[*contest], slot int, _ *page[*contest]) *contest {
		return s.contest(&p.weights, slot)
	})
	return s, nil
}

// contest prepares one in which calls take longer at some nodes.
func (s *shortestResponse) contest(w *weights, slot int) *contest {
	c := newContest(w, slot, func(l *protocol.Life) *haste { return &s.showing(l, slot).haste })
	c.usual, c.ticks = s.fleet.at(slot), s.ticks
	for i, n := range w.nodes {
		c.entrants[i].showing = s.showing(n.Life(), slot)
	}
	return c
}

// showing is what a provider has shown of a method in one life.
type showing struct {
	window
	haste  haste
	latest atomic.Int64 // when an attempt ended, on the book's clock
}

func (s *shortestResponse) showing(l *protocol.Life, slot int) *showing {
	return l.State(s, newShowings).(*bySlot[showing]).at(slot)
}

func newShowings() any { return new(bySlot[showing]) }

// Select implements [LoadBalance].
func (s *shortestResponse) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	now := s.book.since(inv)
	p := s.book.openAt(c, inv, now)
	if p == nil {
		return nil
	}
	m := s.moment(p.own, now)
	return p.at(p.own.contend(&p.weights, &m, inv, s.book.rand()))
}

// Prepare implements [Preparer].
func (s *shortestResponse) Prepare(c *protocol.Candidates, slot int) { s.book.prepare(c, slot) }

// moment brings what picks read up to date.
func (s *shortestResponse) moment(c *contest, now time.Duration) moment {
	c.move(now)
	usual := c.usual.average.Load()
	return moment{now: now, glance: s.hurry.glance(now, time.Duration(usual)), usual: usual}
}

// Begun implements [protocol.Observer].
func (s *shortestResponse) Begun(*protocol.Invocation, *protocol.Life) {}

// Ended implements [protocol.Observer]: it counts what the attempt took.
func (s *shortestResponse) Ended(inv *protocol.Invocation, o protocol.Outcome) {
	now, slot := s.book.ended(inv, o), inv.Method.Slot
	w, fleet, tick := s.showing(o.Life, slot), s.fleet.at(slot), s.ticks.at(now)
	usual := fleet.mean(tick)
	w.latest.Store(int64(now))
	if hasty(inv, o, time.Duration(usual)) {
		s.hurry.add(&w.haste, now, time.Duration(usual))
	}
	w.mean(tick)
	took, counts, _ := price(inv, o, time.Duration(w.expected(usual)), time.Duration(usual))
	if !counts {
		return
	}
	if o.Verdict == protocol.Succeeded && o.Err == nil {
		fleet.add(tick, int64(took))
	}
	w.add(tick, int64(took))
}
