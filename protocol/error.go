package protocol

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Code classifies a failed call. Codes are errors, so errors.Is(err, ErrTimeout)
// works on every error of a call. The numbers are those of Java's RpcException.
type Code int

// The codes.
const (
	ErrUnknown       Code = 0 // anything else
	ErrNetwork       Code = 1 // connection refused, lost, or an error status of the provider
	ErrTimeout       Code = 2 // no answer within the deadline
	ErrBusiness      Code = 3 // the service method threw: the cause is a *RemoteError
	ErrForbidden     Code = 4 // the provider does not let us in: token, authorization
	ErrSerialization Code = 5 // arguments or result cannot be encoded or decoded
	ErrNoProvider    Code = 6 // nobody left to call: the cause is a *NoProviderError
	ErrLimitExceeded Code = 7 // "actives" here, or "executes" or the thread pool there
	ErrExpired       Code = 8 // the deadline had passed before anything was sent
	ErrCanceled      Code = 9 // the caller's context was cancelled

	// Codes of gofer alone.
	ErrClosed      Code = 100 // the client or reference is closed
	ErrBadArgument Code = 101 // the call does not fit the method: nothing was sent
	ErrNotFound    Code = 102 // the provider knows no such service or method
)

var codeText = map[Code]string{
	ErrUnknown: "unknown error", ErrNetwork: "network error", ErrTimeout: "timeout",
	ErrBusiness: "business exception", ErrForbidden: "forbidden", ErrSerialization: "serialization error",
	ErrNoProvider: "no provider", ErrLimitExceeded: "limit exceeded", ErrExpired: "deadline passed before sending",
	ErrCanceled: "canceled", ErrClosed: "closed", ErrBadArgument: "bad argument", ErrNotFound: "service not found",
}

// Error returns the code in words.
func (c Code) Error() string {
	if s, ok := codeText[c]; ok {
		return s
	}
	return fmt.Sprintf("code %d", int(c))
}

// Retry says whether asking another provider makes sense after a failure.
type Retry uint8

// The answers.
const (
	// RetryPolicy: the call may have run; the cluster's "retries" decides.
	RetryPolicy Retry = iota
	// RetryAlways: provably not executed here, and another provider may do better.
	// Free of charge: it does not count against "retries".
	RetryAlways
	// RetryNever: it would fail everywhere, or it was executed.
	RetryNever
)

// Error is the one error type of calls. It is immutable once returned.
type Error struct {
	Code     Code
	Service  string // interface name
	Method   string // Java method name, "" when no call was made
	Provider string // address of the last provider tried, "" when none was
	Attempts int    // providers tried
	Sent     bool   // some byte of the last request may have reached the provider
	Elapsed  time.Duration
	Retry    Retry  // what the cluster may do about it
	Detail   string // what happened, with values and remedy
	Cause    error  // *RemoteError, *NoProviderError, a net error, ctx.Err() …
}

// Errorf returns an Error of the code with a formatted detail. %w sets the cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Detail: err.Error(), Cause: errors.Unwrap(err)}
}

// Error returns one line: what failed, where, how far it got and why.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("gofer: ")
	if e.Service != "" {
		b.WriteString(e.Service)
		if e.Method != "" {
			b.WriteString("." + e.Method)
		}
		if e.Provider != "" {
			fmt.Fprintf(&b, " at %s", e.Provider)
		}
		b.WriteString(": ")
	}
	detail := e.Detail
	if detail == "" && e.Cause != nil {
		detail = e.Cause.Error()
	}
	switch code := e.Code.Error(); {
	case detail == "":
		b.WriteString(code)
	case strings.HasPrefix(detail, code): // says it itself
		b.WriteString(detail)
	default:
		b.WriteString(code + ": " + detail)
	}
	if e.Attempts > 0 {
		sent := "not sent"
		if e.Sent {
			sent = "sent"
		}
		fmt.Fprintf(&b, " (attempts: %d, last one %s, %s)", e.Attempts, sent, e.Elapsed.Round(time.Microsecond))
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is the error's code.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

// RemoteError is an exception that the service method threw. Errors.As finds it
// in every error of a call that ended with one.
type RemoteError struct {
	Class   string         // Java class, "" when the provider sent a bare text (B152)
	Message string         // detailMessage
	Fields  map[string]any // the exception's own fields (B148)
	Stack   []string       // Java stack trace, outermost call last; may be empty
	Cause   *RemoteError   // nil for none; never cyclic (B150)
	// Value is the Go value of a registered exception type, nil otherwise.
	Value any
}

// Error returns "class: message".
func (e *RemoteError) Error() string {
	switch {
	case e.Class == "":
		return e.Message
	case e.Message == "":
		return e.Class
	}
	return e.Class + ": " + e.Message
}

// Unwrap returns the Java cause, or a registered value that is an error.
func (e *RemoteError) Unwrap() []error {
	var errs []error
	if err, ok := e.Value.(error); ok {
		errs = append(errs, err)
	}
	if e.Cause != nil {
		errs = append(errs, e.Cause)
	}
	return errs
}
