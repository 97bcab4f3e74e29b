package dubbo

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// switchboard is a dialer that can be unplugged.
type switchboard struct {
	p     *peer
	down  atomic.Bool
	dials times
}

var errRefused = errors.New("connection refused")

func (s *switchboard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	s.dials.note()
	if s.down.Load() {
		return nil, errRefused
	}
	return s.p.dial(ctx, network, address)
}

// switched is a bubble whose network can be unplugged. Jitter is in the middle.
func switched(t *testing.T, handle func(*peerConn, received), f func(t *testing.T, s *switchboard, d *Protocol), opts ...Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &switchboard{p: inMemory(t, handle)}
		d := New(append([]Option{WithDialer(s.dial), func(o *options) { o.random = func() float64 { return 0.5 } }}, opts...)...)
		t.Cleanup(s.p.stop)
		t.Cleanup(func() { assert.NoError(t, d.Close()) })
		f(t, s, d)
	})
}

// unplug cuts all connections and lets no new one come up.
func (s *switchboard) unplug() {
	s.down.Store(true)
	s.p.closeAll()
	synctest.Wait()
}

// The first attempt after a loss comes at once, the later ones ever later, up to a
// bound, and never two at a time.
func TestReconnectBackoff(t *testing.T) {
	switched(t, echo, func(t *testing.T, s *switchboard, d *Protocol) {
		e := refer(t, d, s.p.address)
		_, err := invoke(t.Context(), e, invocation("x"))
		require.NoError(t, err)
		lost := time.Now()
		s.unplug()
		assert.Equal(t, protocol.Down, e.State())
		pass(22 * time.Second)
		want := []float64{0.025, 0.125, 0.325, 0.725, 1.525, 3.125, 6.325, 11.325, 16.325, 21.325}
		assert.InDeltaSlice(t, want, s.dials.since(lost)[1:], 1e-9)

		s.down.Store(false)
		pass(5 * time.Second)
		assert.Equal(t, protocol.Ready, e.State())
		assert.NoError(t, e.StateReason())
		assert.EqualValues(t, 2, only(t, d).Connects)
		assert.Zero(t, only(t, d).Failures)
	})
}

