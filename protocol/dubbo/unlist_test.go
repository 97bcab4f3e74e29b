package dubbo

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// unlist returns whether the endpoint serves on, and how often it said that it ended.
func unlist(e protocol.Endpoint) (ok bool, lost *atomic.Int32) {
	lost = new(atomic.Int32)
	return e.(protocol.Unlister).Unlist(func() { lost.Add(1) }), lost
}

// ended asserts that the endpoint is out of use for good, and that nobody dials.
func ended(t *testing.T, s *switchboard, d *Protocol, e protocol.Endpoint, lost *atomic.Int32) {
	t.Helper()
	synctest.Wait()
	assert.EqualValues(t, 1, lost.Load())
	assert.Equal(t, protocol.Down, e.State())
	assert.ErrorIs(t, e.StateReason(), errReleased)
	assert.False(t, e.(protocol.Unlister).Relist())
	dialled := len(s.dials.since(time.Now()))
	_, err := invoke(t.Context(), e, invocation("x"))
	assert.ErrorIs(t, err, protocol.ErrNetwork)
	assert.False(t, failure(t, err).Sent)
	pass(time.Hour)
	assert.Len(t, s.dials.since(time.Now()), dialled)
	assert.EqualValues(t, 1, lost.Load())
	assert.Empty(t, d.Connections())
	e.Close()
}

// B033: a provider that is not listed any more is called while its connection lives
// and never dialled again, although it listens.
func TestB033UnlistedEndsWithItsConnection(t *testing.T) {
	for range 20 { // the first attempt after a loss may be due at once
		switched(t, echo, func(t *testing.T, s *switchboard, d *Protocol) {
			e := refer(t, d, s.p.address)
			synctest.Wait()
			ok, lost := unlist(e)
			require.True(t, ok)
			pass(time.Hour) // heartbeats are answered
			_, err := invoke(t.Context(), e, invocation("x"))
			require.NoError(t, err)
			assert.Zero(t, lost.Load())
			s.p.closeAll()
			ended(t, s, d, e, lost)
			assert.EqualValues(t, 1, s.p.accepted.Load())
		}, func(o *options) { o.random = func() float64 { return 0 } })
	}
}

// Who says that it wants no new calls is let go: what is under way may end.
func TestUnlistedReadOnly(t *testing.T) {
	switched(t, func(c *peerConn, f received) {
		if f.head.Event {
			f.isCall(c)
			return
		}
		time.AfterFunc(2*time.Second, func() { echo(c, f) })
	}, func(t *testing.T, s *switchboard, d *Protocol) {
		e := refer(t, d, s.p.address)
		synctest.Wait()
		ok, lost := unlist(e)
		require.True(t, ok)
		result := make(chan error)
		go func() { _, err := invoke(t.Context(), e, invocation("running")); result <- err }()
		synctest.Wait()
		s.p.conn(1).send(event(frame.Hessian2, "\x01R"))
		synctest.Wait()
		assert.EqualValues(t, 1, lost.Load())
		assert.Equal(t, protocol.Down, e.State())
		assert.NoError(t, <-result)
		ended(t, s, d, e, lost)
	})
}

// A frozen provider ends when its silence ends the connection.
func TestUnlistedFrozen(t *testing.T) {
	var frozen atomic.Bool
	switched(t, func(c *peerConn, f received) {
		if !frozen.Load() {
			echo(c, f)
		}
	}, func(t *testing.T, s *switchboard, d *Protocol) {
		e := refer(t, d, s.p.address)
		synctest.Wait()
		ok, lost := unlist(e)
		require.True(t, ok)
		frozen.Store(true)
		pass(10 * time.Minute)
		ended(t, s, d, e, lost)
	})
}

