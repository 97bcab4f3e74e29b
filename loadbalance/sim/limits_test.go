package sim

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// What would take a day, or all memory, is refused in no time, at the key to blame.
func TestRunsThatAreTooLarge(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"duration: 24h\nrate: 10000\nproviders: [{count: 30}]\n", "x.yml:1: duration: 24h0m0s at 10000 requests per second are too many requests: at most 100000000 in a run"},
		{"duration: 1s\nsettle: 24h\nrate: 5000\nproviders: [{count: 30}]\n", "x.yml:2: settle: 24h0m0s at 5000 requests per second are too many"},
		{"duration: 5s\nproviders: [{count: 3, workers: 100000}]\n", "x.yml:1: duration: 5s at 21000000 requests per second are too many"},
		{"duration: 2m\nrate: 100000\nproviders:\n  - count: 10000\n", "x.yml:1: duration: 12500000 requests × 10000 providers are too much"},
		{"duration: 10m\nload: 10\nproviders: [{count: 3}]\n", "x.yml:2: load: 12000 requests per second are more than the providers can take, 1200: 6534000 would wait at the end, at most 1000000; with threads they are refused"},
		{"rate: 20000\nduration: 10m\nproviders: [{count: 3}]\n", "x.yml:1: rate: 20000 requests per second are more than"},
		{"rate: 10000\nrequests: [{}, {wait: 24h}]\ndeadline: 24h\nproviders: [{count: 60}]\nduration: 5m\n", "x.yml:2: requests[1].wait: 24h0m0s makes 1525000 requests wait at a time: at most 1000000"},
		{"rate: 0.1\nproviders: [{}]\n", "x.yml:1: rate: 6 requests in 1m0s measure nothing: at least 20"},
		{"consumers: 100\nrate: 10\nlong: {each: 1000}\nproviders: [{count: 100}]\n", "x.yml:3: long.each: 10000000 long requests are too many: at most 500000"},
		{"deadline: 1ms\nrate: 10\nlong: {each: 1000, lasts: 1ms}\nproviders: [{count: 10}]\n", "x.yml:3: long.lasts: 2100000000 long requests after each other are too many"},
		{"duration: 24h\nrate: 1\nproviders:\n  - {}\n  - count: 100\n    faults:\n      - {at: 1s, for: 1ms, every: 2ms, pause: true}\n", "x.yml:7: providers[1].faults[0].every: 4319950100 pauses of all providers are too many: at most 1000000"},
		{"rate: 10\nconsumers: 100\nproviders:\n  - {}\n  - count: 100\n    params: {call.hash.nodes: 65536}\n", "x.yml:6: providers[1].params.hash.nodes: 655376000 points on the rings of all consumers are too many: at most 160000000"},
		{"keys: {count: 10000000}\nrate: 10\nproviders:\n  - count: 100\n    cache: {keys: 100000000}\n", "x.yml:5: providers[0].cache.keys: 1000000100 keys in all caches are too many: at most 20000000"},
		{"rate: 10\nconsumers: 1000\nproviders:\n  - count: 200\n    faults:\n      - {at: 1s, for: 1s, kill: true}\n", "x.yml:6: providers[0].faults[0]: 80000000 starts and ends × consumers × providers are too many: at most 50000000"},
		{"rate: 10\nconsumers: 10000\nproviders: [{count: 20000}]\n", "x.yml:3: providers: 20000 providers for 10000 consumers are too many: at most 20000, and 1000000 of both multiplied"},
		{"duration: 24h\nload: 0.1\nproviders: [{count: 20000, faults: [{at: 1s, for: 1s, stagger: 1s, slow: 2}]}]\n", "x.yml:2: load: to work out the capacity of so many staggered faults takes 2400060000 looks, at most 100000000: a rate does not need it"},
		{"rate: 10\nproviders:\n" + strings.Repeat("  - {}\n", 20_001), "x.yml:2: providers: 20001 groups are too many"},
		{"rate: 10\nproviders:\n  - faults:\n" + strings.Repeat("      - {at: 1s, for: 1s, slow: 2}\n", 101), "x.yml:3: providers[0].faults: 101 are too many: at most 100"},
		{"rate: 10\nproviders: [{}]\nrequests:\n" + strings.Repeat("  - {}\n", 101), "x.yml:3: requests: 101 kinds are too many: at most 100"},
		{strings.Repeat(" ", maxFile) + "\n", "x.yml:1: the file is too large: at most 262144 bytes"},
	} {
		_, err := Parse("x.yml", []byte(c.text))
		assert.ErrorContains(t, err, c.want)
	}
}

