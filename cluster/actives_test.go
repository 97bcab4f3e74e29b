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
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/protocol"
)

// B096: never more than "actives" calls at a provider; the others wait up to their
// timeout and fail then.
func TestB096NoMoreThanActives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "actives=5&timeout=1000&retries=0", setup{}, slow(700*time.Millisecond))
		var served, refused atomic.Int32
		start := time.Now()
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				_, err := w.call(t.Context(), "find")
				switch e := (*protocol.Error)(nil); {
				case err == nil:
					served.Add(1)
				default:
					refused.Add(1)
					e = asError(t, err)
					// The second five got their slot with 300 ms left.
					if e.Code != protocol.ErrTimeout {
						assert.Equal(t, protocol.ErrLimitExceeded, e.Code)
						assert.False(t, e.Sent)
						assert.Zero(t, e.Attempts)
					}
				}
			})
		}
		synctest.Wait()
		assert.Equal(t, 195, w.methods.Waiting(0))
		assert.Equal(t, 5, w.active(), "who waits is not active")
		wg.Wait()
		assert.Equal(t, 5, int(served.Load()))
		assert.Equal(t, 195, int(refused.Load()))
		assert.Equal(t, 5, int(w.endpoints[0].peak.Load()))
		assert.Equal(t, time.Second, time.Since(start), "one deadline for waiting and the call (F15)")
		assert.Zero(t, w.active())
	})
}

// The error of a call that waited in vain says who holds the slots.
func TestWhoHoldsTheSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "timeout=1000&retries=2", setup{provider: []string{"actives=2", "actives=1"}}, slow(1500*time.Millisecond), slow(1500*time.Millisecond))
		ctx := t.Context()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				inv := w.invocation("find")
				inv.Timeout = time.Minute
				_, err := w.invoker.Invoke(ctx, inv)
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		errs := make([]error, 2)
		for i := range errs {
			wg.Go(func() {
				inv := w.invocation("find")
				inv.Timeout = time.Second + time.Duration(i)*100*time.Millisecond
				_, errs[i] = w.invoker.Invoke(ctx, inv)
			})
		}
		wg.Wait()
		e := asError(t, errs[0])
		assert.Equal(t, protocol.ErrLimitExceeded, e.Code)
		assert.Equal(t, "waited 1s for a free slot under actives; in use: 192.0.2.10:20880 2 of 2, 192.0.2.11:20880 1 of 1; others in line: 1", e.Detail)
		assert.Equal(t, time.Second, e.Elapsed, "waiting is not repeated")
		assert.Equal(t, "", e.Provider)
		assert.NotContains(t, asError(t, errs[1]).Detail, "in line")
	})
}

// F14, F15: calls get slots in the order in which they came, whichever provider
// frees one, and each at the moment it is free.
func TestFirstComeFirstServed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limits := rapid.SliceOfN(rapid.IntRange(1, 3), 1, 3).Draw(rt, "actives")
		callers := rapid.IntRange(1, 25).Draw(rt, "callers")
		durations := rapid.SliceOfN(rapid.IntRange(1, 90), callers, callers).Draw(rt, "ms")
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			begun := make([]time.Duration, callers)
			var idle time.Duration // a slot was free while somebody waited
			serve := func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
				i := inv.Arguments[0].(int)
				begun[i] = time.Since(start)
				time.Sleep(time.Duration(durations[i]) * time.Millisecond)
				return &inv.Result, nil
			}
			providers := make([]string, len(limits))
			scripts := make([]script, len(limits))
			for i, limit := range limits {
				providers[i], scripts[i] = fmt.Sprintf("actives=%d", limit), serve
			}
			w := newWorld(t, "timeout=60000", setup{provider: providers}, scripts...)
			var wg sync.WaitGroup
			for i := range callers {
				wg.Go(func() {
					inv := w.invocation("find")
					inv.Arguments = []any{i}
					_, err := w.invoker.Invoke(t.Context(), inv)
					assert.NoError(t, err)
				})
				synctest.Wait() // so that they arrive in order
			}
			for range 3000 {
				if w.methods.Waiting(0) == 0 {
					break
				}
				time.Sleep(time.Millisecond)
				synctest.Wait()
				free := 0
				for i, n := range w.nodes() {
					free += limits[i] - n.Status(0).Active()
				}
				if free > 0 && w.methods.Waiting(0) > 0 {
					idle += time.Millisecond
				}
			}
			wg.Wait()
			assert.IsNonDecreasing(t, begun, "who came later begins no earlier")
			assert.Zero(t, idle)
			assert.Zero(t, w.active())
		})
	})
}

