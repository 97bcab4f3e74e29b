package loadbalance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// provider is one that is there or away.
type provider struct{ state protocol.State }

func (p *provider) Invoke(context.Context, *protocol.Invocation) (*protocol.Result, error) {
	return nil, nil
}
func (p *provider) State() protocol.State { return p.state }
func (p *provider) StateReason() error    { return nil }
func (p *provider) Update(url.URL)        {}
func (p *provider) Close()                {}

// fleetOf returns providers of these weights, without warm-up.
func fleetOf(weights ...int) []*protocol.Node {
	table := new(protocol.MethodTable)
	table.Slot("find")
	nodes := make([]*protocol.Node, len(weights))
	for i, w := range weights {
		address := fmt.Sprintf("10.0.%d.%d", i>>8, i&255)
		u := url.New("dubbo", address, 20880, "com.example.S", map[string]string{"weight": strconv.Itoa(w), "warmup": "0"})
		nodes[i] = protocol.NewNode(address, u, time.Time{}, table, new(provider), nil)
	}
	return nodes
}

func even(n int) []int {
	ws := make([]int, n)
	for i := range ws {
		ws[i] = 100
	}
	return ws
}

// timed is a leastload whose clock and chance are the test's.
type timed struct {
	*leastLoad
	now time.Time
	inv *protocol.Invocation
}

func newTimed() *timed {
	s := &timed{now: time.Unix(1_800_000_000, 0), inv: &protocol.Invocation{Method: &protocol.Method{Name: "find"}}}
	s.leastLoad = newLeastLoad(Config{
		Now:  func() time.Time { return s.now },
		Rand: rand.New(rand.NewPCG(1, 1)).Uint64,
	})
	return s
}

func (s *timed) page(c *protocol.Candidates) *loads { return s.book.open(c, s.inv).own }

// A walk comes to every node once, from wherever and in whatever steps.
func TestExamineLooksAtAll(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 64, 127, 128} {
		nodes := fleetOf(even(n)...)
		s := newTimed()
		own := s.page(protocol.NewCandidates(nodes, nil))
		for i := range own.nodes {
			own.nodes[i].record.active.Store(5)
		}
		for target := 0; target < n; target += 1 + n/9 {
			own.nodes[target].record.active.Store(1)
			for stride := range uint64(len(strides)) {
				i, load := own.least(nodes, s.inv, s.book.rand()&^15|stride, glance{})
				require.Equal(t, target, i, "of %d", n)
				require.InEpsilon(t, 2*dear(1-hope), load*100, 1e-6)
			}
			own.nodes[target].record.active.Store(5)
		}
	}
}

// Of a long list 64 are examined; all, where those may not be called.
func TestExamineLongList(t *testing.T) {
	const n = 1000
	nodes := fleetOf(even(n)...)
	s := newTimed()
	c := protocol.NewCandidates(nodes, nil)
	own := s.page(c)
	for i := range n / 2 {
		own.nodes[i].record.active.Store(3)
	}
	busy, seen := 0, map[*protocol.Node]bool{}
	for range 3000 {
		node := s.Select(c, s.inv)
		seen[node] = true
		if node.Life().State(s.learner, nil).(*record).active.Load() > 0 {
			busy++
		}
	}
	assert.Zero(t, busy, "that all of 64 are busy has the chance 2⁻⁶⁴")
	assert.Greater(t, len(seen), 450, "of 500, all alike")

	for i, node := range nodes {
		if i != 678 {
			node.Endpoint().(*provider).state = protocol.Down
		}
	}
	for range 20 {
		require.Same(t, nodes[678], s.Select(c, s.inv), "the only one left")
	}
	nodes[678].Endpoint().(*provider).state = protocol.Down
	require.Nil(t, s.Select(c, s.inv))
}

