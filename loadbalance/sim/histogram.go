package sim

import (
	"math/bits"
	"time"
)

// histogram counts times in steps of less than 0.4 %.
type histogram struct {
	counts []uint32
	n      int
	sum    float64
}

const fine = 8 // bits that a step keeps

// step is the number of the step of a time.
func step(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < 1<<(fine+1) {
		return int(v)
	}
	shift := bits.Len64(v) - fine - 1
	return (shift+1)<<fine + int(v>>shift) - 1<<fine
}

// middle is the middle of a step.
func middle(i int) time.Duration {
	if i < 1<<(fine+1) {
		return time.Duration(i)
	}
	shift := i>>fine - 1
	low := uint64(i&(1<<fine-1)+1<<fine) << shift
	return time.Duration(low + 1<<shift/2)
}

func (h *histogram) add(d time.Duration) {
	i := step(d)
	if i >= len(h.counts) {
		grown := make([]uint32, i+1+i/4)
		copy(grown, h.counts)
		h.counts = grown
	}
	h.counts[i]++
	h.n++
	h.sum += float64(d)
}

func (h *histogram) mean() time.Duration {
	if h.n == 0 {
		return 0
	}
	return time.Duration(h.sum / float64(h.n))
}

// quantile returns the time that the share q of all do not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	rank := max(1, int(q*float64(h.n)+0.9999999))
	for i, c := range h.counts {
		if rank -= int(c); rank <= 0 {
			return middle(i)
		}
	}
	return middle(len(h.counts) - 1)
}
