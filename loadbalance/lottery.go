package loadbalance

import (
	"math"
	"math/bits"

	"github.com/gofer-rpc/gofer/protocol"
)

// lottery draws nodes at random by weight, in the same time for any number of
// them: one slot per node, shared by at most two nodes (Walker's alias method, in
// integers: no weight is rounded).
type lottery struct {
	slots []lot // nil: equal weights
}

// lot is a slot of the lottery: it belongs to its own node with a probability of
// cut/2⁶⁴, else to the other one.
type lot struct {
	cut   uint64
	other int32
}

func newLottery(w *weights) lottery {
	if w.equal {
		return lottery{}
	}
	n := len(w.of)
	slots := make([]lot, n)
	left := make([]int64, n) // what of n×weight is not in a slot yet; a slot holds total
	work := make([]int32, n)
	under, over := 0, n // two stacks in work, growing towards each other
	for i, weight := range w.of {
		left[i] = weight * int64(n)
		if left[i] < w.total {
			work[under] = int32(i)
			under++
		} else {
			over--
			work[over] = int32(i)
		}
	}
	for under > 0 && over < n {
		under--
		i, j := work[under], work[over]
		slots[i] = lot{cut: fraction(left[i], w.total), other: j}
		left[j] -= w.total - left[i]
		if left[j] < w.total {
			over++
			work[under] = j
			under++
		}
	}
	for _, i := range work[:under] {
		slots[i] = lot{cut: math.MaxUint64, other: i}
	}
	for _, i := range work[over:] {
		slots[i] = lot{cut: math.MaxUint64, other: i}
	}
	return lottery{slots: slots}
}

// fraction returns a/b × 2⁶⁴, 0 ≤ a < b.
func fraction(a, b int64) uint64 {
	q, _ := bits.Div64(uint64(a), 0, uint64(b))
	return q
}

// draw returns the index of one of n nodes.
func (l lottery) draw(r uint64, n int) int {
	hi, lo := bits.Mul64(r, uint64(n))
	i := int(hi)
	if l.slots == nil || lo < l.slots[i].cut {
		return i
	}
	return int(l.slots[i].other)
}

// redraws is how often a strategy tries another node in place of one that the call
// may not go to before it looks at all of them.
func redraws(nodes int) int { return min(16, 2*nodes) }

// drawFrom returns the index of a node that the call may go to, at random by
// weight among all such, -1 when there is none. Drawing again, and in the end among
// those alone, does not distort their shares.
func drawFrom[T any](b *book[T], l lottery, w *weights, inv *protocol.Invocation) int {
	for range redraws(len(w.nodes)) {
		if i := l.draw(b.rand(), len(w.nodes)); inv.Allows(w.nodes[i]) {
			return i
		}
	}
	return w.scan(inv, b.rand())
}
