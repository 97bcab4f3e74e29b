package dubbo

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// slow answers calls after the given time.
func slow(d time.Duration) func(*peerConn, received) {
	return func(c *peerConn, f received) {
		if f.head.Event {
			f.isCall(c)
			return
		}
		time.AfterFunc(d, func() { echo(c, f) })
	}
}

// B175: a provider leaves the list while it works. The running call ends, new
// calls go elsewhere, and the connection ends with the last call.
func TestB175RunningCallsEnd(t *testing.T) {
	bubble(t, slow(3*time.Second), func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address)
		begun := time.Now()
		result := make(chan error)
		go func() { _, err := invoke(t.Context(), e, invocation("running")); result <- err }()
		pass(500 * time.Millisecond)

		assert.Zero(t, elapsed(e.Close), "Close does not wait")
		assert.Equal(t, protocol.Down, e.State())
		assert.Error(t, e.StateReason())
		c := only(t, d)
		assert.True(t, c.Draining)
		assert.Equal(t, 1, c.InFlight)
		_, err := invoke(t.Context(), e, invocation("new"))
		f := failure(t, err)
		assert.False(t, f.Sent)
		assert.Equal(t, protocol.RetryAlways, f.Retry)

		assert.NoError(t, <-result)
		assert.Equal(t, 3*time.Second, time.Since(begun))
		synctest.Wait()
		assert.Empty(t, d.Connections(), "nothing keeps it after the last call")
	})
}

// A call that does not end keeps the connection for the drain time and no longer.
func TestDrainTimeIsBounded(t *testing.T) {
	for _, limit := range []time.Duration{10 * time.Second, 2 * time.Second, 0} {
		synctest.Test(t, func(t *testing.T) {
			p := inMemory(t, mute)
			opts := []Option{WithDialer(p.dial)}
			if limit != 10*time.Second { // the default
				opts = append(opts, WithDrainTimeout(limit))
			}
			d := New(opts...)
			e := refer(t, d, p.address)
			result := make(chan error)
			go func() { _, err := invoke(t.Context(), e, within(time.Hour, "x")); result <- err }()
			synctest.Wait()
			took := elapsed(func() {
				e.Close()
				err := <-result
				assert.ErrorIs(t, err, protocol.ErrNetwork)
				assert.True(t, failure(t, err).Sent)
			})
			assert.Equal(t, limit, took)
			require.NoError(t, d.Close())
			p.stop()
		})
	}
}

// One-way calls that were queued before Close are written before the end.
func TestDrainWritesWhatIsQueued(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
		got := make(chan any, 10)
		p.handle = func(_ *peerConn, f received) {
			<-time.After(10 * time.Millisecond) // a provider that reads slowly
			got <- f.call(t).args[0]
		}
		e := refer(t, d, p.address)
		for _, s := range []string{"a", "b", "c"} {
			inv := invocation(s)
			inv.OneWay = true
			_, err := invoke(t.Context(), e, inv)
			require.NoError(t, err)
		}
		e.Close()
		assert.Equal(t, "a", <-got)
		assert.Equal(t, "b", <-got)
		assert.Equal(t, "c", <-got)
		synctest.Wait()
		assert.Empty(t, d.Connections())
	})
}

// Another reference to the address keeps the connection; the next one after the
// last has gone gets a new one, while the old one drains.
func TestDrainOfTheLastUserOnly(t *testing.T) {
	bubble(t, slow(time.Second), func(t *testing.T, p *peer, d *Protocol) {
		a, b := refer(t, d, p.address), refer(t, d, p.address)
		result := make(chan error, 2)
		go func() { _, err := invoke(t.Context(), a, invocation("a")); result <- err }()
		synctest.Wait()
		a.Close()
		assert.Equal(t, protocol.Down, a.State())
		assert.Equal(t, protocol.Ready, b.State())
		assert.NoError(t, <-result)
		_, err := invoke(t.Context(), b, invocation("b"))
		assert.NoError(t, err)
		assert.EqualValues(t, 1, p.accepted.Load())

		go func() { _, err := invoke(t.Context(), b, invocation("b")); result <- err }()
		synctest.Wait()
		b.Close()
		c := refer(t, d, p.address)
		_, err = invoke(t.Context(), c, invocation("c"))
		assert.NoError(t, err)
		assert.NoError(t, <-result)
		assert.EqualValues(t, 2, p.accepted.Load())
		synctest.Wait()
		assert.Len(t, d.Connections(), 1)
	})
}