// No pick refreshes more than a part of a long list; all are refreshed in turn.
func TestRefreshIsBounded(t *testing.T) {
	const n = 2000
	nodes := fleetOf(even(n)...)
	s := newTimed()
	c := protocol.NewCandidates(nodes, nil)
	own := s.page(c)
	s.Select(c, s.inv)
	for i := range own.nodes {
		own.nodes[i].record.bad.add(50)
	}
	pending := func() (left int) {
		for i := range own.nodes {
			if own.nodes[i].record.bad.count.Load() > 0 {
				left++
			}
		}
		return left
	}
	for left := n; left > 0; {
		s.now = s.now.Add(foldEvery)
		for range 3 { // only the first finds it due
			s.Select(c, s.inv)
		}
		left = max(0, left-refreshAtOne)
		require.Equal(t, left, pending())
	}
}

// What a provider is owed stays when the list changes, and ends with its life; it is
// bounded, and so is what it had in advance.
func TestSharesAreInherited(t *testing.T) {
	nodes := fleetOf(100, 100, 10, 10)
	s := newTimed()
	c := protocol.NewCandidates(nodes, nil)
	own := s.page(c)
	own.shares[2].got.Store(1)
	own.picks.Store(22) // each of the small ones is owed one
	require.InDelta(t, 0, own.shares[2].owed(22), 1e-9)
	require.InDelta(t, 1, own.shares[3].owed(22), 1e-9)
	require.True(t, own.behind(3, 22))
	require.Zero(t, own.shares[0].owed(22))

	c = protocol.NewCandidates([]*protocol.Node{nodes[3], nodes[0], nodes[2]}, c)
	own = s.page(c)
	require.InDelta(t, 1, own.shares[0].owed(0), 1e-9)
	require.InDelta(t, 0, own.shares[2].owed(0), 1e-9)

	s.now = s.now.Add(time.Second)
	nodes[3].Update(nodes[3].URL(), s.now)
	own = s.page(c)
	require.Zero(t, own.shares[0].owed(0), "a new life")

	own.picks.Store(1000)
	own.shares[2].got.Store(1000)
	s.now = s.now.Add(foldEvery)
	own.refresh(s.book.since(s.inv))
	require.InDelta(t, 1000*10/120.0, own.shares[0].owed(1000), 2)
	require.InDelta(t, -1000*10/120.0, own.shares[2].owed(1000), 2)
	s.now = s.now.Add(10 * owedFor)
	own.refresh(s.book.since(s.inv))
	require.InDelta(t, leastOwed, own.shares[0].owed(1000), 1e-9)
	require.InDelta(t, -leastOwed, own.shares[2].owed(1000), 1e-9)

	c = protocol.NewCandidates(nodes[:2], c)
	require.Nil(t, s.page(c).shares, "equal weights cost nothing")
}

// ringload need not look at all when nobody can have so little load.
func TestFloor(t *testing.T) {
	nodes := fleetOf(100, 50, 0, 200)
	s := newTimed()
	c := protocol.NewCandidates(nodes, nil)
	own := s.page(c)
	assert.InDelta(t, dear(1-hope)/200, own.floor.load(), 1e-9)
	for i := range own.nodes {
		assert.LessOrEqual(t, own.floor.load(), own.load(i, 1000, own.nodes[i].calls(glance{})))
	}
	own.nodes[1].record.good.add(0.1) // ten times as fast
	s.now = s.now.Add(foldEvery)
	s.Select(c, s.inv)
	assert.Less(t, own.floor.load(), float32(1.0/200))
	long := s.page(protocol.NewCandidates(fleetOf(even(refreshAtOne+1)...), nil))
	assert.Zero(t, long.floor.load(), "not known")
}

// BenchmarkRefresh is what the one pick in 50 ms pays that brings a list up to date.
func BenchmarkRefresh(b *testing.B) {
	for _, n := range []int{3, 64, 512, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := newTimed()
			own := s.page(protocol.NewCandidates(fleetOf(even(n)...), nil))
			now := time.Duration(0)
			b.ReportAllocs()
			for b.Loop() {
				now += foldEvery
				own.nodes[0].record.good.add(1)
				own.refresh(now)
			}
		})
	}
}
