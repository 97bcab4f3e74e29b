package protocol_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer/protocol"
)

func TestAllows(t *testing.T) {
	const tried, state, saturated, ejected = protocol.RelaxTried, protocol.RelaxState, protocol.RelaxSaturated, protocol.RelaxEjected
	for _, tt := range []struct {
		name   string
		tried  bool
		full   bool
		out    bool
		state  protocol.State
		needed protocol.Relax // what has to be given up
		never  bool
	}{
		{name: "free"},
		{name: "tried", tried: true, needed: tried},
		{name: "saturated", full: true, needed: saturated},
		{name: "readonly", state: protocol.ReadOnly, needed: state},
		{name: "readonly, tried, saturated", state: protocol.ReadOnly, tried: true, full: true, needed: tried | state | saturated},
		{name: "ejected", out: true, needed: ejected},
		{name: "ejected, tried", out: true, tried: true, needed: ejected | tried},
		{name: "down", state: protocol.Down, never: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var methods protocol.MethodTable
			m := &protocol.Method{Name: "find", Slot: methods.Slot("find")}
			n := newNode(1, &methods, map[string]string{"actives": "1"})
			n.Endpoint().(*endpoint).state.Store(int32(tt.state))
			if tt.full {
				n.Status(m.Slot).Begin(1)
			}
			inv := &protocol.Invocation{Method: m}
			if tt.tried {
				inv.MarkTried(n)
			}
			if tt.out {
				n.Eject(n.Life())
			}
			for relax := range tried | state | saturated | ejected + 1 {
				inv.SetRelax(relax)
				assert.Equal(t, relax, inv.Relaxed())
				want := !tt.never && relax&tt.needed == tt.needed
				assert.Equal(t, want, inv.Allows(n), "relaxed %04b", relax)
				r := protocol.Reading{State: tt.state, Ejected: tt.out, Tried: tt.tried, Saturated: tt.full, Allowed: want}
				assert.Equal(t, r, inv.Read(n), "relaxed %04b", relax)
			}
		})
	}
}

// A frozen call does not see what changes at the nodes that it has looked at, and knows
// no others.
func TestFreeze(t *testing.T) {
	var methods protocol.MethodTable
	m := &protocol.Method{Name: "find", Slot: methods.Slot("find")}
	nodes := newNodes(5, &methods, map[string]string{"actives": "1"})
	inv := &protocol.Invocation{Method: m}
	nodes[1].Status(m.Slot).Begin(1)
	inv.Freeze(nodes[:4])
	nodes[0].Status(m.Slot).Begin(1)
	nodes[1].Status(m.Slot).End(0, false)
	nodes[2].Eject(nodes[2].Life())
	nodes[3].Endpoint().(*endpoint).state.Store(int32(protocol.Down))
	allowed := func() (all []bool) {
		for _, n := range nodes {
			assert.Equal(t, inv.Allows(n), inv.Read(n).Allowed)
			all = append(all, inv.Allows(n))
		}
		return all
	}
	assert.Equal(t, []bool{true, false, true, true, false}, allowed())
	inv.Freeze(nodes)
	assert.Equal(t, []bool{false, true, false, false, true}, allowed())
	nodes[4].Status(m.Slot).Begin(1)
	inv.Thaw()
	assert.Equal(t, []bool{false, true, false, false, false}, allowed())
}

// Another method's calls do not count.
func TestAllowsByMethod(t *testing.T) {
	var methods protocol.MethodTable
	find, save := methods.Slot("find"), methods.Slot("save")
	n := newNode(1, &methods, map[string]string{"actives": "1"})
	n.Status(find).Begin(1)
	assert.False(t, (&protocol.Invocation{Method: &protocol.Method{Slot: find}}).Allows(n))
	assert.True(t, (&protocol.Invocation{Method: &protocol.Method{Slot: save}}).Allows(n))
}

func TestTried(t *testing.T) {
	var methods protocol.MethodTable
	nodes := newNodes(9, &methods, nil)
	var inv protocol.Invocation
	assert.Nil(t, inv.LastTried())
	for i, n := range nodes[:8] {
		assert.False(t, inv.Tried(n))
		inv.MarkTried(n)
		assert.Equal(t, i+1, inv.TriedCount())
		assert.Same(t, n, inv.LastTried())
		for j, m := range nodes {
			assert.Equal(t, j <= i, inv.Tried(m))
		}
	}
}

// The usual number of retries is remembered without an allocation.
func TestTriedAllocatesNothing(t *testing.T) {
	var methods protocol.MethodTable
	nodes := newNodes(4, &methods, nil)
	m := &protocol.Method{Slot: methods.Slot("find")}
	inv := new(protocol.Invocation)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		*inv = protocol.Invocation{Method: m}
		for _, n := range nodes {
			inv.MarkTried(n)
			inv.Allows(n)
		}
	}))
}

func BenchmarkAllows(b *testing.B) {
	for name, params := range map[string]map[string]string{"no actives": nil, "actives": {"actives": "100"}} {
		b.Run(name, func(b *testing.B) {
			var methods protocol.MethodTable
			n := newNode(1, &methods, params)
			inv := &protocol.Invocation{Method: &protocol.Method{Slot: methods.Slot("find")}}
			b.ReportAllocs()
			for b.Loop() {
				inv.Allows(n)
			}
		})
	}
}
