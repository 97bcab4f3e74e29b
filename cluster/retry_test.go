package cluster_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

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
