package filter_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/protocol"
)

// Every way in which an attempt can end at the innermost filter, and how it counts.
func TestActiveLimitCountsEveryEnd(t *testing.T) {
	boom := &protocol.RemoteError{Class: "com.example.Boom"}
	for _, c := range []struct {
		name   string
		script func(context.Context, *protocol.Invocation) (*protocol.Result, error)
		want   string
	}{
		{"value", nil, "active 0, total 1, failed 0"},
		{"business exception", fail(&protocol.Error{Code: protocol.ErrBusiness, Cause: boom}), "active 0, total 1, failed 0"},
		{"wrapped business exception", fail(fmt.Errorf("seen: %w", &protocol.Error{Code: protocol.ErrBusiness, Cause: boom})), "active 0, total 1, failed 0"},
		{"bare remote error", fail(boom), "active 0, total 1, failed 0"},
		{"timeout", fail(&protocol.Error{Code: protocol.ErrTimeout}), "active 0, total 1, failed 1"},
		{"network", fail(&protocol.Error{Code: protocol.ErrNetwork}), "active 0, total 1, failed 1"},
		{"executes of the provider", fail(&protocol.Error{Code: protocol.ErrLimitExceeded, Cause: boom}), "active 0, total 1, failed 1"},
		{"plain error", fail(errors.New("odd")), "active 0, total 1, failed 1"},
		{"panic", func(context.Context, *protocol.Invocation) (*protocol.Result, error) { panic("bug") }, "active 0, total 1, failed 1"},
	} {
		for _, actives := range []string{"", "actives=1"} {
			t.Run(c.name+" "+actives, func(t *testing.T) {
				p := newProvider(t, actives, c.script, filter.ActiveLimit)
				defer func() {
					recover()
					assert.Equal(t, c.want, counts(p.status()))
				}()
				_, _ = p.node.Invoke(t.Context(), p.invocation())
			})
		}
	}
}

// How an attempt ended is told apart where it matters to who looks at the figures.
func TestActiveLimitCountsEndings(t *testing.T) {
	one := func(c protocol.Counters) [5]int64 {
		return [5]int64{c.Exceptions, c.OneWay, c.Useless, c.Refused, c.GivenUp}
	}
	for name, c := range map[string]struct {
		err    error
		oneWay bool
		want   [5]int64
	}{
		"value":              {nil, false, [5]int64{}},
		"business exception": {&protocol.Error{Code: protocol.ErrBusiness}, false, [5]int64{0: 1}},
		"one-way":            {nil, true, [5]int64{1: 1}},
		"no such method":     {&protocol.Error{Code: protocol.ErrNotFound, Sent: true, Retry: protocol.RetryNever}, false, [5]int64{2: 1}},
		"executes":           {&protocol.Error{Code: protocol.ErrLimitExceeded, Sent: true}, false, [5]int64{3: 1}},
		"cancelled":          {context.Canceled, false, [5]int64{4: 1}},
		"network":            {&protocol.Error{Code: protocol.ErrNetwork}, false, [5]int64{}},
	} {
		var script func(context.Context, *protocol.Invocation) (*protocol.Result, error)
		if c.err != nil {
			script = fail(c.err)
		}
		p := newProvider(t, "", script, filter.ActiveLimit)
		inv := p.invocation()
		inv.OneWay = c.oneWay
		_, err := p.node.Invoke(t.Context(), inv)
		require.Equal(t, c.err, err)
		assert.Equal(t, c.want, one(p.status()), name)
		assert.EqualValues(t, 1, p.status().Total, name)
	}
}

// A goroutine that ends inside the call (a test's FailNow) is an end, too.
func TestActiveLimitCountsGoexit(t *testing.T) {
	p := newProvider(t, "actives=1", func(context.Context, *protocol.Invocation) (*protocol.Result, error) {
		runtime.Goexit()
		return nil, nil
	}, filter.ActiveLimit)
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = p.node.Invoke(t.Context(), p.invocation()) })
	wg.Wait()
	assert.Equal(t, "active 0, total 1, failed 1", counts(p.status()))
}

// A refusal is not counted, and says who has refused.
func TestActiveLimitRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(t, "actives=9&find.actives=2", func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			time.Sleep(time.Second)
			return &inv.Result, nil
		}, filter.ActiveLimit)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				_, err := p.node.Invoke(t.Context(), p.invocation())
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		_, err := p.node.Invoke(t.Context(), p.invocation())
		require.ErrorIs(t, err, protocol.ErrLimitExceeded)
		var full *protocol.SaturatedError
		require.ErrorAs(t, err, &full)
		assert.Same(t, p.node, full.Node)
		assert.Equal(t, "active 2, total 0, failed 0", counts(p.status()))
		assert.EqualError(t, full, "all 2 calls that actives allows at 192.0.2.10:20880 are under way")
		var e *protocol.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, protocol.RetryAlways, e.Retry)
		assert.False(t, e.Sent)
		wg.Wait()
		assert.Equal(t, "active 0, total 2, failed 0", counts(p.status()))
	})
}

