package main

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gofer-rpc/gofer/loadbalance/sim"
)

// outcome is what a strategy made of a cause. The runs of all seeds are pooled.
type outcome struct {
	cause    cause
	strategy strategy
	windows  []window // by span
	points   []point
}

// window is a time from the moment at which the new provider is there.
type window struct {
	calls  int
	failed int
	share  float64            // of the calls, that the new provider got
	runs   []float64          // that share, in each run
	sole   float64            // of the calls, that it got while it alone had the fewest under way
	cpu    [providers]float64 // 0 … 1
	p99    time.Duration      // of all calls
}

// point is a step of time in a plot.
type point struct {
	at    time.Duration // its middle, since the new provider is there
	share float64
	p99   time.Duration
}

// spans are the lengths of the windows.
func (c config) spans() []time.Duration {
	all := []time.Duration{time.Second, 10 * time.Second, time.Minute, 5 * time.Minute}
	return slices.DeleteFunc(all, func(d time.Duration) bool { return d > c.after })
}

// main is the window on which the figures are that are not said for all windows.
func (c config) main() int { return min(2, len(c.spans())-1) }

// results are all outcomes.
type results struct {
	config
	causes     []cause
	strategies []strategy
	outcomes   []outcome // cause by cause
	clusters   []outcome // of the mechanism usually blamed, by cluster
}

// of returns the outcomes of a cause, by strategy.
func (r *results) of(cause int) []outcome {
	n := len(r.strategies)
	return r.outcomes[cause*n : (cause+1)*n]
}

// measure simulates everything, on all cores, until ctx ends. The same configuration
// gives the same results.
func measure(ctx context.Context, cfg config) (*results, error) {
	r := &results{config: cfg, causes: causes(), strategies: strategies()}
	for _, c := range r.causes {
		for _, s := range r.strategies {
			r.outcomes = append(r.outcomes, outcome{cause: c, strategy: s})
		}
	}
	for _, c := range clusters() {
		r.clusters = append(r.clusters, outcome{cause: c.cause(), strategy: r.strategies[0]})
	}
	var jobs []*outcome
	for _, list := range [][]outcome{r.clusters, r.outcomes} {
		for i := range list {
			jobs = append(jobs, &list[i])
		}
	}
	slices.SortStableFunc(jobs, func(a, b *outcome) int { return int(b.cause.scenario.Rate - a.cause.scenario.Rate) }) // long ones first
	return r, parallel(jobs, func(o *outcome) error { return o.simulate(ctx, cfg) })
}

// parallel does all jobs and returns the first error.
func parallel[T any](jobs []T, do func(T) error) error {
	todo := make(chan T, len(jobs))
	for _, j := range jobs {
		todo <- j
	}
	close(todo)
	var (
		group sync.WaitGroup
		lock  sync.Mutex
		first error
	)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for j := range todo {
				if err := do(j); err != nil {
					lock.Lock()
					if first == nil {
						first = err
					}
					lock.Unlock()
				}
			}
		})
	}
	group.Wait()
	return first
}

// seeds is how many runs of a rate there are: with more calls, fewer do.
func (c config) seeds(rate float64) int {
	return max(1, int(math.Round(float64(c.runs)*light*capacity/rate)))
}

// simulate runs the cluster of a cause with a strategy, once for each seed.
func (o *outcome) simulate(ctx context.Context, cfg config) error {
	s := o.cause.scenario
	s.Duration = before + cfg.after
	s.Providers = slices.Clone(s.Providers)
	s.Providers[0].Weight, s.Providers[1].Weight = o.strategy.weight[0], o.strategy.weight[1]
	var each [][]sim.Call                                          // run by run
	cpu := make([][providers]float64, int(s.Duration/time.Second)) // by second, of all runs
	runs := cfg.seeds(s.Rate)
	for i := range runs {
		var calls []sim.Call
		r, err := sim.Run(ctx, &s, sim.Options{
			Policy: o.strategy.policy, Seed: cfg.seed + uint64(i),
			Detail: true, Calls: func(c sim.Call) { calls = append(calls, c) },
		})
		if err != nil {
			return err
		}
		for k := range cpu {
			for p := range providers {
				cpu[k][p] += r.Seconds[k].CPU[p] / float64(runs)
			}
		}
		each = append(each, inOrder(calls))
	}
	calls := inOrder(slices.Concat(each...))
	for _, span := range cfg.spans() {
		w := look(between(calls, before, before+span), cpu[before/time.Second:][:span/time.Second])
		for _, run := range each {
			w.runs = append(w.runs, look(between(run, before, before+span), nil).share)
		}
		o.windows = append(o.windows, w)
	}
	step := max(time.Second, (s.Duration / 64).Round(time.Second))
	for from := before % step; from+step <= s.Duration; from += step {
		w := look(between(calls, from, from+step), nil)
		o.points = append(o.points, point{at: from + step/2 - before, share: w.share, p99: w.p99})
	}
	return nil
}

// inOrder sorts calls by when they came.
func inOrder(calls []sim.Call) []sim.Call {
	slices.SortStableFunc(calls, func(a, b sim.Call) int { return int(a.At - b.At) })
	return calls
}

// between returns the calls that came in a part of the time.
func between(calls []sim.Call, from, to time.Duration) []sim.Call {
	at := func(c sim.Call, t time.Duration) int { return int(c.At - t) }
	i, _ := slices.BinarySearchFunc(calls, from, at)
	j, _ := slices.BinarySearchFunc(calls, to, at)
	return calls[i:j]
}

// look turns calls and the CPU of each second into figures.
func look(calls []sim.Call, cpu [][providers]float64) window {
	w := window{calls: len(calls)}
	if len(calls) == 0 {
		return w
	}
	took := make([]time.Duration, 0, len(calls))
	for _, c := range calls {
		took = append(took, c.Took)
		if c.Failed {
			w.failed++
		}
		if c.Provider == newcomer {
			w.share++
			if c.Sole {
				w.sole++
			}
		}
	}
	w.share /= float64(len(calls))
	w.sole /= float64(len(calls))
	slices.Sort(took)
	w.p99 = took[(len(took)*99+99)/100-1]
	for _, second := range cpu {
		for p := range providers {
			w.cpu[p] += second[p] / float64(len(cpu))
		}
	}
	return w
}
