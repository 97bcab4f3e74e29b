package gofer_test

import (
	"context"
	neturl "net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// B065: attachments of the caller go with every attempt, and no further.
func TestB065AttachmentsOnEveryAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3, "", "retries=5")
		for _, p := range w.providers {
			require.NoError(t, p.Answer("echo", dubbotest.Status(70, "x"), dubbotest.Status(80, "x")))
		}
		ctx := gofer.WithAttachment(t.Context(), "trace", "abc")
		require.NoError(t, echo(ctx, w))
		attempts := 0
		for _, p := range w.providers {
			for _, c := range p.Calls() {
				attempts++
				assert.Equal(t, "abc", c.Attachment("trace"))
			}
			p.Forget()
		}
		assert.Greater(t, attempts, 3)
		require.NoError(t, echo(t.Context(), w))
		for _, p := range w.providers {
			for _, c := range p.Calls() {
				assert.Empty(t, c.Attachment("trace"))
			}
		}
	})
}

// B067: what another provider may do better is tried there, and nothing else is.
func TestB067RetryOnlyWhatMakesSense(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2, "", "retries=0&loadbalance=roundrobin")
		full, healthy := w.providers[0], w.providers[1]
		require.NoError(t, full.AnswerAlways("echo", dubbotest.Status(100, "thread pool is exhausted")))
		for range 10 {
			require.NoError(t, echo(t.Context(), w))
		}
		assert.Equal(t, 10, healthy.Counters().Calls)
		assert.Positive(t, full.Counters().Calls)

		full.Forget()
		healthy.Forget()
		err := call(t.Context(), w, "echo(java.lang.Object)", map[string]any{"k": func() {}})
		assert.ErrorIs(t, err, gofer.ErrSerialization)
		assert.Zero(t, full.Counters().Calls+healthy.Counters().Calls, "no frame is sent")

		full.Unscript("echo")
		for _, p := range w.providers {
			require.NoError(t, p.AnswerAlways("echo", dubbotest.Throw("com.example.X", "no")))
		}
		err = echo(t.Context(), w)
		var remote *gofer.RemoteError
		require.ErrorAs(t, err, &remote)
		assert.Equal(t, "com.example.X", remote.Class)
		assert.Equal(t, "no", remote.Message)
		assert.Equal(t, 1, full.Counters().Calls+healthy.Counters().Calls, "a business exception is an answer")
	})
}

// B102: a slot is held until the answer, the timeout or the cancellation of its
// call, whoever waits for it.
func TestB102SlotsAreHeldUntilTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, "", "actives=2&timeout=60000&retries=0")
		p := w.provider()
		require.NoError(t, p.AnswerAlways("echo", dubbotest.Value("hi").After(500*time.Millisecond)))
		begun := time.Now()
		for range 10 {
			w.aside.Go(func() { assert.NoError(t, echo(t.Context(), w)) })
		}
		synctest.Wait()
		active, waiting := w.client.Snapshot().References[0].Providers[0].Methods[0].Active, p.Counters().Calls
		assert.Equal(t, 2, active)
		assert.Equal(t, 2, waiting, "sent")
		active, total := w.counted()
		assert.Zero(t, active)
		assert.EqualValues(t, 10, total)
		assert.Equal(t, 2, p.Counters().Peak, "at once at the provider")
		assert.Equal(t, 2500*time.Millisecond, time.Since(begun))
	})
}

