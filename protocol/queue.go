package protocol

import (
	"context"
	"slices"
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
// The end of a call ([Node.Freed]), a call that gives up and a change of the
// providers ([MethodTable.Changed]) hand slots on. Nobody tells a queue that a
// connection has come back: calls that wait look for themselves now and then.
type Queue struct {
	length     atomic.Int32 // read at the begin and the end of every call
	mu         sync.Mutex
	head, tail *waiter
	held       bool // a call could not be woken because free slots had claims on them
}

// waiter is a call in line. Its fields are guarded by the queue's mutex; so is its
// invocation as long as the call is neither woken nor stale.
type waiter struct {
	queue      *Queue
	inv        *Invocation
	candidates *Candidates
	prev, next *waiter
	woken      bool // it is this call's turn to try; it has a claim on a free slot
	stale      bool // it will enter again, with other candidates maybe
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
		w = &waiter{queue: q, inv: inv, candidates: c, wake: make(chan struct{}, 1)}
		inv.waiter = w
		q.append(w)
		if p := w.prev; p != nil && !p.woken && !p.stale && w.like(p) {
			return false // what there is for it, there is for the one before
		}
	}
	w.candidates, w.woken, w.stale = c, false, false
	q.dispatch(nil)
	w.drain()
	return w.woken
}

func (q *Queue) append(w *waiter) {
	w.prev = q.tail
	if q.tail != nil {
		q.tail.next = w
	} else {
		q.head = w
	}
	q.tail = w
	// Before the look at the counters in dispatch: who ends a call meanwhile has
	// either been seen there, or sees somebody waiting.
	q.length.Add(1)
}

func (q *Queue) remove(w *waiter) {
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
}

// Wait blocks a call that has entered until it is its turn to try, or until it
// should enter again, because the providers have changed or d is over. The error
// is that of ctx if that ends.
func (q *Queue) Wait(ctx context.Context, inv *Invocation, d time.Duration) (turn bool, err error) {
	w := inv.waiter
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.wake:
	case <-timer.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	w.stale = !w.woken // from here on its invocation changes
	return w.woken, err
}

// leave takes w out of the line. Unless it was counted, what it was woken for goes
// to the next one.
func (q *Queue) leave(w *waiter, counted bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remove(w)
	if q.held || w.stale || w.woken && !counted {
		q.dispatch(nil)
	}
}

// freed hands on a slot at n.
func (q *Queue) freed(n *Node) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dispatch(n)
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
// free slot, nil to look at all nodes. Each call that was woken before and is still
// in line has a claim on one free slot. Nobody is woken past a stale call.
func (q *Queue) dispatch(freed *Node) {
	claims := 0
	var without *waiter // the latest that got no slot: those like it get none either
	if freed == nil {
		q.held = false
	}
	for w := q.head; w != nil && !w.stale; w = w.next {
		switch {
		case w.woken:
			claims++
		case without != nil && w.like(without):
		default:
			switch free := w.free(freed, claims+1); {
			case free > claims:
				w.woken = true
				w.notify()
				if freed != nil {
					return
				}
				claims++
			default:
				q.held = q.held || free > 0
				without = w
			}
		}
	}
}

// free counts the slots that the call may use, up to most. With freed it is 0 if
// the call may not use that one.
func (w *waiter) free(freed *Node, most int) int {
	slot := w.inv.Method.Slot
	free := 0
	if freed != nil {
		if !w.candidates.contains(freed) || !w.inv.Allows(freed) {
			return 0
		}
		free = freed.room(slot, most)
	}
	for _, n := range w.candidates.nodes {
		if free >= most {
			break
		}
		if n != freed && w.inv.Allows(n) {
			free += n.room(slot, most)
		}
	}
	return free
}

// like reports whether there is a slot for w exactly if there is one for o.
func (w *waiter) like(o *waiter) bool {
	a, b := &w.inv.pick, &o.inv.pick
	return w.candidates == o.candidates && a.n == 0 && b.n == 0 && a.relax == b.relax
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

func (c *Candidates) contains(n *Node) bool { return slices.Contains(c.nodes, n) }

// room returns the number of free slots of a method, up to most.
func (n *Node) room(slot, most int) int {
	limit := n.Method(slot).Actives
	if limit <= 0 {
		return most
	}
	return min(most, max(0, limit-n.Status(slot).Active()))
}

// Queued reports whether the call is in line for a slot.
func (inv *Invocation) Queued() bool { return inv.waiter != nil }

// Counted notes that the attempt has been counted at its provider: a call that
// waited for this leaves the line. The active limit filter calls it.
func (inv *Invocation) Counted() {
	if inv.waiter != nil {
		inv.leave(true)
	}
}

// Leave takes the call out of the line, if it is in one.
func (inv *Invocation) Leave() {
	if inv.waiter != nil {
		inv.leave(false)
	}
}

func (inv *Invocation) leave(counted bool) {
	w := inv.waiter
	inv.waiter = nil
	w.queue.leave(w, counted)
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
