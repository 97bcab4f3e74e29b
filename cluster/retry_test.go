package cluster_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/protocol"
)

// log notes the providers that calls reach, in order, as letters.
type log struct{ targets []string }

func (l *log) then(s script) script {
	return func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
		last := strings.TrimSuffix(inv.Node.Address(), ":20880")
		l.targets = append(l.targets, string('A'+last[len(last)-1]-'0'))
		return s(ctx, inv)
	}
}

func (l *log) String() string { return strings.Join(l.targets, "") }

func asError(t testing.TB, err error) *protocol.Error {
	var e *protocol.Error
	require.ErrorAs(t, err, &e)
	return e
}

// B058: with two providers the retries alternate.
func TestB058RetriesAlternate(t *testing.T) {
	for _, balance := range []string{"random", "roundrobin", "leastactive"} {
		var l log
		fail := l.then(failing(protocol.ErrNetwork, protocol.RetryPolicy))
		w := newWorld(t, "retries=5&loadbalance="+balance, setup{}, fail, fail)
		_, err := w.call(t.Context(), "find")
		assert.ErrorIs(t, err, protocol.ErrNetwork)
		assert.Contains(t, []string{"ABABAB", "BABABA"}, l.String())
	}
}

// In general: nobody is asked twice in a row while another is there, and nobody a
// second time before all were asked.
func TestRetriesGoRound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "providers")
		var l log
		scripts := make([]script, n)
		for i := range scripts {
			scripts[i] = l.then(failing(protocol.ErrNetwork, protocol.RetryPolicy))
		}
		w := newWorld(t, "retries=12&loadbalance="+rapid.SampledFrom([]string{"random", "roundrobin"}).Draw(rt, "balance"), setup{}, scripts...)
		_, err := w.call(t.Context(), "find")
		require.ErrorIs(rt, err, protocol.ErrNetwork)
		require.Len(rt, l.targets, 13)
		seen := map[string]bool{}
		for i, target := range l.targets {
			if n > 1 && i > 0 && target == l.targets[i-1] {
				rt.Fatalf("%v: %s twice in a row", l.targets, target)
			}
			if i < n && seen[target] {
				rt.Fatalf("%v: %s again before all %d were asked", l.targets, target, n)
			}
			seen[target] = true
		}
	})
}

func TestRetriesAreCounted(t *testing.T) {
	for parameters, want := range map[string]int{
		"":                                3, // 2 retries
		"retries=0":                       1,
		"retries=-1":                      1,
		"retries=4":                       5,
		"retries=4&find.retries=1":        2,
		"retries=4&other.retries=1":       5,
		"retries=4&cluster=failfast":      1,
		"find.retries=0&cluster=failover": 1,
	} {
		var l log
		fail := l.then(failing(protocol.ErrTimeout, protocol.RetryPolicy))
		w := newWorld(t, parameters, setup{}, fail, fail, fail)
		_, err := w.call(t.Context(), "find")
		e := asError(t, err)
		assert.Len(t, l.targets, want, parameters)
		assert.Equal(t, want, e.Attempts, parameters)
		assert.True(t, e.Sent)
	}
}

// A provider's "retries" counts where the reference has none (Dubbo 2.7), and a
// method's own goes before the interface's.
func TestRetriesOfTheProvider(t *testing.T) {
	for reference, want := range map[string]int{"": 6, "retries=1": 2, "retries=1&find.retries=3": 4} {
		var l log
		fail := l.then(failing(protocol.ErrTimeout, protocol.RetryPolicy))
		w := newWorld(t, reference, setup{provider: []string{"retries=5"}}, fail, fail)
		_, _ = w.call(t.Context(), "find")
		assert.Len(t, l.targets, want, reference)
	}
}

// B065, B069: every attempt carries the call's attachments, and what was attached
// for the one before is gone.
func TestB065B069AttachmentsOfEveryAttempt(t *testing.T) {
	var sent []map[string]string
	note := func(s script) script {
		return func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			u := inv.Node.URL()
			sent = append(sent, maps.Collect(inv.Attachments()))
			sent[len(sent)-1]["of the provider"] = u.Param("group") + ":" + u.Param("version")
			return s(ctx, inv)
		}
	}
	attach := func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
		inv.Attach("for", inv.Node.URL().Param("group"))
		if inv.Attempt == 1 {
			inv.Attach("trace", "replaced")
			inv.Attach("first", "yes")
		}
		return nil, nil
	}
	fail := note(failing(protocol.ErrNetwork, protocol.RetryPolicy))
	w := newWorld(t, "group=*&version=*&reference.filter=own&loadbalance=roundrobin",
		setup{filters: own(ownFilter(nil, attach)), provider: []string{"group=g1&version=1.0.0", "group=g2&version=2.0.0"}}, fail, fail)
	inv := w.invocation("find")
	inv.Attach("trace", "abc")
	_, err := w.invoker.Invoke(t.Context(), inv)
	require.ErrorIs(t, err, protocol.ErrNetwork)
	require.Len(t, sent, 3)
	groups := map[string]string{"g1": "g1:1.0.0", "g2": "g2:2.0.0"}
	for i, a := range sent {
		want := map[string]string{"trace": "abc", "for": a["for"], "of the provider": groups[a["for"]]}
		if i == 0 {
			want["trace"], want["first"] = "replaced", "yes"
		}
		assert.Equal(t, want, a, "attempt %d", i+1)
	}
	assert.NotEqual(t, sent[0]["for"], sent[1]["for"])
	assert.Equal(t, map[string]string{"trace": "abc"}, maps.Collect(inv.Attachments()), "after the call")
}

