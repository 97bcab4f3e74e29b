package protocol

import "slices"

// A preview answers what would be if a method were called that nobody has called yet,
// without giving its name a slot, and without a trace in what is counted.

// Find returns the slot of a name that has one. When the slots are used up every name
// has one, that of those that came too late.
func (t *MethodTable) Find(name string) (slot int, ok bool) { return t.find(name) }

// Preview returns a table of its own in which name has a slot as well, and that slot.
// Nobody observes the calls of its nodes.
func (t *MethodTable) Preview(name string) (preview *MethodTable, slot int) {
	names := slices.Clone(t.Names())
	preview = new(MethodTable)
	slots := make(map[string]int, len(names)+1)
	for i, n := range names {
		slots[n] = i
	}
	preview.names.Store(&names)
	preview.slots.Store(&slots)
	return preview, preview.Slot(name)
}

// Preview returns the list with nodes that go by a previewed table: looking at them
// adds nothing to the nodes of this list. They share connections, and the counters and
// states there are; a call must not be made at them.
func (c *Candidates) Preview(preview *MethodTable, slot int) *Candidates {
	nodes := make([]*Node, len(c.nodes))
	for i, n := range c.nodes {
		nodes[i] = n.preview(preview, slot)
	}
	return NewCandidates(nodes, nil)
}

func (n *Node) preview(methods *MethodTable, slot int) *Node {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := &Node{endpoint: n.endpoint, key: n.key, methods: methods, invoker: n.invoker}
	p.limited.Store(n.limited.Load())
	p.ejected.Store(n.ejected.Load())
	v := n.view.Load()
	own := &view{url: v.url}
	own.methods.Store(before(v.methods.Load(), slot))
	p.view.Store(own)
	p.life.Store(n.life.Load().preview(slot))
	return p
}

// preview returns a life with what this one has; what is added to one of them the other
// does not get.
func (l *Life) preview(slot int) *Life {
	p := &Life{Start: l.Start, Since: l.Since}
	p.statuses.Store(before(l.statuses.Load(), slot))
	p.states.all.Store(l.states.all.Load())
	return p
}

// before returns what the slots before that one have: another name may have got it by now.
func before[T any](all *[]T, slot int) *[]T {
	if all == nil || len(*all) <= slot {
		return all
	}
	some := (*all)[:slot:slot]
	return &some
}
