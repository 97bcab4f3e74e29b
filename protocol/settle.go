package protocol

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"time"
)

// Settle gives the end of a call the form that its caller relies on: a result is
// &inv.Result, an error is an [*Error] that names the call. The cluster and the
// chain of filters call it, once all of theirs has been passed; it costs nothing
// when there is nothing to do.
//
// Whoever answers in place of a provider may return a [Result] of its own. Its
// Value, without one what its Target points to, goes to inv.Result and to the Target there;
// one that does not fit is [ErrSerialization]. Attachments that it has replace those
// of the answer. No result and no error is an error.
func (inv *Invocation) Settle(res *Result, err error) (*Result, error) {
	if err == nil && res == &inv.Result {
		return res, nil
	}
	return inv.settle(res, err)
}

func (inv *Invocation) settle(res *Result, err error) (*Result, error) {
	if err == nil {
		err = inv.adopt(res)
	}
	if err != nil {
		return nil, inv.failure(err)
	}
	return &inv.Result, nil
}

// failure is the error of the call. One that names a call already stays as it is.
func (inv *Invocation) failure(err error) error {
	e := AsError(err)
	if e.Service != "" && error(e) == err {
		return err
	}
	out := *e
	if !isError(err) {
		out.Sent = inv.Attempt > 0
	}
	if out.Service == "" {
		out.Service, out.Method = inv.Method.Service, inv.Method.Name
		out.Attempts, out.Elapsed = inv.Attempt, time.Since(inv.Start)
		if inv.Attempt > 0 && inv.Node != nil {
			out.Provider = inv.Node.Address()
		}
	}
	return &out
}

func isError(err error) bool {
	var e *Error
	return errors.As(err, &e)
}

// AsError gives any error the form of one of a call: the [*Error] that it is, or one
// that has it as its cause. Of an error that wraps an [*Error] the code and the rest
// stay; one of no kind is [ErrUnknown], and counts as sent.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		if error(e) == err {
			return e
		}
		wrapped := *e
		wrapped.Detail, wrapped.Cause = err.Error(), err
		return &wrapped
	}
	return &Error{Code: codeOf(err), Sent: true, Cause: err} // how far it got is not known
}

// codeOf returns the code of an error that is no [*Error].
func codeOf(err error) Code {
	var remote *RemoteError
	switch {
	case errors.As(err, &remote):
		return ErrBusiness
	case errors.Is(err, context.Canceled):
		return ErrCanceled
	case errors.Is(err, context.DeadlineExceeded):
		return ErrTimeout
	}
	return ErrUnknown
}

// adopt makes a result that somebody brought the result of the call.
func (inv *Invocation) adopt(res *Result) error {
	if res == nil {
		return &Error{Code: ErrUnknown, Retry: RetryNever, Sent: inv.Attempt > 0, Detail: "a filter or cluster strategy returned no result and no error"}
	}
	value := res.Value
	if from := reflect.ValueOf(res.Target); value == nil && from.Kind() == reflect.Pointer && !from.IsNil() {
		value = from.Elem().Interface()
	}
	null := res.Null || value == nil
	if null {
		value = nil
	}
	if inv.Result.Target != nil {
		if err := assign(inv.Result.Target, value); err != nil {
			err.Sent = inv.Attempt > 0
			return err
		}
	}
	inv.Result.Value, inv.Result.Null = value, null
	if res.Attachments != nil {
		inv.Result.Attachments = maps.Clone(res.Attachments) // whose it is may keep it
	}
	return nil
}

// assign puts a value where target points to; nil is the zero value.
func assign(target, value any) *Error {
	to := reflect.ValueOf(target)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return mismatch("the target of a result must be a pointer that is not nil, not %T", target)
	}
	to = to.Elem()
	if value == nil {
		to.SetZero()
		return nil
	}
	from := reflect.ValueOf(value)
	if !from.Type().AssignableTo(to.Type()) {
		return mismatch("a filter or cluster strategy answered with a value of type %T, the caller wants %s", value, to.Type())
	}
	to.Set(from)
	return nil
}

func mismatch(format string, args ...any) *Error {
	e := Errorf(ErrSerialization, format, args...)
	e.Retry = RetryNever
	return e
}
