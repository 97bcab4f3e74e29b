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

// witness is an observer that holds what it is told against the contract.
type witness struct {
	mu    sync.Mutex
	open  map[*protocol.Invocation]*protocol.Life
	ends  []protocol.Outcome
	wrong []string
}

func (w *witness) Begun(inv *protocol.Invocation, life *protocol.Life) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[*protocol.Invocation]*protocol.Life{}
	}
	if w.open[inv] != nil {
		w.wrong = append(w.wrong, "begun twice")
	}
	w.open[inv] = life
	inv.Attach("seen", "yes")
}

func (w *witness) Ended(inv *protocol.Invocation, o protocol.Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch life := w.open[inv]; {
	case life == nil:
		w.wrong = append(w.wrong, "ended without having begun")
	case life != o.Life:
		w.wrong = append(w.wrong, "ended in another life")
	}
	delete(w.open, inv)
	w.ends = append(w.ends, o)
}

// saw tells what was seen: the verdicts, and everything that is wrong.
func (w *witness) saw() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := ""
	for _, o := range w.ends {
		s += o.Verdict.String() + " "
	}
	if len(w.open) > 0 {
		s += fmt.Sprintf("%d not ended ", len(w.open))
	}
	for _, wrong := range w.wrong {
		s += wrong + " "
	}
	return s
}

// Whatever the end of an attempt: observers learn of it exactly once, in the life it
// began in, with the right verdict, even when the provider is restarted meanwhile.
func TestObserversLearnOfEveryEnd(t *testing.T) {
	type script = func(context.Context, *protocol.Invocation) (*protocol.Result, error)
	wait := func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
		ctx, cancel := inv.Context(ctx)
		defer cancel()
		<-ctx.Done()
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, &protocol.Error{Code: protocol.ErrCanceled, Cause: ctx.Err()}
		}
		return nil, &protocol.Error{Code: protocol.ErrTimeout, Cause: ctx.Err()}
	}
	for _, c := range []struct {
		name   string
		script script
		oneWay bool
		cancel bool
		want   string
		took   time.Duration
	}{
		{name: "value", want: "succeeded "},
		{name: "one-way", oneWay: true, want: "succeeded "},
		{name: "business exception", script: fail(&protocol.Error{Code: protocol.ErrBusiness, Cause: &protocol.RemoteError{Class: "X"}}), want: "succeeded "},
		{name: "bare exception", script: fail(&protocol.RemoteError{Class: "X"}), want: "succeeded "},
		{name: "timeout", script: wait, want: "timed out ", took: time.Second},
		{name: "cancel", script: wait, cancel: true, want: "neutral ", took: 300 * time.Millisecond},
		{name: "connection lost", script: fail(&protocol.Error{Code: protocol.ErrNetwork, Sent: true}), want: "failed "},
		{name: "executes of the provider", script: fail(&protocol.Error{Code: protocol.ErrLimitExceeded, Retry: protocol.RetryAlways, Sent: true}), want: "failed "},
		{name: "actives further on", script: fail(&protocol.Error{Code: protocol.ErrLimitExceeded, Cause: &protocol.SaturatedError{}}), want: "failed "},
		{name: "bad argument", script: fail(&protocol.Error{Code: protocol.ErrSerialization}), want: "neutral "},
		{name: "plain error", script: fail(errors.New("odd")), want: "failed "},
		{name: "panic", script: func(context.Context, *protocol.Invocation) (*protocol.Result, error) { panic("bug") }, want: "neutral "},
		{name: "goexit", script: func(context.Context, *protocol.Invocation) (*protocol.Result, error) {
			runtime.Goexit()
			return nil, nil
		}, want: "neutral "},
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s restarted=%v", c.name, restarted), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var p *provider
					p = newProvider(t, "actives=1", func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
						assert.Equal(t, "yes", inv.Attachment("seen"), "before anything is sent")
						if restarted {
							p.node.Update(p.url, time.Unix(1000, 0))
						}
						if c.script == nil {
							return &inv.Result, nil
						}
						return c.script(ctx, inv)
					}, filter.ActiveLimit)
					var seen, other witness
					p.methods.Observe(&seen)
					p.methods.Observe(&other)
					p.methods.Observe(&seen) // told once all the same
					first := p.node.Life()
					inv := p.invocation()
					inv.OneWay = c.oneWay
					ctx, cancel := context.WithCancel(t.Context())
					if c.cancel {
						time.AfterFunc(300*time.Millisecond, cancel)
					}
					var err error
					var wg sync.WaitGroup
					wg.Go(func() {
						defer func() { _ = recover() }()
						_, err = p.node.Invoke(ctx, inv)
					})
					wg.Wait()
					cancel()
					for _, w := range []*witness{&seen, &other} {
						require.Equal(t, c.want, w.saw())
						assert.Same(t, first, w.ends[0].Life)
						assert.Equal(t, c.took, w.ends[0].Elapsed)
						assert.ErrorIs(t, err, w.ends[0].Err)
					}
					inv.EndAttempt()
					assert.Empty(t, inv.Attachment("seen"), "of this attempt alone")
				})
			})
		}
	}
}

