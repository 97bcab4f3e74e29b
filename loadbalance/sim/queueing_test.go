//go:build !race

// A simulation is one goroutine: there is no race to detect, and the detector would make
// it many times as long.

package sim

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// station is one provider that one consumer calls without a network, long enough for
// means to settle.
func station(workers int, load float64) *Scenario {
	duration := 20 * time.Minute
	if testing.Short() {
		duration = 2 * time.Minute
	}
	return &Scenario{
		Name: "station", Duration: duration, Settle: duration / 20, Load: load,
		Consumers: 1, Deadline: time.Hour, Network: new(Network),
		Providers: []Provider{{Workers: workers}},
	}
}

// measured returns the mean of some independent runs and the half width of its
// confidence interval at 99.9 %.
func measured(t *testing.T, s *Scenario, of func(*Result) float64) (mean, half float64) {
	t.Helper()
	const runs = 8
	const student = 5.408 // 99.9 % of Student's distribution, 7 degrees of freedom
	var sum, squares float64
	for seed := range uint64(runs) {
		r, err := Run(t.Context(), s, Options{Policy: "random", Seed: seed})
		require.NoError(t, err)
		require.Zero(t, r.Failed)
		v := of(r)
		sum += v
		squares += v * v
	}
	mean = sum / runs
	variance := (squares - runs*mean*mean) / (runs - 1)
	return mean, student * math.Sqrt(variance/runs)
}

func meanTime(r *Result) float64 { return r.Mean.Seconds() }

// agrees asserts that theory is within the confidence interval of the measurement,
// and that the interval is narrow enough to mean something.
func agrees(t *testing.T, want, got, half float64) {
	t.Helper()
	assert.InDelta(t, want, got, half, "theory")
	narrow := 0.08
	if testing.Short() {
		narrow = 0.4
	}
	assert.Less(t, half, narrow*want, "the runs are too short to tell")
}

func TestMM1(t *testing.T) {
	for _, load := range []float64{0.5, 0.8} {
		got, half := measured(t, station(1, load), meanTime)
		agrees(t, 0.010/(1-load), got, half)
	}
}

// erlangC is the probability that a request has to wait at c workers which together
// have offered Erlangs to do.
func erlangC(c int, offered float64) float64 {
	blocked := 1.0 // Erlang B by recursion
	for k := 1; k <= c; k++ {
		blocked = offered * blocked / (float64(k) + offered*blocked)
	}
	load := offered / float64(c)
	return blocked / (1 - load*(1-blocked))
}

func TestMMcWait(t *testing.T) {
	for _, c := range []int{2, 4, 16} {
		const load = 0.85
		wait := erlangC(c, load*float64(c)) * 0.010 / (float64(c) * (1 - load))
		got, half := measured(t, station(c, load), meanTime)
		agrees(t, 0.010+wait, got, half)
	}
}

func TestMG1Wait(t *testing.T) { // Pollaczek and Khinchine
	const load, cv = 0.6, 1.5
	s := station(1, load)
	s.Requests = []Request{{CV: cv}}
	got, half := measured(t, s, meanTime)
	agrees(t, 0.010+load*0.010/(1-load)*(1+cv*cv)/2, got, half)
}

func TestMM1SharedSojourn(t *testing.T) { // does not depend on the distribution of sizes
	for _, cv := range []float64{0.01, 1, 2} {
		const load = 0.7
		s := station(1, load)
		s.Requests = []Request{{CV: cv}}
		s.Providers[0].Sharing = true
		got, half := measured(t, s, meanTime)
		agrees(t, 0.010/(1-load), got, half)
	}
}

func TestSharedCores(t *testing.T) { // c cores shared are M/M/c in the mean, for exponential sizes
	const load, c = 0.85, 4
	s := station(c, load)
	s.Providers[0].Sharing = true
	got, half := measured(t, s, meanTime)
	agrees(t, 0.010+erlangC(c, load*c)*0.010/(c*(1-load)), got, half)
}

func TestLittle(t *testing.T) {
	// The time average of the requests inside is the rate of arrivals times the mean
	// time that they spend there, and the workers are busy for their share.
	for _, sharing := range []bool{false, true} {
		s := station(4, 0.8).filled()
		s.Providers[0].Sharing = sharing
		w := newWorld(s, 7, false)
		choose(t, w, "random")
		v := w.servers[0]
		var area, last float64
		w.watch = func() {
			now := min(max(float64(w.now), 0), float64(w.end))
			area += (now - last) * float64(v.inside)
			last = now
		}
		require.NoError(t, w.run(t.Context()))
		r := w.result("random")
		average := area / float64(w.end)
		rate := float64(r.Requests) / s.Duration.Seconds()
		assert.InEpsilon(t, rate*r.Mean.Seconds(), average, 0.002)
		assert.InEpsilon(t, 0.8, r.Providers[0].CPU, 0.01)
	}
}

func TestWorkIsConserved(t *testing.T) {
	// Whatever the policy, providers of equal speed are given the same work.
	s := &Scenario{Name: "work", Duration: 20 * time.Second, Load: 0.4,
		Keys: &Keys{Count: 5000, Zipf: 0.01}, Providers: []Provider{{Count: 4}}}
	var want float64
	for i, policy := range Policies() {
		r, err := Run(t.Context(), s, Options{Policy: policy, Seed: 3})
		require.NoError(t, err)
		var busy float64
		for _, p := range r.Providers {
			busy += p.CPU
		}
		if i == 0 {
			want = busy
		}
		assert.InEpsilon(t, want, busy, 0.02, policy)
	}
}

func TestOneRequestTakesWhatItTakes(t *testing.T) {
	s := &Scenario{
		Name: "alone", Rate: 1, Duration: 100 * time.Second, Network: &Network{Delay: 2 * time.Millisecond},
		Requests:  []Request{{Mean: 20 * time.Millisecond, CV: 0.001}},
		Providers: []Provider{{Speed: 2}},
	}
	r, err := Run(t.Context(), s, Options{Policy: "roundrobin"})
	require.NoError(t, err)
	assert.InDelta(t, 14, float64(r.P50)/float64(time.Millisecond), 0.1)
}
