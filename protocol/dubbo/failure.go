package dubbo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// fail makes the error of a call of which nothing was sent.
func (a *attempt) fail(code protocol.Code, retry protocol.Retry, cause error) *protocol.Error {
	return &protocol.Error{
		Code: code, Retry: retry, Cause: cause, Detail: cause.Error(),
		Service: a.s.url.Interface(), Method: a.inv.Method.Name, Provider: a.e.address,
	}
}

// executed makes the error of a call that ran at the provider: it must not run
// again, whatever became of its result.
func (a *attempt) executed(code protocol.Code, cause error) *protocol.Error {
	e := a.fail(code, protocol.RetryNever, cause)
	e.Sent = true
	return e
}

// check finds out before anything is done that the call has ended already.
func (a *attempt) check(ctx context.Context, budget time.Duration) *protocol.Error {
	if ctx.Done() != nil && ctx.Err() != nil {
		return a.ended(ctx)
	}
	if budget <= 0 {
		return a.fail(protocol.ErrExpired, protocol.RetryPolicy,
			fmt.Errorf("the deadline had passed %v before: %w", -budget, context.DeadlineExceeded))
	}
	return nil
}

// ended is the error of a call whose context ended before anything was sent.
func (a *attempt) ended(ctx context.Context) *protocol.Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return a.fail(protocol.ErrExpired, protocol.RetryNever, ctx.Err())
	}
	return a.canceled(ctx)
}

func (a *attempt) canceled(ctx context.Context) *protocol.Error {
	e := a.fail(protocol.ErrCanceled, protocol.RetryNever, ctx.Err())
	if why := context.Cause(ctx); why != ctx.Err() {
		e.Detail = fmt.Sprintf("%v: %v", ctx.Err(), why)
	}
	return e
}

// unconnected is the error of a call that found no connection.
func (a *attempt) unconnected(ctx context.Context, err error) *protocol.Error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return a.canceled(ctx)
	case errors.Is(err, errShutDown):
		return a.fail(protocol.ErrClosed, protocol.RetryNever, err)
	}
	return a.fail(protocol.ErrNetwork, protocol.RetryAlways, err)
}

// broken is the error of a call that ended without an answer.
func (a *attempt) broken(ctx context.Context, sent bool, err error, begun time.Time) *protocol.Error {
	retry := protocol.RetryPolicy
	if !sent {
		retry = protocol.RetryAlways // not a byte has left
	}
	var e *protocol.Error
	switch {
	case errors.Is(err, errTimeout):
		waited := time.Since(begun).Round(time.Microsecond)
		e = a.fail(protocol.ErrTimeout, retry, context.DeadlineExceeded)
		e.Detail = fmt.Sprintf("no answer after %v; the provider may be working on it still", waited)
		if !sent {
			e.Detail = fmt.Sprintf("not written after %v: the provider does not read", waited)
		}
	case errors.Is(err, errTooBig):
		e = a.fail(protocol.ErrSerialization, protocol.RetryNever, err)
	case errors.Is(err, errShutDown):
		e = a.fail(protocol.ErrClosed, protocol.RetryNever, err)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		e = a.canceled(ctx)
	default:
		e = a.fail(protocol.ErrNetwork, retry, err)
	}
	e.Sent = sent
	return e
}