// Another free provider is taken before anybody waits (F15).
func TestFreeProviderIsTakenFirst(t *testing.T) {
	for _, balance := range []string{"random", "roundrobin", "leastactive"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, "actives=1&retries=0&loadbalance="+balance, setup{}, slow(500*time.Millisecond), slow(500*time.Millisecond), slow(500*time.Millisecond))
			start := time.Now()
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					_, err := w.call(t.Context(), "find")
					assert.NoError(t, err)
				})
			}
			wg.Wait()
			assert.Equal(t, 500*time.Millisecond, time.Since(start))
		})
	}
}

// What the limit of a provider is full of is none of another method's business.
func TestActivesOfAMethod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "find.actives=1&timeout=1000", setup{}, slow(500*time.Millisecond))
		start := time.Now()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				_, err := w.call(t.Context(), "count")
				assert.NoError(t, err)
			})
		}
		wg.Go(func() { _, _ = w.call(t.Context(), "find") })
		wg.Wait()
		assert.Equal(t, 500*time.Millisecond, time.Since(start))
	})
}

// B098: limit exceeded at the provider is not our limit.
func TestB098LimitOfTheProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		w := newWorld(t, "actives=2&retries=0", setup{}, func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			if calls++; calls <= 2 {
				return failing(protocol.ErrLimitExceeded, protocol.RetryAlways)(ctx, inv)
			}
			return ok(ctx, inv)
		})
		start := time.Now()
		for i := range 3 {
			_, err := w.call(t.Context(), "find")
			assert.Equal(t, i == 2, err == nil, "call %d: %v", i+1, err)
		}
		assert.Zero(t, time.Since(start), "nobody waits")
		assert.Zero(t, w.active())
	})
}

// B100: the limit costs no throughput: 40 callers, ten slots, calls of a
// millisecond keep all ten busy.
func TestB100ThroughputAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "actives=10&timeout=1000", setup{}, slow(time.Millisecond))
		start := time.Now()
		var wg sync.WaitGroup
		for range 40 {
			wg.Go(func() {
				for range 50 {
					_, err := w.call(t.Context(), "find")
					assert.NoError(t, err)
				}
			})
		}
		wg.Wait()
		assert.Equal(t, 40*50/10*time.Millisecond, time.Since(start))
		assert.Equal(t, 10, int(w.endpoints[0].peak.Load()))
	})
}

// B102: a slot is held until the answer, also of calls made from other goroutines.
func TestB102SlotIsHeldUntilTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "actives=2&timeout=60000", setup{}, slow(500*time.Millisecond))
		start := time.Now()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				_, err := w.call(t.Context(), "find")
				assert.NoError(t, err)
			})
		}
		wg.Wait()
		assert.Equal(t, 2500*time.Millisecond, time.Since(start))
		assert.Equal(t, 2, int(w.endpoints[0].peak.Load()))
	})
}

// B156: a generic call goes by the real method's parameters and counters.
func TestB156GenericCallGoesByTheRealMethod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "getUser.retries=0&getUser.timeout=200&getUser.actives=1&timeout=5000&retries=5", setup{}, slow(500*time.Millisecond))
		m := &protocol.Method{Service: "com.example.DemoService", Name: "getUser", WireName: "$invoke", Generic: "true", Slot: w.methods.Slot("getUser")}
		start := time.Now()
		var wg sync.WaitGroup
		codes := make([]protocol.Code, 2)
		for i := range codes {
			wg.Go(func() {
				_, err := w.invoker.Invoke(t.Context(), &protocol.Invocation{Method: m, Start: time.Now()})
				codes[i] = asError(t, err).Code
			})
		}
		wg.Wait()
		assert.ElementsMatch(t, []protocol.Code{protocol.ErrTimeout, protocol.ErrLimitExceeded}, codes)
		assert.Equal(t, 200*time.Millisecond, time.Since(start))
		assert.Equal(t, 1, int(w.endpoints[0].calls.Load()))
		assert.Equal(t, 1, int(w.nodes()[0].Status(m.Slot).Counters().Total))
	})
}