// B156: parameters and statistics of a generic call are those of the real method.
func TestB156GenericCallsHaveTheirMethodsParameters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, "", "getUser.retries=0&getUser.timeout=200&getUser.actives=1&timeout=9000&retries=3")
		p := w.provider()
		require.NoError(t, p.AnswerAlways("getUser", dubbotest.Value("u").After(500*time.Millisecond)))
		get := func() error {
			_, err := w.reference.Generic(t.Context(), "getUser(long)", int64(1))
			return err
		}
		begun := time.Now()
		err := get()
		assert.ErrorIs(t, err, gofer.ErrTimeout)
		assert.Equal(t, 200*time.Millisecond, time.Since(begun))
		var e *gofer.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 1, e.Attempts)
		assert.Equal(t, "getUser", e.Method)
		assert.Equal(t, "200", p.LastCall().Attachment("timeout"))

		w.beside(func() { assert.ErrorIs(t, get(), gofer.ErrTimeout) })
		time.Sleep(100 * time.Millisecond) // of the bubble
		assert.Equal(t, 2, p.Counters().Calls)
		begun = time.Now()
		w.beside(func() { assert.ErrorIs(t, get(), gofer.ErrTimeout) })
		assert.Equal(t, 2, p.Counters().Calls, "waits until the other one has ended")
		w.aside.Wait()
		assert.Equal(t, 3, p.Counters().Calls)
		assert.Equal(t, 200*time.Millisecond, time.Since(begun), "waiting included")
		methods := w.reference.Snapshot().Providers[0].Methods
		require.Len(t, methods, 1)
		assert.Equal(t, "getUser", methods[0].Name)
		assert.Equal(t, 1, methods[0].Actives)
		assert.Zero(t, methods[0].Active)
	})
}

// B164: a method of return=false does not wait for what never comes.
func TestB164OneWayPerMethod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, "", "log.return=false&slow.return=false&slow.sent=true&timeout=1000&retries=0")
		p := w.provider()
		require.NoError(t, p.AnswerAlways("", dubbotest.Never()))
		begun := time.Now()
		text, err := gofer.Call[string](t.Context(), w.reference, "log(java.lang.String)", "line")
		require.NoError(t, err)
		assert.Empty(t, text)
		assert.Zero(t, time.Since(begun))
		synctest.Wait()
		got := p.LastCall()
		assert.True(t, got.OneWay)
		assert.Equal(t, byte(0x82), got.Flags)
		assert.Equal(t, []any{"line"}, got.Arguments)
		require.NoError(t, call(t.Context(), w, "slow()"))
		synctest.Wait()
		assert.Equal(t, 2, p.Counters().Calls, "sent=true")
		assert.ErrorIs(t, call(t.Context(), w, "other()"), gofer.ErrTimeout, "the other methods wait")
		active, _ := w.counted()
		assert.Zero(t, active)
	})
}

// B166: the attachment timeout is the budget of the attempt in milliseconds.
func TestB166TimeoutIsSentInMilliseconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, "", "timeout=5000&retries=0")
		p := w.provider()
		require.NoError(t, p.AnswerAlways("echo", dubbotest.Never()))
		took := func(ctx context.Context) time.Duration {
			begun := time.Now()
			assert.ErrorIs(t, echo(ctx, w), gofer.ErrTimeout)
			return time.Since(begun)
		}
		assert.Equal(t, 5*time.Second, took(t.Context()))
		assert.Equal(t, "5000", p.LastCall().Attachment("timeout"))
		assert.Equal(t, 300*time.Millisecond, took(gofer.WithTimeout(t.Context(), 300*time.Millisecond)))
		assert.Equal(t, "300", p.LastCall().Attachment("timeout"))
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Microsecond)
		defer cancel()
		assert.Equal(t, 1500*time.Microsecond, took(ctx))
		assert.Equal(t, "2", p.LastCall().Attachment("timeout"), "rounded up: 0 would be no time")
	})
}

// B168: method before interface, and on each level the consumer before the provider.
func TestB168PrecedenceOfTimeouts(t *testing.T) {
	for _, c := range []struct {
		name, provider, reference string
		getA, other               time.Duration
	}{
		{"provider alone", "timeout=2000&getA.timeout=5000", "", 5 * time.Second, 2 * time.Second},
		{"consumer's interface", "timeout=2000&getA.timeout=5000", "timeout=300", 5 * time.Second, 300 * time.Millisecond},
		{"consumer's method", "timeout=2000&getA.timeout=5000", "timeout=300&getA.timeout=100", 100 * time.Millisecond, 300 * time.Millisecond},
		{"nobody", "", "", time.Second, time.Second},
		{"default of an old provider", "default.timeout=1700", "", 1700 * time.Millisecond, 1700 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, "", "")
				provider := neturl.QueryEscape("dubbo://" + w.provider().Addr() + "?" + c.provider)
				w.reference = refer(t, w.client, demo+"?retries=0&url="+provider+"&"+c.reference)
				require.NoError(t, w.provider().AnswerAlways("", dubbotest.Never()))
				for method, want := range map[string]time.Duration{"getA()": c.getA, "getB()": c.other} {
					begun := time.Now()
					assert.ErrorIs(t, call(t.Context(), w, method), gofer.ErrTimeout)
					assert.Equal(t, want, time.Since(begun), method)
				}
			})
		})
	}
}

