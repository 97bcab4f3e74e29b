package cluster_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/protocol"
)

// A call that has failed at one provider waits for another rather than ask the
// same again.
func TestRetryWaitsForAnUntriedProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		w := newWorld(t, "actives=1&retries=1&timeout=1000&loadbalance=first", setup{config: withFirst},
			l.then(failing(protocol.ErrNetwork, protocol.RetryPolicy)), l.then(slow(300*time.Millisecond)))
		busy := w.invocation("find")
		busy.MarkTried(w.nodes()[0])
		var wg sync.WaitGroup
		wg.Go(func() {
			s := w.nodes()[1].Status(0)
			require.True(t, s.Begin(1))
			time.Sleep(200 * time.Millisecond)
			s.End(0, false)
			w.nodes()[1].Freed(0)
		})
		synctest.Wait()
		start := time.Now()
		inv, err := w.call(t.Context(), "find")
		require.NoError(t, err)
		assert.Equal(t, "192.0.2.11:20880", inv.Result.Value)
		assert.Equal(t, 500*time.Millisecond, time.Since(start))
		assert.Equal(t, "AB", l.String())
		wg.Wait()
	})
}

// waiting starts a call that has to wait in w, whose providers are all busy.
func waiting(t *testing.T, w *world, ctx context.Context) <-chan error {
	done := make(chan error, 1)
	before := w.methods.Waiting(w.methods.Slot("find"))
	go func() {
		_, err := w.call(ctx, "find")
		done <- err
	}()
	synctest.Wait()
	require.Equal(t, before+1, w.methods.Waiting(w.methods.Slot("find")))
	return done
}

// busy fills the only slot of the world's first provider.
func busy(t *testing.T, w *world) *protocol.Status {
	s := w.nodes()[0].Status(w.methods.Slot("find"))
	require.True(t, s.Begin(1))
	return s
}

// What gives a waiting call a provider at once.
func TestWhatWakesAWaitingCall(t *testing.T) {
	for name, wake := range map[string]func(w *world){
		"the end of a call": func(w *world) {
			w.nodes()[0].Status(0).End(0, false)
			w.nodes()[0].Freed(0)
		},
		"a new provider": func(w *world) {
			w.publish(append(w.nodes(), w.node(1, "", ok, w.chain.Attempt))...)
		},
		"a raised limit": func(w *world) {
			n := w.nodes()[0]
			n.Update(n.URL().With("actives", "2"), n.Life().Start)
			w.publish(n)
		},
		"a restart": func(w *world) {
			n := w.nodes()[0]
			n.Update(n.URL(), time.Now())
			w.publish(n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "actives=1&timeout=1000", setup{}, ok)
				w.methods.Slot("find")
				busy(t, w)
				done := waiting(t, w, t.Context())
				start := time.Now()
				wake(w)
				assert.NoError(t, <-done)
				assert.Zero(t, time.Since(start))
			})
		})
	}
}

// Nobody tells that a connection is back: it is noticed soon.
func TestWaitingCallNoticesAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "actives=1&timeout=1000", setup{}, ok, ok)
		w.endpoints[1].set(protocol.Down)
		busy(t, w)
		done := waiting(t, w, t.Context())
		w.endpoints[1].set(protocol.Ready)
		start := time.Now()
		assert.NoError(t, <-done)
		assert.LessOrEqual(t, time.Since(start), 100*time.Millisecond)
	})
}

// What ends a wait without a provider, and with which error.
func TestWhatEndsAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "actives=1&timeout=1000", setup{}, ok)
		busy(t, w)

		ctx, cancel := context.WithCancel(t.Context())
		done := waiting(t, w, ctx)
		cancel()
		err := <-done
		assert.ErrorIs(t, err, protocol.ErrCanceled)
		assert.ErrorIs(t, err, context.Canceled)

		ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		err = <-waiting(t, w, ctx)
		assert.ErrorIs(t, err, protocol.ErrLimitExceeded)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "192.0.2.10:20880 1 of 1")

		done = waiting(t, w, t.Context())
		w.endpoints[0].set(protocol.Down)
		assert.ErrorIs(t, <-done, protocol.ErrNoProvider)
		w.endpoints[0].set(protocol.Ready)

		done = waiting(t, w, t.Context())
		w.publish()
		assert.ErrorIs(t, <-done, protocol.ErrNoProvider)
		w.publish(w.node(0, "actives=1", ok, w.chain.Attempt))
		busy(t, w)

		done = waiting(t, w, t.Context())
		start := time.Now()
		w.cluster.Close()
		assert.ErrorIs(t, <-done, protocol.ErrClosed)
		assert.Zero(t, time.Since(start))
		_, err = w.call(t.Context(), "find")
		assert.ErrorIs(t, err, protocol.ErrClosed)
		assert.Zero(t, w.methods.Waiting(0))
	})
}

