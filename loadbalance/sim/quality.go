package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gofer-rpc/gofer/loadbalance"
)

// Grid is what to compare: every policy in every scenario under every load with every
// seed.
type Grid struct {
	Scenarios []string // of those that come with the package
	// Own are scenarios of one's own, in addition; each has a name that no other has.
	Own      []*Scenario
	Policies []string
	Loads    []float64
	Seeds    []uint64
	Variant  Variant // of the scenarios; zero: as the files are
	// Balancers are load balancers of one's own, by name; "oracle" and "jsq" are taken.
	Balancers map[string]loadbalance.Factory
	// Progress is called after each run, from several goroutines. Nil: not.
	Progress func(done, all int)
}

// references are the policies whose better figure is what others are compared with: they
// know everything, and no real strategy can.
var references = []string{"oracle", "jsq"}

// Quality is what a [Grid] has shown: figures of each policy as ratios to those of the
// better of two choosers who see everything, "oracle" and "jsq" (see [Policies]), figure by
// figure. They are references, not a bound. A failed request counts as one that took until
// the deadline.
type Quality struct {
	Grid  Grid
	cells map[cell]figure
}

// cell is one policy in one scenario under one load.
type cell struct {
	policy, scenario string
	load             float64
}

// figure is a mean over the seeds.
type figure struct {
	p99, mean float64   // ns
	shares    []float64 // by provider
}

// trial is one run of a grid.
type trial struct {
	cell
	seed uint64
	s    *Scenario
}

// Run runs the grid, one run per processor at a time. The result does not depend on how
// many there are. Names and loads are looked at before the first run; the first error,
// or the end of ctx, stops all.
func (g Grid) Run(ctx context.Context) (*Quality, error) {
	g.Scenarios, g.Loads, g.Seeds = union(g.Scenarios), union(g.Loads), union(g.Seeds)
	scenarios, err := g.scenarios()
	if err != nil {
		return nil, err
	}
	trials, err := g.trials(scenarios)
	if err != nil {
		return nil, err
	}
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	results := make([]*Result, len(trials))
	var next, done atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(trials)); i = next.Add(1) - 1 {
				t := trials[i]
				r, err := t.run(inner, g.Balancers)
				if err != nil {
					stop(err) // what counts is the first
					return
				}
				results[i] = r
				if n := done.Add(1); g.Progress != nil {
					g.Progress(int(n), len(trials))
				}
			}
		})
	}
	wg.Wait()
	if err := context.Cause(inner); err != nil {
		return nil, err
	}
	for _, s := range g.Own {
		g.Scenarios = append(g.Scenarios, s.Name)
	}
	q := &Quality{Grid: g, cells: map[cell]figure{}}
	for i, t := range trials {
		q.add(t.cell, results[i])
	}
	return q, nil
}

// run runs it. A panic, which nobody could recover from in a goroutine, is an error.
func (t *trial) run(ctx context.Context, own map[string]loadbalance.Factory) (r *Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("%s, policy %s, seed %d: panic: %v", t.s.called(), t.policy, t.seed, p)
		}
	}()
	return Run(ctx, t.s, Options{Policy: t.policy, Seed: t.seed, Load: t.load, Balancers: own})
}

