package protocol

import "sync/atomic"

// states is what owners keep at one place: of a list for a method, or of a life. The
// zero value is empty. Reading takes no lock; the slice is replaced when one is added.
type states struct{ all atomic.Pointer[[]state] }

type state struct {
	owner any // compared by identity
	value any
	idle  int // lists that passed the value on without using it
}

// of returns all of them. The caller must not change the slice.
func (s *states) of() []state {
	if p := s.all.Load(); p != nil {
		return *p
	}
	return nil
}

// known returns what owner keeps.
func (s *states) known(owner any) (value any, ok bool) {
	all := s.of()
	if i := indexOwner(all, owner); i >= 0 {
		return all[i].value, true
	}
	return nil, false
}

// keep returns what owner keeps, from build at its first use. The caller holds the
// lock of those who add.
func (s *states) keep(owner any, build func() any) any {
	if v, ok := s.known(owner); ok {
		return v
	}
	v, old := build(), s.of()
	next := append(old[:len(old):len(old)], state{owner: owner, value: v})
	s.all.Store(&next)
	return v
}

func indexOwner(all []state, owner any) int {
	for i := range all {
		if all[i].owner == owner {
			return i
		}
	}
	return -1
}