// B098, F12: a limit exceeded further in is an outcome like others: the slot is
// given back.
func TestB098LimitExceededFromBelow(t *testing.T) {
	calls := 0
	p := newProvider(t, "actives=2", func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
		if calls++; calls <= 2 {
			return nil, &protocol.Error{Code: protocol.ErrLimitExceeded, Retry: protocol.RetryAlways}
		}
		return &inv.Result, nil
	}, filter.ActiveLimit)
	for i := range 3 {
		_, err := p.node.Invoke(t.Context(), p.invocation())
		assert.Equal(t, i < 2, errors.Is(err, protocol.ErrLimitExceeded), "call %d: %v", i+1, err)
	}
	assert.Equal(t, "active 0, total 3, failed 2", counts(p.status()))
}

// F13: a filter before it that answers itself, or a refusal, ends nothing.
func TestWhatNeverBeganNeverEnds(t *testing.T) {
	p := newProvider(t, "actives=1", nil, func(next protocol.Invoker) protocol.Invoker {
		limited := filter.ActiveLimit(next)
		return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			if inv.Attachment("cached") != "" {
				return &inv.Result, nil
			}
			return limited.Invoke(ctx, inv)
		})
	})
	inv := p.invocation()
	inv.Attach("cached", "yes")
	_, err := p.node.Invoke(t.Context(), inv)
	require.NoError(t, err)
	assert.Equal(t, "active 0, total 0, failed 0", counts(p.status()))
}

// B096: the check and the increment are one step.
func TestB096NeverMoreThanActives(t *testing.T) {
	var mu sync.Mutex
	now, peak := 0, 0
	p := newProvider(t, "actives=5", func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
		mu.Lock()
		now++
		peak = max(peak, now)
		mu.Unlock()
		defer func() {
			mu.Lock()
			now--
			mu.Unlock()
		}()
		return &inv.Result, nil
	}, filter.ActiveLimit)
	var wg sync.WaitGroup
	var refused, served int
	for range 200 {
		wg.Go(func() {
			for range 50 {
				_, err := p.node.Invoke(t.Context(), p.invocation())
				mu.Lock()
				if err != nil {
					refused++
				} else {
					served++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, peak, 5)
	assert.Equal(t, 200*50, refused+served)
	assert.Equal(t, fmt.Sprintf("active 0, total %d, failed 0", served), counts(p.status()))
}

// B100: a refused call disturbs nobody: one is refused only if the limit is
// reached, so of as many callers as slots none ever is.
func TestB100RefusedOnlyAtTheLimit(t *testing.T) {
	p := newProvider(t, "actives=10", nil, filter.ActiveLimit)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for range 2000 {
				_, err := p.node.Invoke(t.Context(), p.invocation())
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, "active 0, total 20000, failed 0", counts(p.status()))
}

// The time of a call is from the choice of its provider to its outcome.
func TestElapsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(t, "", func(context.Context, *protocol.Invocation) (*protocol.Result, error) {
			time.Sleep(300 * time.Millisecond)
			return nil, errors.New("late")
		}, filter.ActiveLimit)
		_, _ = p.node.Invoke(t.Context(), p.invocation())
		c := p.status()
		assert.Equal(t, 300*time.Millisecond, c.Elapsed)
		assert.Equal(t, 300*time.Millisecond, c.FailedElapsed)
		assert.Equal(t, 300*time.Millisecond, c.MaxElapsed)
	})
}

// A call that ends late ends in the provider's life that it began in.
func TestLateEndBelongsToTheOldLife(t *testing.T) {
	var p *provider
	p = newProvider(t, "", func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
		p.node.Update(p.url, time.Unix(1000, 0)) // restarted meanwhile
		return &inv.Result, nil
	}, filter.ActiveLimit)
	old := p.node.Life()
	_, err := p.node.Invoke(t.Context(), p.invocation())
	require.NoError(t, err)
	assert.Equal(t, "active 0, total 0, failed 0", counts(p.status()))
	assert.Equal(t, "active 0, total 1, failed 0", counts(old.Status(0).Counters()))
}

// The end of a call wakes the first one that waits for its slot.
func TestEndHandsTheSlotOn(t *testing.T) {
	p := newProvider(t, "actives=1", nil, filter.ActiveLimit)
	node, all := p.node, protocol.NewCandidates([]*protocol.Node{p.node}, nil)
	waiting := p.invocation()
	q := p.methods.Queue(waiting.Method.Slot)
	require.True(t, node.Status(0).Begin(1))
	require.False(t, q.Enter(waiting, all))
	node.Status(0).End(0, false)

	_, err := node.Invoke(t.Context(), p.invocation())
	require.NoError(t, err)
	assert.True(t, q.Wait(t.Context(), waiting, time.Hour))
	_, err = node.Invoke(t.Context(), waiting)
	require.NoError(t, err)
	assert.False(t, waiting.Queued(), "a call that is counted is not in line")
}
