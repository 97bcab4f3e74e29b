package loadbalance

import (
	"math"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// adaptive compares the loads of two providers drawn at random.
type adaptive struct {
	book    *book[*pairing]
	ticks   ticking
	usual   bySlot[window] // ns that a method takes, answers of all providers
	reports window         // of all providers, in millionths of a percent
	hurry   hurry
}

const (
	adaptivePeriod = 30 * time.Second // over which it is averaged what is usual
	reportMemory   = 10 * time.Second // in which a report loses half of its effect
	reportUnit     = 1e6
	leastReport    = 1.0  // percent
	leastOfUsual   = 0.25 // of the reports of all
)

// NewAdaptive returns the strategy "adaptive" of Dubbo 3.2. Of two providers drawn
// at random the one with the lower load gets the call, equal ones by weight; up to a
// tenth more is not more:
//
//	load = cpu × (√latency + 1) × (calls under way + 1) / (success × weight + 1)
//
// cpu is what the provider says about itself, in percent (Dubbo 3.2 and later do
// when they are asked, with the attachment "lb_adaptive": the average of a minute),
// latency the smoothed time in ms that the method takes there, success the part of
// its calls that was answered. The formula is Dubbo's to the bit; what goes into it
// is not:
//
//   - Who reports nothing, 0, less than that or no number is taken for as busy as
//     those who report are on average; in Dubbo its load is 0 and it wins every
//     comparison (F5). A number like 1.0E-4 is one. A report counts as at least 1 %,
//     and a quarter of that average, and loses its effect with time.
//   - Reading a load changes nothing. Of a provider that is not called, what it took
//     is forgotten, by half in each timeout, in favour of what is usual; in Dubbo every
//     read does that, overwrites a healthy latency with twice the timeout, and takes
//     idle providers for perfect (F6). No provider's clock is compared with ours.
//   - A provider that owes an answer takes at least as long as it has been silent.
//   - Who is not called is looked at again: of the calls that it is drawn for, whatever
//     its load, an idle provider gets one percent for each 0.2 s since its latest one, up
//     to one in five. So one that had reported that it was overloaded, or had been slow,
//     is back within seconds of its recovery; and one of which nothing is known is
//     neither flooded nor left to starve.
//   - An exception counts as what is usual at least, an answer of no use as 8 times that
//     and as no success, a failure as the provider's timeout at least. A caller that gives up before
//     that tells only that the answer would have taken longer: as much longer as is usual
//     there, and nothing about success. So does one that cancels, after twice what is usual.
//   - What was learned belongs to the method (the report to the provider) and to one
//     life of a provider: one bad method does not spoil the others, and nothing is left
//     of a provider that is gone (F20, F23).
//   - Calls under way are counted once, and never less than 0; loads are compared as
//     the numbers that they are (F19).
//   - A provider that warms up has a tenth of its weight at least. And an idle one whose
//     load is higher for its weight alone gets a part of the calls by weight, as equal
//     ones do: else one with a tenth of the weight would get nothing as long as the other
//     has less than nine calls under way.
//
// Two are drawn without regard to their weights, as in Dubbo: among few providers one of
// small weight gets more than its share. Only providers with weight are drawn, as long as one of them can be called.
func NewAdaptive(cfg Config) (LoadBalance, error) {
	s := &adaptive{ticks: newTicking(adaptivePeriod)}
	s.book = newBook(cfg, s.pair)
	return s, nil
}

// pairing is what adaptive knows about a list and method.
type pairing struct {
	usable   []int32 // the nodes with weight; nil: all
	weight   []float64
	provider []*vitals
	pace     []*pace
}

func (s *adaptive) pair(p *page[*pairing], slot int, _ *page[*pairing]) *pairing {
	n := len(p.nodes)
	own := &pairing{weight: make([]float64, n), provider: make([]*vitals, n), pace: make([]*pace, n)}
	usable := make([]int32, 0, n)
	for i, node := range p.nodes {
		own.provider[i] = s.vitals(node.Life())
		own.pace[i] = own.provider[i].methods.at(slot)
		own.weight[i] = float64(p.effect(i, slot)) / 10
		if p.of[i] > 0 {
			usable = append(usable, int32(i))
		}
	}
	if len(usable) < n {
		own.usable = usable
	}
	return own
}

// count returns how many nodes can be drawn.
func (p *pairing) count() int {
	if p.usable != nil {
		return len(p.usable)
	}
	return len(p.weight)
}

// index returns the index of a node that can be drawn.
func (p *pairing) index(i int) int {
	if p.usable != nil {
		return int(p.usable[i])
	}
	return i
}

func (s *adaptive) vitals(l *protocol.Life) *vitals { return l.State(s, newVitals).(*vitals) }

// Select implements [LoadBalance].
func (s *adaptive) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	now := s.book.since(inv)
	p := s.book.openAt(c, inv, now)
	if p == nil {
		return nil
	}
	r := s.book.rand()
	a, b := p.own.two(&p.weights, inv, r)
	if a < 0 {
		return p.at(p.scan(inv, r))
	}
	if b < 0 {
		return p.nodes[a]
	}
	u, slot := s.usually(now, inv.Method.Slot), inv.Method.Slot
	x, y := p.own.load(p.nodes[a], a, u, slot), p.own.load(p.nodes[b], b, u, slot)
	if happens(odds(&x, &y), scramble(^r)) {
		return p.nodes[a]
	}
	return p.nodes[b]
}

