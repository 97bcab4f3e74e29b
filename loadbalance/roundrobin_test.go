package loadbalance_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

type smoothVectors struct {
	Static []struct {
		Weights []int64
		Seq     []int
	}
}

func TestRoundRobinVectors(t *testing.T) {
	var v smoothVectors
	readVectors(t, "roundrobin_smooth.json", &v)
	tested := 0
	for _, row := range v.Static {
		sum := int64(0)
		for _, w := range row.Weights {
			sum += w
		}
		if slices.Min(row.Weights) <= 0 || sum > 1<<31-1 {
			continue // what Java does there is a fault: F11, F16, B091
		}
		tested++
		t.Run(fmt.Sprint(row.Weights), func(t *testing.T) {
			f := newFleet()
			for _, w := range row.Weights {
				f.add(weight(int(w)), 0)
			}
			c, inv := f.list(), f.call()
			s := balancer(t, "roundrobin", loadbalance.Config{Rand: zero})
			got := make([]int, len(row.Seq))
			for i := range got {
				got[i] = f.index(t, s.Select(c, inv))
			}
			assert.Equal(t, row.Seq, got)
		})
	}
	assert.GreaterOrEqual(t, tested, 16)
}

// Weights whose sum is no int32 share as others do (F16).
func TestRoundRobinLargeWeights(t *testing.T) {
	f := newFleet().weights(2_000_000_000, 2_000_000_000, 1_000_000_000)
	c, inv := f.list(), f.call()
	s := balancer(t, "roundrobin", loadbalance.Config{Rand: zero})
	counts := make([]int, 3)
	for range 50 {
		counts[f.index(t, s.Select(c, inv))]++
	}
	assert.Equal(t, []int{20, 20, 10}, counts)
}

// Consumers do not begin at the same provider (F10).
func TestRoundRobinBeginsAnywhere(t *testing.T) {
	for _, ws := range [][]int{{100, 100, 100}, {3, 1, 2}} {
		f := newFleet().weights(ws...)
		inv, first := f.call(), make([]int, 3)
		rand := source(7)
		for range 300 {
			s := balancer(t, "roundrobin", loadbalance.Config{Rand: rand})
			first[f.index(t, s.Select(f.list(), inv))]++
		}
		for i := range first {
			assert.Greater(t, first[i], 20, "%v: %v", ws, first)
		}
	}
}

// B089: exact shares, however many goroutines pick and however often the same list
// is sent.
func TestRoundRobinConcurrentShares(t *testing.T) {
	const goroutines, picks = 16, 3750
	f := newFleet().weights(1, 2, 3)
	s := balancer(t, "roundrobin", loadbalance.Config{})
	var (
		list   = f.list()
		mu     sync.RWMutex
		counts [3]int
		wg     sync.WaitGroup
	)
	for range goroutines {
		wg.Go(func() {
			inv, mine := f.call(), [3]int{}
			for i := range picks {
				mu.RLock()
				c := list
				mu.RUnlock()
				mine[f.index(t, s.Select(c, inv))]++
				if i%50 == 49 {
					mu.Lock()
					list = protocol.NewCandidates(slices.Clone(f.nodes), list)
					mu.Unlock()
				}
			}
			mu.Lock()
			for i := range mine {
				counts[i] += mine[i]
			}
			mu.Unlock()
		})
	}
	wg.Wait()
	require.Equal(t, goroutines*picks, counts[0]+counts[1]+counts[2])
	for i, n := range counts {
		assert.InDelta(t, 10000*(i+1), n, 2, "%v", counts)
	}
}

// turns follows what each provider is owed: its share of every pick, less the picks
// it got.
type turns map[*protocol.Node]float64

func (o turns) pick(nodes []*protocol.Node, weights map[*protocol.Node]int, got *protocol.Node) {
	sum := 0.0
	for _, n := range nodes {
		sum += float64(weights[n])
	}
	for _, n := range nodes {
		o[n] += float64(weights[n]) / sum
	}
	o[got]--
}

// F10: whatever happens to the weights and the order of the list, nobody gets more
// than a few calls more or less than its share.
func TestRoundRobinKeepsCredit(t *testing.T) {
	f := newFleet().weights(1, 1, 1, 1, 1)
	rand := source(11)
	s := balancer(t, "roundrobin", loadbalance.Config{Rand: rand})
	inv, owed, ws := f.call(), turns{}, map[*protocol.Node]int{}
	for _, n := range f.nodes {
		ws[n] = 1
	}
	list := f.list()
	for range 10_000 {
		switch rand() % 3 {
		case 0: // another weight, as while warming up
			n := f.nodes[rand()%5]
			ws[n] = 1 + int(rand()%20)
			n.Update(f.url(n.Key(), weight(ws[n])), n.Life().Start)
		case 1: // another order
			nodes := slices.Clone(list.Nodes())
			i := rand() % 5
			nodes[0], nodes[i] = nodes[i], nodes[0]
			list = protocol.NewCandidates(nodes, list)
		}
		for range rand() % 3 {
			owed.pick(f.nodes, ws, s.Select(list, inv))
		}
	}
	for n, o := range owed {
		assert.InDelta(t, 0, o, 3, "%s", n.Key())
	}
}

// F11: providers that come and go take nothing from, and give nothing to, those
// that stay.
func TestRoundRobinChurn(t *testing.T) {
	f := newFleet().weights(1, 1, 1, 1, 1, 1)
	rand := source(13)
	s := balancer(t, "roundrobin", loadbalance.Config{Rand: rand})
	inv, counts := f.call(), map[*protocol.Node]int{}
	list := f.list()
	const picks = 12_000
	for i := range picks {
		if i%2 == 0 { // one of the first three is away, the others stay
			nodes := slices.Clone(f.nodes)
			gone := int(rand() % 3)
			list = protocol.NewCandidates(slices.Delete(nodes, gone, gone+1), list)
		}
		counts[s.Select(list, inv)]++
	}
	for _, n := range f.nodes[3:] {
		assert.InEpsilon(t, picks/5, counts[n], 0.1, "%v", counts)
	}
	for _, n := range f.nodes[:3] {
		assert.InEpsilon(t, picks*2/15, counts[n], 0.1, "%v", counts)
	}
}

// F11: a provider that loses its weight gets no call, whatever credit it has.
func TestRoundRobinWeightTakenAway(t *testing.T) {
	f := newFleet().weights(0, 10, 10)
	s := balancer(t, "roundrobin", loadbalance.Config{Rand: zero})
	c, inv := f.list(), f.call()
	require.Same(t, f.nodes[1], s.Select(c, inv))
	f.nodes[2].Update(f.url(f.nodes[2].Key(), weight(0)), f.nodes[2].Life().Start)
	for range 10 {
		require.Same(t, f.nodes[1], s.Select(c, inv))
	}
}

// Turns of a provider that is away go to all the others, not to its neighbour.
func TestRoundRobinSkipsEvenly(t *testing.T) {
	f := newFleet().weights(100, 100, 100, 100)
	setState(f.nodes[1], protocol.Down)
	s := balancer(t, "roundrobin", loadbalance.Config{Rand: zero})
	c, inv, counts := f.list(), f.call(), make([]int, 4)
	for range 300 {
		counts[f.index(t, s.Select(c, inv))]++
	}
	assert.Equal(t, []int{100, 0, 100, 100}, counts)
}
