package loadbalance_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

func ringLoad(tb testing.TB, f *fleet) loadbalance.LoadBalance {
	return balancer(tb, "ringload", loadbalance.Config{Now: f.clock.now, Rand: source(1)})
}

// While little is to do keys are where consistenthash has them, also when the list
// changes or providers are away.
func TestRingLoadIdleIsConsistentHash(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := newFleet()
		for range rapid.IntRange(1, 20).Draw(r, "nodes") {
			f.add(weight(100), 0)
		}
		for _, n := range f.nodes {
			setState(n, rapid.SampledFrom([]protocol.State{protocol.Ready, protocol.Ready, protocol.Down}).Draw(r, "state"))
		}
		lb, plain, c := ringLoad(t, f), consistentHash(t), f.list()
		for range 3 {
			for _, key := range someKeys(20) {
				inv := f.callOf(key)
				for range rapid.IntRange(0, 2).Draw(r, "tried") {
					inv.MarkTried(rapid.SampledFrom(f.nodes).Draw(r, "which"))
				}
				want := plain.Select(c, inv)
				require.Same(r, want, lb.Select(c, inv))
				if want != nil {
					f.attempt(lb, want, inv)(10*milli, protocol.Succeeded)
				}
			}
			f.clock.advance(time.Second)
			f.nodes = append(f.nodes, f.node(weight(100), 0))
			c = protocol.NewCandidates(f.nodes, c)
		}
	})
}

// nearest are the providers of a key from its owner on.
func nearest(tb testing.TB, f *fleet, c *protocol.Candidates, key string, k int) []*protocol.Node {
	ns := new(loadbalance.Nearest).Append(nil, k, c, f.callOf(key))
	require.Len(tb, ns, k)
	return ns
}

// A key stays until its owner is 2.5 times worse off, goes to the same second provider
// then, and to those not near only when three are busy.
func TestRingLoadSpills(t *testing.T) {
	f := newFleet().weights(100, 100, 100, 100, 100)
	lb, c := ringLoad(t, f), f.list()
	ns := nearest(t, f, c, "video", 5)
	where := make([]int, 5)
	for range 100 {
		n := lb.Select(c, f.callOf("video"))
		for i := range ns {
			if ns[i] == n {
				where[i]++
			}
		}
		f.attempt(lb, n, f.callOf("video"))
	}
	// v = (a+1) × 2.5^r: in the end a+1 is as 15.6 : 6.25 : 2.5 : 1 : 1.
	assert.InDelta(t, 100*15.6/26.4, where[0], 4)
	assert.InDelta(t, 100*6.25/26.4, where[1], 4)
	assert.InDelta(t, 100*2.5/26.4, where[2], 4)
	assert.InDelta(t, 100*1/26.4, where[3], 4)
	assert.InDelta(t, 100*1/26.4, where[4], 4)

	f = newFleet().weights(100, 100, 100)
	lb, c = ringLoad(t, f), f.list()
	ns = nearest(t, f, c, "video", 3)
	for want := range 3 { // 1, 2 at home, 3 is more than 2.5
		i := 0
		if want == 2 {
			i = 1
		}
		n := lb.Select(c, f.callOf("video"))
		require.Same(t, ns[i], n, "call %d", want+1)
		f.attempt(lb, n, f.callOf("video"))
	}
}

// F4: an owner that fails fast has no calls under way, and keeps no keys.
func TestRingLoadFailingOwner(t *testing.T) {
	f := newFleet().weights(100, 100, 100)
	lb, c := ringLoad(t, f), f.list()
	ns := nearest(t, f, c, "video", 2)
	for _, n := range f.nodes {
		f.learn(lb, n, protocol.Succeeded, 10*milli)
	}
	f.learn(lb, ns[0], protocol.Failed, milli)
	f.clock.advance(60 * milli)
	require.Same(t, ns[1], lb.Select(c, f.callOf("video")))
	f.clock.advance(20 * time.Second)
	require.Same(t, ns[0], lb.Select(c, f.callOf("video")), "it comes home")
}

// A provider that was restarted gets a part of its keys back at once, those more that it
// had with less weight, the others when its successors are busy, and all when it is
// warm. A weight of 0 keeps none.
func TestRingLoadWeights(t *testing.T) {
	f := newFleet()
	for range 3 {
		f.add(warm(100), time.Hour)
	}
	lb, c := ringLoad(t, f), f.list()
	owner, ring := f.nodes[0], new(loadbalance.Nearest)
	kept := func() (keys []string) {
		for i := range 3000 {
			key := fmt.Sprint("video ", i)
			if ring.Append(nil, 1, c, f.callOf(key))[0] == owner && lb.Select(c, f.callOf(key)) == owner {
				keys = append(keys, key)
			}
		}
		return keys
	}
	all := kept()
	owner.Update(f.url(owner.Key(), warm(100)), f.clock.now())
	some := kept()
	assert.InDelta(t, 0.2, float64(len(some))/float64(len(all)), 0.05, "a fifth of the weight")
	f.clock.advance(3 * time.Minute)
	more := kept()
	assert.InDelta(t, 0.3, float64(len(more))/float64(len(all)), 0.05)
	assert.Subset(t, more, some)
	for _, key := range more {
		all = slices.DeleteFunc(all, func(k string) bool { return k == key })
	}
	ns := nearest(t, f, c, all[0], 3)
	pick := func() *protocol.Node { return lb.Select(c, f.callOf(all[0])) }
	require.Same(t, ns[1], pick(), "it comes before the owner")
	f.attempt(lb, ns[1], f.callOf(all[0]))
	require.Same(t, ns[1], pick(), "2 against 2.5")
	f.attempt(lb, ns[1], f.callOf(all[0]))
	f.attempt(lb, ns[1], f.callOf(all[0]))
	require.Same(t, ns[2], pick(), "4 against 2.5")
	for range 20 {
		f.attempt(lb, ns[1], f.callOf(all[0]))
		f.attempt(lb, ns[2], f.callOf(all[0]))
	}
	require.Same(t, owner, pick(), "24 and 21 × 2.5 against 2.5 × 2.5/0.3")
	f.clock.advance(10 * time.Minute)
	require.Same(t, owner, pick())

	owner.Update(f.url(owner.Key(), weight(0)), f.clock.now())
	f.clock.advance(time.Second)
	for range 30 {
		require.NotSame(t, owner, pick())
	}
	setState(ns[1], protocol.Down)
	setState(ns[2], protocol.Down)
	require.Same(t, owner, pick(), "nobody else is there")
	setState(owner, protocol.Down)
	require.Nil(t, pick())
}
