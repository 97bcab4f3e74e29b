package loadbalance_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// What follows holds for every strategy. A new one is added to the list by being in
// Builtin; the custom ones are a user's own, written against the exported API alone.

// traits say which of the properties are a strategy's own.
type traits struct {
	make     loadbalance.Factory
	weighted bool // shares are by weight when no call is under way
	loaded   bool // it looks at the calls under way
	timed    bool // it looks at the clock
	learns   bool // it learns what calls take
	hashed   bool // it goes by the arguments alone: weights do not matter
}

func strategies() map[string]traits {
	all := map[string]traits{"custom": {make: newTurns}, "custom on the ring": {make: newCalmest, hashed: true}}
	for name, f := range loadbalance.Builtin() {
		s := traits{make: f, weighted: true}
		switch name {
		case "leastactive":
			s.loaded, s.timed = true, true
		case "shortestresponse":
			s.loaded, s.timed, s.learns = true, true, true
		case "adaptive": // the weight is part of the load
			s.weighted, s.timed, s.learns = false, true, true
		case "consistenthash":
			s.weighted, s.hashed = false, true
		case "ringload":
			s.weighted, s.hashed, s.timed, s.learns = false, true, true, true
		case "leastload": // by weight in the long run, where calls end
			s.weighted, s.loaded, s.timed, s.learns = false, true, true, true
		}
		all[name] = s
	}
	return all
}

func each(t *testing.T, run func(t *testing.T, s traits)) {
	all := strategies()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) { run(t, all[name]) })
	}
}

func (s traits) new(tb rapid.TB, cfg loadbalance.Config) loadbalance.LoadBalance {
	b, err := s.make(cfg)
	require.NoError(tb, err)
	return b
}

// turnsOnly is a user's strategy: turns without weights, kept with the list.
type turnsOnly struct{}

func newTurns(loadbalance.Config) (loadbalance.LoadBalance, error) { return new(turnsOnly), nil }

func (s *turnsOnly) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	next := c.State(s, inv.Method.Slot, func(before any) any {
		if before == nil {
			return new(atomic.Uint64)
		}
		return before
	}).(*atomic.Uint64)
	turn := next.Add(1)
	var spare *protocol.Node
	for i := range uint64(c.Len()) {
		n := c.Nodes()[(turn+i)%uint64(c.Len())]
		switch {
		case !inv.Allows(n):
		case n.Method(inv.Method.Slot).Weight > 0:
			return n
		case spare == nil:
			spare = n
		}
	}
	return spare
}

// calmest is a user's strategy, too: of the three nearest on the ring the one with the
// fewest calls under way.
type calmest struct{ loadbalance.Nearest }

func newCalmest(loadbalance.Config) (loadbalance.LoadBalance, error) { return new(calmest), nil }

func (s *calmest) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	var room [3]*protocol.Node
	var best *protocol.Node
	least := 0
	for _, n := range s.Append(room[:0], len(room), c, inv) {
		if active := n.Status(inv.Method.Slot).Active(); best == nil || active < least {
			best, least = n, active
		}
	}
	return best
}

// world is a random fleet in a random condition, and a call with a past.
type world struct {
	*fleet
	list *protocol.Candidates
	inv  *protocol.Invocation
}

func drawWorld(t *rapid.T) *world {
	f := newFleet()
	n := rapid.IntRange(1, 12).Draw(t, "nodes")
	for i := range n {
		p := params{
			"weight":  fmt.Sprint(rapid.SampledFrom([]int{0, 1, 5, 100, 100, 100, math.MaxInt32}).Draw(t, "weight")),
			"actives": fmt.Sprint(rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "actives")),
		}
		up := time.Duration(rapid.Int64Range(-1e3, 700e3).Draw(t, "uptime")) * time.Millisecond
		f.add(p, up)
		setState(f.nodes[i], rapid.SampledFrom([]protocol.State{protocol.Ready, protocol.Ready, protocol.ReadOnly, protocol.Down}).Draw(t, "state"))
		for range rapid.IntRange(0, 4).Draw(t, "active") {
			f.nodes[i].Status(f.method.Slot).Begin(0)
		}
		if rapid.IntRange(0, 4).Draw(t, "ejected") == 0 {
			f.nodes[i].Eject(f.nodes[i].Life())
		}
	}
	w := &world{fleet: f, list: f.list(), inv: f.call()}
	for range rapid.IntRange(0, 5).Draw(t, "tried") {
		w.inv.MarkTried(f.nodes[rapid.IntRange(0, n-1).Draw(t, "triedNode")])
	}
	w.inv.SetRelax(protocol.Relax(rapid.IntRange(0, 15).Draw(t, "relax")))
	return w
}

