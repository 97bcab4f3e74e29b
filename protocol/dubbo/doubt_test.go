package dubbo

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// ice freezes a scripted provider as SIGSTOP does a process: the operating system
// goes on accepting connections and bytes, and what came is served after the thaw.
type ice struct {
	frozen atomic.Bool
	mu     sync.Mutex
	held   []func()
}

func (i *ice) echo(c *peerConn, f received) {
	if !i.frozen.Load() {
		echo(c, f)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.held = append(i.held, func() { echo(c, f) })
}

func (i *ice) thaw() {
	i.frozen.Store(false)
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, serve := range i.held {
		serve()
	}
	i.held = nil
}

// doubted calls until the endpoint does not want calls any more, and returns how
// many it cost.
func doubted(t *testing.T, e protocol.Endpoint) (calls int) {
	synctest.Wait()
	require.Equal(t, protocol.Ready, e.State())
	for e.State() == protocol.Ready {
		_, err := invoke(t.Context(), e, within(300*time.Millisecond, "x"))
		require.ErrorIs(t, err, protocol.ErrTimeout)
		synctest.Wait()
		calls++
	}
	return calls
}

// A frozen provider costs as many timeouts as it takes to doubt it, and is used again
// as soon as it has thawed, however long it took.
func TestFrozenProvider(t *testing.T) {
	for _, freeze := range []time.Duration{time.Second, 5 * time.Second, time.Minute, 10 * time.Minute} {
		t.Run(freeze.String(), func(t *testing.T) {
			var i ice
			bubble(t, i.echo, func(t *testing.T, p *peer, d *Protocol) {
				e := refer(t, d, p.address)
				_, err := invoke(t.Context(), e, invocation("x"))
				require.NoError(t, err)
				i.frozen.Store(true)
				assert.Equal(t, probeAfter, doubted(t, e))
				assert.Equal(t, protocol.ReadOnly, e.State())
				assert.ErrorIs(t, e.StateReason(), errDoubtful)

				for begun := time.Now(); time.Since(begun) < freeze; pass(100 * time.Millisecond) {
					require.NotEqual(t, protocol.Ready, e.State())
				}
				i.thaw()
				pass(demandGap)
				assert.Equal(t, protocol.Ready, e.State())
				_, err = invoke(t.Context(), e, within(300*time.Millisecond, "x"))
				assert.NoError(t, err)
				each := defaultConnectTimeout + quickRetry // a trial every so often
				assert.LessOrEqual(t, p.accepted.Load(), int32(2+freeze/each), "no flood of connections")
			})
		})
	}
}

// After the probe nobody is let near the provider: calls fail at once and say why.
func TestFrozenProviderIsDownAfterTheProbe(t *testing.T) {
	var i ice
	bubble(t, i.echo, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address)
		_, err := invoke(t.Context(), e, invocation("x"))
		require.NoError(t, err)
		i.frozen.Store(true)
		doubted(t, e)
		pass(defaultConnectTimeout)
		assert.Equal(t, protocol.Down, e.State())
		assert.ErrorIs(t, e.StateReason(), errNoBeat)
		pass(defaultConnectTimeout + demandGap) // the first trial was in vain
		took := elapsed(func() {
			_, err := invoke(t.Context(), e, within(300*time.Millisecond, "x"))
			assert.ErrorIs(t, err, protocol.ErrNetwork)
			assert.ErrorIs(t, err, errNoBeat)
			assert.False(t, failure(t, err).Sent)
		})
		assert.Zero(t, took)
		i.thaw()
	})
}

// While in doubt a connection is the last resort: it is used when there is no other.
func TestDoubtfulConnectionIsTheLastResort(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
		p.handle = func(c *peerConn, f received) {
			if c.number > 1 {
				echo(c, f)
			}
		}
		e := refer(t, d, p.address)
		doubted(t, e)
		took := elapsed(func() {
			_, err := invoke(t.Context(), e, within(300*time.Millisecond, "x"))
			assert.ErrorIs(t, err, protocol.ErrTimeout)
			assert.True(t, failure(t, err).Sent)
		})
		assert.Equal(t, 300*time.Millisecond, took)
	})
	bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
		p.handle = func(c *peerConn, f received) {
			if c.number == 2 {
				echo(c, f)
			}
		}
		e := refer(t, d, p.address, "shareconnections", "2")
		synctest.Wait()
		failed := 0
		for range 50 {
			if _, err := invoke(t.Context(), e, within(300*time.Millisecond, "x")); err != nil {
				failed++
			}
		}
		assert.Equal(t, probeAfter, failed, "the other connection takes all calls")
		assert.Equal(t, protocol.Ready, e.State())
	})
}

// Any frame ends the doubt, half of one does not; a provider whose methods are slow answers the probe, and
// is out of favour for one round trip.
func TestDoubtEndsWithTheFirstFrame(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
		beats := make(chan received, 1)
		p.handle = func(c *peerConn, f received) {
			if f.head.Event {
				beats <- f
			}
		}
		e := refer(t, d, p.address)
		for range 3 {
			doubted(t, e)
			p.conn(1).send(frame.AppendHeartbeatAnswer(nil, (<-beats).head))
			synctest.Wait()
			require.Equal(t, protocol.Ready, e.State())
			require.NoError(t, e.StateReason())
		}
		doubted(t, e)
		late := answer(77, value("late"))
		p.conn(1).send(late[:20])
		synctest.Wait()
		assert.Equal(t, protocol.ReadOnly, e.State())
		p.conn(1).send(late[20:])
		synctest.Wait()
		assert.Equal(t, protocol.Ready, e.State())
		assert.EqualValues(t, 1, p.accepted.Load())
	})
}

// A host that fell silent without any call has to prove itself as well.
func TestSilentProviderIsTried(t *testing.T) {
	var i ice
	i.frozen.Store(true)
	bubble(t, i.echo, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address)
		pass(179 * time.Second)
		assert.Equal(t, protocol.Ready, e.State())
		pass(2 * time.Second)
		assert.Equal(t, protocol.Down, e.State())
		assert.EqualValues(t, 2, p.accepted.Load())
		i.thaw()
		pass(time.Second)
		assert.Equal(t, protocol.Ready, e.State())
	})
}
