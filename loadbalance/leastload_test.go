package loadbalance_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// arrivals makes calls at random moments for a virtual time of d, so many a second,
// each as long as service says on average, and waits for their ends.
func (s *traffic) arrivals(t *testing.T, rand func() uint64, rate float64, d time.Duration, service func(*protocol.Node) time.Duration) {
	s.begin = s.clock.now()
	clear(s.counts)
	var arrive func()
	arrive = func() {
		if s.clock.now().Sub(s.begin) > d {
			return
		}
		s.call(t, func(n *protocol.Node) time.Duration { return exponential(rand, service(n)) }, func() {})
		s.after(exponential(rand, time.Duration(float64(time.Second)/rate)), arrive)
	}
	s.after(0, arrive)
	s.run(time.Hour)
}

func leastLoad(t *testing.T, f *fleet, rand func() uint64) loadbalance.LoadBalance {
	return balancer(t, "leastload", loadbalance.Config{Now: f.clock.now, Rand: rand})
}

func always(d time.Duration) func(*protocol.Node) time.Duration {
	return func(*protocol.Node) time.Duration { return d }
}

// slowly is 10 ms but for one provider.
func slowly(one *protocol.Node, d time.Duration) func(*protocol.Node) time.Duration {
	return func(n *protocol.Node) time.Duration {
		if n == one {
			return d
		}
		return 10 * milli
	}
}

func TestLeastLoadEqualProviders(t *testing.T) {
	f, rand := newFleet().weights(100, 100, 100, 100), source(1)
	s := f.traffic(leastLoad(t, f, rand))
	s.arrivals(t, rand, 400, 30*time.Second, always(10*milli))
	for _, n := range f.nodes {
		assert.InDelta(t, 0.25, s.share(n), 0.1)
	}
}

func TestLeastLoadAvoidsSlowProvider(t *testing.T) {
	for _, rate := range []float64{20, 200, 2000} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			f, rand := newFleet().weights(100, 100, 100), source(2)
			s := f.traffic(leastLoad(t, f, rand))
			s.arrivals(t, rand, rate, 20*time.Second, slowly(f.nodes[1], 50*milli))
			assert.Less(t, s.share(f.nodes[1]), 0.1, "a fifth as fast as the others")
			assert.Greater(t, s.share(f.nodes[1]), 0.001, "it is looked at now and then")
		})
	}
}

// B093, F25: calls made one by one show which provider is slow.
func TestLeastLoadSequentialCalls(t *testing.T) {
	f := newFleet().weights(100, 100)
	slow := f.nodes[0]
	s := f.traffic(leastLoad(t, f, source(3)))
	var caller func()
	caller = func() { s.call(t, slowly(slow, 100*milli), caller) }
	s.after(0, caller)
	s.run(time.Minute)
	assert.Less(t, s.share(slow), 0.05)
}

// F4: a provider that fails at once does not look idle.
func TestLeastLoadAvoidsFailingProvider(t *testing.T) {
	f, rand := newFleet().weights(100, 100, 100), source(4)
	bad := f.nodes[2]
	s := f.traffic(leastLoad(t, f, rand))
	s.verdict = func(n *protocol.Node) protocol.Verdict {
		if n == bad {
			return protocol.Failed
		}
		return protocol.Succeeded
	}
	s.arrivals(t, rand, 500, 20*time.Second, slowly(bad, milli/10))
	assert.Less(t, s.share(bad), 0.02)

	s.verdict = nil // it is well again
	s.arrivals(t, rand, 500, 20*time.Second, always(10*milli))
	s.arrivals(t, rand, 500, 10*time.Second, always(10*milli))
	assert.InDelta(t, 1.0/3, s.share(bad), 0.1, "it comes back by itself")
}

