package gofer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// ending is a way in which a call can end.
type ending struct {
	name      string
	providers int    // 1 if 0
	provider  string // parameters of the providers
	reference string // parameters of the reference
	options   []gofer.Option
	prepare   func(w *world)
	call      func(ctx context.Context, w *world) error // echo("hi") if nil
	code      gofer.Code                                // of the error; -1: none
	cause     error                                     // in the error's chain
	text      string                                    // in the error
	attempts  int                                       // that were counted
	notSent   bool
	took      time.Duration
}

const none gofer.Code = -1

// TestEveryEnding makes calls end in every way there is, and finds each of them
// counted once and nothing counted as active afterwards. Time is virtual, and no
// goroutine survives: the bubble would not end.
func TestEveryEnding(t *testing.T) {
	for _, e := range append(append(answered(), unanswered()...), local()...) {
		t.Run(e.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { e.run(t) })
		})
	}
}

func (e ending) run(t *testing.T) {
	w := newWorld(t, max(e.providers, 1), e.provider, e.reference, e.options...)
	if e.prepare != nil {
		e.prepare(w)
	}
	if e.call == nil {
		e.call = echo
	}
	begun := time.Now()
	err := e.call(t.Context(), w)
	assert.Equal(t, e.took, time.Since(begun), "time")
	if e.code == none {
		assert.NoError(t, err)
	} else {
		assert.ErrorIs(t, err, e.code)
		var ge *gofer.Error
		require.ErrorAs(t, err, &ge)
		assert.Equal(t, !e.notSent, ge.Sent, "sent: %v", err)
		assert.Equal(t, demo, ge.Service)
		assert.NotEmpty(t, ge.Method)
	}
	if e.cause != nil {
		assert.ErrorIs(t, err, e.cause)
	}
	if e.text != "" {
		assert.ErrorContains(t, err, e.text)
	}
	active, total := w.counted()
	assert.Zero(t, active, "active afterwards")
	assert.EqualValues(t, e.attempts, total, "attempts counted")
}

