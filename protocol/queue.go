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
	common     *Candidates // of most calls in line
	odd        int         // calls in line that are not plain or have others
}

// waiter is a call in line. Its fields are guarded by the queue's mutex; so is its
// invocation as long as the call is neither woken nor stale.
type waiter struct {
	queue      *Queue
	inv        *Invocation
	candidates *Candidates
	plain      bool // all its candidates are equal to it: none tried, nothing relaxed
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
		w = &waiter{queue: q, inv: inv, wake: make(chan struct{}, 1)}
		inv.waiter = w
		q.append(w)
	} else {
		q.forget(w)
		w.drain()
	}
	w.candidates, w.plain = c, inv.pick.n == 0 && inv.pick.relax == 0
	w.woken, w.stale = false, false
	q.note(w)
	if p := w.prev; p != nil && !p.woken && w == q.tail && w.like(p) {
		return false // what there is for it, there is for the one before
	}
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
	if q.forget(w); q.head == nil {
		q.common = nil // an empty line keeps no list
	}
}

// note and forget keep the number of odd calls.
func (q *Queue) note(w *waiter) {
	if w == q.head && w.candidates != q.common {
		q.common, q.odd = w.candidates, 0
		for o := w.next; o != nil; o = o.next {
			q.note(o)
		}
	}
	if q.isOdd(w) {
		q.odd++
	}
}

func (q *Queue) forget(w *waiter) {
	if q.isOdd(w) {
		q.odd--
	}
}

func (q *Queue) isOdd(w *waiter) bool { return !w.plain || w.candidates != q.common }

// Wait blocks a call that has entered until it is its turn to try, which it
// reports, or until it should enter again, because the providers have changed, d
// is over or ctx has ended.
func (q *Queue) Wait(ctx context.Context, inv *Invocation, d time.Duration) (turn bool) {
	w := inv.waiter
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.wake:
	case <-timer.C:
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	w.stale = !w.woken // from here on its invocation changes
	return w.woken
}

// leave takes w out of the line: its claim, if it had one, is settled.
func (q *Queue) leave(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remove(w)
	q.dispatch(nil)
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

// dispatch wakes the calls whose turn it is: in order, those that find more free
// slots than there are claims before them. Each call that was woken and is still in
// line has a claim on one. freed is the node that has just got a free slot, if that
// is why: then there is one call to wake. Nobody is woken past a stale call.
func (q *Queue) dispatch(freed *Node) {
	claims := 0
	var without *waiter // the latest that found no slot: those like it find none either
	for w := q.head; w != nil && !w.stale; w = w.next {
		switch {
		case w.woken:
			claims++
		case without != nil && w.like(without):
		case w.free(freed, claims+1) > claims:
			w.woken = true
			w.notify()
			if freed != nil {
				return
			}
			claims++
		case q.odd == 0:
			return // nobody behind it is different
		default:
			without = w
		}
	}
}

// free counts the slots that the call may use, up to most. It looks at freed first.
func (w *waiter) free(freed *Node, most int) int {
	slot := w.inv.Method.Slot
	free := 0
	if freed != nil && w.inv.Allows(freed) && slices.Contains(w.candidates.nodes, freed) {
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
func (w *waiter) like(o *waiter) bool { return w.plain && o.plain && w.candidates == o.candidates }

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
func (inv *Invocation) Counted() { inv.Leave() }

// Leave takes the call out of the line, if it is in one.
func (inv *Invocation) Leave() {
	if inv.waiter != nil {
		inv.leave()
	}
}

func (inv *Invocation) leave() {
	w := inv.waiter
	inv.waiter = nil
	w.queue.leave(w)
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
