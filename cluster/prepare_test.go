package cluster_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// listing returns the next listing with these nodes, which is not in force yet.
func (w *world) next(nodes ...*protocol.Node) *protocol.Listing {
	return &protocol.Listing{Candidates: protocol.NewCandidates(nodes, w.List().Candidates)}
}

// change puts other nodes in force as a directory does.
func (w *world) change(nodes ...*protocol.Node) {
	old, next := w.List(), w.next(nodes...)
	w.cluster.Prepare(old, next)
	w.listing.Store(next)
	w.cluster.Changed()
}

// preparing is a balancer that notes what it was to prepare.
type preparing struct {
	first
	methods  *protocol.MethodTable
	prepared map[string]int
	panics   bool
}

func (p *preparing) Prepare(_ *protocol.Candidates, slot int) {
	p.prepared[p.methods.Name(slot)]++
	if p.panics {
		panic("not that list")
	}
}

func preparingWorld(t *testing.T) (*world, *preparing) {
	p := &preparing{prepared: map[string]int{}}
	w := newWorld(t, "loadbalance=preparing", setup{config: func(cfg *cluster.Config) { withBalance(cfg, "preparing", p) }}, ok, ok, ok)
	p.methods = &w.methods
	return w, p
}

// The load balancer prepares for a list before it is in force, for the methods that
// are called.
func TestPrepare(t *testing.T) {
	w, p := preparingWorld(t)
	nodes := w.nodes()
	target(t, w, "find")
	target(t, w, "count")
	require.Empty(t, p.prepared)
	w.change(nodes[:2]...)
	assert.Equal(t, map[string]int{"find": 1, "count": 1}, p.prepared)
	for i := range 20 {
		target(t, w, "find")
		w.change(nodes[:2+i%2]...)
	}
	assert.Equal(t, 21, p.prepared["find"])
	assert.Equal(t, 4, p.prepared["count"], "nobody calls it")
	target(t, w, "count")
	w.change(nodes...)
	assert.Equal(t, 5, p.prepared["count"], "somebody does again")
}

// What calls do not need is not prepared.
func TestNothingToPrepare(t *testing.T) {
	w, p := preparingWorld(t)
	target(t, w, "find")
	w.change(w.nodes()[0])
	w.change()
	same := w.List()
	w.cluster.Prepare(same, &protocol.Listing{Candidates: same.Candidates, Stale: true})
	assert.Empty(t, p.prepared)
}

// A load balancer that panics then does not keep a list from coming into force.
func TestPrepareThatPanics(t *testing.T) {
	w, p := preparingWorld(t)
	p.panics = true
	target(t, w, "find")
	nodes := w.nodes()
	w.change(nodes[1:]...)
	assert.Equal(t, nodes[1].Address(), target(t, w, "find"))
	logged := w.logs.FilterMessageSnippet("panicked while it prepared").All()
	require.Len(t, logged, 1)
	assert.Equal(t, "preparing", logged[0].ContextMap()["loadbalance"])
	assert.Equal(t, "panic: not that list", logged[0].ContextMap()["error"])
}

// strategies are the names of the load balancers that come with gofer.
func strategies() []string { return slices.Sorted(maps.Keys(loadbalance.Builtin())) }

// What was prepared is what calls use: turns go on where they were.
func TestPreparedTurns(t *testing.T) {
	w := newWorld(t, "loadbalance=roundrobin", setup{}, ok, ok, ok, ok)
	nodes := w.nodes()
	for range 40 {
		counts := map[string]int{}
		for range 3 {
			w.change(nodes[:3]...)
			counts[target(t, w, "find")]++
		}
		assert.Len(t, counts, 3, "each has its turn although every call finds a new list")
	}
}
