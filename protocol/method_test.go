package protocol_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

func TestMethodTable(t *testing.T) {
	var m protocol.MethodTable
	assert.Empty(t, m.Names())
	assert.Empty(t, m.Name(0))
	assert.Equal(t, 0, m.Slot("find"))
	assert.Equal(t, 1, m.Slot("save"))
	assert.Equal(t, 0, m.Slot("find"))
	assert.Equal(t, []string{"find", "save"}, m.Names())
	assert.Equal(t, "save", m.Name(1))
	assert.Empty(t, m.Name(2))
	assert.Empty(t, m.Name(-1))
}

// Names from outside cannot fill the memory: those that come too late share the
// last slot, which is nobody's own.
func TestMethodTableIsBounded(t *testing.T) {
	var m protocol.MethodTable
	for i := range 10 * protocol.MaxMethods {
		assert.Equal(t, min(i, protocol.MaxMethods-1), m.Slot(fmt.Sprint("m", i)))
	}
	require.Len(t, m.Names(), protocol.MaxMethods-1)
	assert.Equal(t, "m254", m.Name(protocol.MaxMethods-2))
	assert.Empty(t, m.Name(protocol.MaxMethods-1))
	assert.Equal(t, 7, m.Slot("m7"))
}

// A slot that somebody got has its name, at any moment and for everybody.
func TestMethodTableConcurrently(t *testing.T) {
	var m protocol.MethodTable
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 300 {
				name := fmt.Sprint("m", (i+g*37)%300)
				if slot := m.Slot(name); slot < protocol.MaxMethods-1 {
					assert.Equal(t, name, m.Name(slot))
				}
			}
		})
	}
	wg.Wait()
	assert.Len(t, m.Names(), protocol.MaxMethods-1)
	seen := map[string]bool{}
	for _, n := range m.Names() {
		assert.False(t, seen[n], "%s has two slots", n)
		seen[n] = true
	}
}