// What the active limit refuses has not begun; what never comes so far neither.
func TestObserversDoNotLearnOfRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(t, "actives=1", func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			time.Sleep(time.Second)
			return &inv.Result, nil
		}, func(next protocol.Invoker) protocol.Invoker {
			limited := filter.ActiveLimit(next)
			return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
				if inv.Attachment("cached") != "" {
					return &inv.Result, nil
				}
				return limited.Invoke(ctx, inv)
			})
		})
		var seen witness
		p.methods.Observe(&seen)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = p.node.Invoke(t.Context(), p.invocation()) })
		synctest.Wait()
		for range 3 {
			_, err := p.node.Invoke(t.Context(), p.invocation())
			require.ErrorIs(t, err, protocol.ErrLimitExceeded)
		}
		cached := p.invocation()
		cached.Attach("cached", "yes")
		_, err := p.node.Invoke(t.Context(), cached)
		require.NoError(t, err)
		assert.Equal(t, "1 not ended ", seen.saw())
		wg.Wait()
		assert.Equal(t, "succeeded ", seen.saw())
	})
}

// An observer that comes while an attempt is under way does not learn of its end.
func TestObserverThatComesLate(t *testing.T) {
	var late witness
	var p *provider
	p = newProvider(t, "", func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
		p.methods.Observe(&late)
		return &inv.Result, nil
	}, filter.ActiveLimit)
	_, err := p.node.Invoke(t.Context(), p.invocation())
	require.NoError(t, err)
	assert.Equal(t, "", late.saw())
	_, err = p.node.Invoke(t.Context(), p.invocation())
	require.NoError(t, err)
	assert.Equal(t, "succeeded ", late.saw())
}

// An observer that panics fails its call, and leaves nothing counted; who was told
// of the beginning is told of the end.
func TestObserverThatPanics(t *testing.T) {
	p := newProvider(t, "actives=1", nil, filter.ActiveLimit)
	var before, after witness
	p.methods.Observe(&before)
	p.methods.Observe(bomb{})
	p.methods.Observe(&after)
	assert.Panics(t, func() { _, _ = p.node.Invoke(t.Context(), p.invocation()) })
	assert.Equal(t, "neutral ", before.saw())
	assert.Equal(t, "", after.saw())
	assert.Equal(t, "active 0, total 1, failed 1", counts(p.status()))
}

// bomb is an observer with a bug.
type bomb struct{}

func (bomb) Begun(*protocol.Invocation, *protocol.Life)   { panic("bug") }
func (bomb) Ended(*protocol.Invocation, protocol.Outcome) {}

// One that panics at the end fails its call, too; the others are told, whatever their
// order, and panics of several are no different.
func TestObserverThatPanicsAtTheEnd(t *testing.T) {
	p := newProvider(t, "actives=1", nil, filter.ActiveLimit)
	var before, between, after witness
	for _, o := range []protocol.Observer{&before, grenade{1}, &between, grenade{2}, &after} {
		p.methods.Observe(o)
	}
	assert.Panics(t, func() { _, _ = p.node.Invoke(t.Context(), p.invocation()) })
	for _, w := range []*witness{&before, &between, &after} {
		assert.Equal(t, "succeeded ", w.saw())
	}
	assert.Equal(t, "active 0, total 1, failed 0", counts(p.status()))
}

// grenade is an observer with a later bug.
type grenade struct{ no int }

func (grenade) Begun(*protocol.Invocation, *protocol.Life)   {}
func (grenade) Ended(*protocol.Invocation, protocol.Outcome) { panic("bug") }

// With any number of calls at a time each end finds its beginning.
func TestObserversUnderLoad(t *testing.T) {
	p := newProvider(t, "actives=5", func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
		runtime.Gosched()
		return &inv.Result, nil
	}, filter.ActiveLimit)
	var seen witness
	p.methods.Observe(&seen)
	var wg sync.WaitGroup
	for g := range 20 {
		wg.Go(func() {
			for i := range 100 {
				_, _ = p.node.Invoke(t.Context(), p.invocation())
				if g == 0 && i%10 == 0 {
					p.node.Update(p.url, time.Unix(int64(i), 0))
				}
			}
		})
	}
	wg.Wait()
	assert.Empty(t, seen.wrong)
	assert.Empty(t, seen.open)
}
