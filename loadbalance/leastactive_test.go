package loadbalance_test

import (
	"container/heap"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// traffic runs calls in virtual time: what is under way is counted, and observers
// are told, as the active limit filter does it.
type traffic struct {
	*fleet
	verdict func(*protocol.Node) protocol.Verdict // nil: all succeed
	lb      loadbalance.LoadBalance
	list    *protocol.Candidates
	begin   time.Time
	events  events
	counts  map[*protocol.Node]int
}

type event struct {
	at time.Time
	do func()
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	x := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return x
}

func (f *fleet) traffic(lb loadbalance.LoadBalance) *traffic {
	return &traffic{fleet: f, lb: lb, list: f.list(), begin: f.clock.now(), counts: map[*protocol.Node]int{}}
}

func (s *traffic) after(d time.Duration, do func()) {
	heap.Push(&s.events, event{s.clock.now().Add(d), do})
}

func (s *traffic) run(d time.Duration) {
	for len(s.events) > 0 {
		e := heap.Pop(&s.events).(event)
		if e.at.Sub(s.begin) > d {
			return
		}
		s.clock.ns.Store(e.at.UnixNano())
		e.do()
	}
}

// call makes a call that lasts as long as service says; done runs at its end.
func (s *traffic) call(tb testing.TB, service func(*protocol.Node) time.Duration, done func()) {
	inv := &protocol.Invocation{Method: s.method, Start: s.clock.now()}
	n := s.lb.Select(s.list, inv)
	require.NotNil(tb, n)
	s.counts[n]++
	d, verdict := service(n), protocol.Succeeded
	if s.verdict != nil {
		verdict = s.verdict(n)
	}
	end := s.attempt(s.lb, n, inv)
	s.after(d, func() {
		end(d, verdict)
		done()
	})
}

func (s *traffic) share(n *protocol.Node) float64 {
	all := 0
	for _, c := range s.counts {
		all += c
	}
	return float64(s.counts[n]) / float64(all)
}

// B077: leastactive sees the slow provider although nobody has set "actives".
func TestLeastActiveAvoidsSlowProvider(t *testing.T) {
	f := newFleet().weights(100, 100)
	slow, fast := f.nodes[0], f.nodes[1]
	s := f.traffic(balancer(t, "leastactive", loadbalance.Config{Now: f.clock.now, Rand: source(1)}))
	service := func(n *protocol.Node) time.Duration {
		if n == slow {
			return 500 * time.Millisecond
		}
		return 10 * time.Millisecond
	}
	var caller func()
	caller = func() { s.call(t, service, caller) }
	for range 20 {
		s.after(0, caller)
	}
	s.run(5 * time.Second)
	assert.Greater(t, s.share(fast), 0.9)
}

// exponential returns durations with the mean and the distribution of waiting
// times between independent events.
func exponential(rand func() uint64, mean time.Duration) time.Duration {
	u := (float64(rand()>>11) + 0.5) / (1 << 53)
	return time.Duration(-math.Log(u) * float64(mean))
}

// javaLeastActive is Dubbo's rule: the weight of the one with the fewest calls
// under way is not looked at.
type javaLeastActive struct {
	rand func() uint64
	now  func() time.Time
}

func (j *javaLeastActive) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	slot, least, total := inv.Method.Slot, math.MaxInt, uint64(0)
	var pick *protocol.Node
	for _, n := range c.Nodes() {
		active, w := n.Status(slot).Active(), uint64(loadbalance.Weight(n.Method(slot), n.Life().Start, j.now()))
		if active < least {
			least, total, pick = active, 0, nil
		}
		if active == least {
			if total += w; pick == nil || j.rand()%total < w {
				pick = n
			}
		}
	}
	return pick
}

