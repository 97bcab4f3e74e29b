package protocol

import (
	"sync"
	"sync/atomic"
)

// Candidates is an immutable list of nodes that a call may go to, and the home of
// what load balancers derive from that list (rings, credits, tables): built once
// per list, never per call, and carried over from the list before. The nodes
// belong to one reference. All methods are safe for concurrent use.
type Candidates struct {
	nodes []*Node

	mu      sync.Mutex // serialises writers of what follows
	slots   atomic.Pointer[slots]
	carried [][]state // by slot: of the lists before, until used here
}

// slots holds the states of one list by method slot; the slice is replaced when it
// has to grow.
type slots []states

// maxIdle is the number of lists in a row that pass a state on unused. It keeps
// the credits of a method that is rarely called, and bounds how long the providers
// of an old list are held by one that is never called again.
const maxIdle = 64

// NewCandidates returns the list of nodes. before is the list that it replaces,
// nil for none: strategies build their state from that list's. The caller must
// not change nodes afterwards. The new list does not keep the old one.
func NewCandidates(nodes []*Node, before *Candidates) *Candidates {
	c := &Candidates{nodes: nodes}
	if before != nil {
		c.carried = before.handOver()
	}
	return c
}

// handOver returns the states that a successor may build from: those of this list
// and, where it has none, those it was given and did not use.
func (c *Candidates) handOver() [][]state {
	c.mu.Lock()
	defer c.mu.Unlock()
	var own slots
	if p := c.slots.Load(); p != nil {
		own = *p
	}
	out := make([][]state, max(len(own), len(c.carried)))
	for slot := range own {
		out[slot] = append(out[slot], own[slot].of()...)
	}
	for slot, unused := range c.carried {
		for _, s := range unused {
			if s.idle++; s.idle <= maxIdle {
				out[slot] = append(out[slot], s)
			}
		}
	}
	return out
}

// Nodes returns the nodes. The caller must not change the slice.
func (c *Candidates) Nodes() []*Node { return c.nodes }

// Len returns the number of nodes.
func (c *Candidates) Len() int { return len(c.nodes) }

// Version changes when a node of the reference gets new parameters or begins a new
// life: what was derived from them is out of date then. It is one atomic load.
func (c *Candidates) Version() uint64 {
	if len(c.nodes) == 0 {
		return 0
	}
	return c.nodes[0].methods.changes.Load()
}

// State returns what owner keeps for this list and method slot. At its first use
// build makes it, from what the same owner kept for the list before (nil if
// nothing; calls that began earlier may still be using it). Build runs at most
// once per list, owner and slot; other callers of the same list wait for it, so it
// must not ask for a state itself. owner must be comparable; use a pointer.
func (c *Candidates) State(owner any, slot int, build func(before any) any) any {
	if p := c.slots.Load(); p != nil && slot < len(*p) {
		if v, ok := (*p)[slot].known(owner); ok {
			return v
		}
	}
	return c.build(owner, slot, build)
}

func (c *Candidates) build(owner any, slot int, build func(before any) any) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.slot(slot).keep(owner, func() any { return build(c.take(owner, slot)) })
}

// slot returns the place of a slot's states, made if there is none. The caller
// holds c.mu.
func (c *Candidates) slot(slot int) *states {
	p := c.slots.Load()
	if p == nil || slot >= len(*p) {
		grown := make(slots, max(4, slot+1+slot/2))
		if p != nil {
			for i := range *p {
				grown[i].all.Store((*p)[i].all.Load())
			}
		}
		c.slots.Store(&grown)
		p = &grown
	}
	return &(*p)[slot]
}

// take removes and returns what owner kept for the list before: this list now has
// a state of its own to hand over. The caller holds c.mu.
func (c *Candidates) take(owner any, slot int) any {
	if slot >= len(c.carried) {
		return nil
	}
	left := c.carried[slot]
	i := indexOwner(left, owner)
	if i < 0 {
		return nil
	}
	v := left[i].value
	last := len(left) - 1
	left[i] = left[last]
	left[last] = state{}
	c.carried[slot] = left[:last]
	return v
}
