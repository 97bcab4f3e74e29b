package filter

import (
	"context"
	"strconv"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// ConsumerContext is Dubbo's ConsumerContextFilter: it tells the provider who
// calls and how.
//
//   - remote.application is the name of the calling application;
//   - dubbo.tag is the request's tag, when there is one;
//   - _TO is the time that is left of the attempt, in ms, when the parameter
//     enable-timeout-countdown (method level, default false) is true: the provider
//     bounds its own further calls by it.
//
// What Java's filter does besides has other places: the attachments of a context
// are put into the invocation by the front door, on every attempt (B065), and a
// deadline that has passed ends the call in the cluster, unsent.
func ConsumerContext(cfg Config) (Pair, error) {
	return Pair{
		Call: func(next protocol.Invoker) protocol.Invoker {
			return &consumerContext{next: next, application: cfg.Application}
		},
		Attempt: func(next protocol.Invoker) protocol.Invoker { return &countdown{next} },
	}, nil
}

type consumerContext struct {
	next        protocol.Invoker
	application string
}

func (f *consumerContext) Invoke(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	if f.application != "" {
		inv.Attach("remote.application", f.application)
	}
	if inv.Tag != "" {
		inv.Attach("dubbo.tag", inv.Tag)
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
