package suite

import (
	"context"

	"github.com/gofer-rpc/gofer"
)

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
		generic("a method that nobody has", fails(gofer.ErrNotFound, true), "nobody(int)", int32(1)),
	}
}