// answered are the calls to which something comes back.
func answered() []ending {
	script := func(answers ...dubbotest.Answer) func(*world) {
		return func(w *world) {
			for _, p := range w.providers {
				require.NoError(w.t, p.Answer("echo", answers...))
			}
		}
	}
	status := func(status int, text string) func(*world) { return script(dubbotest.Status(status, text)) }
	const exception = "Failed to send response: Response [id=1, version=2.0.2, status=20, event=false, error=null, " +
		"result=AppResponse [value=null, exception=java.lang.ArithmeticException: / by zero]], cause: java.io.IOException: x"
	return []ending{
		{name: "value", code: none, attempts: 1},
		{name: "null", prepare: script(dubbotest.Value(nil)), code: none, attempts: 1},
		{name: "generic", call: generic, code: none, attempts: 1},
		{name: "two answers", prepare: script(dubbotest.Value("hi").Twice()), code: none, attempts: 1},
		{name: "exception", prepare: script(dubbotest.Throw("com.example.X", "no")), code: gofer.ErrBusiness, text: "com.example.X: no", attempts: 1},
		{name: "generic exception", prepare: script(dubbotest.Throw("com.example.X", "no")), call: generic, code: gofer.ErrBusiness, text: "com.example.X: no", attempts: 1},

		{name: "status 25", prepare: status(25, "too large"), code: gofer.ErrSerialization, text: "too large", attempts: 1},
		{name: "status 30", reference: "retries=0", prepare: status(30, "t"), code: gofer.ErrNetwork, attempts: 1},
		{name: "status 31", reference: "retries=0", prepare: status(31, "t"), code: gofer.ErrNetwork, attempts: 1},
		{name: "status 35", reference: "retries=0", prepare: status(35, "t"), code: gofer.ErrNetwork, attempts: 1},
		{name: "status 40", prepare: status(40, "Fail to decode"), code: gofer.ErrNotFound, text: `descriptor "Ljava/lang/String;"`, attempts: 1},
		{name: "status 50", prepare: status(50, "not serializable"), code: gofer.ErrSerialization, text: "not serializable", attempts: 1},
		{name: "status 50 for an exception", prepare: status(50, exception), code: gofer.ErrBusiness, text: "ArithmeticException: / by zero", attempts: 1},
		{name: "status 60", prepare: status(60, "no"), code: gofer.ErrNotFound, attempts: 1, reference: "retries=0"},
		{name: "status 70", reference: "retries=0", prepare: status(70, "java.lang.X: what"), code: gofer.ErrNetwork, text: "java.lang.X: what", attempts: 1},
		{name: "status 80", reference: "retries=0", prepare: status(80, "no dispatcher"), code: gofer.ErrNetwork, attempts: 1},
		{name: "status 90", reference: "retries=0", prepare: status(90, "client"), code: gofer.ErrNetwork, attempts: 1},
		{name: "status 100", reference: "retries=0", prepare: status(100, "exhausted"), code: gofer.ErrLimitExceeded, attempts: 1},
		{name: "status 7", reference: "retries=0", prepare: status(7, "unheard of"), code: gofer.ErrNetwork, attempts: 1},
		{name: "unreadable status text", reference: "retries=0", prepare: script(dubbotest.Status(70, "x").InSerialization(11)), code: gofer.ErrNetwork, text: "serialization 11", attempts: 1},
		{name: "other serialization", prepare: script(dubbotest.Value("x").InSerialization(11)), code: gofer.ErrSerialization, text: "serialization 11", attempts: 1},
		{name: "executes", provider: "executes=1", reference: "retries=0", call: besides, code: gofer.ErrLimitExceeded, text: `executes="1"`, attempts: 2},
		{name: "token", provider: "token=t1", reference: "token=t2", code: gofer.ErrForbidden, text: "Invalid token!", attempts: 1},

		{name: "wrong type of value", prepare: script(dubbotest.Value(int64(1))), code: gofer.ErrSerialization, text: "string", attempts: 1},
		{name: "value over the limit", reference: "payload=1000", prepare: script(dubbotest.Large(2000)), code: gofer.ErrSerialization, text: "1000", attempts: 1},
		{name: "undecodable", prepare: script(rawBody(0x94, 'S', 0, 9, 'x')), code: gofer.ErrSerialization, text: "decode", attempts: 1},
		{name: "unknown kind of result", prepare: script(rawBody(0x96)), code: gofer.ErrSerialization, text: "flag 6", attempts: 1},

		{name: "retried", reference: "retries=2", prepare: script(dubbotest.Status(70, "x"), dubbotest.Status(70, "x")), code: none, attempts: 3},
		{name: "retried in vain", reference: "retries=1", prepare: script(dubbotest.Status(70, "x"), dubbotest.Status(70, "x")), code: gofer.ErrNetwork, text: "tried ", attempts: 2},
		{name: "retried elsewhere", providers: 3, reference: "retries=0", prepare: status(100, "full"), code: gofer.ErrLimitExceeded, attempts: 3},
		{name: "not retried by failfast", reference: "retries=2&cluster=failfast", prepare: status(70, "x"), code: gofer.ErrNetwork, attempts: 1},
	}
}

