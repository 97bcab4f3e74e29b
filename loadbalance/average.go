package loadbalance

import (
	"math"
	"sync/atomic"
	"time"
)

// foldEvery is how often what was counted is worked into the averages.
const foldEvery = 50 * time.Millisecond

// tally is what was counted since it was taken last. Whoever ends a call adds to it;
// it is of two words, so of a sample that comes while it is taken the value may be
// taken now and the count next time: nothing is lost.
type tally struct {
	sum   atomic.Int64 // in parts of 2⁻²⁰
	count atomic.Int64
}

const tallyUnit = 1 << 20

func (t *tally) add(x float64) {
	t.sum.Add(int64(x * tallyUnit))
	t.count.Add(1)
}

func (t *tally) take() (sum, count float64) {
	count = float64(t.count.Swap(0))
	return float64(t.sum.Swap(0)) / tallyUnit, count
}

// faded is a sum of samples that are forgotten: one as old as the memory counts 1/e.
type faded struct {
	sum, count float64
	at         time.Duration
}

// fade returns what is left at a later moment.
func (f faded) fade(now, memory time.Duration) faded {
	if now <= f.at {
		return f
	}
	k := math.Exp(-float64(now-f.at) / float64(memory))
	return faded{f.sum * k, f.count * k, now}
}

func (f *faded) add(sum, count float64) {
	f.sum += sum
	f.count += count
}

// average is the mean of samples from many goroutines, faded, worked out every
// [foldEvery] by one of those who bring the samples.
type average struct {
	tally
	due     atomic.Int64 // when it is worked out next
	mean    real         // 0: nothing is known
	samples real         // how many it is the mean of
	folding atomic.Bool  // held by who works it out
	faded   faded
}

// value returns the mean, 0 when nothing is known.
func (a *average) value() float64 { return a.mean.load() }

// weight returns how many samples the mean is of, those that fade away in part.
func (a *average) weight() float64 { return a.samples.load() }

// seed sets the mean if nothing is known.
func (a *average) seed(x float64) { a.mean.bits.CompareAndSwap(0, math.Float64bits(x)) }

// fold works out the mean if that is due. It stays what it was when all samples are
// so old that they are forgotten.
func (a *average) fold(now, memory time.Duration) {
	if int64(now) >= a.due.Load() {
		a.work(now, memory)
	}
}

// few samples are worked in as they come: the first may be far from the mean.
const few = 16

// foldFew is fold that does not wait while there are few samples.
func (a *average) foldFew(now, memory time.Duration) {
	if int64(now) >= a.due.Load() || a.weight() < few {
		a.work(now, memory)
	}
}

func (a *average) work(now, memory time.Duration) {
	if !a.folding.CompareAndSwap(false, true) {
		return
	}
	defer a.folding.Store(false)
	a.due.Store(int64(now + foldEvery))
	a.faded = a.faded.fade(now, memory)
	a.faded.add(a.take())
	a.samples.store(a.faded.count)
	if a.faded.count > 1e-6 {
		a.mean.store(a.faded.sum / a.faded.count)
	}
}
