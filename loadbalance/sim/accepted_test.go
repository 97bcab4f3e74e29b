package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawn is a small scenario of any kind, which need not be right.
func drawn(t *rapid.T) *Scenario {
	ms := func(name string, values ...int) time.Duration {
		return time.Duration(rapid.SampledFrom(values).Draw(t, name)) * time.Millisecond
	}
	s := &Scenario{
		Duration: ms("duration", 1000, 1500, 4000), Settle: rapid.SampledFrom([]time.Duration{None, time.Second}).Draw(t, "settle"),
		Consumers: rapid.IntRange(0, 4).Draw(t, "consumers"), Deadline: ms("deadline", 0, 1, 50, 5000), Notify: ms("notify", 0, 1, 3000),
	}
	if rapid.Bool().Draw(t, "rated") {
		s.Rate = rapid.Float64Range(20, 600).Draw(t, "rate")
	} else {
		s.Load = rapid.Float64Range(0, 3).Draw(t, "load")
	}
	for range rapid.IntRange(0, 2).Draw(t, "requests") {
		s.Requests = append(s.Requests, Request{Mean: ms("mean", 0, 1, 30, 800), CV: rapid.SampledFrom([]float64{0, None, 0.1, 5}).Draw(t, "cv"), Wait: ms("wait", 0, 0, 100)})
	}
	if rapid.Bool().Draw(t, "keyed") {
		s.Keys = &Keys{Count: rapid.IntRange(0, 100).Draw(t, "keys"), Hot: rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "hot")}
	}
	if rapid.IntRange(0, 3).Draw(t, "long") == 0 {
		s.Long = &Long{Each: rapid.Float64Range(0.01, 5).Draw(t, "each"), Lasts: ms("lasts", 0, 5000), CPU: 0.01}
	}
	for range rapid.IntRange(1, 3).Draw(t, "providers") {
		s.Providers = append(s.Providers, drawnProvider(t, ms, s.Keys != nil))
	}
	return s
}

func drawnProvider(t *rapid.T, ms func(string, ...int) time.Duration, keyed bool) Provider {
	p := Provider{
		Count: rapid.IntRange(0, 3).Draw(t, "count"), Workers: rapid.IntRange(0, 3).Draw(t, "workers"), Speed: rapid.SampledFrom([]float64{0, 0.1, 3}).Draw(t, "speed"),
		Sharing: rapid.Bool().Draw(t, "sharing"), Threads: rapid.SampledFrom([]int{0, 0, 5}).Draw(t, "threads"),
		Weight: rapid.SampledFrom([]int{0, None, 7}).Draw(t, "weight"), Leaked: rapid.IntRange(0, 1).Draw(t, "leaked"),
	}
	begin := 0
	if rapid.IntRange(0, 2).Draw(t, "joins") == 0 {
		begin = rapid.IntRange(0, 900).Draw(t, "joined")
		p.Joins = At(time.Duration(begin) * time.Millisecond)
	}
	if keyed && rapid.Bool().Draw(t, "caches") {
		p.Cache = &Cache{Keys: rapid.IntRange(1, 50).Draw(t, "cached"), Hits: rapid.SampledFrom([]float64{0, None, 0.5}).Draw(t, "hits")}
	}
	lives := p.Joins != nil
	for range rapid.IntRange(0, 4).Draw(t, "faults") {
		f := Fault{At: time.Duration(rapid.IntRange(begin, 1000).Draw(t, "at")) * time.Millisecond, For: ms("for", 1, 100, 700, 20_000)}
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			f.Error, f.In = rapid.Float64Range(0.01, 1).Draw(t, "error"), rapid.SampledFrom([]time.Duration{0, None, time.Second}).Draw(t, "in")
		case 1:
			f.Slow = rapid.Float64Range(1, 100).Draw(t, "slow")
		case 2:
			f.Pause = true
		case 3:
			f.Pause, f.Every = true, 3*f.For
		case 4:
			f.Kill, lives = true, true
		case 5:
			f.Leave, lives = true, true
		}
		if p.Count > 1 && f.Every == 0 {
			f.Stagger = ms("stagger", 0, 0, 30)
		}
		p.Faults = append(p.Faults, f)
	}
	if lives && rapid.Bool().Draw(t, "cold") {
		p.Cold = &Cold{Slow: 3, CPU: rapid.SampledFrom([]float64{0, None, 2}).Draw(t, "cpu"), For: ms("cold", 1, 500), Heal: ms("heal", 0, 500)}
	}
	return p
}

// What Check accepts runs, with every policy: it ends, and every request is accounted
// for.
func TestWhatIsAcceptedRuns(t *testing.T) {
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawn(t)
		if s.Check() != nil {
			refused++
			return
		}
		accepted++
		small(t, s)
		policy := rapid.SampledFrom(Policies()).Draw(t, "policy")
		var told, failed int
		r, err := Run(t.Context(), s, Options{Policy: policy, Seed: rapid.Uint64().Draw(t, "seed"), Detail: true, Calls: func(c Call) {
			told++
			if c.Failed {
				failed++
			}
			require.GreaterOrEqual(t, c.Took, time.Duration(0))
		}})
		require.NoError(t, err)
		require.Positive(t, r.Requests)
		require.Equal(t, r.Requests, told)
		require.Equal(t, r.Failed, failed)
		require.LessOrEqual(t, r.TimedOut+r.Refused+r.NoOne, r.Failed)
		seconds := 0
		for _, one := range r.Seconds {
			seconds += one.Failed
		}
		require.Equal(t, r.Failed, seconds)
		for _, p := range r.Providers {
			require.True(t, p.CPU >= 0, "CPU %v", p.CPU)
		}
	})
	require.Greater(t, 10*accepted, accepted+refused, "of what is drawn, more than half as a rule, enough is to be run")
}