// unanswered are the calls to which nothing comes, or not in time.
func unanswered() []ending {
	const timeout = 200 * time.Millisecond
	once := func(a dubbotest.Answer) func(*world) {
		return func(w *world) { require.NoError(w.t, w.provider().Answer("", a)) }
	}
	return []ending{
		{name: "timeout", reference: "timeout=200&retries=0", prepare: once(dubbotest.Never()), code: gofer.ErrTimeout, cause: context.DeadlineExceeded, attempts: 1, took: timeout},
		{name: "late answer", reference: "timeout=200&retries=0", prepare: once(dubbotest.Value("x").After(time.Second)), call: thenWait(2 * time.Second), code: gofer.ErrTimeout, attempts: 1, took: 2 * time.Second},
		{name: "timeout, retried", reference: "timeout=200&retries=1", prepare: once(dubbotest.Never()), code: none, attempts: 2, took: timeout},
		{name: "answer to nobody", reference: "timeout=200&retries=0", prepare: once(dubbotest.Value("x").WrongID()), code: gofer.ErrTimeout, attempts: 1, took: timeout},
		{name: "deadline of the context", reference: "timeout=5000", prepare: once(dubbotest.Never()), call: within(timeout, echo), code: gofer.ErrTimeout, cause: context.DeadlineExceeded, attempts: 1, took: timeout},
		{name: "canceled when sent", prepare: once(dubbotest.Never()), call: canceledAfter(timeout), code: gofer.ErrCanceled, cause: context.Canceled, attempts: 1, took: timeout},
		{name: "canceled in the queue", call: canceledUnsent, code: gofer.ErrCanceled, cause: context.Canceled, attempts: 2, notSent: true},
		{name: "connection lost", reference: "retries=0", prepare: once(dubbotest.HangUp()), code: gofer.ErrNetwork, text: "connection lost", attempts: 1},
		{name: "connection lost, unread", reference: "retries=0", prepare: once(dubbotest.HangUpUnread()), code: gofer.ErrNetwork, text: "connection lost", attempts: 1},
		{name: "half an answer", reference: "retries=0", prepare: once(dubbotest.Raw(func(*dubbotest.Call) []byte { return []byte{0xda, 0xbb, 2} }).ThenHangUp()), code: gofer.ErrNetwork, attempts: 1},
		{name: "garbage", reference: "retries=0", prepare: once(dubbotest.Garbage()), code: gofer.ErrNetwork, text: "not a dubbo frame", attempts: 1},
		{name: "killed", reference: "retries=0", prepare: once(dubbotest.Never()), call: meanwhile(func(w *world) { w.provider().Kill() }), code: gofer.ErrNetwork, attempts: 1},
		{name: "frozen", reference: "timeout=200&retries=0", prepare: func(w *world) { w.provider().Freeze() }, code: gofer.ErrTimeout, attempts: 1, took: timeout},
		{name: "one-way", reference: "echo.return=false", prepare: once(dubbotest.Never()), code: none, attempts: 1},
		{name: "one-way, written", reference: "echo.return=false&echo.sent=true", prepare: once(dubbotest.Never()), code: none, attempts: 1},
		{name: "one-way, not written", reference: "echo.return=false&echo.sent=true&timeout=200&retries=0", prepare: func(w *world) { w.stuff() }, code: gofer.ErrTimeout, attempts: 2, took: timeout, notSent: true},
		{name: "client closed", prepare: once(dubbotest.Never()), call: meanwhile(func(w *world) { assert.NoError(w.t, w.client.Close()) }), code: gofer.ErrClosed, attempts: 1},
		{name: "reference closed", prepare: once(dubbotest.Value("late").After(timeout)), call: meanwhile(func(w *world) { assert.NoError(w.t, w.reference.Close()) }), code: none, attempts: 1, took: timeout},
	}
}

