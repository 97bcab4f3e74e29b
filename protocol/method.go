package protocol

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Method is what all invocations of one method of one reference share. It is
// immutable; the wire keeps encoded forms by its ID.
type Method struct {
	Service string // interface name, for messages
	Name    string // Java method name: parameters, statistics and rules go by it
	Slot    int    // index of Name in the reference's [MethodTable]

	// ID numbers (WireName, Descriptor) within the reference, from 0; -1 when
	// there are too many to keep encoded forms for.
	ID         int
	WireName   string   // name on the wire: Name, or $invoke, $echo
	Descriptor string   // JVM descriptor of the parameters, "" for none
	Parameters []string // Java type names of the parameters, for messages
	Inferred   bool     // the descriptor was inferred from Go argument types
	Generic    string   // value of the attachment "generic"; "" for a typed call
}

// MaxMethods is the number of slots of a reference. Each of the first names gets
// one, with parameters and statistics of its own; later names share the last one,
// which has the parameters of the interface level. It bounds memory when method
// names come from outside (generic calls).
const MaxMethods = 256

// MethodTable numbers the method names of one reference. The zero value is ready.
type MethodTable struct {
	mu     sync.Mutex
	slots  atomic.Pointer[map[string]int]
	names  atomic.Pointer[[]string]
	queues [MaxMethods]atomic.Pointer[Queue]

	changes   atomic.Uint64 // of the parameters or lives of the reference's nodes
	observers atomic.Pointer[[]Observer]
}

// Slot returns the index of name, a new one at its first use.
func (t *MethodTable) Slot(name string) int {
	if i, ok := t.find(name); ok {
		return i
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i, ok := t.find(name); ok {
		return i
	}
	names := append(slices.Clone(t.Names()), name)
	slots := make(map[string]int, len(names))
	for i, n := range names {
		slots[n] = i
	}
	t.names.Store(&names) // first: who knows the slot finds its name
	t.slots.Store(&slots)
	return len(names) - 1
}

// find returns the slot of a known name; of any other when there is no slot left.
func (t *MethodTable) find(name string) (int, bool) {
	m := t.slots.Load()
	if m == nil {
		return 0, false
	}
	i, ok := (*m)[name]
	if !ok && len(*m) == MaxMethods-1 {
		return MaxMethods - 1, true
	}
	return i, ok
}

// Names returns the known names by slot. The caller must not change the slice.
func (t *MethodTable) Names() []string {
	if n := t.names.Load(); n != nil {
		return *n
	}
	return nil
}

// Name returns the name of a slot, "" when nobody has used it and for the slot that
// names share.
func (t *MethodTable) Name(slot int) string {
	if n := t.Names(); slot >= 0 && slot < len(n) {
		return n[slot]
	}
	return ""
}
