package suite

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gofer-rpc/gofer"
)

// refusalSteps are about what providers refuse: unknown services and methods, wrong
// tokens, limits.
func refusalSteps() []step {
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
	return []step{
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
	}
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
