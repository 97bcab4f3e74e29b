package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer/loadbalance"
)

// Options choose one run of a scenario. The zero value runs "random", Dubbo's
// default, with seed 0.
type Options struct {
	Policy string  // one of [Policies], or of Balancers
	Seed   uint64  // the same seed means the same requests, whatever the policy
	Load   float64 // replaces the scenario's load and rate; 0: does not
	// Balancers are load balancers of one's own, by name; "oracle" and "jsq" are taken.
	Balancers map[string]loadbalance.Factory
	// Detail adds [Result.Seconds] and [ProviderResult.Sole].
	Detail bool
	// Calls, with Detail, is told of every measured request when it ends.
	Calls func(Call)
}

// Result is what was measured: of the requests that arrived in the measured time,
// without long ones. A request that failed counts as if it had taken until the
// deadline. The same scenario and options give the same result, to the bit. Percentiles are
// counted in steps of 0.4 % and given as the middle of one, so they may be so much above or
// below the time itself: also above the deadline, or below a mean of equal times.
type Result struct {
	Scenario string
	Policy   string
	Seed     uint64
	Rate     float64 // requests per second

	Requests int
	Failed   int // without an answer, or with an error
	TimedOut int // of them, by the deadline
	Refused  int // of them, by an exhausted thread pool
	NoOne    int // of them, because there was nobody to ask, or Dubbo throws an exception
	Misses   int // of caches, by requests that reached their provider in the measured time

	// Replaced is how often a load balancer of [Options.Balancers], or of this module, chose
	// nobody, or a provider to which the call may not go ([protocol.Invocation.Allows]), though
	// there was one to which it may: the first such provider took its place, as in the
	// cluster. More than 0 is a mistake in the load balancer.
	Replaced int

	Mean time.Duration
	P50  time.Duration
	P99  time.Duration
	P999 time.Duration

	Providers []ProviderResult
	Seconds   []Second `json:",omitempty"`
	Events    int      // that the simulation ran
}

// ProviderResult is what was measured at one provider.
type ProviderResult struct {
	Calls  int     // requests sent there
	Share  float64 // of all requests, 0 … 1
	Failed int
	// CPU is the share of its workers' time, 0 … 1. Long requests, which slow nobody, come
	// on top of that.
	CPU float64
	// Sole is how many of the calls went there while its consumer had fewer calls
	// under way there than anywhere else.
	Sole int `json:",omitempty"`
}

// Second is one second of the measured time.
type Second struct {
	Mean, P99 time.Duration // of the requests that arrived in it
	Failed    int
	Calls     []int     // by provider
	CPU       []float64 // by provider
}

// Run runs a scenario once. The error says what is wrong with the scenario or the
// options, that more came than memory has room for (see [Scenario.Check]), or that ctx
// has ended, by which a long run can be stopped. Runs may go on concurrently.
func Run(ctx context.Context, s *Scenario, o Options) (*Result, error) {
	if s == nil {
		return nil, errors.New("there is no scenario to run")
	}
	if o.Load != 0 {
		s = s.under(o.Load)
	}
	if o.Calls != nil && !o.Detail {
		return nil, fmt.Errorf("%s: calls are told with detail only", s.called())
	}
	if o.Policy == "" {
		o.Policy = loadbalance.Default
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	if len(o.Balancers) == 0 {
		if err := s.slips(); err != nil {
			return nil, err
		}
	}
	one, err := find(o.Policy, o.Balancers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.called(), err)
	}
	f := s.filled()
	if err := f.room(); o.Detail && err != nil {
		return nil, fmt.Errorf("%s: %w", s.called(), err)
	}
	w := newWorld(f, o.Seed, o.Detail)
	w.figures.calls = o.Calls
	if err = w.choose(ctx, one); err == nil {
		err = w.run(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%s, policy %s: %w", s.called(), o.Policy, err)
	}
	if w.figures.all.n == 0 {
		return nil, fmt.Errorf("%s, seed %d: not one request came in the measured time", s.called(), o.Seed)
	}
	w.leave()
	return w.result(o.Policy), nil
}

// under returns the scenario with another load.
func (s *Scenario) under(load float64) *Scenario {
	c := *s
	c.Load, c.Rate = load, 0
	return &c
}

func (w *world) result(policy string) *Result {
	f := w.figures
	r := &Result{
		Scenario: w.s.Name, Policy: policy, Seed: w.seed, Rate: w.rate,
		Requests: f.all.n, Failed: f.all.n - f.answers[served],
		TimedOut: f.answers[late], Refused: f.answers[refused], NoOne: f.answers[nowhere], Misses: f.misses, Replaced: f.replaced,
		Mean: f.all.mean(), P50: f.all.quantile(0.5), P99: f.all.quantile(0.99), P999: f.all.quantile(0.999),
		Events: f.events,
	}
	for i := range f.servers {
		s := &f.servers[i]
		r.Providers = append(r.Providers, ProviderResult{
			Calls: s.calls, Share: float64(s.calls) / float64(max(1, f.all.n)), Failed: s.errors,
			CPU: max(0, s.busy) / w.cores(i, w.s.Duration), Sole: s.sole,
		})
	}
	for i := range f.seconds {
		r.Seconds = append(r.Seconds, w.second(&f.seconds[i]))
	}
	return r
}

// cores returns the time of a server's workers, in ns.
func (w *world) cores(server int, d time.Duration) float64 {
	return float64(w.servers[server].conf.Workers) * float64(d)
}

func (w *world) second(s *second) Second {
	out := Second{Mean: s.times.mean(), P99: s.times.quantile(0.99), Failed: s.bad}
	for i := range s.calls {
		out.Calls = append(out.Calls, int(s.calls[i]))
		out.CPU = append(out.CPU, max(0, s.busy[i])/w.cores(i, time.Second))
	}
	return out
}