// One failure is forgotten in some twelve seconds; meanwhile the provider gets less.
func TestLeastLoadAfterOneFailure(t *testing.T) {
	f, rand := newFleet().weights(100, 100, 100), source(5)
	s := f.traffic(leastLoad(t, f, rand))
	s.arrivals(t, rand, 100, 5*time.Second, always(10*milli))
	f.learn(s.lb, f.nodes[0], protocol.Failed, milli)
	s.arrivals(t, rand, 100, time.Second, always(10*milli))
	assert.Less(t, s.share(f.nodes[0]), 0.25)
	s.arrivals(t, rand, 100, 11*time.Second, always(10*milli))
	s.arrivals(t, rand, 1000, 5*time.Second, always(10*milli))
	assert.InDelta(t, 1.0/3, s.share(f.nodes[0]), 0.1)
}

// Timeouts count what they took when that is more than the price of a failure;
// cancelled calls count nothing.
func TestLeastLoadVerdicts(t *testing.T) {
	f := newFleet().weights(100, 100, 100)
	lb := leastLoad(t, f, source(6))
	for _, n := range f.nodes {
		f.learn(lb, n, protocol.Succeeded, 10*milli)
	}
	f.learn(lb, f.nodes[0], protocol.TimedOut, 3*time.Second)
	f.learn(lb, f.nodes[1], protocol.Failed, milli)
	f.learn(lb, f.nodes[2], protocol.Neutral, time.Hour)
	f.clock.advance(100 * milli)
	x := lb.(loadbalance.Explainer).Explain(f.list(), f.call())
	latency := func(i int) float64 { return x.Candidates[i].Latency.Seconds() * 1000 }
	assert.InDelta(t, 10, latency(2), 0.5, "neutral is no sample")
	assert.InDelta(t, (10+10+500)/3.0, latency(1), 10, "a failure costs 50 times what is usual")
	assert.InDelta(t, (10+10+3000)/3.0, latency(0), 50, "a timeout costs what it took")
}

// A provider about which nothing is known, without warm-up, gets its share from the
// beginning: not all, not nothing.
func TestLeastLoadNewcomer(t *testing.T) {
	for _, rate := range []float64{300, 3000} {
		f, rand := newFleet().weights(100, 100, 100), source(7)
		s := f.traffic(leastLoad(t, f, rand))
		s.arrivals(t, rand, rate, 10*time.Second, always(10*milli))
		newcomer := f.add(weight(100), 0)
		s.list = protocol.NewCandidates(f.nodes, s.list)
		s.arrivals(t, rand, rate, 2*time.Second, always(10*milli))
		assert.InDelta(t, 0.25, s.share(newcomer), 0.15, "%v calls a second", rate)
	}
}

// While it warms up a newcomer has its share by weight, a fifth of the full weight
// at least, and helps more when the others are busy.
func TestLeastLoadWarmup(t *testing.T) {
	f, rand := newFleet(), source(8)
	for range 3 {
		f.add(warm(100), time.Hour)
	}
	newcomer := f.add(warm(100), milli)
	s := f.traffic(leastLoad(t, f, rand))
	s.arrivals(t, rand, 100, 20*time.Second, always(10*milli))
	assert.InDelta(t, 20.0/320, s.share(newcomer), 0.02)
	s.arrivals(t, rand, 4000, 20*time.Second, always(10*milli))
	assert.InDelta(t, 20.0/320, s.share(newcomer), 0.02)
}

// A restart is a new life: what was slow or failing is as usual again, and calls of the
// old life do not count.
func TestLeastLoadRestart(t *testing.T) {
	f := newFleet().weights(100, 100)
	lb, n := leastLoad(t, f, source(9)), f.nodes[0]
	f.learn(lb, f.nodes[1], protocol.Succeeded, 10*milli, 10*milli)
	f.learn(lb, n, protocol.TimedOut, time.Minute)
	end := f.attempt(lb, n, f.call())
	f.clock.advance(100 * milli)
	c, inv := f.list(), f.call()
	require.Equal(t, []int{0, 100}, f.picks(t, lb, c, inv, 100))

	n.Update(f.url(n.Key(), weight(100)), f.clock.now())
	require.Equal(t, []int{100, 0}, f.picks(t, lb, c, inv, 100), "nothing speaks against it")
	end(time.Minute, protocol.Failed) // belongs to the old life
	f.clock.advance(100 * milli)
	require.Equal(t, []int{100, 0}, f.picks(t, lb, c, inv, 100))
	f.attempt(lb, n, f.call())
	require.Equal(t, []int{0, 100}, f.picks(t, lb, c, inv, 100), "one call under way is enough")
}

