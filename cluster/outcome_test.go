package cluster_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/protocol"
)

// outcome is one way in which a call can end.
type outcome struct {
	name       string
	parameters string
	scripts    []script
	filter     filter.Factory // named "own" in the chain
	ctx        func(context.Context) (context.Context, context.CancelFunc)
	oneWay     bool
	callers    int // at the same time; 1 when 0
	want       error
	unsent     bool
	idle       bool // no attempt is ever counted
}

func canceledBefore(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx, cancel
}

func canceledAfter(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(d, cancel)
		return ctx, cancel
	}
}

func deadline(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
}

// ownFilter makes a filter of both levels, one of which may be nil.
func ownFilter(call, attempt script) filter.Factory {
	stand := func(s script) filter.Filter {
		if s == nil {
			return nil
		}
		return func(next protocol.Invoker) protocol.Invoker {
			return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
				if res, err := s(ctx, inv); res != nil || err != nil {
					return res, err
				}
				return next.Invoke(ctx, inv)
			})
		}
	}
	return func(filter.Config) (filter.Pair, error) {
		return filter.Pair{Call: stand(call), Attempt: stand(attempt)}, nil
	}
}

func panics(context.Context, *protocol.Invocation) (*protocol.Result, error) { panic("bug") }

func returns(err error) script {
	return func(context.Context, *protocol.Invocation) (*protocol.Result, error) { return nil, err }
}

var errOdd = errors.New("odd")

func outcomes() []outcome {
	all := []outcome{
		{name: "value", scripts: []script{ok}},
		{name: "one-way", scripts: []script{ok}, oneWay: true},
		{name: "one-way, not written", scripts: []script{failing(protocol.ErrNetwork, protocol.RetryAlways)}, oneWay: true, want: protocol.ErrNetwork, unsent: true},
		{name: "business exception", scripts: []script{failing(protocol.ErrBusiness, protocol.RetryNever)}, want: protocol.ErrBusiness},
		{name: "bare remote error", scripts: []script{returns(&protocol.RemoteError{Class: "com.example.Boom"})}, want: protocol.ErrBusiness},
		{name: "error of no kind", scripts: []script{returns(errOdd), returns(errOdd)}, want: errOdd},
		{name: "encode error", scripts: []script{returns(&protocol.Error{Code: protocol.ErrSerialization, Retry: protocol.RetryNever})}, want: protocol.ErrSerialization, unsent: true},
		{name: "timeout", parameters: "timeout=300", scripts: []script{slow(time.Hour)}, want: protocol.ErrTimeout},
		{name: "timeout, then an answer", parameters: "timeout=300", scripts: []script{slow(time.Hour), ok}},
		{name: "endpoint panics", scripts: []script{panics}, want: protocol.ErrUnknown},
		{name: "endpoint ends the goroutine", scripts: []script{func(context.Context, *protocol.Invocation) (*protocol.Result, error) {
			runtime.Goexit()
			return nil, nil
		}}, want: errGone},
		{name: "attempt filter panics", scripts: []script{ok}, filter: ownFilter(nil, panics), want: protocol.ErrUnknown, idle: true},
		{name: "call filter panics", scripts: []script{ok}, filter: ownFilter(panics, nil), want: protocol.ErrUnknown, idle: true, unsent: true},
		{name: "attempt filter refuses", scripts: []script{ok}, filter: ownFilter(nil, returns(&protocol.Error{Code: protocol.ErrForbidden, Retry: protocol.RetryNever})), want: protocol.ErrForbidden, idle: true, unsent: true},
		{name: "attempt filter answers", scripts: []script{ok}, filter: ownFilter(nil, ok), idle: true},
		{name: "attempt filter is full", scripts: []script{ok, ok}, filter: ownFilter(nil, failing(protocol.ErrLimitExceeded, protocol.RetryAlways)), want: protocol.ErrLimitExceeded, idle: true, unsent: true},
		{name: "cancelled before", scripts: []script{ok}, ctx: canceledBefore, want: context.Canceled, idle: true, unsent: true},
		{name: "cancelled after", scripts: []script{slow(time.Hour)}, ctx: canceledAfter(50 * time.Millisecond), want: context.Canceled},
		{name: "deadline over before", scripts: []script{ok}, ctx: deadline(-time.Second), want: protocol.ErrExpired, idle: true, unsent: true},
		{name: "deadline over after", scripts: []script{slow(time.Hour)}, ctx: deadline(50 * time.Millisecond), want: context.DeadlineExceeded},
		{name: "saturated, waits and gets it", parameters: "actives=1&timeout=1000", scripts: []script{slow(300 * time.Millisecond)}, callers: 3},
		{name: "saturated, waits in vain", parameters: "actives=1&timeout=1000&retries=0", scripts: []script{slow(900 * time.Millisecond)}, callers: 3, want: protocol.ErrLimitExceeded},
		{name: "saturated, cancelled in line", parameters: "actives=1&timeout=1000", scripts: []script{slow(900 * time.Millisecond)}, callers: 3, ctx: canceledAfter(100 * time.Millisecond), want: context.Canceled},
		{name: "saturated, deadline in line", parameters: "actives=1&timeout=1000", scripts: []script{slow(900 * time.Millisecond)}, callers: 3, ctx: deadline(100 * time.Millisecond), want: context.DeadlineExceeded},
		{name: "saturated at one, free at another", parameters: "actives=1", scripts: []script{slow(time.Second / 2), slow(time.Second / 2)}, callers: 2},
		{name: "no provider", want: protocol.ErrNoProvider, idle: true, unsent: true},
	}
	for code := protocol.ErrUnknown; code <= protocol.ErrNotFound; code++ {
		if code > protocol.ErrCanceled && code < protocol.ErrClosed {
			continue
		}
		for retry, name := range []string{"policy", "always", "never"} {
			fail := failing(code, protocol.Retry(retry))
			all = append(all,
				outcome{name: code.Error() + ", retry " + name, scripts: []script{fail, fail, fail}, want: code, unsent: retry == int(protocol.RetryAlways)},
				outcome{name: code.Error() + ", retry " + name + ", fail fast", parameters: "cluster=failfast", scripts: []script{fail, fail}, want: code, unsent: retry == int(protocol.RetryAlways)},
				outcome{name: code.Error() + ", retry " + name + ", one-way, limited", parameters: "actives=1", scripts: []script{fail}, oneWay: true, want: code, unsent: retry == int(protocol.RetryAlways)},
			)
		}
	}
	return all
}

