//go:build !race

// Everything here is one goroutine that computes minutes of traffic: there is no race
// to detect, and the detector would make it many times as long.

package loadbalance_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// Equal providers get equal shares, also when calls take next to no time: of whom
// nothing is known is as good as they are.
func TestAdaptiveEqualsShare(t *testing.T) {
	for _, took := range []time.Duration{0, time.Microsecond, 50 * time.Microsecond, 5 * milli} {
		for _, nodes := range []int{2, 3, 5} {
			t.Run(fmt.Sprint(took, nodes), func(t *testing.T) {
				f := newFleet()
				for range nodes {
					f.add(weight(100), 0)
				}
				lb, c := newAdaptive(t, f, 21), f.list()
				counts := make([]int, nodes)
				for range 7000 {
					n := lb.Select(c, f.call())
					counts[f.index(t, n)]++
					end := f.attempt(lb, n, f.call())
					f.clock.advance(took)
					end(took, protocol.Succeeded)
				}
				for i := range counts {
					assert.InDelta(t, 1/float64(nodes), share(counts, i), 0.03, "%v", counts)
				}
			})
		}
	}
}

// A report is as old as the latest call, so who reported that it is overloaded is
// called again from time to time; while it is it gets little.
func TestAdaptiveOldReport(t *testing.T) {
	for _, tt := range []struct {
		number int
		load   string
	}{{1, "100"}, {4, "100"}, {4, "400"}} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			f, rand := newFleet().weights(100, 100, 100), source(22)
			s := f.callers(newAdaptive(t, f, 22), tt.number, rand, 5, 5, 5)
			s.load = []string{tt.load, "5", "5"}
			s.run(t, time.Minute)
			assert.Less(t, share(s.counts, 0), 0.02, "overloaded")
			assert.Less(t, s.longest[0], 4*time.Second)
			s.load[0] = "5"
			s.run(t, 5*time.Second)
			assert.Greater(t, share(s.counts, 0), 0.2, "not any more")
		})
	}
}

// Also when few calls are made nobody is without one for long, who may have recovered
// from what it showed last.
func TestAdaptiveLooksAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		ms      []float64
		load    string
		verdict protocol.Verdict
	}{
		"overloaded": {[]float64{100, 100, 100}, "400", protocol.Succeeded},
		"slow":       {[]float64{100, 100, 1000}, "5", protocol.Succeeded},
		"failing":    {[]float64{100, 100, 1}, "5", protocol.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			f, rand := newFleet().weights(100, 100, 100), source(23)
			s := f.callers(newAdaptive(t, f, 23), 1, rand, tt.ms...)
			s.load = []string{"5", "5", tt.load}
			serve := s.serve
			s.serve = func(i int) (time.Duration, protocol.Verdict) {
				took, verdict := serve(i)
				if i == 2 {
					verdict = tt.verdict
				}
				return took, verdict
			}
			s.run(t, time.Minute)
			assert.Less(t, share(s.counts, 2), 0.07, "%v", s.counts)
			assert.Less(t, s.longest[2], 7*time.Second, "with ten calls a second")
		})
	}
}

// A provider that has restarted gets about a tenth of its weight at least, however few
// calls the others have under way.
func TestAdaptiveColdNode(t *testing.T) {
	for _, number := range []int{1, 6} {
		for name, tt := range map[string]struct{ cold, least, most float64 }{
			"as fast": {5, 0.03, 0.08},
			"slower":  {50, 0.002, 0.03},
		} {
			t.Run(fmt.Sprint(name, number), func(t *testing.T) {
				f, rand := newFleet(), source(24)
				for range 3 {
					f.add(warm(100), time.Hour)
				}
				ms := []float64{5, 5, 5}
				s := f.callers(newAdaptive(t, f, 24), number, rand, ms...)
				s.run(t, 20*time.Second)
				ms[0] = tt.cold
				f.nodes[0].Update(f.nodes[0].URL(), f.clock.now())
				s.run(t, 10*time.Second)
				assert.Greater(t, share(s.counts, 0), tt.least, "%v", s.counts)
				assert.Less(t, share(s.counts, 0), tt.most, "%v", s.counts)
			})
		}
	}
}

// A caller that gives up early says little about who it gave up on: equal providers
// have equal shares, whoever has had such calls.
func TestEarlyTimeoutsDoNotTip(t *testing.T) {
	for _, name := range []string{"shortestresponse", "adaptive", "leastload"} {
		for _, number := range []int{1, 4} {
			t.Run(fmt.Sprint(name, number), func(t *testing.T) {
				f, rand := newFleet().weights(100, 100, 100), source(25)
				s := f.callers(balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: rand}), number, rand, 5, 5, 5)
				s.hurry = 2 * milli
				s.run(t, time.Minute)
				for i := range s.counts {
					assert.InDelta(t, 1.0/3, share(s.counts, i), 0.07, "%v", s.counts)
				}
			})
		}
	}
}

// Callers that cancel for reasons of their own, one in ten, tip nobody either.
func TestCancelledCallsDoNotTip(t *testing.T) {
	for _, name := range []string{"shortestresponse", "adaptive", "leastload"} {
		for _, after := range []time.Duration{milli, 4 * milli} {
			t.Run(fmt.Sprint(name, after), func(t *testing.T) {
				f, rand := newFleet().weights(100, 100, 100), source(28)
				s := f.callers(balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: rand}), 4, rand, 5, 5, 5)
				s.hurry, s.cancel = after, true
				s.run(t, time.Minute)
				for i := range s.counts {
					assert.InDelta(t, 1.0/3, share(s.counts, i), 0.07, "%v", s.counts)
				}
			})
		}
	}
}

