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

	pick   pick
	waiter *waiter // its place in a [Queue], nil for none
	pairs  [4]pair // attachments of this call; the fifth goes to more
	n      int
	base   int // from here on they belong to the attempt under way, if one is
	trying bool
	sent   bool
	more   []pair
}

type pair struct{ key, value string }

// Attach sets an attachment of this call or, while an attempt is under way, of
// this attempt alone: a retry at another provider does not carry it (B069). Values
// are strings: every Dubbo version reads those. An existing key is replaced; a
// call's attachment comes back when the attempt that replaced it has ended.
func (inv *Invocation) Attach(key, value string) {
	for i := inv.base; i < inv.n; i++ {
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
	for i := inv.n - 1; i >= 0; i-- {
		if p := inv.pair(i); p.key == key {
			return p.value
		}
	}
	return ""
}

// AttachmentCount returns the number of attachments.
func (inv *Invocation) AttachmentCount() int {
	n := inv.n
	for i := range inv.base {
		if inv.replaced(i) {
			n--
		}
	}
	return n
}

// Attachments iterates over the attachments in the order they were set.
func (inv *Invocation) Attachments() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i := range inv.n {
			if p := inv.pair(i); !inv.replaced(i) && !yield(p.key, p.value) {
				return
			}
		}
	}
}

// replaced reports whether the attempt has an attachment of the same key.
func (inv *Invocation) replaced(i int) bool {
	if i >= inv.base {
		return false
	}
	key := inv.pair(i).key
	for j := inv.base; j < inv.n; j++ {
		if inv.pair(j).key == key {
			return true
		}
	}
	return false
}

func (inv *Invocation) pair(i int) *pair {
	if i < len(inv.pairs) {
		return &inv.pairs[i]
	}
	return &inv.more[i-len(inv.pairs)]
}

// StartCall forgets what the cluster noted in an earlier call with this
// invocation. The cluster calls it.
func (inv *Invocation) StartCall() {
	inv.Attempt, inv.Node, inv.sent = 0, nil, false
	if inv.pick.n > 0 || inv.pick.relax != 0 {
		inv.pick = pick{}
	}
}

// Sent reports whether an attempt of the call has got past all filters of a provider:
// from there on it may have been sent.
func (inv *Invocation) Sent() bool { return inv.sent }

// StartAttempt begins the next attempt, at n: from now on attachments belong to
// it, and the result of the attempt before is forgotten. The cluster calls it, and
// [Invocation.EndAttempt] whatever happens.
func (inv *Invocation) StartAttempt(n *Node, begun, deadline time.Time) {
	inv.Node, inv.Begun, inv.Deadline = n, begun, deadline
	inv.Attempt++
	inv.base, inv.trying = inv.n, true
	if inv.Attempt > 1 {
		inv.Result.Reset()
	}
}

// EndAttempt takes back the attachments of the attempt, if one is under way.
func (inv *Invocation) EndAttempt() {
	if !inv.trying {
		return
	}
	if inv.n > inv.base {
		inv.n = inv.base
		inv.more = inv.more[:max(0, inv.n-len(inv.pairs))]
	}
	inv.base, inv.trying = 0, false
}

// Context derives a context that ends at the attempt's deadline. The wire does
// not need it (it reads Deadline); a filter that waits for something else does.
func (inv *Invocation) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	if inv.Deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, inv.Deadline)
}
