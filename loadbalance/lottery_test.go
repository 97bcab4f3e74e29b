package loadbalance

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func drawWeights(t *rapid.T, largest int64) *weights {
	w := &weights{of: rapid.SliceOfN(rapid.Int64Range(0, largest), 1, 30).Draw(t, "weights"), settled: true, equal: true}
	i := rapid.IntRange(0, len(w.of)-1).Draw(t, "positive")
	w.of[i] = max(1, w.of[i]) // the book sees to that
	for _, x := range w.of {
		w.total += x
		w.equal = w.equal && x == w.of[0]
	}
	return w
}

// What the slots give each node adds up to its weight.
func TestLotteryIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWeights(t, rapid.SampledFrom([]int64{1, 3, 100, math.MaxInt32}).Draw(t, "largest"))
		l, n := newLottery(w), len(w.of)
		if w.equal {
			require.Nil(t, l.slots)
			return
		}
		share := make([]float64, n)
		for i, s := range l.slots {
			own := float64(s.cut) / (1 << 64)
			share[i] += own
			share[s.other] += 1 - own
			if w.of[i] == 0 {
				assert.Zero(t, s.cut, "a slot of weight 0 must be the other's")
				assert.NotZero(t, w.of[s.other])
			}
		}
		for i := range share {
			assert.InDelta(t, float64(w.of[i])*float64(n)/float64(w.total), share[i], 1e-9, "node %d", i)
		}
	})
}

// Draws stay in range and never fall on a weight of 0, not even the extreme ones.
func TestLotteryDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWeights(t, 3)
		l := newLottery(w)
		for _, r := range append(rapid.SliceOf(rapid.Uint64()).Draw(t, "draws"), 0, math.MaxUint64) {
			i := l.draw(r, len(w.of))
			assert.Positive(t, w.of[i])
		}
	})
}
