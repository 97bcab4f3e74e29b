package protocol_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// A preview of a method has its parameters and what is known of the providers, and
// leaves no trace, neither in the table nor at the nodes.
func TestPreview(t *testing.T) {
	var methods protocol.MethodTable
	find := methods.Slot("find")
	nodes := newNodes(2, &methods, map[string]string{"timeout": "300", "save.timeout": "20", "save.actives": "3"})
	status := nodes[0].Status(find)
	status.Begin(0)
	owner, other := new(int), new(int)
	nodes[0].Life().State(owner, func() any { return "known" })
	nodes[1].Eject(nodes[1].Life())

	preview, save := methods.Preview("save")
	assert.Equal(t, "save", preview.Name(save))
	list := protocol.NewCandidates(nodes, nil).Preview(preview, save)
	require.Equal(t, 2, list.Len())
	for i, n := range list.Nodes() {
		assert.Equal(t, nodes[i].Key(), n.Key())
		assert.Equal(t, nodes[i].URL(), n.URL())
		assert.Equal(t, nodes[i].State(), n.State())
		assert.Equal(t, nodes[i].Ejected(), n.Ejected())
		assert.Equal(t, []any{"save", 3, int64(20e6)}, []any{n.Method(save).Name, n.Method(save).Actives, int64(n.Method(save).Timeout)})
		assert.Equal(t, int64(300e6), int64(n.Method(find).Timeout))
		assert.Zero(t, n.Status(save).Active())
		assert.False(t, n.Saturated(save))
	}
	n := list.Nodes()[0]
	assert.Same(t, status, n.Status(find))
	assert.Equal(t, "known", n.Life().Known(owner))
	n.Life().State(other, func() any { return "new" })

	_, ok := methods.Find("save")
	assert.False(t, ok)
	assert.Equal(t, []string{"find"}, methods.Names())
	assert.Nil(t, nodes[0].Life().Known(other))
	for slot := range nodes[0].Life().Statuses {
		assert.Equal(t, find, slot)
	}
	for range nodes[1].Life().Statuses {
		t.Error("nothing was called there")
	}
}

// Another name that gets the slot meanwhile is not taken for the previewed one.
func TestPreviewThatIsOvertaken(t *testing.T) {
	var methods protocol.MethodTable
	methods.Slot("find")
	nodes := newNodes(1, &methods, map[string]string{"save.timeout": "20", "drop.timeout": "30"})
	preview, save := methods.Preview("save")
	drop := methods.Slot("drop")
	require.Equal(t, save, drop)
	nodes[0].Status(drop).Begin(0)
	assert.Equal(t, int64(30e6), int64(nodes[0].Method(drop).Timeout))
	n := protocol.NewCandidates(nodes, nil).Preview(preview, save).Nodes()[0]
	assert.Equal(t, int64(20e6), int64(n.Method(save).Timeout))
	assert.Zero(t, n.Status(save).Active())
}

// When slots are used up every name has one.
func TestFindInFullTable(t *testing.T) {
	var methods protocol.MethodTable
	for i := range protocol.MaxMethods - 1 {
		name := fmt.Sprint("m", i)
		_, ok := methods.Find(name)
		assert.False(t, ok)
		methods.Slot(name)
	}
	slot, ok := methods.Find("another")
	assert.Equal(t, []any{protocol.MaxMethods - 1, true}, []any{slot, ok})
}