// Listed again it is an endpoint like any other, with the same connection.
func TestRelisted(t *testing.T) {
	switched(t, echo, func(t *testing.T, s *switchboard, d *Protocol) {
		e := refer(t, d, s.p.address)
		synctest.Wait()
		ok, lost := unlist(e)
		require.True(t, ok)
		require.True(t, e.(protocol.Unlister).Relist())
		_, err := invoke(t.Context(), e, invocation("x"))
		require.NoError(t, err)
		assert.EqualValues(t, 1, s.p.accepted.Load())
		s.p.closeAll()
		pass(time.Second)
		assert.Equal(t, protocol.Ready, e.State())
		assert.EqualValues(t, 2, s.p.accepted.Load())
		assert.Zero(t, lost.Load())
	})
}

// Endpoints share connections still: one that is listed has them made again, the
// other is let go.
func TestUnlistedShares(t *testing.T) {
	switched(t, echo, func(t *testing.T, s *switchboard, d *Protocol) {
		es := services(t, d, s.p, 2)
		synctest.Wait()
		ok, lost := unlist(es[0])
		require.True(t, ok)
		s.p.closeAll()
		pass(time.Second)
		assert.EqualValues(t, 1, lost.Load())
		assert.Equal(t, protocol.Down, es[0].State())
		assert.Equal(t, protocol.Ready, es[1].State())
		_, err := invoke(t.Context(), es[1], invocation("x"))
		assert.NoError(t, err)
	})
}

// Of several connections those that are lost are made again when it is listed again,
// or somebody else wants them, not before.
func TestUnlistedSeveralConnections(t *testing.T) {
	switched(t, echo, func(t *testing.T, s *switchboard, d *Protocol) {
		e := refer(t, d, s.p.address, "shareconnections", "3")
		pass(time.Hour) // all have answered
		ok, _ := unlist(e)
		require.True(t, ok)
		lose := func(n int) {
			_ = s.p.conn(n).Close()
			pass(time.Hour)
		}
		lose(1)
		assert.Len(t, d.Connections(), 3)
		assert.EqualValues(t, 3, s.p.accepted.Load())
		for range 6 {
			_, err := invoke(t.Context(), e, invocation("x"))
			assert.NoError(t, err)
		}
		require.True(t, e.(protocol.Unlister).Relist())
		synctest.Wait()
		assert.EqualValues(t, 4, s.p.accepted.Load())

		ok, lost := unlist(e)
		require.True(t, ok)
		lose(2)
		assert.EqualValues(t, 4, s.p.accepted.Load())
		other := refer(t, d, s.p.address, "shareconnections", "3")
		synctest.Wait()
		assert.EqualValues(t, 5, s.p.accepted.Load())
		other.Close()

		for n := 3; n <= 5; n++ {
			assert.Zero(t, lost.Load())
			lose(n)
		}
		ended(t, s, d, e, lost)
	})
}

// Who is not connected, or lazy and not called yet, has nothing to go on with.
func TestNothingToGoOnWith(t *testing.T) {
	switched(t, echo, func(t *testing.T, s *switchboard, d *Protocol) {
		lazy := refer(t, d, s.p.address, "lazy", "true")
		require.Equal(t, protocol.Ready, lazy.State())
		ok, _ := unlist(lazy)
		assert.False(t, ok)
		lazy.Close()
		ok, _ = unlist(lazy)
		assert.False(t, ok)

		s.down.Store(true)
		e := refer(t, d, s.p.address)
		synctest.Wait()
		ok, lost := unlist(e)
		assert.False(t, ok)
		s.down.Store(false)
		pass(time.Minute)
		assert.Equal(t, protocol.Ready, e.State(), "it was not changed")
		assert.Zero(t, lost.Load())
	})
}

// The end of the client is no loss.
func TestUnlistedAtTheEnd(t *testing.T) {
	switched(t, echo, func(t *testing.T, s *switchboard, d *Protocol) {
		e := refer(t, d, s.p.address)
		synctest.Wait()
		ok, lost := unlist(e)
		require.True(t, ok)
		require.NoError(t, d.Close())
		assert.Zero(t, lost.Load())
		assert.False(t, e.(protocol.Unlister).Unlist(func() {}))
	})
}
