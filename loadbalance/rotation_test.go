package loadbalance

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/protocol"
)

// smooth is the algorithm as it is described, without schedule: the oracle.
type smooth struct {
	credit, weights []int64
}

func (s *smooth) next() int {
	best, total := -1, int64(0)
	for i, w := range s.weights {
		if w == 0 {
			continue
		}
		s.credit[i] += w
		total += w
		if best < 0 || s.credit[i] > s.credit[best] {
			best = i
		}
	}
	s.credit[best] -= total
	return best
}

// Whatever the credits it begins with, the turns are those of the algorithm, and
// they come from a schedule after a few periods.
func TestRotationSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWeights(t, 30)
		if w.equal {
			return // in the order of credit from the beginning
		}
		seed := rapid.Uint64().Draw(t, "seed")
		r := newRotation(w, func() uint64 { seed = scramble(seed); return seed })
		oracle := &smooth{slices.Clone(r.credit), r.of}
		require.Positive(t, r.period)
		for range mostTries * r.period {
			require.Equal(t, oracle.next(), r.ticket())
		}
		require.NotNil(t, r.schedule.Load(), "no schedule after %d periods", mostTries)
		for range r.period {
			require.Equal(t, oracle.next(), r.ticket())
		}
		// The credits that a successor begins with are the algorithm's.
		for i, owed := range r.owed() {
			assert.InDelta(t, float64(oracle.credit[i])/float64(r.total), owed, 1e-9)
		}
	})
}

// From no credits, equal nodes take turns in their order, as the algorithm has it.
func TestRotationOfEqualNodes(t *testing.T) {
	for _, n := range []int{1, 2, 7, 2000} {
		w := &weights{of: slices.Repeat([]int64{100}, n), total: int64(100 * n), equal: true, settled: true}
		r := newRotation(w, func() uint64 { return 0 })
		require.NotNil(t, r.schedule.Load())
		for i := range 2 * n {
			require.Equal(t, i%n, r.ticket())
		}
	}
}

// A period that is too long to record is no reason to keep a record.
func TestRotationTooLong(t *testing.T) {
	w := &weights{of: []int64{1_000_000, 1}, total: 1_000_001, settled: true}
	r := newRotation(w, func() uint64 { return 0 })
	for range 1000 {
		r.ticket()
	}
	assert.Nil(t, r.schedule.Load())
	assert.Empty(t, r.record)
}

// While somebody warms up nothing is recorded; the same weights settled are.
func TestRotationSettles(t *testing.T) {
	w := &weights{of: []int64{2, 1}, total: 3}
	moving := newRotation(w, func() uint64 { return 0 })
	for range 10 {
		moving.ticket()
	}
	require.Nil(t, moving.schedule.Load())
	require.Same(t, moving, moving.succeed(w))
	w.settled = true
	r := moving.succeed(w)
	require.NotSame(t, moving, r)
	for range 2 * 3 {
		r.ticket()
	}
	assert.NotNil(t, r.schedule.Load())
	assert.Same(t, r, r.succeed(w))
}

// F11: a weight of 0 is not chosen even if all others owe turns.
func TestRotationSkipsWeightZero(t *testing.T) {
	r := rotate(&weights{of: []int64{0, 10, 20}, total: 30})
	r.credit = []int64{0, -2 * r.total, -3 * r.total}
	assert.Equal(t, 1, r.ticket())
}

// Nodes that leave take their credit or debt with them, ten thousand times: what is
// left stays around zero.
func TestRotationCreditsStaySmall(t *testing.T) {
	nodes := make([]*protocol.Node, 6)
	for i := range nodes {
		nodes[i] = new(protocol.Node)
	}
	list := func(without int) *weights {
		w := &weights{total: 1 + 2 + 3 + 4, of: []int64{1, 2, 3, 4, 0}}
		w.nodes = slices.Concat(nodes[:without], nodes[without+1:])
		return w
	}
	r := newRotation(list(0), func() uint64 { return 0 })
	for range 10_000 {
		r = r.succeed(list(slices.Index(nodes, r.nodes[r.ticket()])))
		for i, owed := range r.owed() {
			require.InDelta(t, 0, owed, 2, "node %d", i)
		}
	}
}
