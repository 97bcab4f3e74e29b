//go:build !race

// Everything here is one goroutine that computes minutes of traffic: there is no race
// to detect, and the detector would make it many times as long.

package loadbalance_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// Of providers that are equal but for chance each has its part, however few calls are
// under way: the one that seems to be the fastest does not keep all.
func TestNoEqualProviderStarves(t *testing.T) {
	for _, name := range []string{"adaptive", "leastactive", "leastload", "shortestresponse"} {
		for _, c := range []struct {
			providers, callers int
			think              time.Duration
		}{{3, 1, 0}, {3, 2, 0}, {3, 4, 0}, {3, 1, 50 * milli}, {10, 1, 0}, {10, 4, 0}, {100, 4, 0}} {
			t.Run(fmt.Sprintf("%s/%d providers, %d callers, think %v", name, c.providers, c.callers, c.think), func(t *testing.T) {
				f, rand := newFleet(), source(1)
				for range c.providers {
					f.add(weight(100), 0)
				}
				lb := balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: rand})
				s := f.callers(lb, c.callers, rand, slices.Repeat([]float64{5}, c.providers)...)
				s.think = c.think
				s.run(t, time.Minute)
				for i := range f.nodes {
					assert.InEpsilon(t, 1/float64(c.providers), share(s.counts, i), 0.5)
					assert.Less(t, s.longest[i], 6*time.Second)
				}
			})
		}
	}
}

// A provider that was slow gets its part again soon after it is well, also of calls
// made one by one.
func TestSlowProviderComesBack(t *testing.T) {
	for name, within := range map[string]time.Duration{
		"adaptive": 15 * time.Second, "leastload": 15 * time.Second, "shortestresponse": 35 * time.Second,
	} {
		for _, callers := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%s/%d callers", name, callers), func(t *testing.T) {
				f, rand := newFleet().weights(100, 100, 100), source(1)
				ms := []float64{30, 5, 5}
				s := f.callers(balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: rand}), callers, rand, ms...)
				s.run(t, 20*time.Second)
				assert.Less(t, share(s.counts, 0), 0.1)
				ms[0] = 5
				s.run(t, within)
				s.run(t, 30*time.Second)
				assert.InEpsilon(t, 1.0/3, share(s.counts, 0), 0.4)
			})
		}
	}
}

// Weights are shares in the long run, also when calls are made one by one and chance makes
// one provider look faster than another.
func TestLeastLoadWeightsOfFewCallers(t *testing.T) {
	for _, tt := range []struct{ weights, least, most []int }{ // percent
		{[]int{100, 90, 90, 90}, []int{27, 19, 19, 19}, []int{40, 28, 28, 28}},
		{[]int{100, 50}, []int{60, 25}, []int{75, 40}},
		{[]int{100, 100, 100, 5}, []int{25, 25, 25, 1}, []int{40, 40, 40, 2}},
	} {
		f, rand := newFleet().weights(tt.weights...), source(2)
		s := f.callers(leastLoad(t, f, rand), 1, rand)
		s.think = 20 * milli
		s.serve = func(int) (time.Duration, protocol.Verdict) {
			return 5*milli + exponential(rand, 5*milli), protocol.Succeeded
		}
		s.run(t, 20*time.Minute)
		for i := range tt.weights {
			assert.GreaterOrEqual(t, 100*share(s.counts, i), float64(tt.least[i]), "%v: %v", tt.weights, s.counts)
			assert.LessOrEqual(t, 100*share(s.counts, i), float64(tt.most[i]), "%v: %v", tt.weights, s.counts)
		}
	}
}

// Of calls that take long the memory is long, too.
func TestLeastLoadOfLongCalls(t *testing.T) {
	f, rand := newFleet().weights(100, 100, 100), source(3)
	s := f.callers(leastLoad(t, f, rand), 1, rand)
	s.serve = func(i int) (time.Duration, protocol.Verdict) {
		d := 30*time.Second + exponential(rand, 30*time.Second)
		if i == 0 {
			d *= 5
		}
		return d, protocol.Succeeded
	}
	s.run(t, 8*time.Hour)
	assert.Less(t, share(s.counts, 0), 0.08, "%v", s.counts)
}
