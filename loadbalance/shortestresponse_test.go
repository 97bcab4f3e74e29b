package loadbalance_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

const milli = time.Millisecond

func shortest(t *testing.T, f *fleet, seed uint64) loadbalance.LoadBalance {
	return balancer(t, "shortestresponse", loadbalance.Config{Now: f.clock.now, Rand: source(seed)})
}

// busy adds calls under way.
func (f *fleet) busy(i, calls int) {
	for range calls {
		f.nodes[i].Status(f.method.Slot).Begin(0)
	}
}

// prove lets a provider show often what it takes.
func (f *fleet) prove(lb loadbalance.LoadBalance, n *protocol.Node, v protocol.Verdict, took ...time.Duration) {
	for range 100 {
		f.learn(lb, n, v, took...)
	}
}

// The estimate is the average × (calls under way + 1), equal ones share at random.
func TestShortestResponseEstimate(t *testing.T) {
	f := newFleet().weights(100, 100, 100)
	lb := shortest(t, f, 1)
	c, inv := f.list(), f.call()
	f.prove(lb, f.nodes[0], protocol.Succeeded, 5*milli, 15*milli)
	f.prove(lb, f.nodes[1], protocol.Succeeded, 20*milli)
	f.prove(lb, f.nodes[2], protocol.Succeeded, 35*milli)
	for _, tt := range []struct {
		busy   int
		shares []float64
	}{
		{0, []float64{1, 0, 0}}, // 10, 20, 35
		{1, []float64{1, 2, 0}}, // about 20, a little less, 35: nobody passes calls on to the first
		{1, []float64{0, 1, 0}}, // 30, 20, 35
	} {
		f.busy(0, tt.busy)
		requireShares(t, tt.shares, f.picks(t, lb, c, inv, 4000))
	}
}

// Equal estimates share by weight; of others the one that is least for its weight
// wins.
func TestShortestResponseWeights(t *testing.T) {
	f := newFleet().weights(100, 300)
	lb := shortest(t, f, 1)
	c, inv := f.list(), f.call()
	for range 2 { // nothing known, both known
		requireShares(t, []float64{1, 3}, f.picks(t, lb, c, inv, 4000))
		for _, n := range f.nodes {
			f.prove(lb, n, protocol.Succeeded, 10*milli)
		}
	}
	f.busy(1, 1)
	requireShares(t, []float64{1, 3}, f.picks(t, lb, c, inv, 4000)) // 10/100 if drawn, else 20/300
	f.busy(1, 3)
	requireShares(t, []float64{1, 0}, f.picks(t, lb, c, inv, 4000)) // 10/100 against 50/300
}

// No average is less than a millisecond: calls that take less still count while they
// are under way.
func TestShortestResponseMillisecond(t *testing.T) {
	f := newFleet().weights(100, 100, 100)
	lb := shortest(t, f, 2)
	c, inv := f.list(), f.call()
	for i, took := range []time.Duration{100 * time.Microsecond, 900 * time.Microsecond, 1900 * time.Microsecond} {
		f.prove(lb, f.nodes[i], protocol.Succeeded, took)
	}
	requireShares(t, []float64{1, 1, 0}, f.picks(t, lb, c, inv, 3000))
	f.busy(0, 1)
	requireShares(t, []float64{0, 1, 0}, f.picks(t, lb, c, inv, 3000))
}

// What takes up to a tenth longer takes as long: else who is a little slower than its
// equals would get nothing while nobody has calls under way.
func TestShortestResponseNearlyEqual(t *testing.T) {
	f := newFleet().weights(100, 100, 100)
	lb := shortest(t, f, 12)
	for i, took := range []time.Duration{20 * milli, 21 * milli, 23 * milli} {
		f.prove(lb, f.nodes[i], protocol.Succeeded, took)
	}
	requireShares(t, []float64{2, 1, 0}, f.picks(t, lb, f.list(), f.call(), 3000))
}

