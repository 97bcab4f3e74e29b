package sim

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// choosing makes a load balancer of one's own.
func choosing(choose func(nodes []*protocol.Node) *protocol.Node) loadbalance.Factory {
	return func(loadbalance.Config) (loadbalance.LoadBalance, error) {
		return selector(func(list *protocol.Candidates, _ *protocol.Invocation) *protocol.Node { return choose(list.Nodes()) }), nil
	}
}

// What is wrong with a load balancer of one's own is an error that names it.
func TestBalancersOfOnesOwnThatAreWrong(t *testing.T) {
	last := choosing(func(nodes []*protocol.Node) *protocol.Node { return nodes[len(nodes)-1] })
	own := map[string]loadbalance.Factory{
		"last":    last,
		"nobody":  choosing(func([]*protocol.Node) *protocol.Node { return nil }),
		"foreign": choosing(func([]*protocol.Node) *protocol.Node { return new(protocol.Node) }),
		"panics":  choosing(func([]*protocol.Node) *protocol.Node { panic("mine") }),
		"none":    func(loadbalance.Config) (loadbalance.LoadBalance, error) { return nil, nil },
		"nil":     nil,
	}
	s := &Scenario{Name: "own", Duration: 2 * time.Second, Rate: 100, Providers: []Provider{{Count: 3}}}
	for policy, want := range map[string]string{
		"foreign": `scenario own, policy foreign: the load balancer chose a node that it was not given`,
		"none":    `scenario own, policy none: the factory returned neither a load balancer nor an error`,
		"nil":     `scenario own: policy "nil": the factory is nil`,
	} {
		r, err := Run(t.Context(), s, Options{Policy: policy, Balancers: own})
		assert.EqualError(t, err, want)
		assert.Nil(t, r)
	}
	for policy, to := range map[string]int{"last": 2, "nobody": 0} {
		r, err := Run(t.Context(), s, Options{Policy: policy, Balancers: own})
		require.NoError(t, err)
		assert.Equal(t, r.Requests, r.Providers[to].Calls, "%s: the cluster takes the first when nobody is chosen", policy)
		assert.Equal(t, map[string]int{"nobody": r.Requests}[policy], r.Replaced, policy)
	}
	for _, policy := range []string{"panics", "foreign", "nil"} {
		_, err := Grid{Scenarios: []string{"steady3"}, Policies: []string{"random", policy}, Loads: []float64{0.01}, Seeds: []uint64{1}, Balancers: own}.Run(t.Context())
		assert.ErrorContains(t, err, policy)
		if policy == "panics" {
			assert.EqualError(t, err, "scenario steady3, policy panics, seed 1: panic: mine")
		}
	}
}

// A load balancer that does not ask to whom a call may go chooses who is ejected: that is
// counted. None of this module does.
func TestChoicesThatAreReplaced(t *testing.T) {
	turn := 0
	blind := map[string]loadbalance.Factory{"blind": choosing(func(nodes []*protocol.Node) *protocol.Node {
		turn++
		return nodes[turn%len(nodes)]
	})}
	s := &Scenario{Name: "own", Duration: 30 * time.Second, Rate: 300, Providers: []Provider{{Count: 3}, {Faults: []Fault{{At: 5 * time.Second, For: 20 * time.Second, Error: 1}}}}}
	r, err := Run(t.Context(), s, Options{Policy: "blind", Balancers: blind})
	require.NoError(t, err)
	assert.Greater(t, r.Replaced, 500, "a fourth of the calls of 20 s")
	assert.Greater(t, r.Providers[0].Calls, r.Providers[1].Calls+500, "the first has them instead")
	for policy := range loadbalance.Builtin() {
		r, err := Run(t.Context(), s, Options{Policy: policy})
		require.NoError(t, err)
		assert.Zero(t, r.Replaced, policy)
	}
}

// What others are compared with stays what it is.
func TestReferencesAreNotReplaced(t *testing.T) {
	s := &Scenario{Name: "own", Rate: 100, Providers: []Provider{{Count: 3}}}
	for _, name := range references {
		own := map[string]loadbalance.Factory{name: loadbalance.NewRandom}
		for _, policy := range []string{name, "random"} {
			_, err := Run(t.Context(), s, Options{Policy: policy, Balancers: own})
			assert.EqualError(t, err, `scenario own: balancer "`+name+`": what others are compared with has this name`)
		}
	}
	_, err := Run(t.Context(), s, Options{Balancers: map[string]loadbalance.Factory{"random": loadbalance.NewRoundRobin}})
	assert.NoError(t, err, "those of this module may be")
}

// Of what a grid has not run there is nothing.
func TestQualityOfWhatWasNotRun(t *testing.T) {
	q := run(t, Grid{Scenarios: []string{"steady3"}, Policies: []string{"random"}, Loads: []float64{0.1}, Seeds: []uint64{1}})
	assert.Positive(t, q.At("random", "steady3", 0.1).P99)
	assert.Zero(t, q.At("leastload", "steady3", 0.1))
	assert.Zero(t, q.At("random", "gray3", 0.1))
	assert.Zero(t, q.At("random", "steady3", 0.2))
	assert.Zero(t, q.Scenario("random", "gray3"))
	assert.Zero(t, q.Geometric("leastload"))
	worst, scenario, load := q.Worst("leastload")
	assert.Zero(t, worst)
	assert.Zero(t, scenario)
	assert.Zero(t, load)
	assert.Positive(t, q.Share("random", "steady3", 0.1, 2))
	assert.Zero(t, q.Share("leastload", "steady3", 0.1, 0))
	assert.Zero(t, q.Share("random", "steady3", 0.1, 3))
	assert.Zero(t, q.Share("random", "steady3", 0.1, -1))
}

// In Dubbo 2.6.4 a sum of weights that wraps to 0 fails the call, and one that wraps
// to anything else does not.
func TestLegacyRoundRobinWithASumThatWraps(t *testing.T) {
	of := func(weights ...int) *Result {
		s := &Scenario{Name: "wraps", Duration: 10 * time.Second, Rate: 100, Consumers: 1}
		for _, w := range weights {
			s.Providers = append(s.Providers, Provider{Weight: w})
		}
		r, err := Run(t.Context(), s, Options{Policy: "java-roundrobin-2.6.4", Seed: 1})
		require.NoError(t, err)
		return r
	}
	r := of(math.MaxInt32, math.MaxInt32, 2)
	assert.Equal(t, r.Requests, r.Failed)
	assert.Equal(t, r.Requests, r.NoOne)
	r = of(math.MaxInt32, math.MaxInt32-1, 2)
	assert.Zero(t, r.Failed)

	// The levels are those that a look at one after the other finds.
	weights := []int32{7, 3, 0, 12, 3, 40}
	var s sequence
	for range 2 {
		for level := int32(1); level <= 40; level++ {
			for i, w := range weights {
				if w >= level {
					require.Equal(t, i, s.next(weights), "level %d", level)
				}
			}
		}
	}
}