// Who answers heartbeats, and calls with what is no frame, costs a call for every
// connection: those are made ever later. A good answer makes up for it.
func TestGarbageTalkerBacksOff(t *testing.T) {
	var sane atomic.Bool
	switched(t, func(c *peerConn, f received) {
		switch {
		case sane.Load():
			echo(c, f)
		case f.isCall(c):
			c.send([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
		}
	}, func(t *testing.T, s *switchboard, d *Protocol) {
		e := refer(t, d, s.p.address)
		pass(2 * time.Minute) // heartbeats are answered
		lost := 0
		for begun := time.Now(); time.Since(begun) < time.Minute; pass(10 * time.Millisecond) {
			if e.State() != protocol.Ready { // as clusters do
				continue
			}
			_, err := invoke(t.Context(), e, invocation("x"))
			require.ErrorIs(t, err, protocol.ErrNetwork)
			require.ErrorIs(t, err, frame.ErrMalformed)
			lost++
		}
		assert.InDelta(t, 120, lost, 12, "one per demandGap, whoever asks")
		assert.InDelta(t, s.p.accepted.Load(), lost, 1)

		sane.Store(true)
		pass(lastRetry * 2)
		require.Equal(t, protocol.Ready, e.State())
		for range 10 {
			_, err := invoke(t.Context(), e, invocation("x"))
			require.NoError(t, err)
			pass(time.Second)
		}
		lose := time.Now()
		s.p.closeAll()
		pass(time.Second)
		assert.InDelta(t, 0.025, s.dials.since(lose)[len(s.dials.since(lose))-1], 0.001, "at once, as ever")
	})
}

// Jitter spreads the attempts of many consumers.
func TestReconnectJitter(t *testing.T) {
	l := &link{x: newExchange(New(), settings{count: 1})}
	for failures := range 20 {
		l.failures = failures
		low, high := time.Hour, time.Duration(0)
		for range 1000 {
			d := l.backoff()
			low, high = min(low, d), max(high, d)
		}
		if failures == 0 {
			assert.Less(t, high, quickRetry)
			continue
		}
		full := min(firstRetry<<min(failures-1, 20), lastRetry)
		assert.InEpsilon(t, 0.8*float64(full), float64(low), 0.05)
		assert.InEpsilon(t, 1.2*float64(full), float64(high), 0.05)
	}
}

// While the provider is away calls fail at once, unsent and with the reason, and
// their asking makes the attempts come at least every half second.
func TestFailFastWhileDown(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	switched(t, echo, func(t *testing.T, s *switchboard, d *Protocol) {
		e := refer(t, d, s.p.address)
		_, err := invoke(t.Context(), e, invocation("x"))
		require.NoError(t, err)
		s.unplug()
		pass(time.Minute) // long pauses by now
		begun := time.Now()
		for range 100 {
			took := elapsed(func() {
				_, err := invoke(t.Context(), e, invocation("x"))
				f := failure(t, err)
				assert.ErrorIs(t, err, protocol.ErrNetwork)
				assert.ErrorIs(t, err, errRefused)
				assert.False(t, f.Sent)
				assert.Equal(t, protocol.RetryAlways, f.Retry)
			})
			assert.Zero(t, took)
			pass(50 * time.Millisecond)
		}
		var attempts int
		for _, at := range s.dials.since(begun) {
			if at >= 0 {
				attempts++
			}
		}
		assert.InDelta(t, 10, attempts, 1, "in five seconds")
		s.down.Store(false)
		took := elapsed(func() {
			for {
				if _, err := invoke(t.Context(), e, invocation("x")); err == nil {
					return
				}
				pass(10 * time.Millisecond)
			}
		})
		assert.LessOrEqual(t, took, demandGap+10*time.Millisecond)
	}, WithLogger(zap.New(core)))
	assert.Equal(t, 1, logs.FilterMessage("provider not reachable").Len(), "once per outage")
}

// A cluster does not invoke an endpoint that is down, it looks at its state: that is
// demand enough.
func TestAskingForTheStateIsDemand(t *testing.T) {
	switched(t, echo, func(t *testing.T, s *switchboard, d *Protocol) {
		e := refer(t, d, s.p.address)
		synctest.Wait()
		s.unplug()
		pass(time.Minute)
		idle := len(s.dials.since(time.Now()))
		pass(20 * time.Second)
		assert.InDelta(t, 4, len(s.dials.since(time.Now()))-idle, 1, "nobody asks")
		before := len(s.dials.since(time.Now()))
		for range 100 {
			require.Equal(t, protocol.Down, e.State())
			pass(50 * time.Millisecond)
		}
		assert.InDelta(t, 10, len(s.dials.since(time.Now()))-before, 1, "in five seconds")
		pass(20 * time.Second)
		s.down.Store(false)
		took := elapsed(func() {
			for e.State() == protocol.Down {
				pass(10 * time.Millisecond)
			}
		})
		assert.LessOrEqual(t, took, demandGap+10*time.Millisecond)
	})
}

// A call that comes while the first connection is being made waits for it.
func TestFirstCallWaitsForTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inMemory(t, echo)
		d := New(WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			<-time.After(400 * time.Millisecond)
			return p.dial(ctx, network, address)
		}))
		e := refer(t, d, p.address)
		assert.Equal(t, protocol.Down, e.State())
		assert.ErrorIs(t, e.StateReason(), errConnecting)
		took := elapsed(func() {
			_, err := invoke(t.Context(), e, within(300*time.Millisecond, "x"))
			f := failure(t, err)
			assert.ErrorIs(t, err, protocol.ErrNetwork)
			assert.False(t, f.Sent)
			assert.Equal(t, protocol.RetryAlways, f.Retry)
		})
		assert.Equal(t, 300*time.Millisecond, took)
		took = elapsed(func() {
			v, err := invoke(t.Context(), e, within(time.Second, "x"))
			assert.NoError(t, err)
			assert.Equal(t, "x", v)
		})
		assert.Equal(t, 100*time.Millisecond, took)

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		other := refer(t, d, "10.0.0.2:20880")
		_, err := invoke(ctx, other, invocation("x"))
		assert.ErrorIs(t, err, protocol.ErrCanceled)
		assert.False(t, failure(t, err).Sent)
		require.NoError(t, d.Close())
		p.stop()
	})
}

// The connect timeout bounds an attempt, and the error says so.
func TestConnectTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(WithDialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		e := refer(t, d, "10.0.0.1:20880", "connect.timeout", "700")
		took := elapsed(func() {
			_, err := invoke(t.Context(), e, invocation("x"))
			assert.ErrorIs(t, err, protocol.ErrNetwork)
			assert.ErrorContains(t, err, "connect.timeout of 700ms")
		})
		assert.Equal(t, 700*time.Millisecond, took)
		require.NoError(t, d.Close())
	})
}

// B033: when the last provider has left nobody dials its address any more.
func TestB033NobodyReconnectsToWhoHasLeft(t *testing.T) {
	switched(t, echo, func(t *testing.T, s *switchboard, d *Protocol) {
		e := refer(t, d, s.p.address)
		_, err := invoke(t.Context(), e, invocation("x"))
		require.NoError(t, err)
		s.unplug()
		pass(10 * time.Second)
		e.Close()
		e.Close() // does nothing
		synctest.Wait()
		gone := time.Now()
		pass(time.Hour)
		for _, at := range s.dials.since(gone) {
			assert.Negative(t, at)
		}
		assert.Empty(t, d.Connections())
		_, err = invoke(t.Context(), e, invocation("x"))
		f := failure(t, err)
		assert.ErrorIs(t, err, protocol.ErrNetwork)
		assert.Equal(t, protocol.RetryAlways, f.Retry)
		assert.False(t, f.Sent)

		s.down.Store(false)
		again := refer(t, d, s.p.address)
		_, err = invoke(t.Context(), again, invocation("x"))
		assert.NoError(t, err)
	})
}