// A provider that was slow once, as one is at its first call, is not left to starve for
// that: with few calls, few of them at once, it gets a part of its share, and as soon as
// it has shown that it is as fast as the others all of it.
func TestShortestResponseColdStart(t *testing.T) {
	f := newFleet().weights(100, 100, 100)
	rand := source(14)
	s := f.traffic(shortest(t, f, 13))
	cold, first := f.nodes[2], true
	service := func(n *protocol.Node) time.Duration {
		if n == cold && first {
			first = false
			return 120 * milli
		}
		return 20 * milli
	}
	s.after(5*time.Second, func() {
		assert.Greater(t, s.share(cold), 0.02, "it starves")
		assert.Less(t, s.share(cold), 0.2, "nothing speaks for it yet")
	})
	s.after(20*time.Second, func() { clear(s.counts) })
	s.stream(t, 20*milli, 30*time.Second, rand, service)
	assert.InDelta(t, 1.0/3, s.share(cold), 0.07)
}

// Every method has averages of its own.
func TestShortestResponseByMethod(t *testing.T) {
	f := newFleet().weights(100, 100)
	lb, c := shortest(t, f, 3), f.list()
	save := &protocol.Invocation{Method: f.methodOf("save")}
	f.prove(lb, f.nodes[0], protocol.Succeeded, 10*milli)
	f.prove(lb, f.nodes[1], protocol.Succeeded, 20*milli)
	for range 100 {
		f.attempt(lb, f.nodes[0], &protocol.Invocation{Method: save.Method})(40*milli, protocol.Succeeded)
		f.attempt(lb, f.nodes[1], &protocol.Invocation{Method: save.Method})(30*milli, protocol.Succeeded)
	}
	requireShares(t, []float64{1, 0}, f.picks(t, lb, c, f.call(), 1000))
	requireShares(t, []float64{0, 1}, f.picks(t, lb, c, save, 1000))
}

// What is known of nobody counts as the average of all, not as nothing (F4).
func TestShortestResponseUnknownIsUsual(t *testing.T) {
	f := newFleet().weights(100, 100, 100)
	lb := shortest(t, f, 4)
	c, inv := f.list(), f.call()
	requireShares(t, []float64{1, 1, 1}, f.picks(t, lb, c, inv, 3000)) // nothing known at all
	f.prove(lb, f.nodes[0], protocol.Succeeded, 10*milli, 10*milli, 10*milli)
	f.prove(lb, f.nodes[1], protocol.Succeeded, 30*milli)
	requireShares(t, []float64{1, 0, 0}, f.picks(t, lb, c, inv, 1000)) // 10, 30, 15
	f.busy(0, 1)
	requireShares(t, []float64{0, 0, 1}, f.picks(t, lb, c, inv, 1000)) // 20, 30, 15
	f.busy(2, 1)
	requireShares(t, []float64{1, 0, 0}, f.picks(t, lb, c, inv, 1000)) // 20, 30, 30
}

// javaShortestResponse is Dubbo's rule since 3.0.3: successes alone count, since the
// latest reset, and the weight of the one that is fastest is not looked at.
type javaShortestResponse struct {
	fleet  *fleet
	rand   func() uint64
	reset  time.Time
	offset map[*protocol.Node][2]time.Duration
}

func newJavaShortestResponse(f *fleet, rand func() uint64) *javaShortestResponse {
	return &javaShortestResponse{f, rand, f.clock.now(), map[*protocol.Node][2]time.Duration{}}
}

