package sim

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"
)

// stream returns a source of random numbers that is that seed's for one purpose:
// what one purpose draws does not depend on how much another has drawn.
func stream(seed uint64, purpose, part uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, purpose<<32|part))
}

// The purposes.
const (
	forArrivals = iota + 1
	forFaults
	forConsumers
	forNotices
	forLong
	forPolicies
)

// arrival is a request before anybody has decided about it. It has all that chance
// will do to it, so that every policy meets the same requests.
type arrival struct {
	at       int64
	consumer int32
	kind     int32
	key      int32   // -1: none
	work     float64 // ns on a worker of speed 1
	wait     float64 // ns without a worker
	there    float64 // jitter of the way there, in means
	back     float64 // and back
	luck     float64 // 0 … 1: whether a fault hits it
}

// settling is how many times as rare requests are before the measured time, and how
// many times as long that takes. So caches see as many requests as the scenario says,
// but empty ones do not leave a backlog which is never worked off under a high load,
// not even by who knows everything.
const settling = 2

// arrivals makes the requests one after the other: open arrivals, exponential
// between each other, each at a consumer of its own.
type arrivals struct {
	rng   *rand.Rand
	s     *Scenario
	gap   float64 // mean ns between two
	kinds []float64
	sizes []lognormal
	keys  *zipf
	next  arrival
	n     int // of those drawn
}

func newArrivals(s *Scenario, rate float64, seed uint64, begin int64) *arrivals {
	a := &arrivals{rng: stream(seed, forArrivals, 0), s: s, gap: float64(time.Second) / rate}
	sum := 0.0
	for _, r := range s.Requests {
		sum += r.Share
		a.kinds = append(a.kinds, sum)
		a.sizes = append(a.sizes, newLognormal(r.CV))
	}
	for i := range a.kinds {
		a.kinds[i] /= sum
	}
	if s.Keys != nil {
		a.keys = newZipf(s.Keys.Count, s.Keys.Zipf)
	}
	a.next.at = begin
	a.draw()
	return a
}

// draw makes the next arrival.
func (a *arrivals) draw() {
	n, r := &a.next, a.rng
	a.n++
	gap := r.ExpFloat64() * a.gap
	if n.at < 0 {
		gap *= settling
	}
	n.at += int64(gap)
	n.consumer = int32(r.IntN(a.s.Consumers))
	n.kind = 0
	if len(a.kinds) > 1 {
		for u := r.Float64(); int(n.kind) < len(a.kinds)-1 && u >= a.kinds[n.kind]; {
			n.kind++
		}
	}
	kind := &a.s.Requests[n.kind]
	n.work = float64(kind.Mean) * a.sizes[n.kind].draw(r)
	n.wait = 0
	if kind.Wait > 0 {
		n.wait = float64(kind.Wait) * r.ExpFloat64()
	}
	n.there, n.back, n.luck = r.ExpFloat64(), r.ExpFloat64(), r.Float64()
	n.key = -1
	if a.keys != nil {
		if a.s.Keys.Hot > 0 && r.Float64() < a.s.Keys.Hot {
			n.key = int32(a.s.Keys.Count)
		} else {
			n.key = a.keys.draw(r)
		}
	}
}

// lognormal draws positive numbers of mean 1.
type lognormal struct {
	mu, sigma   float64
	exponential bool
}

func newLognormal(cv float64) lognormal {
	v := math.Log(1 + cv*cv)
	return lognormal{mu: -v / 2, sigma: math.Sqrt(v), exponential: cv == 1}
}

func (l lognormal) draw(r *rand.Rand) float64 {
	if l.exponential {
		return r.ExpFloat64()
	}
	return math.Exp(l.mu + l.sigma*r.NormFloat64())
}

// zipf draws numbers from 0 of which number k comes with a probability in
// proportion to 1/(k+1)^s.
type zipf struct{ sums []float64 }

func newZipf(n int, s float64) *zipf {
	z := &zipf{sums: make([]float64, n)}
	sum := 0.0
	for k := range z.sums {
		sum += math.Pow(float64(k+1), -s)
		z.sums[k] = sum
	}
	for k := range z.sums {
		z.sums[k] /= sum
	}
	return z
}

func (z *zipf) draw(r *rand.Rand) int32 {
	return int32(min(sort.SearchFloat64s(z.sums, r.Float64()), len(z.sums)-1))
}
