package cluster_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/protocol"
)

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

// A strategy or a filter of an attempt may answer by itself; it must answer.
func TestAnswerInPlaceOfAProvider(t *testing.T) {
	for name, c := range map[string]struct {
		res  *protocol.Result
		want string // "" for none
	}{
		"fits":         {&protocol.Result{Value: "mine"}, ""},
		"does not fit": {&protocol.Result{Value: 7}, "serialization error: a filter or cluster strategy answered with a value of type int, the caller wants string"},
		"nothing":      {nil, "unknown error: a filter or cluster strategy returned no result and no error"},
	} {
		answer := func(context.Context, *protocol.Invocation) (*protocol.Result, error) { return c.res, nil }
		instead := func(protocol.Invoker) protocol.Invoker { return protocol.InvokerFunc(answer) }
		for level, s := range map[string]setup{
			"strategy": {config: func(cfg *cluster.Config) {
				cfg.Clusters = map[string]cluster.Factory{"failover": func(cluster.Config) (cluster.Strategy, error) {
					return func(ctx context.Context, _ *cluster.Invoker, inv *protocol.Invocation) (*protocol.Result, error) {
						return answer(ctx, inv)
					}, nil
				}}
			}},
			"attempt": {filters: own(func(filter.Config) (filter.Pair, error) { return filter.Pair{Attempt: instead}, nil })},
		} {
			parameters := ""
			if s.filters != nil {
				parameters = "reference.filter=own"
			}
			w := newWorld(t, parameters, s, ok)
			inv, target := w.invocation("find"), ""
			inv.Result.Target = &target
			res, err := w.cluster.Invoke(t.Context(), inv)
			if c.want != "" {
				assert.ErrorContains(t, err, c.want, "%s: %s", level, name)
				assert.Equal(t, "find", asError(t, err).Method)
				continue
			}
			require.NoError(t, err)
			assert.Same(t, &inv.Result, res)
			assert.Equal(t, "mine", target, level)
		}
	}
}

// A strategy's plain error comes out as one of the call.
func TestErrorOfAStrategyNamesTheCall(t *testing.T) {
	w := newWorld(t, "", setup{config: func(cfg *cluster.Config) {
		cfg.Clusters = map[string]cluster.Factory{"failover": func(cluster.Config) (cluster.Strategy, error) {
			return func(context.Context, *cluster.Invoker, *protocol.Invocation) (*protocol.Result, error) {
				return nil, errOdd
			}, nil
		}}
	}}, ok)
	_, err := w.call(t.Context(), "find")
	assert.ErrorIs(t, err, errOdd)
	assert.EqualError(t, asError(t, err), "gofer: com.example.DemoService.find: unknown error: odd")
}
