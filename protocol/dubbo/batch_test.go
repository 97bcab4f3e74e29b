package dubbo

import (
	"net"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// sink takes writes at once; reads are those of the pipe behind it.
type sink struct{ net.Conn }

func (sink) Write(b []byte) (int, error) { return len(b), nil }

// Callers that are ready to run together share a write: the flush goroutine lets
// them go first. Without that each would be woken, write and wait in turn: one
// write per call. On one processor the order is the scheduler's, and in virtual
// time no yield is slow, which would switch it off.
func TestCallersShareWrites(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const callers = 20
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		var wg, calls sync.WaitGroup
		c := newConn(sink{a}, connConfig{queue: 1 << 20}, &wg, func(*conn) {})
		c.start()
		for range callers {
			calls.Go(func() {
				k := c.take()
				defer c.release(k)
				k.out = append(k.out[:0], make([]byte, 100)...)
				_, err := c.roundTrip(t.Context(), k, int64(time.Second), 0)
				assert.ErrorIs(t, err, errTimeout)
			})
		}
		calls.Wait()
		assert.Less(t, c.writes.Load(), int64(callers/4))
		c.fail(errClosed)
		wg.Wait()
		_ = b.Close()
	})
}