// Only nodes that the call may go to are chosen, and one always is when there is one.
func TestSelectAllowed(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		rapid.Check(t, func(t *rapid.T) {
			w := drawWorld(t)
			lb := s.new(t, loadbalance.Config{Now: w.clock.now, Rand: source(rapid.Uint64().Draw(t, "seed"))})
			allowed := slices.ContainsFunc(w.nodes, w.inv.Allows)
			for range 20 {
				n := lb.Select(w.list, w.inv)
				if !allowed {
					require.Nil(t, n)
					continue
				}
				require.NotNil(t, n)
				require.True(t, w.inv.Allows(n), "chose a node that the call may not go to")
				require.True(t, slices.Contains(w.nodes, n))
				w.clock.advance(time.Second)
			}
		})
	})
}

func TestSelectFromNothing(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		f := newFleet()
		assert.Nil(t, s.new(t, loadbalance.Config{}).Select(f.list(), f.call()))
	})
}

func TestSelectFromOne(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		for _, w := range []int{0, 1, 100} {
			f := newFleet().weights(w)
			lb, c, inv := s.new(t, loadbalance.Config{}), f.list(), f.call()
			for range 5 {
				require.Same(t, f.nodes[0], lb.Select(c, inv))
			}
		}
	})
}

// picks counts n picks without a call under way.
func (f *fleet) picks(tb testing.TB, lb loadbalance.LoadBalance, c *protocol.Candidates, inv *protocol.Invocation, n int) []int {
	counts := make([]int, len(f.nodes))
	for range n {
		counts[f.index(tb, lb.Select(c, inv))]++
	}
	return counts
}

// requireShares fails when counts differ from the shares of weights by more than
// chance explains: Pearson's χ², which exceeds the limit once in about 10⁵ times for
// a right strategy, and with a fixed seed always or never.
func requireShares(tb testing.TB, weights []float64, counts []int) {
	tb.Helper()
	sum, picks, nodes := 0.0, 0, 0
	for i, w := range weights {
		sum += w
		picks += counts[i]
		if w > 0 {
			nodes++
		} else {
			require.Zero(tb, counts[i], "weight 0 was chosen: %v for %v", counts, weights)
		}
	}
	if nodes == 1 {
		return
	}
	chi2 := 0.0
	for i, w := range weights {
		if w > 0 {
			want := float64(picks) * w / sum
			chi2 += (float64(counts[i]) - want) * (float64(counts[i]) - want) / want
		}
	}
	// Wilson and Hilferty's normal approximation at 4.3 standard deviations.
	df := float64(nodes - 1)
	limit := df * math.Pow(1-2/(9*df)+4.3*math.Sqrt(2/(9*df)), 3)
	require.LessOrEqual(tb, chi2, limit, "%v for weights %v", counts, weights)
}

// B091: a weight of 0 gets nothing while others have weight, weights that are all 0
// share evenly, and so do those of weight 0 when no other may be called.
func TestWeightZero(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		if s.hashed { // as in Dubbo
			return
		}
		f := newFleet().weights(0, 100, 100)
		lb := s.new(t, loadbalance.Config{Rand: source(3)})
		counts := f.picks(t, lb, f.list(), f.call(), 3000)
		require.Zero(t, counts[0])
		if s.weighted {
			requireShares(t, []float64{0, 1, 1}, counts)
		}

		f = newFleet().weights(0, 0, 0)
		requireShares(t, []float64{1, 1, 1}, f.picks(t, lb, f.list(), f.call(), 3000))

		f = newFleet().weights(0, 100, 0)
		setState(f.nodes[1], protocol.Down)
		counts = f.picks(t, lb, f.list(), f.call(), 3000)
		assert.Equal(t, 3000, counts[0]+counts[2])
		if s.weighted {
			requireShares(t, []float64{1, 0, 1}, counts)
		}
	})
}

