package sim

import "math"

// javaRamp is a warm-up curve: the weight at an uptime in ms, 0 < uptime < warmup.
type javaRamp func(uptime, warmup, weight int64) int64

// linear is the curve of Dubbo up to 2.7.14 and of 3.x, in single precision.
func linear(uptime, warmup, weight int64) int64 {
	w := int64(float32(uptime) / (float32(warmup) / float32(weight)))
	return min(max(w, 1), weight)
}

// quadratic is the curve of Dubbo 2.7.15 … 2.7.23.
func quadratic(uptime, warmup, weight int64) int64 {
	x := float64(uptime) / float64(warmup)
	square := x * x
	return min(max(int64(math.Round(square*float64(weight))), 1), weight)
}

// weight26 is the weight of Dubbo 2.5.6 … 2.6.12: an uptime that wraps after 49 days
// (F17), and a negative weight that stays negative. start 0 means unknown.
func weight26(now, start, warmup, weight int64) int64 {
	if weight > 0 && start > 0 {
		if uptime := int64(int32(now - start)); uptime > 0 && uptime < warmup {
			return linear(uptime, warmup, weight)
		}
	}
	return weight
}

// weight3 is the weight of Dubbo 2.7.4 … 2.7.14 and 3.x. At an uptime of exactly 0 it
// is full (F28).
func weight3(now, start, warmup, weight int64) int64 {
	return weightSince(now, start, warmup, weight, linear)
}

// weight27 is the weight of Dubbo 2.7.15 … 2.7.23.
func weight27(now, start, warmup, weight int64) int64 {
	return weightSince(now, start, warmup, weight, quadratic)
}

func weightSince(now, start, warmup, weight int64, ramp javaRamp) int64 {
	if weight > 0 && start > 0 {
		switch uptime := now - start; {
		case uptime < 0:
			return 1
		case uptime > 0 && uptime < warmup:
			return ramp(uptime, warmup, weight)
		}
	}
	return max(weight, 0)
}

// weight of a position in the list at the moment, for a consumer of 2.7.23.
func (j *java) weight27(i int) int32 {
	k := j.at(i)
	return int32(weight27(j.ms(), k.start, k.warmup, int64(k.weight)))
}

// weight33 is the weight for a consumer of 3.0.0 … 3.3.6 behind ZooKeeper, which has
// lost the providers' timestamps: it is always the full one (F1).
func (j *java) weight33(i int) int32 {
	k := j.at(i)
	return int32(weight3(j.ms(), 0, k.warmup, int64(k.weight)))
}

// drawn returns one of some positions: by weight, or evenly when all weights are
// equal or their sum, of 32 bits, is not positive (F16).
func (j *java) drawn(of []int, weight func(i int) int32) int {
	sum, same := int32(0), true
	sums := make([]int32, len(of))
	first := weight(of[0])
	for k, i := range of {
		w := weight(i)
		sum += w
		sums[k] = sum
		same = same && w == first
	}
	if same || sum <= 0 {
		return of[j.rng.IntN(len(of))]
	}
	draw := j.rng.Int32N(sum)
	for k, s := range sums {
		if draw < s {
			return of[k]
		}
	}
	return of[j.rng.IntN(len(of))]
}