// odds returns the probability that the first of two gets the call.
func odds(a, b *burden) float64 {
	if a.score > b.score {
		return 1 - odds(b, a)
	}
	switch {
	case near(b.score, a.score):
		return 1 - b.part(a)
	case b.active == 0 && b.weight < a.weight && near(b.at(a.weight), a.score): // more for its weight alone
		return 1 - max(b.part(a), b.again)
	}
	return 1 - b.again
}

// part returns what a node gets of the calls that it shares with another by weight.
func (b *burden) part(other *burden) float64 { return b.weight / (b.weight + other.weight) }

// near reports whether a load is the least, or nearly so.
func near(load, least float64) bool { return load <= least+float64(least/nearly) }

// happens reports whether what has a probability happens.
func happens(probability float64, r uint64) bool {
	return float64(r>>11)*0x1p-53 < probability
}

// Prepare implements [Preparer].
func (s *adaptive) Prepare(c *protocol.Candidates, slot int) { s.book.prepare(c, slot) }

// two draws two of the nodes with weight that the call may go to; -1 stands for
// one that there is not.
func (p *pairing) two(w *weights, inv *protocol.Invocation, r uint64) (a, b int) {
	n := p.count()
	for range redraws(n) {
		if n < 2 {
			break
		}
		i := int(below(r, int64(n)))
		r = scramble(r)
		j := int(below(r, int64(n-1)))
		r = scramble(r)
		if j >= i {
			j++
		}
		if a, b = p.index(i), p.index(j); inv.Allows(w.nodes[a]) && inv.Allows(w.nodes[b]) {
			return a, b
		}
	}
	return p.search(w, inv, r)
}

// search draws two after a look at all.
func (p *pairing) search(w *weights, inv *protocol.Invocation, r uint64) (a, b int) {
	drawn, seen := [2]int{-1, -1}, int64(0)
	for k := range p.count() {
		i := p.index(k)
		if !inv.Allows(w.nodes[i]) {
			continue
		}
		place := seen // the first two, then each in place of one of them as it is its turn
		if seen >= 2 {
			r = scramble(r)
			place = below(r, seen+1)
		}
		if place < 2 {
			drawn[place] = i
		}
		seen++
	}
	return drawn[0], drawn[1]
}

// usually is what is usual at the moment of a pick.
type usually struct {
	now    time.Duration
	tookMs float64 // of the method; 0: not known
	report float64 // percent; 0: nobody reports
	glance glance
}

func (s *adaptive) usually(now time.Duration, slot int) usually {
	tick := s.ticks.at(now)
	tookMs := millis(time.Duration(s.usual.at(slot).mean(tick)))
	return usually{
		now:    now,
		tookMs: tookMs,
		report: float64(s.reports.mean(tick)) / reportUnit,
		glance: s.hurry.glance(now, inMs(tookMs)),
	}
}

// burden is a node's load and what it is made of.
type burden struct {
	paced
	score    float64
	cpu      float64
	reported bool
	weight   float64
}

// load works out the load of a node.
func (p *pairing) load(n *protocol.Node, i int, u usually, slot int) burden {
	b := burden{paced: p.pace[i].read(u, n.Method(slot).Timeout), weight: p.weight[i]}
	b.cpu, b.reported = p.provider[i].cpu(u)
	b.score = b.at(b.weight)
	return b
}

// at returns the load for a weight.
func (b *burden) at(weight float64) float64 {
	active := float64(b.active)
	return adaptiveLoad(b.cpu, b.tookMs, active+b.hasty, b.answered+1, b.ended+active, weight)
}

// adaptiveLoad is Dubbo's formula (AdaptiveMetrics.getLoad), each product rounded as
// Java does.
func adaptiveLoad(cpu, latency, inflight, success, requests, weight float64) float64 {
	load := float64(cpu * (math.Sqrt(latency) + 1))
	load = float64(load * (inflight + 1))
	return load / (float64(success/(requests+1)*weight) + 1)
}
