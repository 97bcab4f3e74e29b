package cluster_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// broken fails until it is mended.
func broken(mended *atomic.Bool) script {
	fail := failing(protocol.ErrNetwork, protocol.RetryPolicy)
	return func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
		if mended.Load() {
			return ok(ctx, inv)
		}
		return fail(ctx, inv)
	}
}

// eject makes calls until the provider is out.
func (w *world) eject(i int) {
	w.t.Helper()
	n := w.nodes()[i]
	for range 1000 {
		if n.Ejected() {
			return
		}
		_, _ = w.call(w.t.Context(), "find")
	}
	require.Fail(w.t, "it is not ejected")
}

// Every strategy: a provider that fails gets its five calls and the trials, and
// takes part again once it works.
func TestEjectionWithEveryStrategy(t *testing.T) {
	for name := range loadbalance.Builtin() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mended atomic.Bool
				well, fail := slow(time.Millisecond), broken(&mended)
				bad := func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
					if mended.Load() {
						return well(ctx, inv)
					}
					return fail(ctx, inv)
				}
				w := newWorld(t, "retries=2&loadbalance="+name, setup{}, bad, well, well)
				call := func(calls int) {
					for i := range calls {
						inv := w.invocation("find")
						inv.Arguments = []any{i}
						inv.ArgumentText = func(v any) string { return strings.Repeat("x", v.(int)%97) }
						_, err := w.invoker.Invoke(t.Context(), inv)
						require.NoError(t, err)
						time.Sleep(10 * time.Millisecond)
					}
				}
				call(1000) // ten seconds: pauses of 1, 2 and 4 s
				failed := int(w.endpoints[0].calls.Load())
				assert.LessOrEqual(t, failed, 5+3)
				mended.Store(true)
				call(6000)
				assert.False(t, w.nodes()[0].Ejected())
				assert.Greater(t, int(w.endpoints[0].calls.Load()), failed+50, "it is used again")
			})
		})
	}
}

// The only provider is never ejected.
func TestOnlyProviderIsNotEjected(t *testing.T) {
	var mended atomic.Bool
	w := newWorld(t, "retries=0", setup{}, broken(&mended))
	for range 20 {
		_, err := w.call(t.Context(), "find")
		require.ErrorIs(t, err, protocol.ErrNetwork)
	}
	assert.EqualValues(t, 20, w.endpoints[0].calls.Load())
	mended.Store(true)
	_, err := w.call(t.Context(), "find")
	assert.NoError(t, err)
}

// An ejection that leaves a call nobody is ignored.
func TestEjectionIsIgnored(t *testing.T) {
	var mended atomic.Bool
	start := func(t *testing.T, parameters string, c func(*cluster.Config)) *world {
		mended.Store(false)
		w := newWorld(t, "retries=1&loadbalance=first&"+parameters, setup{config: func(cfg *cluster.Config) {
			withFirst(cfg)
			if c != nil {
				c(cfg)
			}
		}}, broken(&mended), ok)
		w.eject(0)
		mended.Store(true)
		return w
	}
	t.Run("the other is down", func(t *testing.T) {
		w := start(t, "", nil)
		w.endpoints[1].set(protocol.Down)
		assert.Equal(t, "192.0.2.10:20880", target(t, w, "find"))
		assert.False(t, w.nodes()[0].Ejected(), "a call has succeeded")
	})
	t.Run("the other is read-only", func(t *testing.T) {
		w := start(t, "", nil)
		w.endpoints[1].set(protocol.ReadOnly)
		assert.Equal(t, "192.0.2.10:20880", target(t, w, "find"))
	})
	t.Run("the router leaves nobody else", func(t *testing.T) {
		w := start(t, "", func(cfg *cluster.Config) { cfg.Router = oddRouter{} })
		inv := w.invocation("find")
		inv.Tag = "even"
		_, err := w.invoker.Invoke(t.Context(), inv)
		require.NoError(t, err)
		assert.Equal(t, "192.0.2.10:20880", inv.Result.Value)
	})
	t.Run("the other was tried", func(t *testing.T) {
		w := start(t, "", nil)
		w.endpoints[1].script = failing(protocol.ErrNetwork, protocol.RetryPolicy)
		assert.Equal(t, "192.0.2.10:20880", target(t, w, "find"))
	})
	t.Run("free of charge", func(t *testing.T) {
		w := start(t, "cluster=failfast", nil)
		w.endpoints[1].script = failing(protocol.ErrLimitExceeded, protocol.RetryAlways)
		assert.Equal(t, "192.0.2.10:20880", target(t, w, "find"))
	})
}