// local are the calls that end here: at most a part of them is sent.
func local() []ending {
	panics := func(name string, at func(next protocol.Invoker) filter.Pair) []gofer.Option {
		return []gofer.Option{gofer.WithFilter(name, func(filter.Config) (filter.Pair, error) {
			return at(nil), nil
		})}
	}
	before := func(next protocol.Invoker) protocol.Invoker {
		return protocol.InvokerFunc(func(context.Context, *protocol.Invocation) (*protocol.Result, error) { panic("before") })
	}
	after := func(next protocol.Invoker) protocol.Invoker {
		return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			_, _ = next.Invoke(ctx, inv)
			panic(errAfter)
		})
	}
	refuses := func(protocol.Invoker) protocol.Invoker {
		return protocol.InvokerFunc(func(context.Context, *protocol.Invocation) (*protocol.Result, error) { return nil, errAfter })
	}
	return []ending{
		{name: "panic of a filter before the attempt", options: panics("p", func(protocol.Invoker) filter.Pair { return filter.Pair{Attempt: before} }), reference: "reference.filter=watch,p", code: gofer.ErrUnknown, text: "panic: before", notSent: true},
		{name: "panic of a filter after the attempt", options: panics("p", func(protocol.Invoker) filter.Pair { return filter.Pair{Attempt: after} }), reference: "reference.filter=watch,p", code: gofer.ErrUnknown, cause: errAfter, attempts: 1},
		{name: "panic of a filter of the call", options: panics("p", func(protocol.Invoker) filter.Pair { return filter.Pair{Call: after} }), reference: "reference.filter=watch,p", code: gofer.ErrUnknown, cause: errAfter, attempts: 1},
		{name: "error of a filter", options: panics("p", func(protocol.Invoker) filter.Pair { return filter.Pair{Attempt: refuses} }), reference: "reference.filter=watch,p&retries=0", code: gofer.ErrUnknown, cause: errAfter},
		{name: "panic of a load balancer", providers: 2, options: []gofer.Option{gofer.WithLoadBalance("p", func(loadbalance.Config) (loadbalance.LoadBalance, error) { return panicking{}, nil })}, reference: "loadbalance=p", code: gofer.ErrUnknown, text: "panic: balance", notSent: true},

		{name: "unencodable", call: func(ctx context.Context, w *world) error {
			return call(ctx, w, "echo(java.lang.Object)", map[string]any{"k": make(chan int)})
		}, code: gofer.ErrSerialization, text: "chan int", attempts: 1, notSent: true},
		{name: "over the payload limit", reference: "payload=1000", call: func(ctx context.Context, w *world) error {
			return call(ctx, w, "echo(java.lang.String)", strings.Repeat("x", 1000))
		}, code: gofer.ErrSerialization, text: "payload limit of 1000", attempts: 1, notSent: true},
		{name: "wrong type of argument", call: func(ctx context.Context, w *world) error { return call(ctx, w, "echo(java.lang.String)", 7) }, code: gofer.ErrBadArgument, text: "java.lang.String", notSent: true},
		{name: "wrong number of arguments", call: func(ctx context.Context, w *world) error { return call(ctx, w, "echo(java.lang.String)") }, code: gofer.ErrBadArgument, notSent: true},
		{name: "canceled before", call: canceledAfter(-1), code: gofer.ErrCanceled, cause: context.Canceled, notSent: true},
		{name: "expired before", call: within(-time.Second, echo), code: gofer.ErrExpired, cause: context.DeadlineExceeded, notSent: true},
		{name: "saturated", reference: "actives=1&timeout=200&retries=0", call: besides, code: gofer.ErrLimitExceeded, text: "1 of 1", attempts: 1, took: 200 * time.Millisecond, notSent: true},
		{name: "canceled in line", reference: "actives=1&timeout=60000", call: inLine(func(_ *world, cancel func()) { cancel() }), code: gofer.ErrCanceled, cause: context.Canceled, attempts: 1, took: time.Second, notSent: true},
		{name: "closed in line", reference: "actives=1&timeout=60000", call: inLine(func(w *world, _ func()) { assert.NoError(w.t, w.reference.Close()) }), code: gofer.ErrClosed, attempts: 1, took: time.Second, notSent: true},
		{name: "nobody there", prepare: func(w *world) { w.provider().Kill(); time.Sleep(time.Second) }, code: gofer.ErrNoProvider, text: "connection refused", notSent: true},
		{name: "last resort", prepare: func(w *world) { w.provider().ReadOnly(); synctest.Wait() }, code: none, attempts: 1},
		{name: "after Close", prepare: func(w *world) { require.NoError(w.t, w.client.Close()) }, code: gofer.ErrClosed, notSent: true},
	}
}

var errAfter = errors.New("after")

type panicking struct{}

func (panicking) Select(*protocol.Candidates, *protocol.Invocation) *protocol.Node { panic("balance") }
