package loadbalance_test

import (
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// Nothing holds a provider that has left the list: neither what was learned of it, nor
// the state of a method that is never called again.
func TestNothingHoldsDroppedNodes(t *testing.T) {
	each(t, func(t *testing.T, s traits) { testNothingHoldsDroppedNodes(t, s) })
}

func testNothingHoldsDroppedNodes(t *testing.T, s traits) {
	const lists = 70 // more than a state is passed on unused
	f := newFleet().weights(100, 100, 100)
	lb := s.new(t, loadbalance.Config{Now: f.clock.now})
	c, once := f.list(), &protocol.Invocation{Method: f.methodOf("once")}
	for _, n := range f.nodes {
		f.learn(lb, n, protocol.Succeeded, time.Millisecond)
	}
	lb.Select(c, once)
	lb.Select(c, f.call())
	gone, stays := weak.Make(f.nodes[0]), weak.Make(f.nodes[1])
	f.nodes = slices.Clone(f.nodes[1:])
	for range lists {
		c = protocol.NewCandidates(f.nodes, c)
		lb.Select(c, f.call())
	}
	runtime.GC()
	runtime.GC()
	assert.Nil(t, gone.Value(), "a node of a list that is gone is still held")
	assert.NotNil(t, stays.Value())
	runtime.KeepAlive(c)
	runtime.KeepAlive(lb)
	runtime.KeepAlive(f)
}

// What was learned of a provider stays when the list is replaced, and ends with its life.
func TestLearnedStays(t *testing.T) {
	eachExplainer(t, func(t *testing.T, s traits) {
		f := newFleet().weights(100, 100, 100)
		lb := s.new(t, loadbalance.Config{Now: f.clock.now, Rand: source(1)})
		if !s.learns {
			return
		}
		for i, n := range f.nodes {
			for range 20 {
				f.learn(lb, n, protocol.Succeeded, time.Duration(10+90*(i/2))*time.Millisecond)
				f.clock.advance(time.Millisecond)
			}
			f.attempt(lb, n, f.call())
		}
		explain := func(c *protocol.Candidates) map[*protocol.Node]loadbalance.Candidate {
			known := map[*protocol.Node]loadbalance.Candidate{}
			for _, one := range lb.(loadbalance.Explainer).Explain(c, f.call()).Candidates {
				known[one.Node] = one
			}
			return known
		}
		slow := f.nodes[2]
		c := f.list()
		before := explain(c)
		assert.Greater(t, before[slow].Latency, 2*before[f.nodes[0]].Latency)

		nodes := slices.Clone(f.nodes[1:])
		slices.Reverse(nodes)
		c = protocol.NewCandidates(append(nodes, f.node(weight(100), 0)), c)
		after := explain(c)
		for _, n := range nodes {
			assert.Equal(t, before[n].Latency, after[n].Latency)
			assert.Equal(t, 1, after[n].Active)
		}

		slow.Update(slow.URL(), f.clock.now())
		again := explain(c)[slow]
		assert.Less(t, again.Latency, before[slow].Latency, "a new life begins without the old one's")
		assert.Zero(t, again.Active)
	})
}
