package dubbo

import (
	"context"
	"net"
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

// times collects when something happened.
type times struct {
	mu sync.Mutex
	at []time.Time
}

func (ts *times) note() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.at = append(ts.at, time.Now())
}

// since returns the times in seconds after begun.
func (ts *times) since(begun time.Time) (seconds []float64) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, at := range ts.at {
		seconds = append(seconds, at.Sub(begun).Seconds())
	}
	return seconds
}

// pass lets virtual time pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// A quiet connection gets a heartbeat per period and stays open as long as they are answered.
func TestHeartbeatsAreSentAndAnswered(t *testing.T) {
	var beats times
	bubble(t, func(c *peerConn, f received) {
		assert.True(t, f.head.Event && f.head.TwoWay)
		assert.Equal(t, "N", string(f.body))
		assert.EqualValues(t, 0xe2, f.raw[2])
		beats.note()
		f.isCall(c)
	}, func(t *testing.T, p *peer, d *Protocol) {
		begun := time.Now()
		e := refer(t, d, p.address)
		pass(301 * time.Second)
		assert.Equal(t, []float64{60, 120, 180, 240, 300}, beats.since(begun))
		assert.Equal(t, protocol.Ready, e.State())
		assert.EqualValues(t, 1, p.accepted.Load())
	})
}

// Traffic is as good as a heartbeat.
func TestNoHeartbeatWhileAnswersCome(t *testing.T) {
	var beats times
	bubble(t, func(c *peerConn, f received) {
		if f.head.Event {
			beats.note()
		}
		echo(c, f)
	}, func(t *testing.T, p *peer, d *Protocol) {
		begun := time.Now()
		e := refer(t, d, p.address, "heartbeat", "10000")
		for range 10 {
			pass(9 * time.Second)
			_, err := invoke(t.Context(), e, invocation("x"))
			require.NoError(t, err)
		}
		assert.Empty(t, beats.since(begun))
	})
}

// Three silent periods end the connection and its calls, and the link connects again.
func TestSilenceEndsTheConnection(t *testing.T) {
	for _, c := range []struct {
		params []string
		want   time.Duration
	}{
		{nil, 180 * time.Second},
		{[]string{"heartbeat", "2000"}, 6 * time.Second},
		{[]string{"heartbeat", "2000", "heartbeat.timeout", "5000"}, 5 * time.Second},
		{[]string{"heartbeat", "2000", "heartbeat.timeout", "3000"}, 6 * time.Second}, // less than twice: not taken
		{[]string{"heartbeat", "abc"}, 180 * time.Second},
	} {
		bubble(t, mute, func(t *testing.T, p *peer, d *Protocol) {
			e := refer(t, d, p.address, c.params...)
			took := elapsed(func() {
				_, err := invoke(t.Context(), e, within(time.Hour, "x"))
				f := failure(t, err)
				assert.ErrorIs(t, err, protocol.ErrNetwork)
				assert.ErrorIs(t, err, errSilent)
				assert.True(t, f.Sent)
				assert.Equal(t, protocol.RetryPolicy, f.Retry)
			})
			assert.Equal(t, c.want, took, "%v", c.params)
			pass(time.Second)
			assert.EqualValues(t, 2, p.accepted.Load())
		})
	}
}

// One heartbeat a period, however often the timer fires for calls meanwhile.
func TestHeartbeatsAreNoFlood(t *testing.T) {
	var beats times
	bubble(t, func(_ *peerConn, f received) {
		if f.head.Event {
			beats.note()
		}
	}, func(t *testing.T, p *peer, d *Protocol) {
		begun := time.Now()
		e := refer(t, d, p.address)
		var wg sync.WaitGroup
		for _, limit := range []time.Duration{70 * time.Second, 80 * time.Second} {
			wg.Go(func() {
				_, err := invoke(t.Context(), e, within(limit, "x"))
				assert.ErrorIs(t, err, protocol.ErrTimeout)
			})
		}
		pass(179 * time.Second)
		wg.Wait()
		assert.Equal(t, []float64{60, 120}, beats.since(begun))
	})
}

func TestHeartbeatZeroMeansNone(t *testing.T) {
	var frames times
	bubble(t, func(*peerConn, received) { frames.note() }, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address, "heartbeat", "0")
		begun := time.Now()
		pass(time.Hour)
		assert.Empty(t, frames.since(begun))
		assert.Equal(t, protocol.Ready, e.State())
	})
}

