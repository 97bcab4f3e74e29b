package gofer

import "github.com/gofer-rpc/gofer/protocol"

// Error is what every failed call returns: what failed, at which provider, after
// how many attempts, whether anything was sent, and the cause. Use errors.Is with
// a code ([ErrTimeout] …), context.Canceled or context.DeadlineExceeded, and
// errors.As with *[RemoteError] for a Java exception or *[NoProviderError] for
// the way the providers were lost.
type Error = protocol.Error

// RemoteError is an exception that the Java method threw.
type RemoteError = protocol.RemoteError

// NoProviderError has the funnel: registered → enabled → routed → available.
type NoProviderError = protocol.NoProviderError

// Code classifies a failed call; it is itself an error for errors.Is.
type Code = protocol.Code

// The codes of failed calls.
const (
	ErrUnknown       = protocol.ErrUnknown
	ErrNetwork       = protocol.ErrNetwork
	ErrTimeout       = protocol.ErrTimeout
	ErrBusiness      = protocol.ErrBusiness
	ErrForbidden     = protocol.ErrForbidden
	ErrSerialization = protocol.ErrSerialization
	ErrNoProvider    = protocol.ErrNoProvider
	ErrLimitExceeded = protocol.ErrLimitExceeded
	ErrExpired       = protocol.ErrExpired
	ErrCanceled      = protocol.ErrCanceled
	ErrClosed        = protocol.ErrClosed
	ErrBadArgument   = protocol.ErrBadArgument
	ErrNotFound      = protocol.ErrNotFound
)
