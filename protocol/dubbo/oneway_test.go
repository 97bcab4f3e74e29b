package dubbo

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

func oneWay(args ...any) *protocol.Invocation {
	inv := within(time.Second, args...)
	inv.OneWay = true
	return inv
}

// B164: a one-way call returns at once, has no answer to wait for and leaves
// nothing behind.
func TestB164OneWay(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
		got := make(chan received, 100)
		p.handle = func(_ *peerConn, f received) { got <- f }
		e := refer(t, d, p.address)
		for range 100 {
			took := elapsed(func() {
				r, err := e.Invoke(t.Context(), oneWay("x"))
				require.NoError(t, err)
				assert.True(t, r.Null)
			})
			assert.Zero(t, took)
		}
		ids := map[uint64]bool{}
		for range 100 {
			f := <-got
			assert.EqualValues(t, 0x82, f.raw[2])
			assert.Equal(t, "x", f.call(t).args[0])
			ids[f.head.ID] = true
			p.conn(1).send(answer(f.head.ID, value("nobody asked")))
		}
		assert.Len(t, ids, 100)
		synctest.Wait()
		c := only(t, d)
		assert.Zero(t, c.InFlight)
		assert.EqualValues(t, 100, c.Late)
	})
}

// With sent=true a one-way call waits for the write and reports its failure.
func TestB164SentWaitsForTheWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inMemory(t, mute)
		var block bool
		stuck := make(chan net.Conn, 1)
		d := New(WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			if !block {
				return p.dial(ctx, network, address)
			}
			a, b := net.Pipe() // nobody reads
			stuck <- b
			return a, nil
		}))
		e := refer(t, d, p.address, "echo.sent", "true")
		for _, s := range []string{"x", strings.Repeat("x", 2*bigFrame)} {
			_, err := invoke(t.Context(), e, oneWay(s))
			require.NoError(t, err)
			assert.EqualValues(t, only(t, d).Queued, 0)
		}

		block = true
		e = refer(t, d, "10.0.0.2:20880", "sent", "true")
		took := elapsed(func() {
			_, err := invoke(t.Context(), e, oneWay("x"))
			assert.ErrorIs(t, err, protocol.ErrTimeout)
		})
		assert.Equal(t, time.Second, took)

		b := <-stuck
		time.AfterFunc(100*time.Millisecond, func() { _ = b.Close() })
		_, err := invoke(t.Context(), e, oneWay("x"))
		f := failure(t, err)
		assert.ErrorIs(t, err, protocol.ErrNetwork)
		assert.False(t, f.Sent, "it stood behind the one that was being written")
		assert.Equal(t, protocol.RetryAlways, f.Retry)
		block = false
		require.NoError(t, d.Close())
		p.stop()
	})
}