func (j *javaShortestResponse) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	var pick *protocol.Node
	least, total := int64(math.MaxInt64), uint64(0)
	for _, n := range c.Nodes() {
		counters := n.Status(inv.Method.Slot).Counters()
		elapsed, calls := counters.Elapsed-counters.FailedElapsed, time.Duration(counters.Total-counters.Failed)
		average := time.Duration(0)
		if d := calls - j.offset[n][1]; d > 0 {
			average = (elapsed - j.offset[n][0]) / d
		}
		estimate := average.Milliseconds() * int64(counters.Active+1)
		w := uint64(loadbalance.Weight(n.Method(inv.Method.Slot), n.Life().Start, j.fleet.clock.now()))
		if estimate < least {
			least, total, pick = estimate, 0, nil
		}
		if estimate == least {
			if total += w; pick == nil || j.rand()%total < w {
				pick = n
			}
		}
		if j.fleet.clock.now().Sub(j.reset) > 30*time.Second {
			j.offset[n] = [2]time.Duration{elapsed, calls}
		}
	}
	if j.fleet.clock.now().Sub(j.reset) > 30*time.Second {
		j.reset = j.fleet.clock.now()
	}
	return pick
}

// stream makes calls at random for some time, on average every so often.
func (s *traffic) stream(tb testing.TB, every, d time.Duration, rand func() uint64, service func(*protocol.Node) time.Duration) {
	var arrive func()
	arrive = func() {
		s.call(tb, service, func() {})
		s.after(exponential(rand, every), arrive)
	}
	s.after(0, arrive)
	s.run(d)
}

// versus compares the share that a node gets by Dubbo's rule and by ours.
func versus(t *testing.T, run func(f *fleet, lb loadbalance.LoadBalance, rand func() uint64) float64) (java, ours float64) {
	f, rand := newFleet(), source(10)
	java = run(f, newJavaShortestResponse(f, rand), rand)
	f, rand = newFleet(), source(10)
	ours = run(f, balancer(t, "shortestresponse", loadbalance.Config{Now: f.clock.now, Rand: rand}), rand)
	t.Logf("share: Dubbo %.1f %%, here %.1f %%", 100*java, 100*ours)
	return java, ours
}

// F4: who fails, fast or by timeout, is not fast.
func TestShortestResponseFailuresAreNotFast(t *testing.T) {
	for name, tt := range map[string]struct {
		took    time.Duration
		verdict protocol.Verdict
		most    float64
	}{
		"fast":    {milli, protocol.Failed, 0.01},
		"timeout": {time.Second, protocol.TimedOut, 0.10},
	} {
		t.Run(name, func(t *testing.T) {
			java, ours := versus(t, func(f *fleet, lb loadbalance.LoadBalance, rand func() uint64) float64 {
				f.weights(100, 100, 100, 100)
				bad := f.nodes[2]
				s := f.traffic(lb)
				s.verdict = func(n *protocol.Node) protocol.Verdict {
					if n == bad {
						return tt.verdict
					}
					return protocol.Succeeded
				}
				s.stream(t, 2500*time.Microsecond, time.Minute, rand, func(n *protocol.Node) time.Duration {
					if n == bad {
						return tt.took
					}
					return exponential(rand, 10*milli)
				})
				return s.share(bad)
			})
			assert.Greater(t, java, 0.9, "the fault of the original does not show: this test proves nothing")
			assert.Less(t, ours, tt.most)
		})
	}
}

// A provider that has just come, and has not answered its first call, is not flooded.
func TestShortestResponseUnprovenIsNotFlooded(t *testing.T) {
	java, ours := versus(t, func(f *fleet, lb loadbalance.LoadBalance, rand func() uint64) float64 {
		f.weights(100, 100, 100, 100)
		s := f.traffic(lb)
		service := func(*protocol.Node) time.Duration { return exponential(rand, 10*milli) }
		s.stream(t, 2500*time.Microsecond, 5*time.Second, rand, service)
		cold := f.add(weight(100), 0)
		s.list = protocol.NewCandidates(f.nodes, s.list)
		clear(s.counts)
		s.run(5500 * time.Millisecond)
		for range 200 {
			s.call(t, func(n *protocol.Node) time.Duration {
				if n == cold {
					return time.Second
				}
				return service(n)
			}, func() {})
			s.run(s.clock.now().Sub(s.begin) + 2500*time.Microsecond)
		}
		return s.share(cold)
	})
	assert.Greater(t, java, 0.8, "the fault of the original does not show: this test proves nothing")
	assert.Less(t, ours, 0.25, "its share by weight is a fifth")
}

