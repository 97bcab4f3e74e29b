package protocol_test

import (
	"runtime"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// owner stands for a strategy. It is not empty: such have no address of their own.
type owner struct{ _ int }

// store returns a build function for State that makes v, and notes what was before.
func store(v any, before *any) func(any) any {
	return func(b any) any {
		if before != nil {
			*before = b
		}
		return v
	}
}

func keep(before any) any { return before }

func TestCandidates(t *testing.T) {
	var methods protocol.MethodTable
	nodes := newNodes(3, &methods, nil)
	c := protocol.NewCandidates(nodes, nil)
	assert.Equal(t, nodes, c.Nodes())
	assert.Equal(t, 3, c.Len())
	assert.Zero(t, protocol.NewCandidates(nil, c).Len())
}

func TestCandidatesState(t *testing.T) {
	c := protocol.NewCandidates(nil, nil)
	a, b := new(owner), new(owner)
	var before any = "something"
	assert.Equal(t, "a0", c.State(a, 0, store("a0", &before)))
	assert.Nil(t, before)
	assert.Equal(t, "a7", c.State(a, 7, store("a7", nil)))
	assert.Equal(t, "b0", c.State(b, 0, store("b0", nil)))
	assert.Equal(t, "a255", c.State(a, protocol.MaxMethods-1, store("a255", nil)))
	for range 2 {
		assert.Equal(t, "a0", c.State(a, 0, store("again", nil)))
		assert.Equal(t, "b0", c.State(b, 0, store("again", nil)))
		assert.Equal(t, "a7", c.State(a, 7, store("again", nil)))
		assert.Equal(t, "a255", c.State(a, protocol.MaxMethods-1, store("again", nil)))
	}
}

func TestCandidatesStateIsBuiltOnce(t *testing.T) {
	c := protocol.NewCandidates(nil, nil)
	o := new(owner)
	var wg sync.WaitGroup
	builds := make([]int, 40) // each guarded by what State promises
	for range 8 {
		wg.Go(func() {
			for slot := range builds {
				got := c.State(o, slot, func(any) any {
					builds[slot]++
					return slot
				})
				assert.Equal(t, slot, got)
			}
		})
	}
	wg.Wait()
	for slot, n := range builds {
		assert.Equal(t, 1, n, "slot %d", slot)
	}
}

// A build that panics takes only its own call with it.
func TestCandidatesStateBuildPanics(t *testing.T) {
	c := protocol.NewCandidates(nil, nil)
	o := new(owner)
	assert.Panics(t, func() { c.State(o, 1, func(any) any { panic("no") }) })
	assert.Equal(t, "now", c.State(o, 1, store("now", nil)))
}

func TestCandidatesCarryStates(t *testing.T) {
	a, b := new(owner), new(owner)
	first := protocol.NewCandidates(nil, nil)
	first.State(a, 1, store("a1", nil))
	first.State(b, 1, store("b1", nil))
	first.State(a, 9, store("a9", nil))
	second := protocol.NewCandidates(nil, first)
	var before any
	assert.Equal(t, "a1'", second.State(a, 1, store("a1'", &before)))
	assert.Equal(t, "a1", before)

	third := protocol.NewCandidates(nil, second) // a9 and b1 were not used in the second
	third.State(a, 1, store("", &before))
	assert.Equal(t, "a1'", before)
	third.State(b, 1, store("", &before))
	assert.Equal(t, "b1", before)
	third.State(a, 9, store("", &before))
	assert.Equal(t, "a9", before)
	third.State(b, 9, store("", &before))
	assert.Nil(t, before)

	// A list may have several successors, each with all of it.
	other := protocol.NewCandidates(nil, second)
	other.State(b, 1, store("", &before))
	assert.Equal(t, "b1", before)
	// What is built later in the old list is its own affair.
	second.State(a, 2, store("late", nil))
	other.State(a, 2, store("", &before))
	assert.Nil(t, before)
}

// A method that is called once in many lists keeps its state; one that is never
// called again does not hold an old list's nodes for ever.
func TestCandidatesCarryIdleStates(t *testing.T) {
	o := new(owner)
	c := protocol.NewCandidates(nil, nil)
	c.State(o, 3, store("credits", nil))
	for range 64 {
		c = protocol.NewCandidates(nil, c)
	}
	require.Equal(t, "credits", c.State(o, 3, keep))
	for range 65 {
		c = protocol.NewCandidates(nil, c)
	}
	c = protocol.NewCandidates(nil, c)
	assert.Nil(t, c.State(o, 3, keep))
}

// Over ten thousand list changes nothing is left but the latest list and its
// states, whether or not they are used in each.
func TestCandidatesHoldNoPast(t *testing.T) {
	type ballast struct{ _ [4096]byte }
	o := new(owner)
	fresh := func(any) any { return new(ballast) }
	for name, slots := range map[string]func(i int) []int{
		"used in each list":      func(int) []int { return []int{0, 1, 200} },
		"used by turns":          func(i int) []int { return []int{i % protocol.MaxMethods} },
		"used in the first only": func(i int) []int { return make([]int, max(0, 1-i)) },
	} {
		t.Run(name, func(t *testing.T) {
			var methods protocol.MethodTable
			var lists []weak.Pointer[protocol.Candidates]
			var nodes []weak.Pointer[protocol.Node]
			var states []weak.Pointer[ballast]
			var c *protocol.Candidates
			for i := range 10_000 {
				n := newNode(1, &methods, nil)
				c = protocol.NewCandidates([]*protocol.Node{n}, c)
				for _, slot := range slots(i) {
					states = append(states, weak.Make(c.State(o, slot, fresh).(*ballast)))
				}
				lists, nodes = append(lists, weak.Make(c)), append(nodes, weak.Make(n))
			}
			runtime.GC()
			assert.Equal(t, 1, alive(lists), "lists")
			assert.Equal(t, 1, alive(nodes), "nodes")
			assert.LessOrEqual(t, alive(states), 65+3, "states")
			runtime.KeepAlive(c)
		})
	}
}

func alive[T any](ps []weak.Pointer[T]) int {
	n := 0
	for _, p := range ps {
		if p.Value() != nil {
			n++
		}
	}
	return n
}

// A state that has been built anew lets go of the old one.
func TestCandidatesDropWhatWasUsed(t *testing.T) {
	type credits struct{ _ [64]byte }
	o := new(owner)
	first := protocol.NewCandidates(nil, nil)
	old := weak.Make(first.State(o, 0, store(new(credits), nil)).(*credits))
	second := protocol.NewCandidates(nil, first)
	first = nil
	runtime.GC()
	require.NotNil(t, old.Value(), "the successor has not used it yet")
	second.State(o, 0, store(new(credits), nil))
	runtime.GC()
	assert.Nil(t, old.Value())
	runtime.KeepAlive(second)
}

func TestCandidatesVersion(t *testing.T) {
	var methods protocol.MethodTable
	nodes := newNodes(3, &methods, nil)
	c := protocol.NewCandidates(nodes, nil)
	v := c.Version()
	assert.Equal(t, v, c.Version())
	nodes[2].Update(nodes[2].URL().With("weight", "7"), time.Time{})
	assert.NotEqual(t, v, c.Version())
	assert.Equal(t, c.Version(), protocol.NewCandidates(nodes[:1], c).Version())
	v = c.Version()
	methods.Slot("find")
	nodes[0].Method(0)
	nodes[0].Status(0)
	assert.Equal(t, v, c.Version(), "looking changes nothing")
	assert.Zero(t, protocol.NewCandidates(nil, c).Version())
}

// Calls use a list while it is being replaced.
func TestCandidatesConcurrently(t *testing.T) {
	o := new(owner)
	var mu sync.RWMutex
	c := protocol.NewCandidates(nil, nil)
	count := func(before any) any {
		if before == nil {
			return 1
		}
		return before.(int) + 1
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 1000 {
				mu.RLock()
				list := c
				mu.RUnlock()
				assert.Positive(t, list.State(o, (g*i)%50, count))
				if i%10 == g {
					mu.Lock()
					c = protocol.NewCandidates(nil, c)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkCandidatesState(b *testing.B) {
	for name, slot := range map[string]int{"first slot": 0, "last slot": protocol.MaxMethods - 1} {
		b.Run(name, func(b *testing.B) {
			c := protocol.NewCandidates(nil, nil)
			o := new(owner)
			for s := range protocol.MaxMethods {
				c.State(o, s, store(s, nil))
			}
			b.ReportAllocs()
			for b.Loop() {
				if c.State(o, slot, func(any) any { return nil }) != slot {
					b.Fatal("another slot's state")
				}
			}
		})
	}
}
