package loadbalance

import (
	"math"
	"math/bits"
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
	for under > 0 { // then some other is over: all together are n times total
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
