package protocol

import (
	"context"
	"iter"
	"time"
)

// Invocation is one call. The front door makes it, the cluster sets the attempt's
// fields before each attempt, filters may read everything and add attachments.
// One goroutine at a time uses it. It is never pooled: filters may keep it.
type Invocation struct {
	Method    *Method
	Arguments []any
	OneWay    bool // no answer is expected (return=false)

	// Start is when the user's call began.
	Start time.Time
	// Timeout of this call set by the caller (context value); 0: the provider
	// view's parameter "timeout" decides.
	Timeout time.Duration
	// Tag is the request's dubbo.tag, "" for none.
	Tag string

	// The attempt under way.
	Node     *Node     // the chosen provider
	Attempt  int       // from 1
	Begun    time.Time // when this attempt began
	Deadline time.Time // end of this attempt, waiting for a slot included

	// ArgumentText returns the text that Java's String.valueOf gives for an
	// argument, for hashing. Set by the front door, which knows the codec; nil in
	// tests that do not hash.
	ArgumentText func(argument any) string

	// Result of the latest attempt.
	Result Result

	pick  pick
	pairs [4]pair // attachments of this call; the fifth goes to more
	n     int
	more  []pair
}

type pair struct{ key, value string }

// Attach sets an attachment of this call. Values are strings: every Dubbo version
// reads those. An existing key is replaced.
func (inv *Invocation) Attach(key, value string) {
	for i := range inv.n {
		if p := inv.pair(i); p.key == key {
			p.value = value
			return
		}
	}
	if inv.n < len(inv.pairs) {
		inv.pairs[inv.n] = pair{key, value}
	} else {
		inv.more = append(inv.more, pair{key, value})
	}
	inv.n++
}

// Attachment returns an attachment of this call, "" when there is none.
func (inv *Invocation) Attachment(key string) string {
	for i := range inv.n {
		if p := inv.pair(i); p.key == key {
			return p.value
		}
	}
	return ""
}

// AttachmentCount returns the number of attachments.
func (inv *Invocation) AttachmentCount() int { return inv.n }

// Attachments iterates over the attachments in the order they were set.
func (inv *Invocation) Attachments() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i := range inv.n {
			if p := inv.pair(i); !yield(p.key, p.value) {
				return
			}
		}
	}
}

func (inv *Invocation) pair(i int) *pair {
	if i < len(inv.pairs) {
		return &inv.pairs[i]
	}
	return &inv.more[i-len(inv.pairs)]
}

// Context derives a context that ends at the attempt's deadline. The wire does
// not need it (it reads Deadline); a filter that waits for something else does.
func (inv *Invocation) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	if inv.Deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, inv.Deadline)
}