// B122: a provider that leaves and returns is connected before the first call, every time.
func TestB122LeavesAndReturns(t *testing.T) {
	switched(t, echo, func(t *testing.T, s *switchboard, d *Protocol) {
		for round := range 5 {
			e := refer(t, d, s.p.address)
			synctest.Wait()
			assert.Equal(t, protocol.Ready, e.State(), "round %d: connected before the first call", round)
			_, err := invoke(t.Context(), e, invocation("x"))
			assert.NoError(t, err)
			e.Close()
			synctest.Wait()
			assert.Equal(t, protocol.Down, e.State())
			assert.Empty(t, d.Connections())
		}
		assert.EqualValues(t, 5, s.p.accepted.Load())
	})
}

// B124: kill -9 and restart at the same address, ten times, without a word from
// the registry, at 200 calls a second.
func TestB124RestartAtTheSameAddress(t *testing.T) {
	switched(t, echo, func(t *testing.T, s *switchboard, d *Protocol) {
		e := refer(t, d, s.p.address)
		calls := func(d time.Duration) (failed int, recovered time.Duration) {
			begun := time.Now()
			for time.Since(begun) < d {
				_, err := invoke(t.Context(), e, within(time.Second, "x"))
				if err != nil {
					failed++
					recovered = time.Since(begun)
				}
				pass(5 * time.Millisecond)
			}
			return failed, recovered
		}
		for round := range 10 {
			failed, recovered := calls(2 * time.Second)
			assert.LessOrEqual(t, recovered, time.Second, "round %d", round)
			if round == 0 {
				assert.Zero(t, failed)
			}
			s.unplug()
			failed, _ = calls(time.Second)
			assert.NotZero(t, failed)
			s.down.Store(false)
		}
	})
}

// B128: whatever happens while the link connects, it never ends in a state from
// which nobody connects.
func TestB128NoDeadEnd(t *testing.T) {
	switched(t, echo, func(t *testing.T, s *switchboard, d *Protocol) {
		e := refer(t, d, s.p.address)
		r := rand.New(rand.NewPCG(1, 2))
		for range 500 {
			switch r.IntN(3) {
			case 0:
				s.p.closeAll()
			case 1:
				s.down.Store(true)
				s.p.closeAll()
			default:
				s.down.Store(false)
			}
			<-time.After(time.Duration(r.IntN(300)) * time.Millisecond)
		}
		s.down.Store(false)
		pass(2 * lastRetry)
		assert.Equal(t, protocol.Ready, e.State())
		_, err := invoke(t.Context(), e, invocation("x"))
		assert.NoError(t, err)
	})
}

// A lost connection fails its calls at once, and they know what was sent.
func TestLossFailsAllCallsAtOnce(t *testing.T) {
	switched(t, mute, func(t *testing.T, s *switchboard, d *Protocol) {
		e := refer(t, d, s.p.address)
		var wg sync.WaitGroup
		begun := time.Now()
		for range 20 {
			wg.Go(func() {
				_, err := invoke(t.Context(), e, invocation("x"))
				f := failure(t, err)
				assert.ErrorIs(t, err, protocol.ErrNetwork)
				assert.True(t, f.Sent)
				assert.Equal(t, protocol.RetryPolicy, f.Retry)
				assert.ErrorContains(t, err, "connection lost")
			})
		}
		synctest.Wait()
		s.unplug()
		wg.Wait()
		assert.Zero(t, time.Since(begun))
	})
}

// Close ends what is under way at once, whoever waits for whatever.
func TestCloseEndsEverythingAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inMemory(t, mute)
		d := New(WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			if address != p.address {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return p.dial(ctx, network, address)
		}))
		e := refer(t, d, p.address)
		connecting := refer(t, d, "10.0.0.2:20880")
		var wg sync.WaitGroup
		for _, e := range []protocol.Endpoint{e, e, connecting} {
			wg.Go(func() {
				_, err := invoke(t.Context(), e, invocation("x"))
				assert.ErrorIs(t, err, protocol.ErrClosed)
				assert.Equal(t, protocol.RetryNever, failure(t, err).Retry)
			})
		}
		synctest.Wait()
		assert.Zero(t, elapsed(func() {
			assert.NoError(t, d.Close())
			wg.Wait()
		}))
		assert.NoError(t, d.Close(), "a second time does nothing")
		assert.Equal(t, protocol.Down, e.State())
		assert.Error(t, e.StateReason())
		_, err := invoke(t.Context(), e, invocation("x"))
		assert.ErrorIs(t, err, protocol.ErrClosed)
		_, err = d.Refer(providerURL(t, p.address))
		assert.ErrorContains(t, err, "closed")
		e.Close()
		p.stop()
	})
}