// A call that gives up passes its turn on.
func TestCancelledCallPassesItsTurnOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "actives=1&timeout=1000", setup{}, ok)
		s := busy(t, w)
		ctx, cancel := context.WithCancel(t.Context())
		first, second := waiting(t, w, ctx), waiting(t, w, t.Context())
		start := time.Now()
		cancel()
		s.End(0, false)
		w.nodes()[0].Freed(0)
		if err := <-first; err != nil { // or it was woken before it saw the end of its context
			assert.ErrorIs(t, err, context.Canceled)
		}
		assert.NoError(t, <-second)
		assert.Zero(t, time.Since(start))
	})
}

// A call that was woken has its slot, however long its filters take: nobody who
// comes later gets it.
func TestNobodyOvertakesAWokenCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []any
		think := func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			if inv.Arguments[0] == "slow" {
				time.Sleep(100 * time.Millisecond)
			}
			return nil, nil
		}
		w := newWorld(t, "actives=1&timeout=1000&reference.filter=own", setup{filters: own(ownFilter(nil, think))},
			func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
				order = append(order, inv.Arguments[0])
				return &inv.Result, nil
			})
		s := busy(t, w)
		var wg sync.WaitGroup
		call := func(name string) {
			wg.Go(func() {
				inv := w.invocation("find")
				inv.Arguments = []any{name}
				_, err := w.invoker.Invoke(t.Context(), inv)
				assert.NoError(t, err)
			})
			synctest.Wait()
		}
		call("slow")
		s.End(0, false)
		w.nodes()[0].Freed(0)
		synctest.Wait() // it has been woken and thinks
		call("quick")
		wg.Wait()
		assert.Equal(t, []any{"slow", "quick"}, order)
	})
}

// A slot that is lost between the choice and the active limit sends the call to
// the line, not to an error, and is no attempt.
func TestLostSlotIsNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stolen := false
		var w *world
		steal := func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			if !stolen {
				stolen = true
				s := inv.Node.Status(inv.Method.Slot)
				require.True(t, s.Begin(1))
				time.AfterFunc(200*time.Millisecond, func() {
					s.End(0, false)
					inv.Node.Freed(inv.Method.Slot)
				})
			}
			return nil, nil
		}
		w = newWorld(t, "actives=1&timeout=1000&retries=0&reference.filter=own", setup{filters: own(ownFilter(nil, steal))}, ok)
		start := time.Now()
		inv, err := w.call(t.Context(), "find")
		require.NoError(t, err)
		assert.Equal(t, 1, inv.Attempt)
		assert.Equal(t, 200*time.Millisecond, time.Since(start))
		assert.Equal(t, time.Second, inv.Deadline.Sub(start), "waiting counts")
		assert.Equal(t, 200*time.Millisecond, inv.Begun.Sub(start), "but is not the provider's time")
		assert.Zero(t, w.active())
	})
}

// Many calls of many kinds at once, under the race detector: nobody is lost.
func TestWaitingUnderLoad(t *testing.T) {
	w := newWorld(t, "actives=2&timeout=20000&retries=1&count.cluster=failfast", setup{config: func(c *cluster.Config) {
		c.Router = oddRouter{}
	}}, load(1), load(2), load(3))
	var wg sync.WaitGroup
	var served atomic.Int32
	for i := range 16 {
		wg.Go(func() {
			for j := range 150 {
				ctx, cancel := context.WithCancel(t.Context())
				if j%7 == 0 {
					go cancel()
				}
				inv := w.invocation("find")
				inv.Tag = [...]string{"", "odd", "even"}[i%3]
				if _, err := w.invoker.Invoke(ctx, inv); err == nil {
					served.Add(1)
				} else {
					assert.NotErrorIs(t, err, protocol.ErrLimitExceeded)
				}
				cancel()
			}
		})
	}
	for i := range 100 {
		n := w.nodes()[i%3]
		n.Update(n.URL().With("actives", fmt.Sprint(1+i%3)), n.Life().Start)
		w.publish(w.nodes()...)
	}
	wg.Wait()
	assert.Zero(t, w.active())
	assert.Zero(t, w.methods.Waiting(0))
	assert.Greater(t, int(served.Load()), 16*150/2)
}
