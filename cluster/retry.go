package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// maxTold is the number of failed attempts that an error tells of one by one.
const maxTold = 6

// Retry goes on with a call whose first attempt ended with err: it attempts the
// call until it succeeds, until trying again makes no sense, or until it was
// retried that many times. Attempts in which provably nothing was executed are
// free as long as there is a provider that was not tried.
//
// The error is complete: it tells of all attempts, and its cause has the last
// failure and the first.
func (c *Invoker) Retry(ctx context.Context, inv *protocol.Invocation, err error, retries int) (*protocol.Result, error) {
	var t trail
	for {
		e := protocol.AsError(err)
		t.add(e, inv)
		if !c.again(ctx, inv, e, &t, retries) {
			return nil, t.end(inv)
		}
		var res *protocol.Result
		if res, err = c.Attempt(ctx, inv); err == nil {
			return res, nil
		}
	}
}

// again decides about another attempt after a failure.
func (c *Invoker) again(ctx context.Context, inv *protocol.Invocation, e *protocol.Error, t *trail, retries int) bool {
	switch {
	case over(ctx), e.Retry == protocol.RetryNever, neverRetried(e.Code):
		return false
	case e.Retry == protocol.RetryAlways && t.free+1 < c.directory.List().Candidates.Len() && c.untried(inv):
		t.free++
		return true
	}
	t.charged++
	return t.charged <= retries
}

// over reports whether the context has ended, or is about to: its timer may be
// later than the one of the attempt.
func over(ctx context.Context) bool {
	d, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(d)
}

// neverRetried are codes whose meaning rules another attempt out.
func neverRetried(code protocol.Code) bool {
	return code == protocol.ErrBusiness || code == protocol.ErrCanceled || code == protocol.ErrBadArgument
}

// untried reports whether a ready provider was not tried by this call.
func (c *Invoker) untried(inv *protocol.Invocation) bool {
	left, _ := c.route(c.directory.List(), inv)
	for _, n := range left.Nodes() {
		if n.State() == protocol.Ready && !inv.Tried(n) {
			return true
		}
	}
	return false
}

// trail is what a call went through.
type trail struct {
	attempts      []attempt
	reached       int // how many got to a provider
	free, charged int
}

// attempt is a failed one. provider is "" when none was found.
type attempt struct {
	provider string
	err      *protocol.Error
}

func (t *trail) add(e *protocol.Error, inv *protocol.Invocation) {
	a := attempt{err: e}
	if inv.Attempt > t.reached {
		t.reached = inv.Attempt
		a.provider = inv.Node.Address()
	}
	t.attempts = append(t.attempts, a)
}

// end makes the error of the call: that of the last attempt, or of the one before
// if the last found nobody to ask.
func (t *trail) end(inv *protocol.Invocation) error {
	n := len(t.attempts)
	last := t.attempts[n-1]
	if n == 1 {
		return complete(last.err, inv, last.provider)
	}
	chain := []error{last.err, t.attempts[0].err}
	if last.provider == "" && last.err.Code == protocol.ErrNoProvider {
		last = t.attempts[n-2]
		chain = slices.Insert(chain, 0, error(last.err))
	}
	e := *last.err
	e.Detail, e.Cause = t.text(), errors.Join(chain...)
	for _, a := range t.attempts {
		e.Sent = e.Sent || a.err.Sent
	}
	return complete(&e, inv, last.provider)
}

func (t *trail) text() string {
	var b strings.Builder
	b.WriteString("tried ")
	for i, a := range t.attempts {
		switch {
		case i >= maxTold-1 && i < len(t.attempts)-1:
			if i == maxTold-1 {
				fmt.Fprintf(&b, ", … %d more …", len(t.attempts)-maxTold)
			}
			continue
		case a.provider == "":
			fmt.Fprintf(&b, ", then %s", brief(a.err))
			continue
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%s)", a.provider, brief(a.err))
	}
	return b.String()
}

// brief is the code and the detail of an error, without what the whole says anyway.
func brief(e *protocol.Error) string {
	detail := e.Detail
	if detail == "" && e.Cause != nil {
		detail = e.Cause.Error()
	}
	if detail == "" {
		return e.Code.Error()
	}
	return e.Code.Error() + ": " + detail
}

// complete fills in what only the cluster knows, in a copy.
func complete(e *protocol.Error, inv *protocol.Invocation, provider string) *protocol.Error {
	out := *e
	out.Service, out.Method, out.Provider = inv.Method.Service, inv.Method.Name, provider
	out.Attempts, out.Elapsed = inv.Attempt, time.Since(inv.Start)
	return &out
}