// errGone is what a caller gets whose goroutine ended in the call.
var errGone = errors.New("gone")

// run carries the outcome out, in a bubble of its own, with limit as the innermost
// filter, and returns what stays counted.
func (o outcome) run(t *testing.T, limit filter.Filter) (active int) {
	synctest.Test(t, func(t *testing.T) {
		parameters, s := o.parameters, setup{limit: limit}
		if o.filter != nil {
			parameters += "&reference.filter=own"
			s.filters = map[string]filter.Factory{"own": o.filter}
		}
		w := newWorld(t, parameters, s, o.scripts...)
		var wg sync.WaitGroup
		errs := make([]error, max(1, o.callers))
		for i := range errs {
			wg.Go(func() {
				errs[i] = errGone
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				if o.ctx != nil {
					ctx, cancel = o.ctx(ctx)
				}
				defer cancel()
				inv := w.invocation("find")
				inv.OneWay = o.oneWay
				_, errs[i] = w.invoker.Invoke(ctx, inv)
				assert.False(t, inv.Queued())
				assert.Zero(t, inv.AttachmentCount())
			})
		}
		wg.Wait()
		o.check(t, errors.Join(errs...), errs)
		active = w.active()
		assert.Zero(t, w.methods.Waiting(w.methods.Slot("find")))
	})
	return active
}

func (o outcome) check(t *testing.T, joined error, errs []error) {
	if o.want == nil {
		assert.NoError(t, joined)
		return
	}
	assert.ErrorIs(t, joined, o.want)
	for _, err := range errs {
		if err == nil || err == errGone {
			continue
		}
		var e *protocol.Error
		if assert.ErrorAs(t, err, &e) {
			assert.Equal(t, "com.example.DemoService", e.Service)
			assert.Equal(t, "find", e.Method)
			if o.unsent {
				assert.False(t, e.Sent, "%v", err)
			}
		}
	}
}

// TestEveryEndGivesTheSlotBack is the table of all ways a call can end: afterwards
// nothing is counted and nobody waits.
func TestEveryEndGivesTheSlotBack(t *testing.T) {
	for _, o := range outcomes() {
		t.Run(o.name, func(t *testing.T) {
			assert.Zero(t, o.run(t, nil))
		})
	}
}

// TestTheTableNoticesALeak runs the same table with a limit that gives nothing back:
// each outcome in which an attempt began must show it. Those in which calls wait
// for one another are left out, they would end otherwise.
func TestTheTableNoticesALeak(t *testing.T) {
	leaky := func(next protocol.Invoker) protocol.Invoker {
		return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			inv.Node.Status(inv.Method.Slot).Begin(0)
			return next.Invoke(ctx, inv)
		})
	}
	for _, o := range outcomes() {
		if o.callers > 0 {
			continue
		}
		t.Run(o.name, func(t *testing.T) {
			assert.Equal(t, o.idle, o.run(t, leaky) == 0)
		})
	}
}