// Who hangs is known as such though every caller cancels long before any timeout, as an
// HTTP server does whose clients leave.
func TestCancelledCallsTell(t *testing.T) {
	for _, name := range []string{"shortestresponse", "adaptive", "leastload"} {
		for _, number := range []int{1, 4} {
			t.Run(fmt.Sprint(name, number), func(t *testing.T) {
				f, rand := newFleet().weights(100, 100, 100), source(29)
				s := f.callers(balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: rand}), number, rand, 5, 5, 5)
				s.run(t, 10*time.Second)
				serve := s.serve
				s.serve = func(i int) (time.Duration, protocol.Verdict) {
					if i == 2 {
						return time.Hour, protocol.Succeeded
					}
					return serve(i)
				}
				s.timeout, s.cancel = 100*milli, true
				s.run(t, time.Minute)
				assert.Less(t, share(s.counts, 2), 0.05, "%v", s.counts)
			})
		}
	}
}

// Who does not answer is known as such though no caller waits for its timeout, and a
// failure is dear however little time the caller had.
func TestEarlyTimeoutsAreNotFast(t *testing.T) {
	for _, name := range []string{"shortestresponse", "adaptive", "leastload"} {
		for what, tt := range map[string]struct {
			took    time.Duration
			verdict protocol.Verdict
		}{
			"hangs": {time.Second, protocol.Succeeded},
			"fails": {100 * time.Microsecond, protocol.Failed},
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				f, rand := newFleet().weights(100, 100, 100), source(26)
				s := f.callers(balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: rand}), 4, rand, 5, 5, 5)
				serve := s.serve
				s.serve = func(i int) (time.Duration, protocol.Verdict) {
					if i == 2 {
						return tt.took, tt.verdict
					}
					return serve(i)
				}
				s.timeout = 6 * milli
				s.run(t, time.Minute)
				assert.Less(t, share(s.counts, 2), 0.1, "%v", s.counts)
			})
		}
	}
}

// Explained at the moment of a call, nobody without a chance gets it, and in the long
// run everybody gets what the chances were: those who are called again, who warm up, and
// of whom little is known as well.
func TestChancesAsTimePasses(t *testing.T) {
	for _, name := range []string{"shortestresponse", "adaptive", "leastload"} {
		for _, number := range []int{1, 3} {
			t.Run(fmt.Sprint(name, number), func(t *testing.T) {
				f, rand := newFleet().weights(100, 50, 100, 100), source(27)
				f.add(warm(100), time.Minute)
				s := f.callers(balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: rand}), number, rand, 5, 5, 5, 40, 5)
				s.load = []string{"10", "11", "80", "10", "10"}
				s.expected = make([]float64, len(f.nodes))
				s.run(t, time.Minute)
				for i := range s.counts {
					assert.InDelta(t, s.expected[i], float64(s.counts[i]), 4.5*math.Sqrt(s.expected[i]), "node %d", i)
				}
				assert.NotZero(t, slices.Min(s.counts))
			})
		}
	}
}

// A timeout before the provider's own is taken for as much longer as is usual there, and
// is neither a success nor a failure; a later one is a failure, and costs what it took.
func TestAdaptiveEarlyTimeout(t *testing.T) {
	f := newFleet().weights(100, 100)
	lb := newAdaptive(t, f, 28)
	for _, n := range f.nodes {
		f.learn(lb, n, protocol.Succeeded, 10*milli)
	}
	f.learn(lb, f.nodes[0], protocol.TimedOut, 2*milli)
	f.learn(lb, f.nodes[1], protocol.Succeeded, 12*milli)
	got := f.explained(lb)
	assert.InDelta(t, 11, millis(got[0].Latency), 1e-6, "of 10 and 2 + 10")
	assert.InDelta(t, 2*got[1].Score, got[0].Score, 1e-9, "as if it were still under way")
	f.learn(lb, f.nodes[0], protocol.TimedOut, time.Second)
	got = f.explained(lb)
	assert.InDelta(t, (11+1000)/2.0, millis(got[0].Latency), 1e-6)
	assert.Greater(t, got[0].Score, 2*1.4*(math.Sqrt(505.5)+1)/(math.Sqrt(11)+1)*got[1].Score, "two of three were answered")
}

// What is known is forgotten at the pace of the provider's timeout, not the caller's.
func TestAdaptiveCallersTimeout(t *testing.T) {
	f := newFleet().weights(100, 100)
	lb := newAdaptive(t, f, 29)
	f.learn(lb, f.nodes[0], protocol.Succeeded, 10*milli)
	f.learn(lb, f.nodes[1], protocol.Failed, milli)
	f.clock.advance(300 * milli)
	inv := f.call()
	inv.Timeout = milli
	assert.Equal(t, f.explained(lb), lb.(loadbalance.Explainer).Explain(f.list(), inv).Candidates)
}

// However long a provider was left alone it gets one in five of the calls that it is
// drawn for.
func TestAdaptiveLeftAlone(t *testing.T) {
	f := newFleet().weights(100, 100, 100)
	lb := newAdaptive(t, f, 30)
	for i, percent := range []string{"5", "5", "400"} {
		f.report(t, lb, f.nodes[i], 10*milli, load(percent))
	}
	for _, tt := range []struct {
		after  time.Duration
		chance float64
	}{{0, 0}, {time.Second, 0.05}, {2 * time.Second, 0.15}, {time.Second, 0.2}, {time.Second, 0.2}} {
		f.clock.advance(tt.after)
		got := f.explained(lb)[2]
		assert.InDelta(t, tt.chance*2/3, got.Chance, 1e-9, tt.after)
		assert.Equal(t, tt.chance > 0, strings.Contains(got.Reason, "left alone"), got.Reason)
	}
	f.attempt(lb, f.nodes[2], f.call())
	assert.Zero(t, f.explained(lb)[2].Chance, "one is under way")
}
