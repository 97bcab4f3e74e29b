package protocol

import (
	"errors"
	"slices"
	"time"
)

// Observer learns from the attempts of a reference's calls: a load balancer that
// looks at more than the calls under way, or who takes failing providers out. It
// is called on the caller's goroutine, so it must not block, and concurrently. If it
// panics, the others learn of the attempt all the same, and the call fails; a load
// balancer's panic is logged, and harms no call.
//
// What it knows about a provider it keeps with [Life.State]: that ends with the
// provider's life, and is dropped with the node.
type Observer interface {
	// Begun is called when an attempt was given its slot at inv.Node and is about to
	// be sent. What it attaches belongs to this attempt alone.
	Begun(inv *Invocation, life *Life)
	// Ended is called exactly once for each Begun, on every path, before the caller
	// sees the result. The attachments of the answer, if they were asked for (see
	// [Result.Lend]), are there for all observers, so nobody removes any.
	Ended(inv *Invocation, o Outcome)
}

// Outcome is how an attempt ended.
type Outcome struct {
	Life    *Life         // of the provider, the one it began in
	Elapsed time.Duration // since [Invocation.Begun]
	Verdict Verdict
	Err     error // nil when the provider answered with a value
}

// Verdict says what the end of an attempt tells about the provider.
type Verdict uint8

// The verdicts.
const (
	// Succeeded: the provider has answered, with a value or a business exception.
	Succeeded Verdict = iota
	// Failed: the connection or the provider failed, or refused the call for a limit
	// of its own. How fast that was says nothing good (F4).
	Failed
	// TimedOut: no answer within the deadline.
	TimedOut
	// Neutral: it tells nothing: the caller cancelled, or the call itself was bad. See also
	// [CanceledLate].
	Neutral
	// Useless: the provider has answered that it could not do anything with the call, or
	// with an answer that nobody can read. It need not be ill for that, for the call may
	// fail everywhere; but how fast that was says nothing good (F4).
	Useless
)

var verdictText = [...]string{
	Succeeded: "succeeded", Failed: "failed", TimedOut: "timed out", Neutral: "neutral", Useless: "answered uselessly",
}

// String returns the verdict in words.
func (v Verdict) String() string {
	if int(v) < len(verdictText) {
		return verdictText[v]
	}
	return "unknown"
}

// Judge returns the verdict on an attempt that ended with err, nil for a value.
func Judge(err error) Verdict {
	if err == nil {
		return Succeeded
	}
	var e *Error
	var code Code
	if errors.As(err, &e) {
		code = e.Code
	} else {
		code = codeOf(err)
	}
	switch code {
	case ErrBusiness:
		return Succeeded
	case ErrTimeout:
		return TimedOut
	case ErrCanceled, ErrExpired, ErrClosed, ErrBadArgument:
		return Neutral
	case ErrSerialization:
		return uselessIf(e)
	case ErrNotFound: // for good: the call names what this provider does not have
		if e.Retry == RetryNever {
			return uselessIf(e)
		}
	}
	return Failed
}

// uselessIf returns the verdict on a call that cannot be served as it is: who was not
// asked has not answered.
func uselessIf(e *Error) Verdict {
	if e != nil && e.Sent {
		return Useless
	}
	return Neutral
}

// Observe adds an observer of all attempts at the nodes of this reference. An
// attempt under way may end without it having begun for the observer; who is added
// twice is told once.
func (t *MethodTable) Observe(o Observer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var old []Observer
	if p := t.observers.Load(); p != nil {
		old = *p
	}
	if slices.Contains(old, o) {
		return
	}
	next := append(slices.Clone(old), o)
	t.observers.Store(&next)
}

// Observers returns who learns from the attempts at this node. The active limit
// filter calls them; the caller must not change the slice.
func (n *Node) Observers() []Observer {
	if p := n.methods.observers.Load(); p != nil {
		return *p
	}
	return nil
}
