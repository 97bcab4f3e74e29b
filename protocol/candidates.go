package protocol

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Candidates is an immutable list of nodes that a call may go to, and the home of
// what load balancers derive from that list (rings, credits, tables): built once
// per list, never per call, and carried over from the list before.
type Candidates struct {
	nodes []*Node

	mu     sync.Mutex
	states atomic.Pointer[[]state]
	before []state // of the list this one replaced
}

type state struct {
	owner any // the strategy, compared by identity
	slot  int
	value any
}

// NewCandidates returns the list of nodes. before is the list that it replaces,
// nil for none: strategies build their state from that list's. The caller must
// not change nodes afterwards.
func NewCandidates(nodes []*Node, before *Candidates) *Candidates {
	c := &Candidates{nodes: nodes}
	if before != nil {
		if p := before.states.Load(); p != nil {
			c.before = *p
		} else {
			c.before = before.before // never used: pass on what it would have built from
		}
	}
	return c
}

// Nodes returns the nodes. The caller must not change the slice.
func (c *Candidates) Nodes() []*Node { return c.nodes }

// Len returns the number of nodes.
func (c *Candidates) Len() int { return len(c.nodes) }

// State returns what owner keeps for this list and method slot. At its first use
// build makes it, from what the same owner kept for the list before (nil if
// nothing). Build runs at most once per list, owner and slot; other callers of
// the same list wait for it. owner must be comparable; use a pointer.
func (c *Candidates) State(owner any, slot int, build func(before any) any) any {
	if p := c.states.Load(); p != nil {
		if v, ok := find(*p, owner, slot); ok {
			return v
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var old []state
	if p := c.states.Load(); p != nil {
		old = *p
	}
	if v, ok := find(old, owner, slot); ok {
		return v
	}
	prev, _ := find(c.before, owner, slot)
	v := build(prev)
	next := append(slices.Clone(old), state{owner, slot, v})
	c.states.Store(&next)
	return v
}

func find(states []state, owner any, slot int) (any, bool) {
	for i := range states {
		if s := &states[i]; s.slot == slot && s.owner == owner {
			return s.value, true
		}
	}
	return nil, false
}
