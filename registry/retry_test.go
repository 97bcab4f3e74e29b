package registry

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestRetryStopped: a timer that went off just before it was stopped does nothing,
// also when another has been armed since.
func TestRetryStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var r retry
		ran := 0
		mu.Lock()
		r.start(func(int) { t.Error("stopped, but ran") })
		first := r.id
		r.stop()
		assert.False(t, r.fired(first))
		r.start(func(id int) {
			mu.Lock()
			defer mu.Unlock()
			assert.True(t, r.fired(id))
			ran++
		})
		assert.False(t, r.fired(first))
		mu.Unlock()
		time.Sleep(firstRetry)
		r.wait()
		assert.Equal(t, 1, ran)
	})
}
