package loadbalance

import (
	"math/bits"

	"github.com/gofer-rpc/gofer/protocol"
)

// redraws is how often a strategy tries another node in place of one that the call
// may not go to before it looks at all of them.
func redraws(nodes int) int { return min(16, 2*nodes) }

// drawFrom returns the index of a node that the call may go to, at random by
// weight among all such, -1 when there is none. Drawing again, and in the end among
// those alone, does not distort their shares.
func (l lottery) drawFrom(w *weights, inv *protocol.Invocation, r uint64) int {
	for range redraws(len(w.nodes)) {
		if i := l.draw(r, len(w.nodes)); inv.Allows(w.nodes[i]) {
			return i
		}
		r = scramble(r)
	}
	return w.scan(inv, r)
}

// at returns the node of an index, nil for -1.
func (w *weights) at(i int) *protocol.Node {
	if i < 0 {
		return nil
	}
	return w.nodes[i]
}

// scan returns the index of a node that the call may go to, at random by weight
// among all such, among those of weight 0 when there is no other, -1 when there is
// none. It looks at every node: it is for calls that nearly nobody may serve.
func (w *weights) scan(inv *protocol.Invocation, r uint64) int {
	pick, spare := -1, -1
	var total, spares int64
	for i, n := range w.nodes {
		if !inv.Allows(n) {
			continue
		}
		r = scramble(r)
		if w.of[i] > 0 {
			total += w.of[i]
			if below(r, total) < w.of[i] {
				pick = i
			}
		} else if spares++; below(r, spares) == 0 {
			spare = i
		}
	}
	if pick < 0 {
		return spare
	}
	return pick
}

// below maps 64 random bits to a number in [0, n).
func below(r uint64, n int64) int64 {
	hi, _ := bits.Mul64(r, uint64(n))
	return int64(hi)
}

// scramble steps a random number of its own for one scan: cheaper than the shared
// generator.
func scramble(r uint64) uint64 {
	r += 0x9e3779b97f4a7c15
	r = (r ^ r>>30) * 0xbf58476d1ce4e5b9
	r = (r ^ r>>27) * 0x94d049bb133111eb
	return r ^ r>>31
}
