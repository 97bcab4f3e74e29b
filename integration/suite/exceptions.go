package suite

import (
	"context"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/interop"
)

const findOrder = "findOrder(long)"

// exceptionSteps end with exceptions: one of the signature with fields and cause, and
// whatever else a method throws, also where the provider cannot send the object
// (status 50).
func exceptionSteps(dubbo string) []step {
	const illegalState = "java.lang.IllegalStateException"
	raised := func(kind, class string, more ...expectation) step {
		return ends[string]("raise(java.lang.String)", append(throws(class, "raised "+kind), more...), kind)
	}
	all := []step{
		acts(nameOf(findOrder), "one that is there", func(ctx context.Context, s *Stage) Outcome {
			return call[*interop.Order](ctx, s.open(ctx), findOrder, int64(5))
		}, has(Value, `City: "Springfield"`), has(Value, "Color: GREEN"), has(Value, "Total: 12.50"), has(Value, "ID: 5")),
		ends[*interop.Order](findOrder, append(throws("org.gofer.interop.OrderException", "no order -1"),
			has(Fields, `"code": int32 404`), has(Fields, `"orderId": int64 -1`), has(Fields, `"unknown", "never was"`),
			is(Cause, "java.lang.IllegalArgumentException: id -1 null"), is(Stack, "true")), int64(-1)),
		raised("state", illegalState, is(Stack, "true")),
		raised("argument", "java.lang.IllegalArgumentException"),
		raised("arithmetic", "java.lang.ArithmeticException"),
		raised("null", "java.lang.NullPointerException"),
		raised("unsupported", "java.lang.UnsupportedOperationException"),
		raised("overflow", "java.lang.StackOverflowError"),
		raised("error", "java.lang.Error"),
		answers("raise(java.lang.String)", "no kind", "no kind"),
		// What is in nobody's reach the provider wraps, with the stack trace as message.
		ends[string]("raise(java.lang.String)", append(fails(gofer.ErrBusiness, true),
			is(Class, "java.lang.RuntimeException"), has(Message, "raised foreign")), "foreign"),
	}
	if dubbo >= "3.3" { // status 50
		return append(all, raised("unlisted", "org.gofer.interop.UnlistedException"), raised("caused", illegalState))
	}
	return append(all,
		raised("unlisted", "org.gofer.interop.UnlistedException", has(Fields, `"code": int32 7`)),
		raised("caused", illegalState, has(Cause, "java.io.IOException: disk")))
}

// unsendableSteps have results that the provider cannot send: executed, and a clear
// failure. To 2.6, which knows no asynchronous methods, a future is such a result.
func unsendableSteps(dubbo string) []step {
	unsendable := func(signature, class string, args ...any) step {
		return ends[any](signature, []expectation{is(Attempts, "1"), is(Sent, "true"), has(Text, class)}, args...)
	}
	all := []step{unsendable("optional(java.lang.String)", "java.util.Optional", "x")}
	const future, failedFuture = "future(java.lang.String,long)", "failedFuture(java.lang.String)"
	if dubbo < "2.7" {
		const class = "java.util.concurrent.CompletableFuture"
		return append(all, unsendable(future, class, "later", int64(50)), unsendable(failedFuture, class, "broken"))
	}
	return append(all,
		answers(future, "later", "later", int64(50)),
		ends[string](failedFuture, throws("java.lang.IllegalStateException", "broken"), "broken"))
}
