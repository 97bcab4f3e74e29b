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

// stateSteps are about void methods, what a provider keeps, and large answers.
func stateSteps() []step {
	const store, load = "store(java.lang.String,java.lang.String)", "load(java.lang.String)"
	long := interop.Text(2_000_000)
	return []step{
		answers("nothing()", struct{}{}),
		answers(store, struct{}{}, "suite", "kept"),
		answers(load, "kept", "suite"),
		answers[*string](load, nil, "never stored"),
		answers("text(int)", long, int32(2_000_000)),
		answers("hello(java.lang.String)", "", "Ada").greeting(),
	}
}

// greeting expects the provider's name in the answer.
func (s step) greeting() step {
	do := s.do
	s.do = func(ctx context.Context, stage *Stage) Outcome {
		o := do(ctx, stage)
		o["right"] = "no"
		if o[Value] == render("hello Ada from "+stage.Open.Name) {
			o["right"] = "yes"
		}
		return o
	}
	s.expect = []expectation{is("right", "yes")}
	return s
}

// genericSteps call without any Go types.
func genericSteps() []step {
	generic := func(name string, expect []expectation, signature string, args ...any) step {
		return acts("$invoke", name, func(ctx context.Context, s *Stage) Outcome {
			ctx, reply := gofer.WithReply(ctx)
			v, err := s.open(ctx).Generic(ctx, signature, args...)
			return ended(v, err, reply)
		}, expect...)
	}
	of := func(e ...expectation) []expectation { return e }
	sent := of(is(Attempts, "1"), is(Sent, "true"))
	// The texts are complete: Go's of such an object has "" where Java's has null.
	sku := map[string]any{"class": "org.gofer.interop.Item", "sku": "s", "name": "n", "quantity": int32(2)}
	return []step{
		generic("a string", of(has(Value, `"hello Ada from `)), "hello(java.lang.String)", "Ada"),
		generic("by name alone", of(has(Value, `"class": "org.gofer.interop.Order"`), has(Value, `"id": int64 3`), has(Value, `"color": "GREEN"`)), "findOrder", int64(3)),
		generic("an object as a map", of(has(Value, `"sku": "s"`), has(Value, `"quantity": int32 2`)), "echoItem(org.gofer.interop.Item)", sku),
		generic("objects in a list", of(has(Value, `"sku": "s"`)), "echoItemList(java.util.List)", []any{sku}),
		generic("an array", of(is(Value, "[]int32 [1, 2]")), "echoInts(int[])", []int32{1, 2}),
		generic("a constant by its name", of(is(Value, `"BLUE"`)), "echoColor(org.gofer.interop.Color)", "BLUE"),
		// Before a call that has no types either because it has no arguments: Java 2.6 and 2.7
		// remember what they found for it, and take it for this one.
		generic("several methods of a name", append(sent, has(Text, "Not unique method")), "overload", int32(1)),
		generic("no arguments", of(is(Value, `"overload()"`)), "overload()"),
		generic("an overload", of(is(Value, `"overload(long)"`)), "overload(long)", int64(1)),
		generic("void", of(is(Value, "null")), "nothing()"),
		generic("a declared exception", append(fails(gofer.ErrBusiness, true), is(Class, "org.gofer.interop.OrderException"), has(Message, "no order -1")), findOrder, int64(-1)),
		generic("another exception", append(fails(gofer.ErrBusiness, true), is(Class, "java.lang.IllegalStateException"), has(Message, "raised state")), "raise(java.lang.String)", "state"),
		generic("a method that nobody has", sent, "nobody(int)", int32(1)),
	}
}
