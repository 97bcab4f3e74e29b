package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// full are the results with default flags; less, as far as time and runs go, when
// there is no time for that.
var full = sync.OnceValues(func() (*results, error) {
	if slow || testing.Short() {
		return measure(context.Background(), tiny())
	}
	return measure(context.Background(), defaults())
})

// tiny is as little as can be looked at.
func tiny() config { return config{seed: 7, runs: 1, after: shortest, html: "page.html"} }

func story(t *testing.T) *results {
	t.Helper()
	r, err := full()
	require.NoError(t, err)
	return r
}

// window returns what a strategy made of a cause, over a time.
func (r *results) window(t *testing.T, cause, strategy string, span time.Duration) window {
	t.Helper()
	k := slices.Index(r.spans(), span)
	for _, o := range r.outcomes {
		if o.cause.key == cause && o.strategy.key == strategy && k >= 0 {
			return o.windows[k]
		}
	}
	require.Failf(t, "not there", "%s with %s over %v", cause, strategy, span)
	return window{}
}

func TestTheBlamedMechanismAloneFloodsNobody(t *testing.T) {
	r := story(t)
	java := r.by("blamed", "java")
	assert.Less(t, java.share, 0.20)
	assert.Less(t, java.cpu[newcomer], 0.20)
	assert.Greater(t, java.sole, java.share/2, "the mechanism is at work")

	// As measured elsewhere, with the same clusters in another simulator.
	want := map[cluster]float64{{10, light}: 0.017, {1, light}: 0.136, {1, 0.5}: 0.151, {1, heavy}: 0.150, {10, 0.5}: 0.069, {100, 0.7}: 0.011}
	require.Len(t, r.clusters, len(want))
	for i, c := range clusters() {
		w := r.clusters[i].windows[r.main()]
		assert.InDelta(t, want[c], w.share, 0.025, "%+v", c)
		assert.Less(t, w.share, 0.20, "%+v", c)
	}
}

func TestResidentRequestsAndLeaksFlood(t *testing.T) {
	r := story(t)
	for _, key := range []string{"resident", "leaked"} {
		for _, span := range r.spans()[1 : 1+r.main()] {
			java := r.window(t, key, "java", span)
			assert.InDelta(t, 0.75, java.share, 0.08, "%s over %v", key, span)
			assert.InDelta(t, java.share, java.sole, 0.02, "%s: by the skip", key)
			assert.Greater(t, java.cpu[newcomer], 0.80, key)
		}
	}
	for p := range newcomer {
		assert.InDelta(t, 0.28, r.by("resident", "java").cpu[p], 0.05, "as reported")
		assert.InDelta(t, 0.06, r.by("leaked", "java").cpu[p], 0.04, "idle, and nothing else there")
	}
}

func TestCPUAlone(t *testing.T) {
	java := story(t).by("cpu", "java")
	assert.InDelta(t, 0.266, java.share, 0.03)
	assert.InDelta(t, 0.64, java.cpu[newcomer], 0.06)
	for p := range newcomer {
		assert.InDelta(t, 0.305, java.cpu[p], 0.04)
	}
}

func TestWhatTheCuresDo(t *testing.T) {
	r := story(t)
	for _, c := range r.causes[:4] {
		assert.Less(t, r.by(c.key, "weighted").share, 0.02, "%s: it starves", c.key)
	}
	for _, c := range r.causes {
		assert.InDelta(t, 50.0/450, r.by(c.key, "random").share, 0.02, c.key)
	}
	busy, java := r.by("busy", "weighted"), r.by("busy", "java")
	assert.Greater(t, busy.cpu[0], 0.99)
	assert.Greater(t, busy.p99, 2*java.p99)
	if r.after >= time.Minute { // by then there is a queue of more than a deadline
		assert.Greater(t, float64(busy.failed)/float64(busy.calls), 0.2)
		assert.Less(t, float64(java.failed)/float64(java.calls), 0.02)
	}
}

func TestGoferIsNotFlooded(t *testing.T) {
	r := story(t)
	for _, c := range r.causes {
		for _, span := range r.spans()[1 : 1+r.main()] {
			own, java := r.window(t, c.key, "leastload", span), r.window(t, c.key, "java", span)
			assert.Less(t, own.share, 0.20, "%s over %v", c.key, span)
			assert.Less(t, float64(own.p99), 1.15*float64(java.p99), "%s over %v", c.key, span)
			assert.Zero(t, own.failed, c.key)
			if c.key == "resident" || c.key == "leaked" {
				assert.Less(t, own.share, java.share/5, "%s over %v", c.key, span)
				assert.Less(t, 2*own.p99, java.p99, "%s over %v", c.key, span)
			}
		}
		own := r.by(c.key, "gofer")
		assert.Less(t, own.share, 0.10, c.key)
		assert.Zero(t, own.failed, c.key)
	}
}

func TestFiguresAddUp(t *testing.T) {
	r := story(t)
	for _, o := range slices.Concat(r.outcomes, r.clusters) {
		name := o.cause.key + " " + o.strategy.key
		require.Len(t, o.windows, len(r.spans()), name)
		rate := o.cause.scenario.Rate * float64(r.seeds(o.cause.scenario.Rate))
		for i, w := range o.windows {
			assert.InEpsilon(t, rate*r.spans()[i].Seconds(), w.calls, 0.25, name)
			assert.LessOrEqual(t, w.sole, w.share, name)
			assert.Len(t, w.runs, r.seeds(o.cause.scenario.Rate), name)
			assert.GreaterOrEqual(t, w.share, slices.Min(w.runs)-1e-9, name)
			assert.LessOrEqual(t, w.share, slices.Max(w.runs)+1e-9, name)
			assert.True(t, w.share >= 0 && w.share <= 1, name)
			assert.Positive(t, w.p99, name)
			for _, cpu := range w.cpu {
				assert.True(t, cpu >= 0 && cpu <= 1+1e-6, "%s: %v", name, w.cpu)
			}
		}
		assert.True(t, slices.IsSortedFunc(o.points, func(a, b point) int { return int(a.at - b.at) }), name)
		last := o.points[len(o.points)-1].at
		assert.InDelta(t, r.after.Seconds(), last.Seconds(), 5, name)
		for _, p := range o.points {
			if p.at < -time.Second && o.cause.key != "busy" {
				assert.Zero(t, p.share, "%s: it is not there yet", name)
			}
		}
	}
}

func TestParallelReturnsTheFirstError(t *testing.T) {
	var lock sync.Mutex
	done := 0
	err := parallel([]int{1, 2, 3, 4, 5}, func(i int) error {
		lock.Lock()
		defer lock.Unlock()
		if done++; i == 3 {
			return fmt.Errorf("job %d", i)
		}
		return nil
	})
	assert.EqualError(t, err, "job 3")
	assert.Equal(t, 5, done)
}