// With none ejected the order of attempts is what it was; an ejected provider is
// the last to be asked.
func TestEjectedAreAskedLast(t *testing.T) {
	var l log
	fail := l.then(failing(protocol.ErrNetwork, protocol.RetryPolicy))
	w := newWorld(t, "retries=4&loadbalance=first", setup{config: withFirst}, fail, ok, ok)
	for range 5 {
		_, err := w.call(t.Context(), "find")
		require.NoError(t, err)
	}
	w.endpoints[1].script, w.endpoints[2].script = fail, fail
	l.targets = nil
	_, err := w.call(t.Context(), "find")
	require.ErrorIs(t, err, protocol.ErrNetwork)
	assert.Equal(t, "BCABC", l.String(), "a new round begins when all were asked")
}

// A sticky method leaves an ejected provider, and stays with the next one.
func TestStickyLeavesAnEjectedProvider(t *testing.T) {
	w := newWorld(t, "sticky=true&retries=0&loadbalance=first&other.sticky=false", setup{config: withFirst}, ok, ok, ok)
	require.Equal(t, "192.0.2.10:20880", target(t, w, "find"))
	w.endpoints[0].script = failing(protocol.ErrNetwork, protocol.RetryPolicy)
	for range 5 {
		_, err := w.call(t.Context(), "other") // another method's failures
		require.Error(t, err)
	}
	w.endpoints[0].script = ok
	assert.Equal(t, "192.0.2.11:20880", target(t, w, "find"))
	w.nodes()[0].Readmit(w.nodes()[0].Life())
	assert.Equal(t, "192.0.2.11:20880", target(t, w, "find"))
}

// Calls in line do not take the slots of an ejected provider. At the end of its
// pause one of them is the trial, and after it has gone well the others follow.
func TestWaitingCallsAndEjection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mended atomic.Bool
		w := newWorld(t, "actives=1&retries=2&timeout=5000&loadbalance=first", setup{config: withFirst},
			broken(&mended), slow(3*time.Second))
		a, b := w.nodes()[0], w.nodes()[1]
		for range 5 {
			inv := w.invocation("find")
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, _ = w.invoker.Invoke(ctx, inv)
			cancel()
		}
		require.True(t, a.Ejected())
		start := time.Now()
		mended.Store(true)
		w.endpoints[0].script = func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			return slow(100*time.Millisecond)(ctx, inv)
		}
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				_, err := w.call(t.Context(), "find")
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		assert.Equal(t, 4, w.methods.Waiting(0))
		assert.Equal(t, 0, a.Status(0).Active())
		assert.Equal(t, 1, b.Status(0).Active())
		time.Sleep(999*time.Millisecond - time.Since(start))
		assert.Equal(t, 4, w.methods.Waiting(0), "the pause is not over")
		time.Sleep(51 * time.Millisecond) // calls in line look every 100 ms
		synctest.Wait()
		assert.Equal(t, 3, w.methods.Waiting(0))
		assert.True(t, a.Ejected(), "on trial")
		assert.Equal(t, 1, a.Status(0).Active())
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.False(t, a.Ejected())
		assert.Equal(t, 2, w.methods.Waiting(0), "its slot goes on at once")
		wg.Wait()
		assert.Less(t, time.Since(start), 3100*time.Millisecond)
		assert.Zero(t, w.active())
	})
}

// A call that waits in vain is told who is ejected.
func TestWaitedInVainBesideAnEjectedProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mended atomic.Bool
		w := newWorld(t, "actives=1&retries=0&timeout=500&outlier.pause=30000&loadbalance=first", setup{config: withFirst}, broken(&mended), ok)
		w.eject(0)
		w.endpoints[1].script = slow(400 * time.Millisecond)
		inv := w.invocation("find")
		inv.Timeout = 10 * time.Second
		w.nodes()[0].Status(0).Begin(1)
		w.nodes()[1].Status(0).Begin(1)
		_, err := w.call(t.Context(), "find")
		e := asError(t, err)
		assert.Equal(t, protocol.ErrLimitExceeded, e.Code)
		assert.Equal(t, "waited 500ms for a free slot under actives; in use: 192.0.2.10:20880 1 of 1 (ejected for its failures), 192.0.2.11:20880 1 of 1", e.Detail)
	})
}

// Who finds all that are in service busy for half of its time goes to the ejected one: it
// may do well by now. Then it is back, and if it does not the call has lost nothing.
func TestWaitingEndsAtAnEjectedProvider(t *testing.T) {
	for name, c := range map[string]struct {
		patience time.Duration // of the caller
		well     bool
		after    time.Duration
	}{
		"it is well":      {time.Minute, true, 250 * time.Millisecond},
		"and in a hurry":  {200 * time.Millisecond, true, 100 * time.Millisecond},
		"it is still ill": {time.Minute, false, 250 * time.Millisecond},
		"ill, in a hurry": {200 * time.Millisecond, false, 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mended atomic.Bool
				w := newWorld(t, "actives=1&retries=0&timeout=500&outlier.pause=30000&loadbalance=first", setup{config: withFirst}, broken(&mended), ok)
				w.eject(0)
				mended.Store(c.well)
				w.nodes()[1].Status(0).Begin(1)
				ctx, cancel := context.WithTimeout(t.Context(), c.patience)
				defer cancel()
				inv, err := w.call(ctx, "find")
				assert.Equal(t, c.after, time.Since(inv.Start))
				assert.Same(t, w.nodes()[0], inv.Node)
				assert.Equal(t, !c.well, w.nodes()[0].Ejected())
				if c.well {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, protocol.ErrNetwork)
				}
			})
		})
	}
}

