package protocol

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func settled() *Invocation {
	return &Invocation{Method: &Method{Service: "com.example.DemoService", Name: "find"}, Start: time.Now().Add(-time.Second)}
}

func TestSettleTakesAResultOfSomebodyElse(t *testing.T) {
	other := 7
	for name, c := range map[string]struct {
		res  Result
		want int
		null bool
	}{
		"value":                 {Result{Value: 5}, 5, false},
		"target of another":     {Result{Target: &other}, 7, false},
		"both":                  {Result{Value: 5, Target: &other}, 5, false}, // a copy that was changed
		"null":                  {Result{Null: true}, 0, true},
		"null, whatever it had": {Result{Null: true, Value: 5}, 0, true},
		"empty":                 {Result{}, 0, true},
	} {
		for _, typed := range []bool{true, false} {
			inv, target := settled(), 3 // of an attempt before
			if typed {
				inv.Result.Target = &target
			}
			inv.Result.Attachments = map[string]any{"k": "v"}
			res, err := inv.Settle(&c.res, nil)
			require.NoError(t, err, name)
			assert.Same(t, &inv.Result, res)
			assert.Equal(t, c.null, res.Null, name)
			assert.Equal(t, map[string]any{"k": "v"}, res.Attachments, "B104: %s", name)
			if typed {
				assert.Equal(t, c.want, target, name)
				assert.Same(t, &target, res.Target)
			}
			if c.null {
				assert.Nil(t, res.Value, name)
			} else {
				assert.Equal(t, c.want, res.Value, name)
			}
		}
	}
}

func TestSettleTakesAttachments(t *testing.T) {
	inv, own := settled(), map[string]any{"a": "b"}
	inv.Result.Attachments = map[string]any{"k": "v"}
	_, err := inv.Settle(&Result{Value: 1, Attachments: own}, nil)
	require.NoError(t, err)
	assert.Equal(t, own, inv.Result.Attachments)
	inv.Result.Attachments["a"] = "c"
	assert.Equal(t, map[string]any{"a": "b"}, own, "a cached result stays what it is")
}

func TestSettleNamesTypesThatDoNotFit(t *testing.T) {
	inv, target := settled(), 3
	inv.Result.Target = &target
	res, err := inv.Settle(&Result{Value: "mine"}, nil)
	assert.Nil(t, res)
	assert.ErrorIs(t, err, ErrSerialization)
	assert.EqualError(t, err, "gofer: com.example.DemoService.find: serialization error: "+
		"a filter or cluster strategy answered with a value of type string, the caller wants int")
	assert.Equal(t, 3, target)
	for _, bad := range []any{3, (*int)(nil)} {
		inv.Result.Target = bad
		_, err = inv.Settle(&Result{Value: 1}, nil)
		assert.ErrorContains(t, err, fmt.Sprintf("must be a pointer that is not nil, not %T", bad))
	}
}

func TestSettleWantsAResult(t *testing.T) {
	_, err := settled().Settle(nil, nil)
	assert.EqualError(t, err, "gofer: com.example.DemoService.find: unknown error: a filter or cluster strategy returned no result and no error")
}

func TestSettleCompletesErrors(t *testing.T) {
	odd := errors.New("odd")
	for _, c := range []struct {
		err  error
		code Code
	}{
		{odd, ErrUnknown},
		{fmt.Errorf("mine: %w", odd), ErrUnknown},
		{&RemoteError{Class: "com.example.Boom"}, ErrBusiness},
		{context.Canceled, ErrCanceled},
		{context.DeadlineExceeded, ErrTimeout},
		{&Error{Code: ErrForbidden, Cause: odd}, ErrForbidden},
		{fmt.Errorf("mine: %w", &Error{Code: ErrForbidden}), ErrForbidden},
	} {
		inv := settled()
		_, err := inv.Settle(&inv.Result, c.err)
		e, ok := err.(*Error)
		require.True(t, ok, "%v", c.err)
		assert.Equal(t, c.code, e.Code, "%v", c.err)
		assert.Equal(t, "com.example.DemoService", e.Service)
		assert.Equal(t, "find", e.Method)
		assert.GreaterOrEqual(t, e.Elapsed, time.Second)
		assert.False(t, e.Sent, "nobody was tried")
		if e.Cause != nil && errors.Is(c.err, odd) {
			assert.ErrorIs(t, err, odd)
		}
	}
	of := &Error{Code: ErrTimeout, Service: "com.example.Other", Attempts: 3}
	_, err := settled().Settle(nil, of)
	assert.Same(t, of, err, "it is complete")
}
