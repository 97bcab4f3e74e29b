package suite

import (
	"context"
	"fmt"
	"strings"

	"github.com/gofer-rpc/gofer"
)

// step is one step of the protocol suite: something to do at the provider of a stage,
// and what must come of it.
type step struct {
	row, name string
	do        func(ctx context.Context, s *Stage) Outcome
	expect    []expectation
}

// expectation says what is wrong with an outcome; "" is nothing.
type expectation func(Outcome) string

// is expects a fact to be a text.
func is(fact, want string) expectation {
	return func(o Outcome) string {
		if o[fact] == want {
			return ""
		}
		return fmt.Sprintf("%s is not %s: %s", fact, want, o)
	}
}

// has expects a fact to contain a text.
func has(fact, want string) expectation {
	return func(o Outcome) string {
		if strings.Contains(o[fact], want) {
			return ""
		}
		return fmt.Sprintf("%s has no %q: %s", fact, want, o)
	}
}

// fails expects a failed call of a code after one attempt, sent or not.
func fails(code gofer.Code, sent bool) []expectation {
	return []expectation{is(Code, code.Error()), is(Sent, fmt.Sprint(sent)), is(Attempts, "1")}
}

// throws expects an exception.
func throws(class, message string) []expectation {
	return append(fails(gofer.ErrBusiness, true), is(Class, class), is(Message, message))
}

func (s step) observe(ctx context.Context, stage *Stage) Observation {
	o := Observation{Row: s.row, Step: s.name, Outcome: s.do(ctx, stage)}
	for _, e := range s.expect {
		if o.Wrong = e(o.Outcome); o.Wrong != "" {
			break
		}
	}
	return o
}

// nameOf is the name of a method: the row of its steps.
func nameOf(signature string) string {
	name, _, _ := strings.Cut(signature, "(")
	return name
}

// naming shows a call in the name of its step.
func naming[T any](signature string, args []any) string {
	var b strings.Builder
	for _, a := range args {
		fmt.Fprintf(&b, " %s", render(a))
	}
	return fmt.Sprintf("%s%s as %s", signature, &b, strings.TrimPrefix(fmt.Sprintf("%T", (*T)(nil)), "*"))
}

// call makes a call at a reference, with the attachments of the answer as a fact.
func call[T any](ctx context.Context, r *gofer.Reference, signature string, args ...any) Outcome {
	ctx, reply := gofer.WithReply(ctx)
	value, err := gofer.Call[T](ctx, r, signature, args...)
	return ended(value, err, reply)
}

// ended is the outcome of a call.
func ended[T any](value T, err error, reply *gofer.Reply) Outcome {
	o := succeeded(value)
	if err != nil {
		o = failed(err)
	}
	if all := reply.Attachments(); len(all) > 0 {
		o[Attachments] = render(all)
	}
	return o
}

// answers makes a step of a call that must answer a value. It is made twice, the
// second time for the value as it comes.
func answers[T any](signature string, want T, args ...any) step {
	return step{nameOf(signature), naming[T](signature, args), func(ctx context.Context, s *Stage) Outcome {
		o := call[T](ctx, s.open(ctx), signature, args...)
		natural := call[any](ctx, s.open(ctx), signature, args...)
		if o[Natural] = natural[Value]; natural[Code] != "" {
			o[Natural] = natural.String()
		}
		return o
	}, []expectation{is(Value, render(want))}}
}

// echoes makes a step of a method that answers its argument: want, as a T.
func echoes[T any](signature string, arg any, want T) step { return answers(signature, want, arg) }

// ends makes a step of a call at the open provider.
func ends[T any](signature string, expect []expectation, args ...any) step {
	return step{nameOf(signature), naming[T](signature, args), func(ctx context.Context, s *Stage) Outcome {
		return call[T](ctx, s.open(ctx), signature, args...)
	}, expect}
}

// acts makes a step of anything.
func acts(row, name string, do func(ctx context.Context, s *Stage) Outcome, expect ...expectation) step {
	return step{row, name, do, expect}
}