// B067: what is worth another provider is retried, what is not fails at once.
func TestB067WhatIsRetried(t *testing.T) {
	boom := &protocol.RemoteError{Class: "com.example.BizException", Message: "no stock"}
	for _, c := range []struct {
		name     string
		err      error
		retries  string
		attempts int
		want     error
	}{
		{"thread pool of the provider exhausted", &protocol.Error{Code: protocol.ErrLimitExceeded, Retry: protocol.RetryAlways, Sent: true}, "0", 2, nil},
		{"argument cannot be encoded", &protocol.Error{Code: protocol.ErrSerialization, Retry: protocol.RetryNever}, "5", 1, protocol.ErrSerialization},
		{"business exception", &protocol.Error{Code: protocol.ErrBusiness, Sent: true, Cause: boom}, "5", 1, boom},
		{"business exception as it is", boom, "5", 1, boom},
		{"may have run", &protocol.Error{Code: protocol.ErrNetwork, Sent: true}, "0", 1, protocol.ErrNetwork},
		{"may have run, retries", &protocol.Error{Code: protocol.ErrNetwork, Sent: true}, "1", 2, nil},
		{"of no kind", errOdd, "1", 2, nil},
		{"a filter was cancelled", context.Canceled, "5", 1, protocol.ErrCanceled},
		{"a filter's own deadline", context.DeadlineExceeded, "1", 2, nil},
		{"wrapped by a filter", errors.Join(errOdd, &protocol.Error{Code: protocol.ErrForbidden, Retry: protocol.RetryNever}), "5", 1, errOdd},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			first := func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
				if calls++; calls == 1 {
					return nil, c.err
				}
				return ok(ctx, inv)
			}
			w := newWorld(t, "retries="+c.retries, setup{}, first, first)
			_, err := w.call(t.Context(), "find")
			assert.Equal(t, c.attempts, calls)
			if c.want == nil {
				assert.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, c.want)
			assert.Equal(t, 1, asError(t, err).Attempts)
			var remote *protocol.RemoteError
			if errors.As(c.err, &remote) {
				assert.ErrorIs(t, err, protocol.ErrBusiness)
				assert.ErrorContains(t, err, "com.example.BizException: no stock")
			}
		})
	}
}

// What was not executed is tried at every provider, free of charge, but once; then
// "retries" decides.
func TestRefusalsAreFreeButBounded(t *testing.T) {
	for parameters, want := range map[string]int{
		"cluster=failfast": 4, "retries=0": 4, "retries=2": 6,
	} {
		var l log
		refuse := l.then(failing(protocol.ErrNetwork, protocol.RetryAlways))
		w := newWorld(t, parameters, setup{}, refuse, refuse, refuse, refuse)
		_, err := w.call(t.Context(), "find")
		e := asError(t, err)
		assert.Len(t, l.targets, want, parameters)
		assert.Equal(t, want, e.Attempts)
		assert.False(t, e.Sent)
		for _, target := range "ABCD" {
			assert.Contains(t, l.String()[:4], string(target))
		}
	}
}

// Free means free to ask another one; the same again costs a retry.
func TestRefusalOfTheOnlyReadyProvider(t *testing.T) {
	for retries, want := range map[string]int{"0": 1, "1": 2} {
		var l log
		refuse := l.then(failing(protocol.ErrNetwork, protocol.RetryAlways))
		w := newWorld(t, "retries="+retries, setup{}, refuse, refuse)
		w.endpoints[1].set(protocol.Down)
		_, err := w.call(t.Context(), "find")
		assert.ErrorIs(t, err, protocol.ErrNetwork)
		assert.Len(t, l.targets, want)
	}
}

// An endpoint that makes a call itself may meet a limit there: that is its failure,
// not a refusal of ours.
func TestSaturatedElsewhere(t *testing.T) {
	elsewhere := &protocol.SaturatedError{Node: elsewhere(t), Limit: 1}
	var l log
	w := newWorld(t, "retries=0", setup{}, l.then(returns(&protocol.Error{Code: protocol.ErrLimitExceeded, Cause: elsewhere})))
	_, err := w.call(t.Context(), "find")
	assert.Equal(t, 1, asError(t, err).Attempts)
	assert.Len(t, l.targets, 1)
}

