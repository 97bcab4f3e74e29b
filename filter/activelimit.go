package filter

import (
	"context"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// ActiveLimit is Dubbo's ActiveLimitFilter: the one place that counts the calls of
// a method at a provider and keeps them under "actives". It stands innermost in
// the chain of every provider, with or without a limit (F2).
//
// An attempt is counted from here until its outcome is known, whatever that is: an
// answer, an error, a timeout, a cancelled context, a panic (B102). A call that
// has begun ends exactly once, in the provider's life it began in, and one that
// never began never ends (F13): no error from further in, a limit exceeded there
// least of all, is taken for this filter's own refusal (B098, F12). How it ended is
// counted too ([protocol.Ending]).
//
// Observers of the reference ([protocol.MethodTable.Observe]) learn of each attempt
// from here, too.
//
// When the limit is reached the filter does not wait: it refuses, with
// [protocol.ErrLimitExceeded] and a [*SaturatedError] as the cause, and nothing is
// counted or sent. The cluster goes to another provider or lets the call wait in
// line (F15).
func ActiveLimit(next protocol.Invoker) protocol.Invoker { return &activeLimit{next} }

type activeLimit struct{ next protocol.Invoker }

// Invoke counts the attempt around the next invoker.
func (f *activeLimit) Invoke(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	node, slot := inv.Node, inv.Method.Slot
	life, observers := node.Life(), node.Observers()
	status := life.Status(slot)
	if limit := node.Method(slot).Actives; !status.Begin(limit) {
		return nil, refuse(inv, limit)
	}
	inv.Counted()
	begun := inv.Begun
	status.Entered(begun)
	end := protocol.Outcome{Life: life, Verdict: protocol.Neutral} // stays so when the next invoker panics
	told := 0
	defer func() {
		end.Elapsed = time.Since(begun)
		status.Left(begun)
		status.EndWith(protocol.EndingOf(inv, end), begun, end.Elapsed)
		node.Freed(slot)
		ended(observers[:told], inv, end)
	}()
	for _, o := range observers {
		told++
		o.Begun(inv, life)
	}
	res, err := f.next.Invoke(ctx, inv)
	end.Verdict, end.Err = protocol.Judge(err), err
	return res, err
}

// ended tells all observers of the end, those as well that come after one that panics,
// and then takes out of the answer what was only for them.
func ended(observers []protocol.Observer, inv *protocol.Invocation, end protocol.Outcome) {
	next := 0
	defer func() {
		if next < len(observers) {
			ended(observers[next:], inv, end)
			return
		}
		inv.Result.Return()
	}()
	for next < len(observers) {
		o := observers[next]
		next++
		o.Ended(inv, end)
	}
}

func refuse(inv *protocol.Invocation, limit int) error {
	cause := &protocol.SaturatedError{Node: inv.Node, Slot: inv.Method.Slot, Limit: limit}
	return &protocol.Error{
		Code: protocol.ErrLimitExceeded, Service: inv.Method.Service, Method: inv.Method.Name, Provider: inv.Node.Address(),
		Retry: protocol.RetryAlways, Cause: cause,
	}
}
