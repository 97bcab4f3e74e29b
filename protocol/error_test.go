package protocol_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

func TestErrorText(t *testing.T) {
	for _, tt := range []struct {
		want string
		err  *protocol.Error
	}{
		{"gofer: timeout", &protocol.Error{Code: protocol.ErrTimeout}},
		{"gofer: network error: unexpected EOF", &protocol.Error{Code: protocol.ErrNetwork, Cause: io.ErrUnexpectedEOF}},
		{"gofer: bad argument: find takes 1 argument, got 2", protocol.Errorf(protocol.ErrBadArgument, "find takes %d argument, got %d", 1, 2)},
		{
			"gofer: com.example.S.find at 192.0.2.1:20880: timeout: no answer within 1s (attempts: 3, last one sent, 3.000123s)",
			&protocol.Error{
				Code: protocol.ErrTimeout, Service: "com.example.S", Method: "find", Provider: "192.0.2.1:20880",
				Attempts: 3, Sent: true, Elapsed: 3*time.Second + 123*time.Microsecond + 400, Detail: "no answer within 1s",
			},
		},
		{
			"gofer: com.example.S.find: no provider (attempts: 1, last one not sent, 0s)",
			&protocol.Error{Code: protocol.ErrNoProvider, Service: "com.example.S", Method: "find", Attempts: 1},
		},
	} {
		assert.EqualError(t, tt.err, tt.want)
	}
}

func TestErrorIs(t *testing.T) {
	remote := &protocol.RemoteError{Class: "com.example.Full", Message: "no room"}
	err := fmt.Errorf("placing the order: %w", protocol.Errorf(protocol.ErrBusiness, "failed: %w", remote))
	assert.ErrorIs(t, err, protocol.ErrBusiness)
	assert.NotErrorIs(t, err, protocol.ErrTimeout)
	var e *protocol.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "failed: com.example.Full: no room", e.Detail)
	var r *protocol.RemoteError
	require.ErrorAs(t, err, &r)
	assert.Same(t, remote, r)

	err = &protocol.Error{Code: protocol.ErrCanceled, Cause: context.Canceled}
	assert.ErrorIs(t, err, context.Canceled)
	assert.NoError(t, errors.Unwrap(protocol.Errorf(protocol.ErrUnknown, "no cause")))
}

// The numbers are those of Java's RpcException, and every code has words.
func TestCodes(t *testing.T) {
	java := []protocol.Code{
		protocol.ErrUnknown, protocol.ErrNetwork, protocol.ErrTimeout, protocol.ErrBusiness, protocol.ErrForbidden,
		protocol.ErrSerialization, protocol.ErrNoProvider, protocol.ErrLimitExceeded, protocol.ErrExpired,
	}
	seen := map[string]bool{}
	for i, c := range append(java, protocol.ErrCanceled, protocol.ErrClosed, protocol.ErrBadArgument, protocol.ErrNotFound) {
		if i < len(java) {
			assert.EqualValues(t, i, c)
		}
		text := c.Error()
		assert.NotContains(t, text, "code")
		assert.False(t, seen[text], "%q says two things", text)
		seen[text] = true
	}
	assert.EqualError(t, protocol.Code(4711), "code 4711")
}

func TestRemoteError(t *testing.T) {
	for want, e := range map[string]*protocol.RemoteError{
		"com.x.Biz: boom": {Class: "com.x.Biz", Message: "boom"},
		"com.x.Biz":       {Class: "com.x.Biz"},
		"boom":            {Message: "boom"}, // B152
	} {
		assert.EqualError(t, e, want)
	}
	sentinel := errors.New("a registered exception type")
	inner := &protocol.RemoteError{Class: "java.io.IOException", Value: sentinel}
	outer := &protocol.RemoteError{Class: "com.x.Biz", Cause: inner, Value: 7}
	assert.ErrorIs(t, outer, sentinel)
	assert.ErrorIs(t, outer, inner)
	assert.NotErrorIs(t, outer, io.EOF)
	assert.Empty(t, (&protocol.RemoteError{Class: "com.x.Biz"}).Unwrap())
}

func TestSaturatedError(t *testing.T) {
	var methods protocol.MethodTable
	e := &protocol.SaturatedError{Node: newNode(1, &methods, nil), Limit: 5}
	assert.EqualError(t, e, "all 5 calls that actives allows at 192.0.2.1:20880 are under way")
}
