package protocol

import (
	"fmt"
	"runtime/debug"
)

// PanicError is the cause of the error of a call during which code on its path (a
// filter, a load balancer, an endpoint) panicked: that call fails, nothing else.
type PanicError struct {
	Value any    // what was passed to panic
	Stack []byte // where; meant for the log, not part of the text
}

// Error names the value. Only texts and errors are printed as they are: a value
// that refers to itself could not be (B150).
func (e *PanicError) Error() string {
	var s string
	switch v := e.Value.(type) {
	case error, string:
		s = fmt.Sprint(v)
	default:
		s = fmt.Sprintf("a value of type %T", v)
	}
	if limit := 500; len(s) > limit {
		s = s[:limit] + "…"
	}
	return "panic: " + s
}

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Recovered turns what recover returned into the error of the call. It is called
// by the function that recovers, for the sake of the stack.
func Recovered(value any) *Error {
	cause := &PanicError{Value: value, Stack: debug.Stack()}
	// How far the call got is not known: it may have been sent.
	return &Error{Code: ErrUnknown, Sent: true, Retry: RetryNever, Cause: cause}
}
