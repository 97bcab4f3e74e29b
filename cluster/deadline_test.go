package cluster_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer/protocol"
)

// The context bounds all attempts together.
func TestContextEndsTheRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "retries=9&timeout=1000", setup{}, slow(time.Hour), slow(time.Hour))
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		_, err := w.call(ctx, "find")
		assert.Equal(t, 2500*time.Millisecond, time.Since(start))
		e := asError(t, err)
		assert.Equal(t, protocol.ErrTimeout, e.Code)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 3, e.Attempts)
		assert.Equal(t, 2500*time.Millisecond, e.Elapsed)
		assert.True(t, e.Sent)

		start = time.Now()
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(1500*time.Millisecond, cancel)
		_, err = w.call(ctx, "find")
		assert.Equal(t, 1500*time.Millisecond, time.Since(start))
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 2, asError(t, err).Attempts)
	})
}

// The deadline of an attempt: the call's own timeout, else the chosen provider's,
// at most the context's.
func TestDeadlineOfAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			parameters string
			call, ctx  time.Duration
			want       time.Duration
		}{
			{"", 0, 0, time.Second},
			{"timeout=300", 0, 0, 300 * time.Millisecond},
			{"timeout=300&find.timeout=700", 0, 0, 700 * time.Millisecond},
			{"timeout=300", 200 * time.Millisecond, 0, 200 * time.Millisecond},
			{"timeout=300", 5 * time.Second, 0, 5 * time.Second},
			{"timeout=300", 0, 100 * time.Millisecond, 100 * time.Millisecond},
			{"timeout=300", 200 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond},
		} {
			w := newWorld(t, c.parameters, setup{}, func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
				assert.Equal(t, c.want, time.Until(inv.Deadline), "%+v", c)
				assert.Equal(t, time.Now(), inv.Begun)
				return &inv.Result, nil
			})
			ctx, cancel := t.Context(), context.CancelFunc(func() {})
			if c.ctx > 0 {
				ctx, cancel = context.WithTimeout(ctx, c.ctx)
			}
			inv := w.invocation("find")
			inv.Timeout = c.call
			time.Sleep(10 * time.Second) // what was before the attempt does not count
			if c.ctx == 0 {
				_, err := w.invoker.Invoke(ctx, inv)
				assert.NoError(t, err)
			}
			cancel()
		}
	})
}

// Each attempt has its provider's timeout, in full.
func TestTimeoutOfEachProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "retries=1", setup{provider: []string{"timeout=100", "timeout=400"}}, slow(time.Hour), slow(time.Hour))
		start := time.Now()
		_, err := w.call(t.Context(), "find")
		assert.ErrorIs(t, err, protocol.ErrTimeout)
		assert.Equal(t, 500*time.Millisecond, time.Since(start))
	})
}
