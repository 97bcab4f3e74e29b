package filter

import (
	"context"
	"strconv"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// ConsumerContext is what is left of Dubbo's ConsumerContextFilter: what a call
// tells about its caller that differs from call to call.
//
//   - A call without a tag has the reference's, parameter dubbo.tag.
//   - _TO is the time that is left of the attempt, in ms, where the parameter
//     enable-timeout-countdown (method level, default false) is true: the provider
//     bounds its own further calls by it.
//
// The rest of Java's filter has other places: remote.application never changes and
// is encoded once by the wire, which also sends the chosen provider's token (B069);
// the attachments of a context are put into the invocation by the front door, for
// all attempts (B065); a deadline that has passed ends the call in the cluster.
func ConsumerContext(cfg Config) (Pair, error) {
	p := Pair{Attempt: func(next protocol.Invoker) protocol.Invoker { return &countdown{next} }}
	if tag := cfg.Reference.Param("dubbo.tag"); tag != "" {
		p.Call = func(next protocol.Invoker) protocol.Invoker { return &tagged{next, tag} }
	}
	return p, nil
}

// tagged gives calls the reference's tag.
type tagged struct {
	next protocol.Invoker
	tag  string
}

func (f *tagged) Invoke(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	if inv.Tag == "" {
		inv.Tag = f.tag
	}
	return f.next.Invoke(ctx, inv)
}

// countdown sends the time that is left, which differs from attempt to attempt.
type countdown struct{ next protocol.Invoker }

func (f *countdown) Invoke(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	if inv.Node.Method(inv.Method.Slot).TimeoutCountdown {
		left := max(1, time.Until(inv.Deadline).Milliseconds())
		inv.Attach("_TO", strconv.FormatInt(left, 10))
	}
	return f.next.Invoke(ctx, inv)
}