// What one attempt had to give up does not hold for the next.
func TestEachAttemptAsksForAll(t *testing.T) {
	var w *world
	var l log
	calls := 0
	w = newWorld(t, "retries=2&loadbalance=first", setup{config: withFirst}, l.then(func(context.Context, *protocol.Invocation) (*protocol.Result, error) {
		if calls++; calls == 2 {
			w.endpoints[1].set(protocol.Ready)
		}
		return nil, &protocol.Error{Code: protocol.ErrNetwork}
	}), l.then(ok))
	w.endpoints[1].set(protocol.Down)
	_, err := w.call(t.Context(), "find")
	require.NoError(t, err)
	assert.Equal(t, "AAB", l.String())
}

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
				return nil, nil
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

// The error tells of all attempts; the last one rules, the first is kept.
func TestErrorOfSeveralAttempts(t *testing.T) {
	w := newWorld(t, "retries=2&loadbalance=first", setup{config: withFirst},
		returns(&protocol.Error{Code: protocol.ErrNetwork, Sent: true, Detail: "connection lost"}),
		returns(&protocol.Error{Code: protocol.ErrTimeout, Detail: "no answer after 1s"}),
		returns(&protocol.RemoteError{Class: "com.example.Boom"}))
	_, err := w.call(t.Context(), "find")
	e := asError(t, err)
	assert.Equal(t, protocol.ErrBusiness, e.Code)
	assert.Equal(t, "192.0.2.12:20880", e.Provider)
	assert.Equal(t, 3, e.Attempts)
	assert.True(t, e.Sent)
	assert.ErrorIs(t, err, protocol.ErrNetwork, "the first failure")
	assert.NotErrorIs(t, err, protocol.ErrTimeout)
	var remote *protocol.RemoteError
	assert.ErrorAs(t, err, &remote)
	assert.Equal(t, "tried 192.0.2.10:20880 (network error: connection lost), 192.0.2.11:20880 (timeout: no answer after 1s), "+
		"192.0.2.12:20880 (business exception: com.example.Boom)", e.Detail)
	assert.NotContains(t, err.Error(), "\n")
}

func TestErrorOfManyAttemptsIsBounded(t *testing.T) {
	fail := failing(protocol.ErrNetwork, protocol.RetryPolicy)
	w := newWorld(t, "retries=99", setup{}, fail, fail, fail)
	_, err := w.call(t.Context(), "find")
	assert.ErrorContains(t, err, "… 94 more …")
	assert.Less(t, len(err.Error()), 800)
	assert.Equal(t, 100, asError(t, err).Attempts)
}

// When nobody is left for a retry the failure before stays the error.
func TestListEmptiesBetweenAttempts(t *testing.T) {
	var w *world
	w = newWorld(t, "", setup{}, func(context.Context, *protocol.Invocation) (*protocol.Result, error) {
		w.publish()
		return nil, &protocol.Error{Code: protocol.ErrNetwork, Sent: true, Detail: "connection lost"}
	})
	_, err := w.call(t.Context(), "find")
	e := asError(t, err)
	assert.Equal(t, protocol.ErrNetwork, e.Code)
	assert.Equal(t, "192.0.2.10:20880", e.Provider)
	assert.Equal(t, 1, e.Attempts)
	assert.True(t, e.Sent)
	assert.ErrorIs(t, err, protocol.ErrNoProvider)
	assert.ErrorContains(t, err, "connection lost), then no provider: no provider of com.example.DemoService")
}

// A retry sees the list of its moment.
func TestRetryReadsTheListAgain(t *testing.T) {
	var w *world
	w = newWorld(t, "retries=1", setup{}, func(context.Context, *protocol.Invocation) (*protocol.Result, error) {
		w.publish(w.node(7, "", ok, w.chain.Attempt))
		return nil, &protocol.Error{Code: protocol.ErrNetwork, Sent: true}
	})
	inv, err := w.call(t.Context(), "find")
	require.NoError(t, err)
	assert.Equal(t, "192.0.2.17:20880", inv.Result.Value)
}

// A filter per call may call again: that is a call like the first.
func TestCallFilterThatCallsAgain(t *testing.T) {
	var l log
	w := newWorld(t, "retries=1", setup{}, l.then(failing(protocol.ErrNetwork, protocol.RetryPolicy)), l.then(failing(protocol.ErrNetwork, protocol.RetryPolicy)))
	inv := w.invocation("find")
	for range 2 {
		_, err := w.invoker.Invoke(t.Context(), inv)
		assert.Equal(t, 2, asError(t, err).Attempts)
	}
	assert.Len(t, l.targets, 4)
}

// A panic fails the call alone, with its stack in the log and without retries.
func TestPanicInAnAttempt(t *testing.T) {
	var l log
	w := newWorld(t, "", setup{}, l.then(panics), l.then(panics))
	_, err := w.call(t.Context(), "find")
	e := asError(t, err)
	assert.Equal(t, protocol.ErrUnknown, e.Code)
	assert.True(t, e.Sent, "it may have been")
	assert.Equal(t, 1, e.Attempts)
	assert.NotEmpty(t, e.Provider)
	assert.Len(t, l.targets, 1)
	logged := w.logs.FilterMessageSnippet("panic").All()
	require.Len(t, logged, 1)
	assert.Contains(t, logged[0].ContextMap()["stack"], "cluster_test.panics")
}