// Before that, a slot of one in service is taken.
func TestWaitingForOneInService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mended atomic.Bool
		w := newWorld(t, "actives=1&retries=0&timeout=500&outlier.pause=30000&loadbalance=first", setup{config: withFirst}, broken(&mended), ok)
		w.eject(0)
		w.nodes()[1].Status(0).Begin(1)
		time.AfterFunc(200*time.Millisecond, func() {
			w.nodes()[1].Status(0).End(0, false)
			w.nodes()[1].Freed(0)
		})
		inv, err := w.call(t.Context(), "find")
		require.NoError(t, err)
		assert.Same(t, w.nodes()[1], inv.Node)
		assert.Equal(t, 200*time.Millisecond, time.Since(inv.Start))
	})
}

// A trial that is not begun, or that panics, is given back; the next call has it.
func TestTrialIsGivenBack(t *testing.T) {
	for name, answer := range map[string]script{
		"a filter answers itself": ok,
		"a filter fails":          failing(protocol.ErrForbidden, protocol.RetryNever),
		"a filter panics":         func(context.Context, *protocol.Invocation) (*protocol.Result, error) { panic("bug") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mended, aside atomic.Bool
				own := own(func(filter.Config) (filter.Pair, error) {
					return filter.Pair{Attempt: func(next protocol.Invoker) protocol.Invoker {
						return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
							if aside.Load() {
								return answer(ctx, inv)
							}
							return next.Invoke(ctx, inv)
						})
					}}, nil
				})
				w := newWorld(t, "retries=1&reference.filter=own&loadbalance=first", setup{filters: own, config: withFirst}, broken(&mended), ok)
				n := w.nodes()[0]
				w.eject(0)
				mended.Store(true)
				time.Sleep(time.Second)
				aside.Store(true)
				_, _ = w.call(t.Context(), "find")
				require.True(t, n.Ejected())
				require.False(t, w.cluster.Ejection(n).Trial)
				aside.Store(false)
				require.Equal(t, n.Address(), target(t, w, "find"))
				assert.False(t, n.Ejected())
			})
		})
	}
}

// No time is left for an attempt at the provider on trial: it is given back.
func TestTrialWithoutTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mended atomic.Bool
		w := newWorld(t, "retries=1&loadbalance=first", setup{config: withFirst}, broken(&mended), ok)
		w.eject(0)
		time.Sleep(time.Second)
		inv := w.invocation("find")
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-1))
		defer cancel()
		_, err := w.invoker.Invoke(ctx, inv)
		require.ErrorIs(t, err, protocol.ErrExpired)
		assert.False(t, w.cluster.Ejection(w.nodes()[0]).Trial)
	})
}

// Failfast calls have nobody behind them: they are the trial only if need be.
func TestTrialOfFailfastCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mended atomic.Bool
		w := newWorld(t, "cluster=failfast&loadbalance=first", setup{config: withFirst}, broken(&mended), ok)
		w.eject(0)
		mended.Store(true)
		time.Sleep(1400 * time.Millisecond)
		require.Equal(t, "192.0.2.11:20880", target(t, w, "find"))
		time.Sleep(100 * time.Millisecond)
		assert.Equal(t, "192.0.2.10:20880", target(t, w, "find"))
	})
}

// A deadline of the caller's that is shorter than the provider's timeout ejects
// nobody, the provider's own does.
func TestDeadlinesAndEjection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "retries=0&timeout=1000&loadbalance=first", setup{config: withFirst}, slow(time.Hour), slow(time.Hour))
		for range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			_, err := w.call(ctx, "find")
			cancel()
			require.Error(t, err)
			inv := w.invocation("find")
			inv.Timeout = 300 * time.Millisecond
			_, err = w.invoker.Invoke(t.Context(), inv)
			require.ErrorIs(t, err, protocol.ErrTimeout)
		}
		require.False(t, w.nodes()[0].Ejected())
		for range 5 {
			_, err := w.call(t.Context(), "find")
			require.ErrorIs(t, err, protocol.ErrTimeout)
		}
		assert.True(t, w.nodes()[0].Ejected())
	})
}

// Off by parameter.
func TestOutlierOff(t *testing.T) {
	var mended atomic.Bool
	w := newWorld(t, "outlier=false&retries=0&loadbalance=first", setup{config: withFirst}, broken(&mended), ok)
	for range 20 {
		_, err := w.call(t.Context(), "find")
		require.Error(t, err)
	}
	assert.False(t, w.nodes()[0].Ejected())
}
