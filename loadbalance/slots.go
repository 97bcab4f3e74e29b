package loadbalance

import (
	"slices"
	"sync"
	"sync/atomic"
)

// bySlot is one T for each method slot, made at its first use. Reading takes no
// lock.
type bySlot[T any] struct {
	made atomic.Pointer[[]*T]
	mu   sync.Mutex // held by who makes one
}

func (b *bySlot[T]) at(slot int) *T {
	if p := b.made.Load(); p != nil && slot < len(*p) && (*p)[slot] != nil {
		return (*p)[slot]
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var made []*T
	if p := b.made.Load(); p != nil {
		made = slices.Clone(*p)
	}
	for len(made) <= slot {
		made = append(made, nil)
	}
	if made[slot] == nil {
		made[slot] = new(T)
		b.made.Store(&made)
	}
	return made[slot]
}
