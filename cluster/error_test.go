package cluster_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
