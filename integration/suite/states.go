package suite

import (
	"context"
	"fmt"
	"strings"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/interop"
)

const hello = "hello(java.lang.String)"

// stateSteps are about void methods, what a provider keeps, and large answers.
func stateSteps(dubbo string) []step {
	const store, load = "store(java.lang.String,java.lang.String)", "load(java.lang.String)"
	long := interop.Text(2_000_000)
	return []step{
		answers("nothing()", struct{}{}),
		answers(store, struct{}{}, "suite", "kept"),
		answers(load, "kept", "suite"),
		answers[*string](load, nil, "never stored"),
		answers("text(int)", long, int32(2_000_000)),
		answers(hello, "hello Ada from "+openName(dubbo), "Ada"),
	}
}

// countingSteps are about what a provider says of itself.
func countingSteps(dubbo string) []step {
	var all []step
	const failEvery = "failEvery(int)"
	for i := 1; i <= 6; i++ {
		expect := []expectation{is(Value, fmt.Sprint(i))}
		if i%3 == 0 {
			expect = append(fails(gofer.ErrBusiness, true), is(Class, "java.lang.IllegalStateException"))
		}
		all = append(all, acts(nameOf(failEvery), fmt.Sprint("call ", i), func(ctx context.Context, s *Stage) Outcome {
			return call[int64](ctx, s.strict(ctx), failEvery, int32(3))
		}, expect...))
	}
	about := func(name string, expect ...expectation) step {
		return acts("whoAmI", name, func(ctx context.Context, s *Stage) Outcome {
			who, err := gofer.Call[*interop.ProviderInfo](ctx, s.strict(ctx), "whoAmI()")
			if err != nil {
				return failed(err)
			}
			who.Port, who.StartedAt = 0, 0
			return succeeded(who)
		}, append(expect, has(Value, `Name: "`+strictName(dubbo)+`"`), has(Value, `Dubbo: "`+dubbo+`"`))...)
	}
	return append(all,
		about("after six calls", has(Value, "Calls: 6"), has(Value, "Peak: 1"), has(Value, `{"failEvery(int)": 6}`)),
		acts("reset", "reset()", func(ctx context.Context, s *Stage) Outcome {
			return call[struct{}](ctx, s.strict(ctx), "reset()")
		}, is(Value, "{}")),
		about("after a reset"))
}

// attachmentSteps are about attachments in both directions.
func attachmentSteps(dubbo string) []step {
	const method = "attachments(java.util.Map)"
	expect := []expectation{has(Value, `"trace": "abc"`), has(Value, `"remote.application": "gofer-test"`),
		has(Attachments, `"shard": "7"`), has(Attachments, `"dubbo": "2.0.2"`)}
	if dubbo < "2.7" { // later ones hide it from the method
		expect = append(expect, has(Value, `"dubbo.tag": "gray"`))
	}
	hasNone := func(o Outcome) string {
		if strings.Contains(o[Value], "trace") || strings.Contains(o[Attachments], "shard") {
			return "an attachment leaks into the next call: " + o.String()
		}
		return ""
	}
	return []step{
		acts(nameOf(method), "both ways", func(ctx context.Context, s *Stage) Outcome {
			ctx = gofer.WithTag(gofer.WithAttachment(ctx, "trace", "abc"), "gray")
			return call[map[string]string](ctx, s.open(ctx), method, map[string]string{"shard": "7"})
		}, expect...),
		acts(nameOf(method), "the next call", func(ctx context.Context, s *Stage) Outcome {
			return call[map[string]string](ctx, s.open(ctx), method, map[string]string{})
		}, hasNone),
	}
}
