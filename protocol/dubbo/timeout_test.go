package dubbo

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// bubble runs a test in virtual time against a provider without a network.
func bubble(t *testing.T, handle func(*peerConn, received), f func(t *testing.T, p *peer, d *Protocol)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := inMemory(t, handle)
		d := New(WithDialer(p.dial))
		t.Cleanup(p.stop)
		t.Cleanup(func() { assert.NoError(t, d.Close()) })
		f(t, p, d)
	})
}

// only returns the one connection there is.
func only(t testing.TB, d *Protocol) Connection {
	t.Helper()
	cs := d.Connections()
	require.Len(t, cs, 1)
	return cs[0]
}

// elapsed runs f and returns the virtual time it took.
func elapsed(f func()) time.Duration {
	begun := time.Now()
	f()
	return time.Since(begun)
}

func TestTimeout(t *testing.T) {
	bubble(t, mute, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address)
		took := elapsed(func() {
			_, err := invoke(t.Context(), e, within(300*time.Millisecond, "x"))
			f := failure(t, err)
			assert.ErrorIs(t, err, protocol.ErrTimeout)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.True(t, f.Sent)
			assert.Equal(t, protocol.RetryPolicy, f.Retry)
			assert.Equal(t, p.address, f.Provider)
			assert.Contains(t, f.Detail, "300ms")
		})
		assert.Equal(t, 300*time.Millisecond, took)
		assert.Zero(t, only(t, d).InFlight)
	})
}

// Without a deadline in the invocation the method's own timeout holds.
func TestTimeoutOfTheMethod(t *testing.T) {
	for _, c := range []struct {
		params []string
		want   time.Duration
	}{
		{nil, time.Second},
		{[]string{"timeout", "700"}, 700 * time.Millisecond},
		{[]string{"timeout", "700", "echo.timeout", "200"}, 200 * time.Millisecond},
	} {
		bubble(t, mute, func(t *testing.T, p *peer, d *Protocol) {
			e := refer(t, d, p.address, c.params...)
			inv := &protocol.Invocation{Method: echoMethod, Arguments: []any{"x"}}
			took := elapsed(func() {
				_, err := invoke(t.Context(), e, inv)
				assert.ErrorIs(t, err, protocol.ErrTimeout)
			})
			assert.Equal(t, c.want, took)
		})
	}
}

// The context's deadline counts when it is earlier, and is a timeout too.
func TestTimeoutOfTheContext(t *testing.T) {
	bubble(t, mute, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		took := elapsed(func() {
			_, err := invoke(ctx, e, within(time.Second, "x"))
			assert.ErrorIs(t, err, protocol.ErrTimeout)
			assert.True(t, failure(t, err).Sent)
		})
		assert.Equal(t, 200*time.Millisecond, took)
	})
}

// Calls with different deadlines share one timer, and each ends on time.
func TestDeadlinesAreKeptInAnyOrder(t *testing.T) {
	bubble(t, mute, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address)
		var wg sync.WaitGroup
		for _, ms := range []time.Duration{500, 100, 900, 100, 300, 1, 2000} {
			wg.Go(func() {
				limit := ms * time.Millisecond
				took := elapsed(func() {
					_, err := invoke(t.Context(), e, within(limit, "x"))
					assert.ErrorIs(t, err, protocol.ErrTimeout)
				})
				assert.Equal(t, limit, took)
			})
		}
		wg.Wait()
		assert.Zero(t, only(t, d).InFlight)
	})
}

func TestExpiredBeforeSending(t *testing.T) {
	bubble(t, echo, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address)
		_, err := invoke(t.Context(), e, within(-time.Millisecond, "x"))
		assert.ErrorIs(t, err, protocol.ErrExpired)
		assert.False(t, failure(t, err).Sent)

		ctx, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		_, err = invoke(ctx, e, invocation("x"))
		assert.ErrorIs(t, err, protocol.ErrExpired)
	})
}

func TestCancel(t *testing.T) {
	bubble(t, mute, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("user went away")) })
		took := elapsed(func() {
			_, err := invoke(ctx, e, invocation("x"))
			f := failure(t, err)
			assert.ErrorIs(t, err, protocol.ErrCanceled)
			assert.ErrorIs(t, err, context.Canceled)
			assert.True(t, f.Sent)
			assert.Equal(t, protocol.RetryNever, f.Retry)
			assert.Contains(t, f.Detail, "user went away")
		})
		assert.Equal(t, 50*time.Millisecond, took)

		writes := only(t, d).Writes
		_, err := invoke(ctx, e, invocation("x")) // cancelled before
		assert.ErrorIs(t, err, protocol.ErrCanceled)
		assert.False(t, failure(t, err).Sent)
		assert.Equal(t, writes, only(t, d).Writes, "nothing is written for it")
	})
}

// A caller whose context ends while somebody else is finishing its call takes what
// that one brings. Else the token would end the next call in the slot.
func TestCancelThatLosesTheRaceTakesTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wg sync.WaitGroup
		c := newConn(discard{}, connConfig{queue: 1 << 20}, &wg, func(*conn) {})
		k := c.take()
		id := c.register(k, never, 0)
		require.True(t, k.state.CompareAndSwap(id, 0), "the reader has claimed the call")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		result := make(chan error, 1)
		go func() { result <- c.await(ctx, k, id) }()
		synctest.Wait()
		assert.Empty(t, result)
		k.done <- struct{}{}
		assert.NoError(t, <-result)
		assert.Empty(t, k.done)
	})
}

// Answers that come late, twice or for ids nobody knows are counted and dropped,
// and end no other call (B182).
func TestB182LateAnswers(t *testing.T) {
	var held []uint64
	bubble(t, func(c *peerConn, f received) {
		if f.call(c.p.t).args[0] == "slow" {
			held = append(held, f.head.ID)
			return
		}
		c.send(answer(f.head.ID, value("right")))
		for _, id := range append(held, 0, 1<<63, 77<<32|12345, f.head.ID) {
			c.send(answer(id, value("wrong")))
		}
	}, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address)
		for range 2 {
			_, err := invoke(t.Context(), e, within(10*time.Millisecond, "slow"))
			require.ErrorIs(t, err, protocol.ErrTimeout)
		}
		for range 100 {
			v, err := invoke(t.Context(), e, invocation("quick"))
			require.NoError(t, err)
			require.Equal(t, "right", v)
		}
		synctest.Wait()
		c := only(t, d)
		assert.Zero(t, c.InFlight)
		assert.EqualValues(t, 100*6, c.Late)
	})
}
