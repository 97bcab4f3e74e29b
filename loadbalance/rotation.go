package loadbalance

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gofer-rpc/gofer/protocol"
)

// rotation hands out turns by smooth weighted round robin: each turn gives every
// node its weight as credit; the node with the most credit, the earliest of equal
// ones, gets the turn and pays the sum of all weights.
//
// Credits return to what they were after a period of Σweight/gcd turns. So the
// turns of one period, once taken, are a schedule for all following ones, and a
// turn costs one atomic addition then.
type rotation struct {
	nodes   []*protocol.Node
	of      []int64 // weights, scaled
	total   int64
	settled bool // the weights will stay

	schedule atomic.Pointer[[]int32]
	turns    atomic.Uint64 // taken from the schedule

	mu     sync.Mutex
	credit []int64 // before the next turn; with a schedule, before its first
	period int     // turns until a schedule repeats; 0: not to be recorded
	start  []int64 // credits before the first recorded turn
	record []int32
	tries  int
}

const (
	// A schedule is recorded when recording it examines no more nodes than mostWork
	// in all, and when it has no more than mostTurns: 256 KB. Of few nodes the one with
	// the most credit is found as fast.
	mostWork  = 1_000_000
	mostTurns = 1 << 16
	// mostTries is how many periods may begin with credits that do not come back.
	// Credits come closer to those that do in each; the second try has always
	// succeeded so far.
	mostTries = 4
	// resolution is the least sum of scaled weights: the part of a turn that credits
	// are exact to when weights change.
	resolution = 1 << 40
)

// newRotation begins with credits at random: each node is in another part of its
// own period, and each consumer, too (F10).
func newRotation(w *weights, rand func() uint64) *rotation {
	r := rotate(w)
	for i := range r.credit {
		if r.of[i] > 0 {
			r.credit[i] = below(rand(), r.total)
		}
	}
	r.begin()
	return r
}

// succeed returns the rotation for new weights. Nodes keep their credits, counted
// in turns (F10, F11). For the same nodes and weights it is the same rotation.
func (r *rotation) succeed(w *weights) *rotation {
	next := rotate(w)
	same := slices.Equal(next.nodes, r.nodes) && slices.Equal(next.of, r.of)
	if same && (r.settled || !next.settled) {
		return r
	}
	owed := r.owed()
	byNode := make(map[*protocol.Node]float64, len(owed))
	for i, n := range r.nodes {
		byNode[n] = owed[i]
	}
	for i, n := range next.nodes {
		if next.of[i] > 0 {
			next.credit[i] = int64(math.Round(byNode[n] * float64(next.total)))
		}
	}
	next.begin()
	return next
}

// owed returns the credits by node, counted in turns.
func (r *rotation) owed() []float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	credit := slices.Clone(r.credit)
	if s := r.schedule.Load(); s != nil {
		done := r.turns.Load() % uint64(len(*s))
		for _, i := range (*s)[:done] {
			credit[i] -= r.total
		}
		for i := range credit {
			credit[i] += r.of[i] * int64(done)
		}
	}
	owed := make([]float64, len(credit))
	for i := range credit {
		owed[i] = float64(credit[i]) / float64(r.total)
	}
	return owed
}

// rotate returns a rotation without credits.
func rotate(w *weights) *rotation {
	r := &rotation{nodes: w.nodes, of: slices.Clone(w.of), settled: w.settled, credit: make([]int64, len(w.of))}
	divisor := int64(0)
	for _, x := range w.of {
		divisor = gcd(divisor, x)
	}
	turns := w.total / divisor
	if w.settled && turns <= mostTurns && turns*int64(len(w.of)) <= mostWork {
		r.period = int(turns)
	}
	scale := max(1, resolution/turns)
	for i := range r.of {
		r.of[i] = r.of[i] / divisor * scale
	}
	r.total = turns * scale
	return r
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// begin centres the credits, so that they stay small over many changes, and makes
// the schedule where that takes no turns: of equal nodes the one with most credit
// is first.
func (r *rotation) begin() {
	sum, nodes := int64(0), int64(0)
	for i, w := range r.of {
		if w > 0 {
			sum += r.credit[i]
			nodes++
		}
	}
	for i, w := range r.of {
		if w > 0 {
			r.credit[i] -= sum / nodes
		}
	}
	if slices.Min(r.of) != slices.Max(r.of) {
		return
	}
	order := make([]int32, len(r.of))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Compare(r.credit[b], r.credit[a])
	})
	r.schedule.Store(&order)
}

// ticket takes the next turn and returns the index of its node.
func (r *rotation) ticket() int {
	s := r.schedule.Load()
	if s == nil {
		var i int
		if i, s = r.step(); s == nil {
			return i
		}
	}
	return int((*s)[(r.turns.Add(1)-1)%uint64(len(*s))])
}

// step takes a turn by looking at all credits, or returns the schedule that another
// call has completed meanwhile.
func (r *rotation) step() (int, *[]int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.schedule.Load(); s != nil {
		return 0, s
	}
	if r.period > 0 && len(r.record) == 0 {
		r.start = append(r.start[:0], r.credit...)
	}
	best := r.turn(r.credit)
	if r.period > 0 {
		r.note(int32(best))
	}
	return best, nil
}

// turn gives every node its credit, and the turn to who has most.
func (r *rotation) turn(credit []int64) int {
	best := -1
	for i, w := range r.of {
		if w == 0 {
			continue
		}
		credit[i] += w
		if best < 0 || credit[i] > credit[best] {
			best = i
		}
	}
	credit[best] -= r.total
	return best
}

// note records a turn. After a period the record is the schedule, unless the
// credits it began with were none that come back.
func (r *rotation) note(i int32) {
	if r.record = append(r.record, i); len(r.record) < r.period {
		return
	}
	if slices.Equal(r.start, r.credit) {
		s := r.record
		r.schedule.Store(&s)
		r.start, r.record = nil, nil
		return
	}
	r.record = r.record[:0]
	if r.tries++; r.tries == mostTries {
		r.period, r.record, r.start = 0, nil, nil
	}
}