// What is large and can be done is not refused.
func TestRunsThatAreLarge(t *testing.T) {
	for _, text := range []string{
		"duration: 1h\nproviders: [{count: 60}]\n",                                                                          // 60 million requests
		"duration: 24h\nrate: 1000\nproviders: [{count: 3}]\ndeadline: 24h\n",                                               // all day
		"rate: 1000\nconsumers: 10\nproviders: [{count: 1000, faults: [{at: 0s, for: 10s, stagger: 50ms, leave: true}]}]\n", // a rolling restart
		"duration: 24h\nrate: 10\nproviders: [{count: 10, faults: [{at: 0s, for: 300ms, every: 10s, pause: true}]}]\n",
		"load: 10\nproviders: [{count: 3, sharing: true, threads: 200}]\nduration: 10m\n",
		"rate: 100\nproviders: [{count: 20000}]\nconsumers: 50\n",
	} {
		_, err := Parse("x.yml", []byte(text))
		assert.NoError(t, err)
	}
}

// Sums of all that a scenario may say do not overflow.
func TestTheLongestOfAll(t *testing.T) {
	long := maxTime
	for _, sharing := range []bool{false, true} {
		s := &Scenario{
			Name: "endless", Duration: 20 * time.Second, Rate: 3, Keys: &Keys{Count: 10},
			Requests: []Request{{Mean: long, CV: 20, Wait: long}},
			Providers: []Provider{{
				Count: 3, Workers: 1, Speed: 0.001, Sharing: sharing, Joins: At(0), Cold: &Cold{Slow: 10_000, For: long, Heal: long},
				Cache: &Cache{Keys: 1, Miss: 10_000},
				Faults: []Fault{
					{At: 0, For: long, Slow: 10_000}, {At: 0, For: long, Slow: 10_000}, {At: 10 * time.Second, For: long, Pause: true},
				},
			}},
		}
		for _, policy := range []string{"leastload", "java-leastactive", "oracle", "jsq"} {
			r, err := Run(t.Context(), s, Options{Policy: policy, Seed: 1})
			require.NoError(t, err)
			assert.Equal(t, r.Requests, r.TimedOut, policy)
			assert.Equal(t, time.Second, r.Mean, policy)
			for _, p := range r.Providers {
				assert.True(t, p.CPU >= 0 && p.CPU <= 1, "%s: %v", policy, p.CPU)
			}
		}
	}
	assert.Equal(t, farNS, ns(math.Inf(1)))
	assert.Equal(t, farNS, ns(1e30))
	assert.EqualValues(t, 12, ns(12.7))
}

// What nobody can know before is refused while it runs.
func TestARunThatGrowsTooLarge(t *testing.T) {
	s := (&Scenario{Name: "large", Rate: 100, Providers: []Provider{{}}}).filled()
	w := newWorld(s, 1, false)
	require.NoError(t, w.goesOn(t.Context()))
	w.requests.all = make([]*request, maxUnderWay+1)
	assert.ErrorContains(t, w.goesOn(t.Context()), "after -10s of 1m0s more than 1000000 requests are under way: of 100 a second the cluster answers too few")

	w = newWorld(s, 1, false)
	w.arrivals.n, w.waiting = 2*maxRequests+1, 3
	assert.ErrorContains(t, w.goesOn(t.Context()), "3 of the measured time still wait for their deadline of 1s")
}

func TestDetailHasALimit(t *testing.T) {
	s := &Scenario{Name: "d", Duration: 24 * time.Hour, Rate: 1, Providers: []Provider{{}}}
	_, err := Run(t.Context(), s, Options{Detail: true})
	assert.EqualError(t, err, "scenario d: the detail of 24h0m0s with 1 providers takes 2074982400 bytes, at most 1000000000: a shorter duration, or no detail")
}

