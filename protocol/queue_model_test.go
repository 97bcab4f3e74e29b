package protocol

import (
	"testing"

	"pgregory.net/rapid"
)

// TestQueueLeavesNoSlotFree drives a queue with random events, the two halves of a
// begin and of an end apart as other goroutines see them. Whenever all is settled,
// nobody may wait who could have a slot.
func TestQueueLeavesNoSlotFree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &steps{line: newLine(t, 1, 2, 1)}
		n := s.nodes
		lists := []*Candidates{s.all, NewCandidates(n[:1], nil), NewCandidates(n[1:], nil), NewCandidates([]*Node{n[0], n[2]}, nil)}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			i := rapid.IntRange(0, 9).Draw(rt, "which")
			switch rapid.SampledFrom([]string{"enter", "end", "freed", "begin", "counted", "leave", "changed", "again", "settle"}).Draw(rt, "step") {
			case "enter":
				inv := s.call()
				if i >= 8 {
					inv.MarkTried(n[i%len(n)])
				}
				if s.queue.Enter(inv, lists[i%len(lists)]) {
					inv.waiter.notify() // as if woken, to have one case
				}
				s.waiting = append(s.waiting, inv)
			case "end":
				s.endOne(i)
			case "freed":
				s.freedOne(i)
			case "begin":
				s.beginOne(i)
			case "counted":
				s.countedOne(i)
			case "leave":
				if inv := take(&s.waiting, i); inv != nil {
					inv.Leave()
				}
			case "changed":
				s.methods.Changed()
			case "again":
				s.enterAgain(i, lists[i%len(lists)])
			case "settle":
				s.settle(rt)
			}
		}
		s.settle(rt)
	})
}

// steps is a line with what is under way in it.
type steps struct {
	*line
	waiting []*Invocation // in line and not begun
	begun   []*Invocation // begun, not yet out of the line
	running []*Node       // with a call to end
	ended   []*Node       // whose slot is free, but nobody told
}

// take removes an element, the zero value when there is none.
func take[T any](from *[]T, i int) (v T) {
	if n := len(*from); n > 0 {
		i %= n
		v = (*from)[i]
		*from = append((*from)[:i:i], (*from)[i+1:]...)
	}
	return v
}

func (s *steps) endOne(i int) {
	if n := take(&s.running, i); n != nil {
		n.Status(0).End(0, false)
		s.ended = append(s.ended, n)
	}
}

func (s *steps) freedOne(i int) {
	if n := take(&s.ended, i); n != nil {
		n.Freed(0)
	}
}

// beginOne lets a woken call begin at any of its providers with a slot. Woken calls
// that find none get in line again.
func (s *steps) beginOne(i int) bool {
	for at := range s.waiting {
		at = (at + i) % len(s.waiting)
		inv := s.waiting[at]
		if !inv.waiter.woken {
			continue
		}
		nodes := inv.waiter.candidates.Nodes()
		for j := range nodes {
			n := nodes[(i+j)%len(nodes)]
			if n.Status(0).Begin(n.Method(0).Actives) {
				take(&s.waiting, at)
				s.begun, s.running = append(s.begun, inv), append(s.running, n)
				return true
			}
		}
		if s.queue.Enter(inv, inv.waiter.candidates) {
			return true // woken again: there is progress
		}
	}
	return false
}

// enterAgain lets a stale call enter, with other candidates unless c is nil.
func (s *steps) enterAgain(i int, c *Candidates) bool {
	for at := range s.waiting {
		inv := s.waiting[(at+i)%len(s.waiting)]
		if inv.waiter.stale {
			if c == nil {
				c = inv.waiter.candidates
			}
			s.queue.Enter(inv, c)
			return true
		}
	}
	return false
}

func (s *steps) countedOne(i int) {
	if inv := take(&s.begun, i); inv != nil {
		inv.Counted()
	}
}

func (s *steps) settle(rt *rapid.T) {
	for len(s.ended) > 0 || len(s.begun) > 0 || s.enterAgain(0, nil) || s.beginOne(0) {
		s.freedOne(0)
		s.countedOne(0)
	}
	if s.queue.Waiting() != len(s.waiting) {
		rt.Fatalf("%d calls are in line, not %d", s.queue.Waiting(), len(s.waiting))
	}
	odd := 0
	for i, inv := range s.waiting {
		if w := inv.waiter; !w.plain || w.candidates != s.queue.common {
			odd++
		}
		for _, n := range inv.waiter.candidates.Nodes() {
			if n.room(0, 1) > 0 && !inv.Tried(n) {
				rt.Fatalf("call %d of %d waits although %s has a free slot", i+1, len(s.waiting), n.Address())
			}
		}
	}
	if odd != s.queue.odd {
		rt.Fatalf("%d odd calls are noted, not %d", s.queue.odd, odd)
	}
}
