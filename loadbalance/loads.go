package loadbalance

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

const (
	examineAll   = 128 // up to so many nodes all are examined
	examineSome  = 64  // of more so many are
	refreshAtOne = 512 // nodes refreshed by one pick
	warmupFloor  = 5   // during warm-up a weight is at least this part of the full one
	slowness     = 1.2 // to this power a latency counts
	hope         = 0.2 // part by which a provider may be faster than what is known of it
	hopeful      = 4   // samples that leave 1/√2 of that
)

// loads is what leastload knows of the nodes of a list for one method. Picks read
// the standings, which are written every [foldEvery] by one of the picks; what each
// call writes is in the records and shares.
type loads struct {
	learner *learner
	nodes   []standing
	shares  []share      // of those with less than the greatest weight; nil: all weights are equal
	top     float32      // the greatest weight, where there are shares
	floor   float        // no node has less load, whatever it does; 0: not known
	takes   atomic.Int64 // ns that a call takes on average

	folding atomic.Bool  // held by who refreshes the standings
	due     atomic.Int64 // when they are refreshed next
	cursor  int          // the entry that is refreshed next
	counted atomic.Int64 // picks that are in lately
	fading  atomic.Int64 // the moment that lately is of
	lately  real         // picks, those of the latest seconds
	_       [64]byte
	picks   atomic.Int64 // counted where there are shares
	_       [56]byte
}

// standing is what a pick reads of a node, beside the calls under way.
type standing struct {
	record *record
	weight float32 // in force, with the floor; 0: none while others have some
	cost   float   // latency, dear / weight
	lifted float   // latency, dear / greatest weight; of who has that: cost
	old    float   // what aged calls under way count less
}

// share is what a node of lesser weight is owed: its part of the picks, less those
// it got and what was struck off.
type share struct {
	part float64 // of all picks; 0: has the greatest weight, or none
	got  atomic.Int64
	off  real
}

// A share is never more owed, or had in advance, than what it is of the picks of the latest
// seconds, or than two calls: of equal providers one seems slower by chance for about as
// long as that, and makes up for it. Who was away, or slow, for longer does not make up for
// all of it.
const (
	leastOwed = 2
	owedFor   = 4 * latencyMemory
)

func (s *share) owed(picks int64) float64 {
	return s.part*float64(picks) - float64(s.got.Load()) - s.off.load()
}

// bound strikes off what exceeds the share of so many picks.
func (s *share) bound(picks int64, lately float64) {
	owed, most := s.owed(picks), max(leastOwed, s.part*lately)
	if excess := owed - min(max(owed, -most), most); excess != 0 {
		s.off.store(s.off.load() + excess)
	}
}

func newLoads(from *learner, p *page[*loads], slot int, before *page[*loads]) *loads {
	l := &loads{learner: from, nodes: make([]standing, len(p.nodes))}
	even := true
	for i, n := range p.nodes {
		e := &l.nodes[i]
		e.record = from.of(n.Life())
		if p.of[i] > 0 {
			e.weight = float32(max(float64(p.of[i]), float64(fullWeight(n.Method(slot)))/warmupFloor))
		}
		even = even && e.weight == l.nodes[0].weight
	}
	if !even {
		l.share(before)
	}
	for i := range l.nodes {
		l.read(i)
	}
	l.settle()
	return l
}

// share works out the shares by weight.
func (l *loads) share(before *page[*loads]) {
	total, top := 0.0, float32(0)
	for i := range l.nodes {
		total += float64(l.nodes[i].weight)
		top = max(top, l.nodes[i].weight)
	}
	l.shares = make([]share, len(l.nodes))
	for i := range l.nodes {
		if w := l.nodes[i].weight; w > 0 && w < top {
			l.shares[i].part = float64(w) / total
		}
	}
	l.top = top
	if before != nil && before.own.shares != nil {
		l.inherit(before.own)
	}
}

// inherit leaves nodes what they are owed when weights or the list change.
func (l *loads) inherit(old *loads) {
	picks := old.picks.Load()
	l.fading.Store(old.fading.Load())
	l.lately.store(old.lately.load() + float64(picks-old.counted.Load()))
	var byRecord map[*record]int
	for i := range l.nodes {
		r := l.nodes[i].record
		j, known := i, i < len(old.nodes) && old.nodes[i].record == r
		if !known {
			if byRecord == nil {
				byRecord = make(map[*record]int, len(old.nodes))
				for j := range old.nodes {
					byRecord[old.nodes[j].record] = j
				}
			}
			j, known = byRecord[r]
		}
		if known {
			l.shares[i].off.store(-old.shares[j].owed(picks))
		}
	}
}

// refresh brings the standings up to date if that is due: of long lists a part, so
// that no pick takes long.
func (l *loads) refresh(now time.Duration) {
	if int64(now) < l.due.Load() || !l.folding.CompareAndSwap(false, true) {
		return
	}
	defer l.folding.Store(false)
	l.due.Store(int64(now + foldEvery))
	count := min(len(l.nodes), refreshAtOne)
	for i := range count {
		r := l.nodes[l.turn(i)].record
		if int64(now) >= r.due.Load()-int64(foldEvery/2) {
			l.learner.fold(r, now)
		}
	}
	l.takes.Store(int64(l.learner.takes()))
	l.learner.usual.fold(now, l.learner.memory()) // the same for all that are compared
	picks := l.picks.Load()
	lately := l.count(picks, now)
	for i := range count {
		i = l.turn(i)
		l.read(i)
		if l.shares != nil {
			l.shares[i].bound(picks, lately)
		}
	}
	l.cursor = l.turn(count)
	l.settle()
}