func TestARunIsStopped(t *testing.T) {
	s := &Scenario{Name: "day", Duration: 10 * time.Hour, Rate: 1000, Providers: []Provider{{Count: 3}}}
	ctx, cancel := context.WithCancelCause(t.Context())
	calls, enough := 0, errors.New("that is enough")
	_, err := Run(ctx, &Scenario{Name: "hour", Duration: time.Hour, Rate: 1000, Providers: s.Providers}, Options{Policy: "leastload", Detail: true, Calls: func(Call) {
		if calls++; calls == 2000 {
			cancel(enough)
		}
	}})
	assert.ErrorIs(t, err, enough)
	assert.ErrorContains(t, err, "scenario hour, policy leastload: the run is stopped: that is enough, after ")
	assert.Less(t, calls, 4000)

	_, err = Run(ctx, s, Options{}) // before it begins
	assert.ErrorIs(t, err, enough)

	grid := Grid{Scenarios: []string{"big"}, Policies: []string{"random"}, Loads: []float64{0.9}, Seeds: []uint64{1}}
	_, err = grid.Run(ctx)
	assert.ErrorIs(t, err, enough)
}

func TestThereIsNothingToRun(t *testing.T) {
	_, err := Run(t.Context(), nil, Options{})
	assert.EqualError(t, err, "there is no scenario to run")
	_, err = Run(t.Context(), &Scenario{Name: "s", Providers: []Provider{{}}}, Options{Calls: func(Call) {}})
	assert.EqualError(t, err, "scenario s: calls are told with detail only")
	var s *Scenario
	assert.EqualError(t, s.Check(), "scenario: there is none")
	assert.Zero(t, s.Capacity())
	assert.Zero(t, (&Scenario{Providers: []Provider{{Count: math.MaxInt}}}).Capacity(), "nobody waits for that")

	for _, g := range []Grid{{}, {Scenarios: []string{"gray3"}, Policies: []string{"random"}, Loads: []float64{0.5}}} {
		_, err := g.Run(t.Context())
		assert.ErrorContains(t, err, "the grid is empty")
	}
	for load, want := range map[float64]string{0: "a load of 0", -1: "load: -1 is not between", 11: "load: 11 is not between 0.000001 and 10", math.NaN(): "load: NaN"} {
		_, err := Grid{Scenarios: []string{"gray3"}, Policies: []string{"random"}, Loads: []float64{0.5, load}, Seeds: []uint64{1}}.Run(t.Context())
		assert.ErrorContains(t, err, want)
	}
}

// A load is refused as one in the scenario would be.
func TestTheLoadOfOptions(t *testing.T) {
	s := &Scenario{Name: "s", Rate: 100, Providers: []Provider{{}}}
	for load, want := range map[float64]string{
		-1: "scenario s: load: -1 is not between 0.000001 and 10", 50: "scenario s: load: 50 is not between", math.NaN(): "load: NaN is not between", 1e-6: "load: 0.024 requests in 1m0s measure nothing",
	} {
		_, err := Run(t.Context(), s, Options{Load: load})
		assert.ErrorContains(t, err, want)
	}
	r, err := Run(t.Context(), s, Options{Load: 0.5})
	require.NoError(t, err)
	assert.InEpsilon(t, 200, r.Rate, 1e-9)
}

// However much a single event takes, a run ends soon after its context.
func TestARunWithManyProvidersIsStopped(t *testing.T) {
	for _, c := range []struct{ providers, after int }{{4, 256}, {100, 11}, {1000, 2}} {
		ctx, cancel := context.WithCancel(t.Context())
		after := 0
		mine := map[string]loadbalance.Factory{"mine": func(loadbalance.Config) (loadbalance.LoadBalance, error) {
			return selector(func(list *protocol.Candidates, _ *protocol.Invocation) *protocol.Node {
				if ctx.Err() != nil {
					after++
				}
				cancel()
				return list.Nodes()[0]
			}), nil
		}}
		s := &Scenario{Name: "wide", Duration: time.Minute, Rate: 100, Providers: []Provider{{Count: c.providers}}}
		_, err := Run(ctx, s, Options{Policy: "mine", Balancers: mine})
		assert.ErrorIs(t, err, context.Canceled)
		assert.LessOrEqual(t, after, c.after, "calls with %d providers", c.providers)
	}
}

// selector is a load balancer of one's own.
type selector func(*protocol.Candidates, *protocol.Invocation) *protocol.Node

func (s selector) Select(list *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	return s(list, inv)
}