// scenarios are those of the grid, in order. All loads can be run.
func (g Grid) scenarios() (all []*Scenario, err error) {
	for _, name := range g.Scenarios {
		s, err := Named(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	seen := map[string]bool{}
	for i, s := range append(all, g.Own...) {
		if s == nil || s.Name == "" {
			return nil, fmt.Errorf("scenario %d of the grid has no name", i+1)
		}
		if seen[s.Name] {
			return nil, fmt.Errorf("%s: the grid has two of this name", s.called())
		}
		seen[s.Name] = true
	}
	all = append(all, g.Own...)
	for i := range all {
		all[i] = g.Variant.Of(all[i])
		for _, load := range g.Loads {
			if load == 0 {
				return nil, errors.New("the grid has a load of 0")
			}
			if err := all[i].under(load).Check(); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// trials are the runs of the grid.
func (g Grid) trials(scenarios []*Scenario) ([]trial, error) {
	if len(scenarios)*len(g.Policies)*len(g.Loads)*len(g.Seeds) == 0 {
		return nil, fmt.Errorf("the grid is empty: it has %d scenarios, %d policies, %d loads and %d seeds", len(scenarios), len(g.Policies), len(g.Loads), len(g.Seeds))
	}
	policies := union(g.Policies, references)
	for _, policy := range policies {
		if _, err := find(policy, g.Balancers); err != nil {
			return nil, err
		}
	}
	var trials []trial
	for _, policy := range policies {
		for _, s := range scenarios {
			for _, load := range g.Loads {
				for _, seed := range g.Seeds {
					trials = append(trials, trial{cell{policy, s.Name, load}, seed, s})
				}
			}
		}
	}
	return trials, nil
}

func (q *Quality) add(c cell, r *Result) {
	f, seeds := q.cells[c], float64(len(q.Grid.Seeds))
	f.p99 += float64(r.P99) / seeds
	f.mean += float64(r.Mean) / seeds
	if f.shares == nil {
		f.shares = make([]float64, len(r.Providers))
	}
	for i, p := range r.Providers {
		f.shares[i] += p.Share / seeds
	}
	q.cells[c] = f
}

// union returns what is in any of the lists, once.
func union[T comparable](lists ...[]T) []T {
	seen := map[T]bool{}
	var out []T
	for _, v := range slices.Concat(lists...) {
		if !seen[v] {
			seen[v], out = true, append(out, v)
		}
	}
	return out
}

// Ratio is how a policy compares: 1 is as good as the better of the two references, and
// less is better than both.
type Ratio struct{ P99, Mean float64 }

func (r Ratio) p99() float64  { return r.P99 }
func (r Ratio) mean() float64 { return r.Mean }

// String returns "p99 1.14, mean 1.13".
func (r Ratio) String() string { return fmt.Sprintf("p99 %.2f, mean %.2f", r.P99, r.Mean) }

// At returns the ratio in one scenario under one load: the zero value if that is not in
// the grid, as all that follows from it.
func (q *Quality) At(policy, scenario string, load float64) Ratio {
	f, ok := q.cells[cell{policy, scenario, load}]
	if !ok {
		return Ratio{}
	}
	least := figure{p99: math.Inf(1), mean: math.Inf(1)}
	for _, b := range references {
		o := q.cells[cell{b, scenario, load}]
		least.p99, least.mean = min(least.p99, o.p99), min(least.mean, o.mean)
	}
	return Ratio{f.p99 / least.p99, f.mean / least.mean}
}

// Scenario returns the geometric mean over the loads.
func (q *Quality) Scenario(policy, scenario string) Ratio {
	return q.Geometric(policy, scenario)
}

// Geometric returns the geometric mean over these scenarios, none: all, and the loads.
func (q *Quality) Geometric(policy string, scenarios ...string) Ratio {
	if len(scenarios) == 0 {
		scenarios = q.Grid.Scenarios
	}
	var p99, mean float64
	for _, s := range scenarios {
		for _, l := range q.Grid.Loads {
			r := q.At(policy, s, l)
			p99, mean = p99+math.Log(r.P99), mean+math.Log(r.Mean)
		}
	}
	n := float64(len(scenarios) * len(q.Grid.Loads))
	return Ratio{math.Exp(p99 / n), math.Exp(mean / n)}
}

// Worst returns the largest ratio of the p99 and where it was.
func (q *Quality) Worst(policy string) (ratio float64, scenario string, load float64) {
	return q.worst(policy, Ratio.p99)
}

// worst returns the largest of one of the two ratios.
func (q *Quality) worst(policy string, of func(Ratio) float64) (ratio float64, scenario string, load float64) {
	for _, s := range q.Grid.Scenarios {
		for _, l := range q.Grid.Loads {
			if r := of(q.At(policy, s, l)); r > ratio {
				ratio, scenario, load = r, s, l
			}
		}
	}
	return ratio, scenario, load
}

// Share returns the part of all requests that a provider got, 0 … 1; 0 if there is no
// such provider.
func (q *Quality) Share(policy, scenario string, load float64, provider int) float64 {
	shares := q.cells[cell{policy, scenario, load}].shares
	if provider < 0 || provider >= len(shares) {
		return 0
	}
	return shares[provider]
}
