// Package filter holds Dubbo's consumer filters and the chain that they form.
//
// A [Filter] stands before an invoker and sees every call that passes: it may
// read and change the [protocol.Invocation], answer in place of the invoker, look
// at the outcome. It works at one of two levels, or at both:
//
//   - per call, around the cluster: once for each call of the user, whatever the
//     number of retries (Dubbo 3's cluster filters),
//   - per attempt, around each provider: once for each provider that is tried.
//
// Which filters a reference has, and in what order, says its parameter
// "reference.filter" in Dubbo's syntax, see [NewChain]. [Builtin] names the ones
// that come with gofer; a client may add its own.
//
// Innermost of all is the active limit, always: it is the one place that counts
// calls ([protocol.Status]), with or without "actives", so that balancers see
// them (F2).
//
// A filter of one's own is a function:
//
//	func timing(cfg filter.Config) (filter.Pair, error) {
//		return filter.Pair{Call: func(next protocol.Invoker) protocol.Invoker {
//			return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
//				res, err := next.Invoke(ctx, inv)
//				cfg.Logger.Info("call", zap.String("method", inv.Method.Name), zap.Duration("took", time.Since(inv.Start)))
//				return res, err
//			})
//		}}, nil
//	}
//
// To answer in place of the invoker, a filter does not call next and returns a
// result of its own, or one that it has kept of another call:
//
//	return &protocol.Result{Value: "mine"}, nil
//
// Where the call ends the value goes to whatever the caller wants it in, if its Go
// type can be assigned to that; else the call fails with ErrSerialization, which
// names both types. Null, or no Value, is Java's null. To return neither a result
// nor an error is an error. What must not be done is to set Value in the result of
// the invocation itself and return that: Value is not looked at there when the
// caller wants a Go type (Target).
//
// An error that is no [*protocol.Error] comes out of the call as one with
// ErrUnknown that wraps it. In an attempt it is retried as "retries" says; a filter
// that refuses calls for good returns one with Retry set to RetryNever.
package filter