// The clock is read once per pick while somebody warms up (B075), else never but by
// strategies that look at time.
func TestClockReadings(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		if !s.weighted {
			return
		}
		for name, tt := range map[string]struct {
			params params
			want   int
		}{"warming up": {warm(100), 1}, "settled": {weight(100), 0}} {
			f := newFleet()
			for range 3 {
				f.add(tt.params, time.Minute)
			}
			readings := 0
			lb := s.new(t, loadbalance.Config{Now: func() time.Time {
				readings++
				return f.clock.now()
			}})
			c, inv := f.list(), f.call()
			lb.Select(c, inv)
			readings = 0
			lb.Select(c, inv)
			if s.timed {
				tt.want = 1
			}
			assert.Equal(t, tt.want, readings, name)
		}
	})
}

// An idle node among busy ones of equal weight is chosen next, and counters, which
// belong to the node, are not lost when the list changes.
func TestIdleNodeIsNext(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		if !s.loaded {
			return
		}
		rapid.Check(t, func(t *rapid.T) {
			f := newFleet()
			n := rapid.IntRange(2, 40).Draw(t, "nodes")
			for range n {
				f.add(weight(100), 0)
			}
			idle := rapid.IntRange(0, n-1).Draw(t, "idle")
			var busy []*protocol.Node
			for i := range n {
				if i != idle {
					for range rapid.IntRange(1, 3).Draw(t, "active") {
						busy = append(busy, f.nodes[i])
					}
				}
			}
			lb := s.new(t, loadbalance.Config{Rand: source(rapid.Uint64().Draw(t, "seed"))})
			for _, n := range busy {
				f.attempt(lb, n, f.call())
			}
			c, inv := f.list(), f.call()
			for range 5 {
				require.Same(t, f.nodes[idle], lb.Select(c, inv))
				// Others come and go, and the order changes.
				nodes := append(rapid.Permutation(f.nodes).Draw(t, "order"), f.node(weight(100), 0))
				f.attempt(lb, nodes[n], f.call())
				c = protocol.NewCandidates(nodes, c)
			}
		})
	})
}

// Many goroutines pick while providers go down and come back, change their weight
// and the list is replaced: nobody gets a node out of the blue, or none.
func TestSelectConcurrently(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		f := newFleet()
		for i := range 8 {
			f.add(warm(1+i*20), time.Duration(1+i*80)*time.Second)
		}
		lb := s.new(t, loadbalance.Config{Now: f.clock.now})
		var list atomic.Pointer[protocol.Candidates]
		list.Store(f.list())
		var pickers, changer sync.WaitGroup
		done := make(chan struct{})
		changer.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				n := f.nodes[1+i%7] // the first is always there
				setState(n, protocol.State(i%2*2))
				n.Update(f.url(n.Key(), warm(i%300)), n.Life().Start)
				f.clock.advance(time.Second)
				nodes := append(slices.Clone(f.nodes[i%3:]), f.nodes[:i%3]...)
				list.Store(protocol.NewCandidates(nodes[:8-i%2], list.Load()))
			}
		})
		for range 4 {
			pickers.Go(func() {
				for range 2000 {
					c, inv := list.Load(), f.call()
					n := lb.Select(c, inv)
					if n == nil { // the only one left out may be the first
						assert.False(t, slices.Contains(c.Nodes(), f.nodes[0]))
						continue
					}
					assert.True(t, slices.Contains(c.Nodes(), n))
					n.Status(f.method.Slot).Begin(0)
					n.Status(f.method.Slot).End(time.Millisecond, false)
				}
			})
		}
		pickers.Wait()
		close(done)
		changer.Wait()
	})
}
