package suite

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/interop"
)

const hello = "hello(java.lang.String)"

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

// refusalSteps are about what providers refuse: unknown services and methods, wrong
// tokens, limits.
func refusalSteps(dubbo string) []step {
	refused := func(row, name string, reference func(s *Stage) string, expect []expectation, signature string, args ...any) step {
		return acts(row, name, func(ctx context.Context, s *Stage) Outcome {
			return call[string](ctx, s.refer(ctx, reference(s)), signature, args...)
		}, expect...)
	}
	strict := func(s *Stage) string { return s.Strict.Reference("timeout=20000&retries=0") }
	open := func(s *Stage) string { return s.Open.Reference("timeout=20000&retries=0") }
	wrongVersion := func(s *Stage) string { return s.Open.Direct("timeout=20000&retries=0&version=9.9.9") }
	wrongGroup := func(s *Stage) string { return s.Open.Direct("timeout=20000&retries=0&group=nobody") }
	sent := []expectation{is(Attempts, "1"), is(Sent, "true")}
	return slices.Concat(countingSteps(dubbo), []step{
		refused("token", "the provider's", strict, []expectation{has(Value, "hello Ada from ")}, hello, "Ada"),
		refused("token", "a wrong one", func(s *Stage) string { return s.Strict.Direct("token=wrong&timeout=20000&retries=0") },
			append(fails(gofer.ErrForbidden, true), hides(strictToken)), hello, "Ada"),
		refused("payload", "too large a request", strict, append(sent[:1:1], is(Sent, "false"), has(Text, strictPayload)), hello, strings.Repeat("x", 100_000)),
		refused("payload", "too large an answer", strict, sent, "text(int)", int32(150_000)),
		acts("executes", "four calls where one may run", func(ctx context.Context, s *Stage) Outcome {
			r := s.strict(ctx)
			return together(4, func() Outcome { return call[int64](ctx, r, slow, int64(600)) })
		}, limited("600")...),
		acts("threads", "more calls than threads", func(ctx context.Context, s *Stage) Outcome {
			r := s.open(ctx)
			return together(215, func() Outcome { return call[int64](ctx, r, slow, int64(1500)) })
		}, limited("1500")...),
		refused("unknown", "an overload that is not there", open, sent, "hello(int)", int32(1)),
		refused("unknown", "a method that nobody has", open, append(sent, has(Text, "inferred")), "noSuchMethod", "x"),
		refused("unknown", "another version", wrongVersion, append(sent, has(Text, "9.9.9")), hello, "Ada"),
		refused("unknown", "another group", wrongGroup, append(sent, has(Text, "nobody")), hello, "Ada"),
	})
}

// countingSteps are about what a provider says of itself.
func countingSteps(dubbo string) []step {
	var all []step
	const failEvery = "failEvery(int)"
	for i := 1; i <= 6; i++ {
		expect := []expectation{is(Value, string(rune('0'+i)))}
		if i%3 == 0 {
			expect = append(fails(gofer.ErrBusiness, true), is(Class, "java.lang.IllegalStateException"))
		}
		all = append(all, acts(nameOf(failEvery), "call "+string(rune('0'+i)), func(ctx context.Context, s *Stage) Outcome {
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

// hides expects a secret in no fact.
func hides(secret string) expectation {
	return func(o Outcome) string {
		if strings.Contains(o.String(), secret) {
			return "it shows a secret: " + o.String()
		}
		return ""
	}
}

// limited expects some calls to be served and others to be refused by a limit.
func limited(value string) []expectation {
	return []expectation{is("served", value), is(Code, gofer.ErrLimitExceeded.Error()), is(Attempts, "1"), is(Sent, "true")}
}

// together makes calls at the same time. How many of them are served is chance: the
// outcome is that of the refused ones, and the values of the served ones.
func together(n int, call func() Outcome) Outcome {
	outcomes := make([]Outcome, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { outcomes[i] = call() })
	}
	wg.Wait()
	served, texts := map[string]bool{}, map[string]bool{}
	o := Outcome{}
	for _, one := range outcomes {
		if one[Code] == "" {
			served[one[Value]] = true
			continue
		}
		texts[one[Text]] = true
		maps.Copy(o, one)
	}
	o["served"] = strings.Join(slices.Sorted(maps.Keys(served)), " ")
	o[Text] = strings.Join(slices.Sorted(maps.Keys(texts)), " | ")
	return o
}
