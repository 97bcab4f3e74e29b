package suite

import (
	"context"
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer"
)

const slow = "slow(long)"

// timeSteps are about timeouts, cancellation, late answers, and calls that want none.
func timeSteps() []step {
	impatient := func(ctx context.Context, s *Stage) *gofer.Reference {
		return s.refer(ctx, s.Open.Reference("timeout=20000&retries=0&slow.timeout=200"))
	}
	return []step{
		answers(slow, int64(20), int64(20)),
		acts(nameOf(slow), "the method's own timeout", func(ctx context.Context, s *Stage) Outcome {
			return call[int64](ctx, impatient(ctx, s), slow, int64(500))
		}, fails(gofer.ErrTimeout, true)...),
		acts(nameOf(slow), "cancelled", func(ctx context.Context, s *Stage) Outcome {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			r := impatient(ctx, s)
			time.AfterFunc(100*time.Millisecond, cancel)
			return call[int64](ctx, r, slow, int64(500))
		}, fails(gofer.ErrCanceled, true)...),
		acts(nameOf(slow), "the call's own timeout", func(ctx context.Context, s *Stage) Outcome {
			return call[int64](gofer.WithTimeout(ctx, patience), impatient(ctx, s), slow, int64(600))
		}, is(Value, "600")),
		// The late answers of the two calls before have come by now: nobody is confused.
		acts(nameOf(slow), "after late answers", func(ctx context.Context, s *Stage) Outcome {
			r := impatient(ctx, s)
			o := call[string](ctx, r, "echoString(java.lang.String)", "after")
			active := int64(0)
			for _, p := range r.Snapshot().Providers {
				for _, m := range p.Methods {
					active += int64(m.Active)
				}
			}
			o["active"] = fmt.Sprint(active)
			return o
		}, is(Value, `"after"`), is("active", "0")),
		acts("one-way", "return=false", oneWay, is("at once", "{}"), is(Value, `"sent"`)),
	}
}

// oneWay sends a call that wants no answer and waits until it shows.
func oneWay(ctx context.Context, s *Stage) Outcome {
	r := s.refer(ctx, s.Open.Reference("timeout=20000&retries=0&store.return=false"))
	first := call[struct{}](ctx, r, "store(java.lang.String,java.lang.String)", "one-way", "sent")
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		o := call[*string](ctx, r, "load(java.lang.String)", "one-way")
		if o[Value] != "null" {
			o["at once"] = first[Value]
			return o
		}
		time.Sleep(10 * time.Millisecond)
	}
}
