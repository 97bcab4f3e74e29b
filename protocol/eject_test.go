package protocol_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// An ejection is one of a life: a restarted provider begins without, and who speaks
// of an earlier life changes nothing.
func TestEjectionBelongsToALife(t *testing.T) {
	var methods protocol.MethodTable
	n := newNode(1, &methods, nil)
	first := n.Life()
	assert.False(t, n.Ejected())
	assert.True(t, n.Eject(first))
	assert.True(t, n.Ejected())
	n.Update(n.URL().With("weight", "7"), first.Start)
	assert.True(t, n.Ejected(), "the same life with other parameters")

	n.Update(n.URL(), time.Unix(2000, 0))
	assert.False(t, n.Ejected())
	assert.False(t, n.Eject(first), "a late failure of the life before")
	assert.False(t, n.Ejected())
	require.True(t, n.Eject(n.Life()))
	n.Readmit(first)
	assert.True(t, n.Ejected(), "a late success of the life before")
	n.Readmit(n.Life())
	assert.False(t, n.Ejected())
}

// A call that waits for a slot looks again when a provider comes back.
func TestReadmitWakesWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var methods protocol.MethodTable
		nodes := newNodes(2, &methods, map[string]string{"actives": "1"})
		m := &protocol.Method{Name: "find", Slot: methods.Slot("find")}
		nodes[0].Status(m.Slot).Begin(1)
		nodes[1].Eject(nodes[1].Life())
		all, inv, q := protocol.NewCandidates(nodes, nil), &protocol.Invocation{Method: m}, methods.Queue(m.Slot)
		require.False(t, q.Enter(inv, all), "the free slot is that of an ejected provider")
		start := time.Now()
		time.AfterFunc(time.Second, func() { nodes[1].Readmit(nodes[1].Life()) })
		assert.False(t, q.Wait(t.Context(), inv, time.Hour))
		assert.Equal(t, time.Second, time.Since(start))
		assert.True(t, q.Enter(inv, all))
		inv.Leave()
	})
}

func TestLifeKnown(t *testing.T) {
	var methods protocol.MethodTable
	life := newNode(1, &methods, nil).Life()
	a, b := new(int), new(int)
	assert.Nil(t, life.Known(a))
	life.State(a, func() any { return "of a" })
	assert.Equal(t, "of a", life.Known(a))
	assert.Nil(t, life.Known(b))
}
