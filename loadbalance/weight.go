package loadbalance

import (
	"math"
	"time"

	"github.com/gofer-rpc/gofer/url"
)

// Ramp is a warm-up curve: the weight that a provider of that full weight has at
// an uptime, 0 < uptime < warmup. It does not fall with uptime; results outside
// 1 … weight count as the nearer end.
type Ramp func(uptime, warmup time.Duration, weight int) int

// LinearRamp is the curve of Dubbo 2.5.6 … 2.7.14 and 3.x, in milliseconds and
// with Java's single precision arithmetic, so that a Go and a Java consumer give
// a provider the same weight.
func LinearRamp(uptime, warmup time.Duration, weight int) int {
	step := float32(warmup.Milliseconds()) / float32(weight)
	return int(float32(uptime.Milliseconds()) / step)
}

// QuadraticRamp is the curve of Dubbo 2.7.15 … 2.7.23, which stays at 1 for more
// than a tenth of the warm-up at the default weight.
func QuadraticRamp(uptime, warmup time.Duration, weight int) int {
	x := float64(uptime.Milliseconds()) / float64(warmup.Milliseconds())
	square := x * x
	return int(math.Round(square * float64(weight)))
}

// Weight returns the weight in force at a moment for a provider that started at
// start: parameter "weight" of the view (of a method, or of the provider), during
// warm-up reduced by [LinearRamp].
func Weight(view *url.Method, start, now time.Time) int {
	return weigh(view, start, now, LinearRamp).weight
}

// weighed is one node's weight for one method at one moment.
type weighed struct {
	weight int // in force
	full   int // after warm-up
	uptime time.Duration
	warmup time.Duration // 0: not warming up
}

// weigh reads a node's weight. Unlike Java, which gives full weight for the
// millisecond in which uptime is 0 (F28), an uptime of 0 or less counts as the
// beginning of the ramp (B079: a provider whose clock is ahead). Without a start
// time, or with a warmup of 0, there is no warm-up.
func weigh(m *url.Method, start, now time.Time, ramp Ramp) weighed {
	w := weighed{full: int(fullWeight(m))}
	w.weight = w.full
	begin := start.UnixMilli()
	if w.full <= 1 || m.Warmup <= 0 || start.IsZero() || begin <= 0 {
		return w
	}
	w.uptime = time.Duration(now.UnixMilli()-begin) * time.Millisecond
	if w.uptime >= m.Warmup {
		return w
	}
	w.warmup = m.Warmup
	w.weight = w.at(w.uptime, ramp)
	return w
}

// fullWeight is the weight after warm-up, within Java's int.
func fullWeight(m *url.Method) int64 { return int64(min(max(m.Weight, 0), math.MaxInt32)) }

// at returns the weight at an uptime within the warm-up.
func (w *weighed) at(uptime time.Duration, ramp Ramp) int {
	switch {
	case uptime >= w.warmup:
		return w.full
	case uptime < time.Millisecond:
		return 1
	}
	return min(max(ramp(uptime, w.warmup, w.full), 1), w.full)
}

// change returns after how much time, at most limit, the weight is another one;
// limit when it stays the same until then.
func (w *weighed) change(limit time.Duration, ramp Ramp) time.Duration {
	if w.warmup == 0 || w.at(w.uptime+limit, ramp) == w.weight {
		return limit
	}
	same, other := int64(0), limit.Milliseconds()+1 // ramps know whole milliseconds
	for other-same > 1 {
		mid := same + (other-same)/2
		if w.at(w.uptime+time.Duration(mid)*time.Millisecond, ramp) == w.weight {
			same = mid
		} else {
			other = mid
		}
	}
	return min(limit, time.Duration(other)*time.Millisecond)
}
