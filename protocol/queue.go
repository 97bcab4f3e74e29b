package protocol

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Queue is the line in which calls of one method of one reference wait for a slot
// under "actives", first come, first served (F14). Each has candidates of its own:
// a free slot is for the first in line that may use it. A call stays in line,
// woken, until it has been counted at a provider, so that nobody overtakes it. A
// waiting call is not an active one.
//
// Nobody polls a queue: the end of a call ([Node.Freed]), a call that leaves the
// line, and a change of the providers ([MethodTable.Changed]) hand slots on.
type Queue struct {
	length     atomic.Int32 // read at the begin and the end of every call
	mu         sync.Mutex
	head, tail *waiter
}

// waiter is a call in line. Its fields are guarded by the queue's mutex; so is its
// invocation as long as the call is neither woken nor stale.
type waiter struct {
	queue      *Queue
	inv        *Invocation
	candidates *Candidates
	prev, next *waiter
	woken      bool // it is this call's turn to try
	stale      bool // its candidates may be outdated: it will enter again
	wake       chan struct{}
}

// Waiting returns the number of calls in line.
func (q *Queue) Waiting() int { return int(q.length.Load()) }

// Enter puts the call in line, or keeps its place if it is in line already, with
// the candidates that it may go to as far as [Invocation.Allows] them. It reports
// whether it is the call's turn to try at once; if not, see [Queue.Wait]. The call
// leaves the line when it is counted ([Invocation.Counted]) or gives up
// ([Invocation.Leave]).
func (q *Queue) Enter(inv *Invocation, c *Candidates) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := inv.waiter
	if w == nil {
		w = &waiter{queue: q, inv: inv, prev: q.tail, wake: make(chan struct{}, 1)}
		if q.tail != nil {
			q.tail.next = w
		} else {
			q.head = w
		}
		q.tail = w
		inv.waiter = w
		// Before the look at the counters in dispatch: who ends a call meanwhile has
		// either been seen there, or sees somebody waiting.
		q.length.Add(1)
	}
	w.candidates, w.woken, w.stale = c, false, false
	w.drain()
	q.dispatch(nil)
	if w.woken {
		w.drain()
	}
	return w.woken
}

// Wait blocks a call that has entered until it should look again, for whatever
// reason, but at most for d. It returns the error of ctx if that ends.
func (q *Queue) Wait(ctx context.Context, inv *Invocation, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-inv.waiter.wake:
		return nil
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// freed hands on a slot at n.
func (q *Queue) freed(n *Node) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dispatch(n)
}

// leave takes w out of the line. What it was woken for goes to the next one.
func (q *Queue) leave(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		q.head = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		q.tail = w.prev
	}
	q.length.Add(-1)
	q.dispatch(nil)
}

// changed makes every call in line enter again with new candidates.
func (q *Queue) changed() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for w := q.head; w != nil; w = w.next {
		if !w.woken { // else it looks anyway
			w.stale = true
			w.notify()
		}
	}
}

// dispatch wakes the calls whose turn it is. freed is the node that has just got a
// free slot, nil to look at all of them. Each call that was woken before and is
// still in line has a claim on one free slot; nobody is woken past a call whose
// candidates are outdated.
func (q *Queue) dispatch(freed *Node) {
	claims := 0
	var full *waiter // the latest that found no slot: others like it will not either
	for w := q.head; w != nil && !w.stale; w = w.next {
		switch {
		case w.woken:
			claims++
		case full != nil && w.like(full):
		case !w.finds(claims, freed):
			full = w
		default:
			w.woken = true
			w.notify()
			if freed != nil {
				return
			}
			claims++
		}
	}
}

// finds reports whether more slots than claims are free for the call.
func (w *waiter) finds(claims int, freed *Node) bool {
	if freed != nil && !w.candidates.contains(freed) {
		return false
	}
	slot := w.inv.Method.Slot
	free := 0
	if freed != nil && w.inv.Allows(freed) {
		if free = freed.room(slot); free > claims {
			return true
		}
	}
	for _, n := range w.candidates.nodes {
		if n == freed || !w.inv.Allows(n) {
			continue
		}
		if free = min(free+n.room(slot), math.MaxInt32); free > claims {
			return true
		}
	}
	return false
}

// like reports whether o finds a slot whenever w does.
func (w *waiter) like(o *waiter) bool {
	return w.candidates == o.candidates && w.inv.pick.n == 0 && o.inv.pick.n == 0 && w.inv.pick.relax == o.inv.pick.relax
}

func (w *waiter) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *waiter) drain() {
	select {
	case <-w.wake:
	default:
	}
}

func (c *Candidates) contains(n *Node) bool {
	for _, m := range c.nodes {
		if m == n {
			return true
		}
	}
	return false
}

// room returns the number of free slots of a method.
func (n *Node) room(slot int) int {
	limit := n.Method(slot).Actives
	if limit <= 0 {
		return math.MaxInt32
	}
	return max(0, limit-n.Status(slot).Active())
}

// Queued reports whether the call is in line for a slot.
func (inv *Invocation) Queued() bool { return inv.waiter != nil }

// Leave takes the call out of the line, if it is in one.
func (inv *Invocation) Leave() {
	if w := inv.waiter; w != nil {
		inv.waiter = nil
		w.queue.leave(w)
	}
}

// Freed hands a slot of a method on to the calls that wait for one. Who ends a
// call with [Status.End] calls it afterwards.
func (n *Node) Freed(slot int) {
	if q := n.methods.queues[slot].Load(); q != nil && q.length.Load() > 0 {
		q.freed(n)
	}
}

// Queue returns the line of a method.
func (t *MethodTable) Queue(slot int) *Queue {
	if q := t.queues[slot].Load(); q != nil {
		return q
	}
	t.queues[slot].CompareAndSwap(nil, new(Queue))
	return t.queues[slot].Load()
}

// Waiting returns the number of calls of a method that wait for a slot.
func (t *MethodTable) Waiting(slot int) int {
	if q := t.queues[slot].Load(); q != nil {
		return q.Waiting()
	}
	return 0
}

// Changed makes all waiting calls look again: providers came, went, were started
// again or have other limits.
func (t *MethodTable) Changed() {
	for i := range t.queues {
		if q := t.queues[i].Load(); q != nil && q.length.Load() > 0 {
			q.changed()
		}
	}
}