// A 2.6 provider sends heartbeats and closes connections that do not answer.
func TestHeartbeatsOfTheProviderAreAnswered(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
		answers := make(chan received, 1)
		p.handle = func(_ *peerConn, f received) { answers <- f }
		refer(t, d, p.address)
		synctest.Wait()
		p.conn(1).send(frame.AppendHeartbeat(nil, 1<<63|5))
		f := <-answers
		assert.Equal(t, frame.AppendHeartbeatAnswer(nil, frame.Header{Serialization: frame.Hessian2, ID: 1<<63 | 5}), f.raw)
	})
}

// B118: the way back is cut although the connection looks open. Three timeouts in a
// row without a frame lead to a probe, an unanswered probe to a new connection.
func TestB118HalfDeadConnectionIsReplaced(t *testing.T) {
	for name, call := range map[string]func(context.Context, protocol.Endpoint) error{
		"deadline of the attempt": func(ctx context.Context, e protocol.Endpoint) error {
			_, err := invoke(ctx, e, within(200*time.Millisecond, "x"))
			return err
		},
		"deadline of the context": func(ctx context.Context, e protocol.Endpoint) error {
			ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
			defer cancel()
			_, err := invoke(ctx, e, invocation("x"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { halfDead(t, call) })
	}
}

func halfDead(t *testing.T, call func(context.Context, protocol.Endpoint) error) {
	bubble(t, func(c *peerConn, f received) {
		if c.number > 1 {
			echo(c, f)
		}
	}, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address)
		results := make([]bool, 50)
		begun := time.Now()
		var recovered time.Duration
		for i := range results {
			if results[i] = call(t.Context(), e) == nil; results[i] && recovered == 0 {
				recovered = time.Since(begun)
			}
		}
		assert.True(t, results[len(results)-1])
		assert.LessOrEqual(t, recovered, 3*200*time.Millisecond+defaultConnectTimeout+quickRetry+200*time.Millisecond)
		assert.EqualValues(t, 2, p.accepted.Load())
	})
}

// B120: the host has lost its power: no close ever comes. After three timeouts
// nobody picks the provider who has another, after the probe nobody at all, while
// attempts to connect hang as well.
func TestB120BlackHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inMemory(t, mute)
		var dead atomic.Bool
		d := New(WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			if dead.Load() {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return p.dial(ctx, network, address)
		}))
		t.Cleanup(p.stop)
		t.Cleanup(func() { assert.NoError(t, d.Close()) })
		e := refer(t, d, p.address)
		synctest.Wait()
		dead.Store(true)
		begun := time.Now()
		for e.State() == protocol.Ready {
			_, err := invoke(t.Context(), e, within(300*time.Millisecond, "x"))
			assert.ErrorIs(t, err, protocol.ErrTimeout)
			synctest.Wait()
		}
		assert.LessOrEqual(t, time.Since(begun), 3*300*time.Millisecond)
		assert.Equal(t, protocol.ReadOnly, e.State())
		pass(defaultConnectTimeout)
		for range 60 {
			pass(time.Second)
			require.Equal(t, protocol.Down, e.State())
		}
		dead.Store(false)
		pass(defaultConnectTimeout + 2*lastRetry)
		assert.Equal(t, protocol.Down, e.State(), "connected, but it has answered nothing yet")
	})
}

// B118, the other half: a slow method is no reason to doubt a connection that
// answers heartbeats, or on which other answers come.
func TestB118SlowMethodKeepsTheConnection(t *testing.T) {
	var probes times
	bubble(t, func(c *peerConn, f received) {
		if f.head.Event {
			probes.note()
		}
		f.isCall(c)
	}, func(t *testing.T, p *peer, d *Protocol) {
		begun := time.Now()
		e := refer(t, d, p.address)
		for range 50 {
			_, err := invoke(t.Context(), e, within(200*time.Millisecond, "x"))
			require.ErrorIs(t, err, protocol.ErrTimeout)
		}
		assert.EqualValues(t, 1, p.accepted.Load())
		sent := probes.since(begun)
		require.NotEmpty(t, sent)
		assert.InDelta(t, 0.6, sent[0], 0.01, "after the third timeout")
		assert.LessOrEqual(t, len(sent), 50/probeAfter, "not one per timeout")
	})
}