// F3: a provider that warms up, as fast as the others, gets about what its weight says.
func TestShortestResponseDoesNotFloodNewcomer(t *testing.T) {
	java, ours := versus(t, func(f *fleet, lb loadbalance.LoadBalance, rand func() uint64) float64 {
		for range 3 {
			f.add(warm(100), time.Hour)
		}
		newcomer := f.add(warm(100), milli)
		s := f.traffic(lb)
		s.stream(t, 2500*time.Microsecond, time.Minute, rand, func(*protocol.Node) time.Duration { return exponential(rand, 10*milli) })
		return s.share(newcomer)
	})
	assert.Greater(t, java, 0.15, "the fault of the original does not show: this test proves nothing")
	assert.Less(t, ours, 0.032, "the share by weight, 10 of 310 at the end of the minute")
	assert.Greater(t, ours, 0.001, "the newcomer must not starve either")
}

// F21: no moment in which all is forgotten. F25: calls made one by one show who is slow.
func TestShortestResponseRemembers(t *testing.T) {
	java, ours := versus(t, func(f *fleet, lb loadbalance.LoadBalance, rand func() uint64) float64 {
		f.weights(100, 100, 100, 100)
		slow := f.nodes[1]
		s := f.traffic(lb)
		s.stream(t, 2500*time.Microsecond, 65*time.Second, rand, func(n *protocol.Node) time.Duration {
			if n == slow {
				return 400 * milli
			}
			return exponential(rand, 10*milli)
		})
		return s.share(slow) * 100 // in percent of the calls
	})
	assert.Greater(t, java, ours)
	assert.Less(t, ours, 0.5)
}

// What was learned is forgotten after the period, by tenths.
func TestShortestResponseSlides(t *testing.T) {
	for name, tt := range map[string]struct {
		value  string
		period time.Duration
	}{
		"default":   {"", 30 * time.Second},
		"set":       {"2000", 2 * time.Second},
		"malformed": {"soon", 30 * time.Second},
		"zero":      {"0", 30 * time.Second}, // out of range
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet().weights(100, 100)
			reference := url.New("consumer", "127.0.0.1", 0, "com.example.S", nil).With("shortestResponseSlidePeriod", tt.value)
			lb := balancer(t, "shortestresponse", loadbalance.Config{Now: f.clock.now, Rand: source(5), Reference: reference})
			c, inv := f.list(), f.call()
			f.prove(lb, f.nodes[0], protocol.Succeeded, 30*milli)
			f.prove(lb, f.nodes[1], protocol.Succeeded, 20*milli)
			f.clock.advance(tt.period / 2)
			f.prove(lb, f.nodes[0], protocol.Succeeded, 10*milli, 10*milli) // on average 17
			f.learn(lb, f.nodes[1], protocol.Neutral, milli)                // it was called lately, and nothing was learned
			requireShares(t, []float64{1, 0}, f.picks(t, lb, c, inv, 100))
			f.busy(0, 1) // 33, 20
			requireShares(t, []float64{0, 1}, f.picks(t, lb, c, inv, 100))
			f.clock.advance(tt.period/2 - 1)
			requireShares(t, []float64{0, 1}, f.picks(t, lb, c, inv, 100))
			f.clock.advance(1) // 10 × 2, and of the other nothing is known: 10
			f.busy(1, 1)
			requireShares(t, []float64{1, 1}, f.picks(t, lb, c, inv, 1000))
		})
	}
}