// F3: a provider that has just started, alone without a call under way most of the
// time, gets about what its weight says, not as much as it can answer.
func TestLeastActiveDoesNotFloodNewcomer(t *testing.T) {
	share := func(make func(f *fleet, rand func() uint64) loadbalance.LoadBalance) float64 {
		f, rand := newFleet(), source(2)
		for range 3 {
			f.add(warm(100), time.Hour)
		}
		newcomer := f.add(warm(100), time.Millisecond)
		s := f.traffic(make(f, rand))
		service := func(*protocol.Node) time.Duration { return exponential(rand, 10*time.Millisecond) }
		var arrive func()
		arrive = func() {
			s.call(t, service, func() {})
			s.after(exponential(rand, 2500*time.Microsecond), arrive)
		}
		s.after(0, arrive)
		s.run(time.Minute)
		require.Greater(t, s.counts[f.nodes[0]], 1000)
		return s.share(newcomer)
	}
	java := share(func(f *fleet, rand func() uint64) loadbalance.LoadBalance {
		return &javaLeastActive{rand, f.clock.now}
	})
	ours := share(func(f *fleet, rand func() uint64) loadbalance.LoadBalance {
		return balancer(t, "leastactive", loadbalance.Config{Now: f.clock.now, Rand: rand})
	})
	assert.Greater(t, java, 0.15, "the fault of the original does not show: this test proves nothing")
	assert.Less(t, ours, 0.032, "the share by weight, 10 of 310 at the end of the minute")
	assert.Greater(t, ours, 0.005, "the newcomer must not starve either")
	t.Logf("share of the newcomer: Dubbo %.1f %%, here %.1f %%", 100*java, 100*ours)
}

// When the others have ten times as many calls under way, one that warms up helps
// with a tenth of its weight from the first second.
func TestLeastActiveNewcomerHelps(t *testing.T) {
	f := newFleet()
	for range 3 {
		n := f.add(warm(100), time.Hour)
		for range 10 {
			n.Status(f.method.Slot).Begin(0)
		}
	}
	newcomer := f.add(warm(100), time.Millisecond)
	lb := balancer(t, "leastactive", loadbalance.Config{Now: f.clock.now, Rand: source(3)})
	c, inv := f.list(), f.call()
	for range 20 {
		require.Same(t, newcomer, lb.Select(c, inv))
	}
	newcomer.Status(f.method.Slot).Begin(0) // (1+1)/10 against (10+1)/100
	assert.Less(t, f.picks(t, lb, c, inv, 1000)[3], 20, "only its share by weight, 1 of 301")
}

// Equal counts, whatever they are, share by weight (B075).
func TestLeastActiveEqualCounts(t *testing.T) {
	f := newFleet()
	for _, up := range []time.Duration{time.Minute, 5 * time.Minute, time.Hour} {
		n := f.add(warm(100), up)
		for range 7 {
			n.Status(f.method.Slot).Begin(0)
		}
	}
	lb := balancer(t, "leastactive", loadbalance.Config{Now: f.clock.now, Rand: source(4)})
	requireShares(t, []float64{10, 50, 100}, f.picks(t, lb, f.list(), f.call(), 30_000))
}

// Providers alike in everything are chosen alike, also when one that looks even
// better may not be called.
func TestLeastActiveTies(t *testing.T) {
	f := newFleet().weights(100, 100, 100, 100, 100)
	for _, n := range f.nodes {
		n.Status(f.method.Slot).Begin(0)
	}
	f.nodes[4].Status(f.method.Slot).Begin(0)
	f.nodes[1].Status(f.method.Slot).End(0, false)
	setState(f.nodes[1], protocol.Down)
	lb := balancer(t, "leastactive", loadbalance.Config{Rand: source(5)})
	requireShares(t, []float64{1, 0, 1, 1, 0}, f.picks(t, lb, f.list(), f.call(), 10_000))
}

// The same when one that is just as good may not be called, so that the first look at all
// was in vain: what it has drawn does not decide who is next.
func TestLeastActiveTiesWithoutOne(t *testing.T) {
	f := newFleet().weights(100, 100, 100, 100, 10_000)
	for _, n := range f.nodes {
		n.Status(f.method.Slot).Begin(0)
	}
	for range 500 { // nearly always drawn, and not the best
		f.nodes[4].Status(f.method.Slot).Begin(0)
	}
	setState(f.nodes[1], protocol.Down)
	lb := balancer(t, "leastactive", loadbalance.Config{Now: f.clock.now, Rand: source(7)})
	requireShares(t, []float64{1, 0, 1, 1, 0}, f.picks(t, lb, f.list(), f.call(), 10_000))
}

// A provider that is down has no calls under way; it does not make the others look
// busy.
func TestLeastActiveBesideDown(t *testing.T) {
	f := newFleet()
	f.add(warm(100), time.Second) // not the best, but idle
	f.weights(100, 50)
	setState(f.nodes[0], protocol.Down)
	f.nodes[1].Status(f.method.Slot).Begin(0)
	f.nodes[2].Status(f.method.Slot).Begin(0)
	lb := balancer(t, "leastactive", loadbalance.Config{Now: f.clock.now, Rand: source(6)})
	requireShares(t, []float64{0, 100, 50}, f.picks(t, lb, f.list(), f.call(), 10_000))
}
