package zookeeper

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer/registry"
)

// A listener gets the newest snapshot, not all of them, one at a time.
func TestMailboxKeepsTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{block: make(chan struct{})}
		m := newMailbox(rec)
		begin := time.Now()
		for i := range 10 {
			m.put(&registry.Snapshot{Path: string(rune('0' + i)), Held: begin.Add(time.Duration(i) * time.Second)})
			synctest.Wait()
		}
		assert.Equal(t, 1, rec.count())
		close(rec.block)
		synctest.Wait()
		assert.Equal(t, 2, rec.count())
		assert.Equal(t, "9", rec.last().Path)
		assert.Equal(t, begin.Add(time.Second), rec.last().Held, "the list before is the one delivered before")
		m.close()
		m.put(&registry.Snapshot{})
		synctest.Wait()
		assert.Equal(t, 2, rec.count())
		m.close()
	})
}

// Close waits for a delivery under way and drops what waits behind it.
func TestMailboxClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{block: make(chan struct{})}
		m := newMailbox(rec)
		m.put(&registry.Snapshot{})
		synctest.Wait()
		m.put(&registry.Snapshot{})
		closed := false
		go func() { m.close(); closed = true }()
		synctest.Wait()
		assert.False(t, closed)
		close(rec.block)
		synctest.Wait()
		assert.True(t, closed)
		assert.Equal(t, 1, rec.count())
	})
}