// A restart begins anew, and what ends late ends in the life that it began in.
func TestShortestResponseLives(t *testing.T) {
	f := newFleet().weights(100, 100)
	lb, n := shortest(t, f, 6), f.nodes[0]
	c, inv := f.list(), f.call()
	f.prove(lb, n, protocol.Succeeded, 50*milli)
	f.prove(lb, f.nodes[1], protocol.Succeeded, 50*milli)
	late := f.attempt(lb, n, f.call())
	n.Update(n.URL(), f.clock.now())
	requireShares(t, []float64{1, 1}, f.picks(t, lb, c, inv, 1000))
	late(time.Minute, protocol.Succeeded)
	f.busy(1, 1)
	f.busy(0, 1)
	usual := (time.Minute + 100*milli) / 3
	require.Greater(t, usual, 50*milli)
	requireShares(t, []float64{0, 1}, f.picks(t, lb, c, inv, 1000)) // the usual × 2 against 50 × 2
}

// Calls that say nothing about the provider are not counted.
func TestShortestResponseNeutral(t *testing.T) {
	f := newFleet().weights(100, 100)
	lb := shortest(t, f, 7)
	f.prove(lb, f.nodes[0], protocol.Neutral, time.Minute, 0)
	requireShares(t, []float64{1, 1}, f.picks(t, lb, f.list(), f.call(), 1000))
}

// One-way calls end when they are sent: that says nothing about how fast a provider is,
// unless it fails.
func TestOneWayIsNotFast(t *testing.T) {
	for _, name := range []string{"shortestresponse", "adaptive"} {
		t.Run(name, func(t *testing.T) {
			f := newFleet().weights(100, 100)
			lb := balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: source(11)})
			f.prove(lb, f.nodes[1], protocol.Succeeded, 10*milli)
			send := func(v protocol.Verdict) {
				inv := f.call()
				inv.OneWay = true
				f.attempt(lb, f.nodes[0], inv)(10*time.Microsecond, v)
			}
			send(protocol.Succeeded)
			f.clock.advance(100 * milli) // it is taken for one under way for a while
			requireShares(t, []float64{1, 1}, f.picks(t, lb, f.list(), f.call(), 1000))
			for range 100 {
				send(protocol.Failed)
			}
			requireShares(t, []float64{0, 1}, f.picks(t, lb, f.list(), f.call(), 1000))
		})
	}
}

// A failure costs the timeout of the provider or what it took, whatever the caller's
// own is.
func TestShortestResponseFailureCosts(t *testing.T) {
	for name, tt := range map[string]struct {
		params  params
		timeout time.Duration
		took    time.Duration
		want    time.Duration
	}{
		"default":       {params{}, 0, milli, time.Second},
		"of the method": {params{methodName + ".timeout": "300"}, 0, milli, 300 * milli},
		"less time":     {params{"timeout": "300"}, 50 * milli, milli, 300 * milli},
		"it took more":  {params{"timeout": "300"}, 0, 400 * milli, 400 * milli},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet()
			tt.params["warmup"] = "0"
			f.add(tt.params, 0)
			f.weights(100)
			lb := shortest(t, f, 8)
			f.prove(lb, f.nodes[1], protocol.Succeeded, tt.want)
			inv := f.call()
			inv.Timeout = tt.timeout
			f.attempt(lb, f.nodes[0], inv)(tt.took, protocol.Failed)
			f.clock.advance(5 * tt.want)                                                // what failed soon is taken for under way for a while
			requireShares(t, []float64{1, 1}, f.picks(t, lb, f.list(), f.call(), 1000)) // equal
		})
	}
}

// Figures that no real system has do not wrap around.
func TestShortestResponseExtremes(t *testing.T) {
	f := newFleet().weights(math.MaxInt32, math.MaxInt32)
	lb := shortest(t, f, 9)
	c, inv := f.list(), f.call()
	f.prove(lb, f.nodes[0], protocol.Succeeded, math.MaxInt64)
	f.prove(lb, f.nodes[1], protocol.Succeeded, time.Hour)
	f.busy(0, 1000)
	requireShares(t, []float64{0, 1}, f.picks(t, lb, c, inv, 100))
	f.prove(lb, f.nodes[1], protocol.Succeeded, -time.Hour)
	assert.NotPanics(t, func() { f.picks(t, lb, c, inv, 100) }, fmt.Sprint(f.nodes[1].URL()))
}