// count returns how many picks there were within owedFor.
func (l *loads) count(picks int64, now time.Duration) float64 {
	passed := now - time.Duration(l.fading.Swap(int64(now)))
	lately := l.lately.load()*math.Exp(-float64(max(0, passed))/float64(owedFor)) + float64(picks-l.counted.Swap(picks))
	l.lately.store(lately)
	return lately
}

// turn returns the index of the node that is so many after the cursor.
func (l *loads) turn(i int) int { return (l.cursor + i) % len(l.nodes) }

// settle works out the least load there can be, of lists that are refreshed at once.
func (l *loads) settle() {
	if len(l.nodes) > refreshAtOne {
		return
	}
	least := float32(math.Inf(1))
	for i := range l.nodes {
		least = min(least, l.nodes[i].lifted.load())
	}
	l.floor.store(least)
}

// read copies what a pick needs from a node's record.
func (l *loads) read(i int) {
	e := &l.nodes[i]
	latency := float32(dear(hoped(l.learner.relative(e.record))))
	e.cost.store(latency / e.weight) // infinite without weight
	e.lifted.store(latency / max(e.weight, l.top))
	e.old.store(agedDiscount * float32(e.record.old.Load()))
}

// dear returns what a latency counts as. The calls under way at a provider, with one
// more, times its latency is when that one would be answered if nobody else called
// there; but all calls that come while it is waited for find the provider busy, which
// lasts longer at a slow one. So twice as slow is a little more than twice as bad.
func dear(latency float64) float64 { return math.Pow(latency, slowness) }

// hoped returns a latency that is known by so many samples as the best that it may
// well be: a fifth less without any, a tenth with twelve, little with many. Of equal
// providers the one that seems to be the fastest by chance would get every call while
// few are under way, and nothing would be learned of the others; so they get their turn
// as what is known of them fades. (The bound is that of the bandit problem, in which
// it lets nobody wait for ever, and what is really slower little often.)
func hoped(latency, samples float64) float64 {
	return latency * (1 - hope*math.Sqrt(hopeful/(hopeful+samples)))
}

// behind reports whether a node of lesser weight has had less than its share.
func (l *loads) behind(i int, picks int64) bool {
	return l.shares != nil && l.shares[i].owed(picks) >= 1
}

// load is what picks compare, the least wins: infinite for a node without weight.
func (l *loads) load(i int, picks int64, calls float32) float32 {
	e := &l.nodes[i]
	if e.weight < l.top && !l.behind(i, picks) {
		return e.plain(calls)
	}
	return e.least(calls)
}

// least is the least load that a node can have, of whatever weight.
func (e *standing) least(calls float32) float32 { return calls * e.lifted.load() }

// plain is the load by the node's own weight, whether or not it has had its share.
func (e *standing) plain(calls float32) float32 { return calls * e.cost.load() }

// calls returns the calls under way, one more included.
func (e *standing) calls(g glance) float32 {
	calls := e.visible()
	if g.any {
		calls += e.record.haste.count(g)
	}
	return calls
}

// visible is calls while nobody has haste.
func (e *standing) visible() float32 {
	calls := float32(e.record.active.Load()) - e.old.load()
	if calls < 0 { // max is slower
		calls = 0
	}
	return calls + 1
}

// glance returns what a pick at a moment sees haste by.
func (l *loads) glance(now time.Duration) glance {
	return l.learner.hurry.glance(now, time.Duration(l.takes.Load()))
}

// least returns the index of the node with the least load of those that the call
// may go to, and its load; -1 when there is none with weight.
func (l *loads) least(nodes []*protocol.Node, inv *protocol.Invocation, r uint64, g glance) (int, float32) {
	n := len(nodes)
	if n <= examineAll {
		return l.examine(nodes, inv, r, n, g)
	}
	if i, load := l.examine(nodes, inv, r, examineSome, g); i >= 0 {
		return i, load
	}
	return l.examine(nodes, inv, r, n, g)
}

// strides are primes: a walk of one of these steps round a list comes to every node
// once, and to none always after the same other, which would have more than its
// part of the ties.
var strides = [16]int{
	15485863, 32452843, 49979687, 67867967, 86028121, 104395301, 122949823, 141650939,
	160481183, 179424673, 198491317, 217645177, 236887691, 256203161, 275604541, 295075147,
}

// examine looks at so many nodes, from one at random.
func (l *loads) examine(nodes []*protocol.Node, inv *protocol.Invocation, r uint64, count int, g glance) (int, float32) {
	n := len(nodes)
	i, step := int(below(r, int64(n))), strides[r%uint64(len(strides))]%n
	best, least := -1, float32(math.Inf(1))
	picks := l.picks.Load()
	for range count {
		e := &l.nodes[i]
		calls := e.visible()
		if g.any { // as in calls, which is not inlined
			calls += e.record.haste.count(g)
		}
		if e.least(calls) < least { // looked at first, as it nearly always is not
			if load := l.load(i, picks, calls); load < least && inv.Allows(nodes[i]) {
				best, least = i, load
			}
		}
		if i += step; i >= n {
			i -= n
		}
	}
	return best, least
}

// charge counts a pick against the node's share.
func (l *loads) charge(i int) {
	if l.shares == nil {
		return
	}
	l.picks.Add(1)
	if s := &l.shares[i]; s.part > 0 {
		s.got.Add(1)
	}
}