// B172: a direct address has what the reference says; several are balanced over.
func TestB172DirectAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2, "version=1.0.0&group=g1", "")
		addresses := "dubbo://" + w.providers[0].Addr() + ";dubbo://" + w.providers[1].Addr()
		w.reference = refer(t, w.client, demo+"?group=g1&version=1.0.0&timeout=3000&loadbalance=roundrobin&url="+strings.ReplaceAll(addresses, ";", "%3B"))
		for range 10 {
			require.NoError(t, echo(gofer.WithAttachment(t.Context(), "trace", "abc"), w))
		}
		for _, p := range w.providers {
			assert.Equal(t, 5, p.Counters().Calls)
			got := p.LastCall()
			assert.Equal(t, demo, got.Path)
			assert.Equal(t, "1.0.0", got.Version)
			assert.Equal(t, "g1", got.Attachment("group"))
			assert.Equal(t, "3000", got.Attachment("timeout"))
			assert.Equal(t, "abc", got.Attachment("trace"))
		}
	})
}

// Arguments that do not fit, or whose Java type is a guess, are errors that say what
// to write; nothing is sent.
func TestBadArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, "", "")
		for _, c := range []struct {
			signature string
			args      []any
			want      []string
		}{
			{"find(long,java.lang.String)", []any{int64(1)}, []string{"1 arguments given", "declares 2", "(long,java.lang.String)"}},
			{"find(long)", []any{"7"}, []string{"argument 0", "string", "long"}},
			{"find(int)", []any{int64(1) << 40}, []string{"argument 0", "1099511627776", "int"}},
			{"find(long)", []any{nil}, []string{"null", "long"}},
			{"find(double)", []any{1}, []string{"give a float64"}},
			{"find", []any{1}, []string{"argument 0 (int)", "cannot be inferred", "(long)"}},
			{"find", []any{"a", []string{"b"}}, []string{"argument 1 ([]string)", "(java.lang.String,java.util.List)"}},
			{"find", []any{nil}, []string{"argument 0 (<nil>)", "(java.lang.Object)"}},
			{"find(Long)", []any{int64(1)}, []string{"parameter 0", "java.lang.Long"}},
			{"find(long", []any{int64(1)}, []string{"the ) after"}},
			{"find me", []any{}, []string{`"find me"`, "no name of a Java method"}},
			{"find(List<String>)", []any{nil}, []string{"erases generics"}},
		} {
			err := call(t.Context(), w, c.signature, c.args...)
			assert.ErrorIs(t, err, gofer.ErrBadArgument, c.signature)
			for _, want := range c.want {
				assert.ErrorContains(t, err, want)
			}
			var e *gofer.Error
			require.ErrorAs(t, err, &e)
			assert.Zero(t, e.Attempts)
			assert.False(t, e.Sent)
		}
		_, err := w.reference.Generic(t.Context(), "find(Long)", 1)
		assert.ErrorIs(t, err, gofer.ErrBadArgument)
		_, err = gofer.Method[string](w.reference, "find(Long)")
		assert.ErrorIs(t, err, gofer.ErrBadArgument)
		assert.Zero(t, w.provider().Counters().Calls)

		got, err := gofer.Call[string](t.Context(), w.reference, "echo", "hi")
		require.NoError(t, err, "a string says it all")
		assert.Equal(t, "hi", got)
		assert.Equal(t, "echo(java.lang.String)", w.provider().LastCall().Signature)
		err = call(t.Context(), w, "echo", int64(1))
		assert.ErrorIs(t, err, gofer.ErrNotFound)
		assert.ErrorContains(t, err, "inferred")
		assert.ErrorContains(t, err, `"echo(long)"`)
	})
}