// A provider of small weight gets its share whether there is much to do or little,
// and less only when it is slow.
func TestLeastLoadCanary(t *testing.T) {
	for _, rate := range []float64{10, 100, 3000} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			f, rand := newFleet().weights(100, 100, 100, 5), source(10)
			canary := f.nodes[3]
			s := f.traffic(leastLoad(t, f, rand))
			calls := time.Duration(20_000 / rate * float64(time.Second))
			s.arrivals(t, rand, rate, calls, always(10*milli))
			assert.InDelta(t, 5.0/305, s.share(canary), 0.003)
			s.arrivals(t, rand, rate, calls, slowly(canary, 200*milli))
			assert.Less(t, s.share(canary), 0.01, "slow")
		})
	}
}

// Calls that have been under way for long at a provider that answers others are no
// load; where it answers nothing they are.
func TestLeastLoadAgedCalls(t *testing.T) {
	for _, answers := range []bool{true, false} {
		t.Run(fmt.Sprint("answers: ", answers), func(t *testing.T) {
			f := newFleet().weights(100, 100)
			lb, c := leastLoad(t, f, source(11)), f.list()
			for range 8 {
				f.attempt(lb, f.nodes[0], f.call())
			}
			f.clock.advance(900 * milli)
			if answers {
				f.learn(lb, f.nodes[0], protocol.Succeeded, 10*milli)
			}
			f.learn(lb, f.nodes[1], protocol.Succeeded, 10*milli)
			for range 2 {
				f.attempt(lb, f.nodes[1], f.call()) // (2+1) against (8+1), or (0.8+1)
			}
			require.Equal(t, []int{0, 100}, f.picks(t, lb, c, f.call(), 100), "not aged yet")
			f.clock.advance(200 * milli)
			want := []int{0, 100}
			if answers {
				want = []int{100, 0}
			}
			assert.Equal(t, want, f.picks(t, lb, c, f.call(), 100))
		})
	}
}

// What was learned is forgotten: in the end the calls under way decide alone.
func TestLeastLoadForgets(t *testing.T) {
	f := newFleet().weights(100, 100)
	lb, c := leastLoad(t, f, source(12)), f.list()
	f.learn(lb, f.nodes[0], protocol.Failed, 10*milli, 10*milli, 10*milli)
	f.learn(lb, f.nodes[1], protocol.Succeeded, 10*milli)
	f.attempt(lb, f.nodes[1], f.call())
	f.clock.advance(50 * milli)
	require.Equal(t, []int{0, 100}, f.picks(t, lb, c, f.call(), 100))
	f.clock.advance(30 * time.Second)
	assert.Equal(t, []int{100, 0}, f.picks(t, lb, c, f.call(), 100))
}

// A provider that serves a costly method is not slow for that, and one that is slow is
// found by its calls of any method.
func TestLeastLoadMethods(t *testing.T) {
	f := newFleet().weights(100, 100)
	lb, c := leastLoad(t, f, source(13)), f.list()
	export := &protocol.Invocation{Method: f.methodOf("export")}
	for range 20 {
		f.learn(lb, f.nodes[0], protocol.Succeeded, 10*milli)
		f.attempt(lb, f.nodes[0], export)(time.Second, protocol.Succeeded)
		f.learn(lb, f.nodes[1], protocol.Succeeded, 10*milli)
		f.clock.advance(60 * milli)
	}
	requireShares(t, []float64{1, 1}, f.picks(t, lb, c, f.call(), 1)) // warm up the page
	x := lb.(loadbalance.Explainer).Explain(c, f.call())
	assert.InEpsilon(t, x.Candidates[0].Score, x.Candidates[1].Score, 0.05)

	for range 20 {
		f.attempt(lb, f.nodes[1], export)(3*time.Second, protocol.Succeeded)
		f.attempt(lb, f.nodes[0], export)(time.Second, protocol.Succeeded)
		f.clock.advance(60 * milli)
	}
	assert.Equal(t, []int{100, 0}, f.picks(t, lb, c, f.call(), 100))
}
