package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// Trace is one call with the decisions behind it: plain data. Its String is for a log.
type Trace struct {
	Service  string // service key
	Method   string
	Start    time.Time
	Elapsed  time.Duration
	Attempts []TracedAttempt // those that have ended
	Error    string          // of the call, "" for none
}

// TracedAttempt is one attempt of a call. Its String has how it ended, too.
type TracedAttempt struct {
	// Explanation is how it was decided, at the moment when it was; Chosen marks the
	// candidate it went to.
	Explanation
	Provider string        // address, "" when none was found
	Waited   time.Duration // until a provider was chosen
	Elapsed  time.Duration // waiting included
	// Outcome is what the attempt tells about the provider: succeeded, failed, timed out,
	// answered uselessly, or neutral, which is nothing.
	Outcome string
	Error   string // "" for none
}

// tracer takes a sample of all calls.
type tracer struct {
	every  int
	report func(Trace)
	lots   lots
	panics *panics
}

// newTracer returns nil when calls are not to be traced.
func newTracer(cfg Config, p *panics) *tracer {
	if cfg.Trace == nil {
		return nil
	}
	return &tracer{every: cfg.TraceEvery, report: cfg.Trace, lots: newLots(cfg), panics: p}
}

// sampled reports whether the next call is in the sample.
func (t *tracer) sampled() bool { return t.lots.one(t.every) }

// tracing is the trace of a call under way.
type tracing struct {
	mu       sync.Mutex // a strategy may make attempts side by side
	attempts []TracedAttempt
}

type tracingKey struct{}

// trace makes a call that is in the sample.
func (c *Invoker) trace(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	t := new(tracing)
	res, err := c.invoke(context.WithValue(ctx, tracingKey{}, t), inv)
	out := Trace{
		Service: c.reference.ServiceKey(), Method: inv.Method.Name, Start: inv.Start, Elapsed: time.Since(inv.Start), Error: text(err),
	}
	t.mu.Lock()
	out.Attempts = t.attempts
	t.attempts = nil
	t.mu.Unlock()
	c.tracer.tell(out)
	return res, err
}

// tell hands a trace over. What is wrong there is not the call's problem.
func (t *tracer) tell(out Trace) {
	defer func() {
		if v := recover(); v != nil {
			t.panics.add("the function that takes traces panicked", protocol.Recovered(v))
		}
	}()
	t.report(out)
}

// traceAttempt makes an attempt and adds it to the trace.
func (c *Invoker) traceAttempt(ctx context.Context, inv *protocol.Invocation, s *selection, t *tracing) (res *protocol.Result, err error) {
	s.explained = new(Explanation)
	ended := false
	defer func() {
		a := TracedAttempt{Explanation: *s.explained, Elapsed: time.Since(s.begun), Outcome: protocol.Judge(err).String(), Error: text(err)}
		if !ended {
			a.Outcome, a.Error = protocol.Neutral.String(), "panic"
		}
		if s.chosen != nil {
			a.choose(s)
		}
		t.mu.Lock()
		t.attempts = append(t.attempts, a)
		t.mu.Unlock()
	}()
	res, err = c.attempt(ctx, inv, s)
	ended = true
	return res, err
}

func (a *TracedAttempt) choose(s *selection) {
	a.Provider, a.Waited = s.chosen.Address(), s.now.Sub(s.begun)
	if s.trial {
		a.Decision = "the provider was ejected for its failures, and this call is the trial"
	}
	for i := range a.Candidates {
		c := &a.Candidates[i]
		c.Chosen = c.key == s.chosen.Key()
		if c.Chosen && c.Chance == 0 && a.Explained && !s.trial {
			a.Decision += "; other calls changed what is compared before it did"
		}
	}
}

// note explains the choice that is about to be made, if somebody wants to know.
func (s *selection) note(c *Invoker, list *protocol.Listing, left *protocol.Candidates, inv *protocol.Invocation) {
	if s.explained == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil { // the choice will have the same problem, or none
			s.explained.Decision = protocol.Recovered(v).Error()
		}
	}()
	*s.explained = c.explainChoice(list, left, inv)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
