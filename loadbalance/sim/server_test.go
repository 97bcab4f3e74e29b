package sim

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestColdCurve(t *testing.T) {
	byTime := &Cold{Slow: 3, CPU: 2, For: 30 * time.Second, Heal: 10 * time.Second}
	for _, c := range []struct {
		age       time.Duration
		slow, cpu float64
	}{{0, 3, 2}, {29 * time.Second, 3, 2}, {35 * time.Second, 2, 1.5}, {40 * time.Second, 1, 1}, {time.Hour, 1, 1}} {
		assert.InDelta(t, c.slow, byTime.slow(c.age, 1000), 1e-9, c.age)
		assert.InDelta(t, c.cpu, byTime.cpu(c.age, 1000), 1e-9, c.age)
	}
	byRequests := &Cold{Slow: 41, CPU: 41, Requests: 150}
	assert.InDelta(t, 41, byRequests.slow(time.Hour, 0), 1e-9)
	assert.InDelta(t, 1+40/2.718281828, byRequests.slow(time.Hour, 150), 1e-6)
	assert.InDelta(t, 1, byRequests.slow(0, 10_000), 1e-9)
}

// Time that work takes is pushed back by exactly the pauses that it meets, in whatever
// order they are listed, and if they overlap.
func TestPauses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p pauses
		paused := map[int64]bool{}
		for range rapid.IntRange(0, 5).Draw(t, "pauses") {
			begin := rapid.Int64Range(0, 250).Draw(t, "begin")
			w := pause{begin: begin, end: begin + rapid.Int64Range(1, 50).Draw(t, "lasts")}
			for at := w.begin; at < w.end; at++ {
				paused[at] = true
			}
			p = append(p, w)
		}
		p = p.joined()
		start, work := rapid.Int64Range(0, 300).Draw(t, "start"), rapid.Int64Range(1, 200).Draw(t, "work")
		end := start
		for left := work; left > 0; end++ { // one ns after the other
			if p.holds(end) != paused[end] {
				t.Fatalf("at %d: paused is not %v", end, paused[end])
			}
			if !paused[end] {
				left--
			}
		}
		if got := p.finish(start, work); got != end {
			t.Fatalf("from %d, %d of work: finished at %d, want %d", start, work, got, end)
		}
		if got := end - start - (p.before(end) - p.before(start)); got != work {
			t.Fatalf("%d of %d were worked", got, work)
		}
	})
}

func TestCacheIsLRU(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 8).Draw(t, "size")
		c := newCache(size)
		var model []int32 // the latest last
		for range rapid.IntRange(1, 100).Draw(t, "uses") {
			key := rapid.Int32Range(0, 12).Draw(t, "key")
			want := false
			for i, k := range model {
				if k == key {
					want = true
					model = append(model[:i], model[i+1:]...)
					break
				}
			}
			if model = append(model, key); len(model) > size {
				model = model[1:]
			}
			if c.has(key) != want || c.use(key) != want {
				t.Fatalf("key %d: hit is not %v", key, want)
			}
		}
	})
}

func TestHistogram(t *testing.T) {
	var h histogram
	rng := rand.New(rand.NewPCG(1, 2))
	var sum time.Duration
	for i := range 100_000 {
		d := time.Duration(i+1) * time.Microsecond
		sum += d
		h.add(d)
		if e := time.Duration(rng.Int64N(int64(time.Hour))); e > 1000 {
			assert.InEpsilon(t, float64(e), float64(middle(step(e))), 0.004)
		}
	}
	for _, q := range []float64{0.01, 0.5, 0.99, 0.999, 1} {
		assert.InEpsilon(t, q*float64(100*time.Millisecond), float64(h.quantile(q)), 0.004, q)
	}
	assert.InEpsilon(t, float64(sum)/100_000, float64(h.mean()), 1e-9)
	assert.Zero(t, new(histogram).quantile(0.99))
	assert.Zero(t, new(histogram).mean())
}

func TestZipf(t *testing.T) {
	z := newZipf(1000, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	var first, third int
	const n = 200_000
	for range n {
		switch z.draw(rng) {
		case 0:
			first++
		case 2:
			third++
		}
	}
	assert.InEpsilon(t, 1/7.4855, float64(first)/n, 0.02) // 1 / the 1000th harmonic number
	assert.InEpsilon(t, float64(first)/3, float64(third), 0.04)
}

func TestEventsComeInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q events
		times := rapid.SliceOfN(rapid.Int64Range(0, 20), 1, 200).Draw(t, "times")
		for i, at := range times {
			q.add(event{at: at, ref: int32(i)})
		}
		last := event{at: -1}
		for range times {
			e := q.next()
			if e.at != times[e.ref] || e.at < last.at || e.at == last.at && e.ref < last.ref {
				t.Fatalf("%+v after %+v", e, last)
			}
			last = e
		}
		if len(q.heap) != 0 {
			t.Fatal("there are more events than were added")
		}
	})
}

// faulty runs 4 providers, of which the last has the fault, and returns its figures
// from 10 s to 20 s, when the fault holds.
func faulty(t *testing.T, policy string, f Fault) (calls, others int, r *Result) {
	t.Helper()
	f.At, f.For = 10*time.Second, 10*time.Second
	r, err := Run(t.Context(), &Scenario{
		Name: "faulty", Duration: 30 * time.Second, Load: 0.5,
		Providers: []Provider{{Count: 3}, {Faults: []Fault{f}}},
	}, Options{Policy: policy, Seed: 4, Detail: true})
	require.NoError(t, err)
	for _, s := range r.Seconds[11:19] {
		calls += s.Calls[3]
		others += s.Calls[0] + s.Calls[1] + s.Calls[2]
	}
	return calls, others, r
}

func TestFaults(t *testing.T) {
	_, _, well := faulty(t, "roundrobin", Fault{Slow: 1.01})
	assert.Zero(t, well.Failed)

	// Java has no memory of errors, this module ejects who fails.
	java, others, _ := faulty(t, "java-leastactive", Fault{Error: 1})
	assert.Greater(t, java, others/3)
	ours, others, r := faulty(t, "leastactive", Fault{Error: 1})
	assert.Less(t, ours, others/100)
	assert.Greater(t, r.Failed, 5)
	assert.Less(t, r.Failed, 100)

	dead, _, r := faulty(t, "random", Fault{Kill: true})
	assert.Zero(t, dead, "a connection that is lost is seen")
	assert.Positive(t, r.Failed, "what it had is lost")
	assert.Less(t, r.Failed, 60)

	gone, _, r := faulty(t, "random", Fault{Leave: true})
	assert.Zero(t, gone)
	assert.Zero(t, r.Failed, "nothing is lost by who takes leave")

	slow, others, _ := faulty(t, "leastload", Fault{Slow: 20})
	assert.Less(t, slow, others/10)

	_, _, r = faulty(t, "java-random", Fault{Pause: true})
	assert.Greater(t, r.TimedOut, 500)
	_, _, ejecting := faulty(t, "random", Fault{Pause: true})
	assert.Less(t, ejecting.TimedOut, r.TimedOut/4)
	oracle, _, r := faulty(t, "oracle", Fault{Pause: true})
	assert.Zero(t, oracle)
	assert.Zero(t, r.Failed)
}

func TestThreadsRefuse(t *testing.T) {
	s := &Scenario{
		Name: "pool", Duration: 10 * time.Second, Load: 1.5,
		Providers: []Provider{{Count: 2, Sharing: true, Threads: 20}},
	}
	r, err := Run(t.Context(), s, Options{Policy: "random"})
	require.NoError(t, err)
	assert.InEpsilon(t, 1.0/3, float64(r.Refused)/float64(r.Requests), 0.1, "what is above capacity")
	assert.Less(t, r.P50, time.Second)
}

// A request that waits for something else keeps its thread: what is refused is what
// Erlang's loss formula says, in which it does not matter how times are distributed.
func TestThreadsAreKeptByWhoWaits(t *testing.T) {
	const rate, threads = 500.0, 200
	lost := 1.0 // Erlang B, by recursion over the number of threads
	for n := 1.0; n <= threads; n++ {
		lost = rate * 0.604 * lost / (n + rate*0.604*lost)
	}
	require.InDelta(t, 0.34, lost, 0.01)
	for _, p := range []Provider{{Sharing: true, Threads: threads}, {Threads: threads}} {
		s := &Scenario{
			Name: "pool", Duration: 2 * time.Minute, Rate: rate, Deadline: time.Minute,
			Requests: []Request{{Mean: 4 * time.Millisecond, Wait: 600 * time.Millisecond}}, Providers: []Provider{p},
		}
		r, err := Run(t.Context(), s, Options{Seed: 1})
		require.NoError(t, err)
		assert.InDelta(t, lost, float64(r.Refused)/float64(r.Requests), 0.01, "sharing %v", p.Sharing)
		assert.Equal(t, r.Refused, r.Failed)
		s.Providers[0].Threads = 0
		r, err = Run(t.Context(), s, Options{Seed: 1})
		require.NoError(t, err)
		assert.Zero(t, r.Failed, "without a limit nobody keeps anything")
	}
}

// What waits in a process that is killed is lost, and its threads are free in the next.
func TestThreadsOfTheKilled(t *testing.T) {
	s := &Scenario{
		Name: "killed", Duration: 20 * time.Second, Settle: None, Rate: 50, Deadline: time.Minute, Notify: None,
		Requests:  []Request{{Mean: time.Millisecond, CV: None, Wait: 500 * time.Millisecond}},
		Providers: []Provider{{Threads: 1000}, {Threads: 1000, Faults: []Fault{{At: 10 * time.Second, For: time.Second, Kill: true}}}},
	}
	w := newWorld(s.filled(), 1, true)
	choose(t, w, "jsq")
	most := 0
	w.watch = func() { most = max(most, w.servers[1].held) }
	require.NoError(t, w.run(t.Context()))
	assert.Greater(t, most, 5)
	assert.InDelta(t, 12.5, float64(w.figures.answers[dead]), 12, "25 a second there, each for half a second")
	for len(w.events.heap) > 0 {
		w.now = w.events.heap[0].at
		w.happen()
	}
	for _, v := range w.servers {
		assert.Zero(t, v.held)
	}
}

// What a process that is killed has not done yet, it does not do.
func TestCPUOfTheKilled(t *testing.T) {
	for _, sharing := range []bool{false, true} {
		s := &Scenario{
			Name: "killed", Duration: 20 * time.Second, Settle: None, Rate: 50, Requests: []Request{{Mean: 30 * time.Second, CV: None}},
			Providers: []Provider{{Workers: 2, Sharing: sharing, Faults: []Fault{
				{At: 5 * time.Second, For: time.Millisecond, Kill: true}, {At: 12 * time.Second, For: 4 * time.Second, Kill: true},
			}}},
		}
		r, err := Run(t.Context(), s, Options{Policy: "random", Seed: 1, Detail: true})
		require.NoError(t, err)
		assert.InDelta(t, 0.8, r.Providers[0].CPU, 0.05, "all but the 4 s without a process")
		for second, of := range r.Seconds {
			want := 1.0
			if second >= 12 && second < 16 {
				want = 0
			}
			if sharing { // is counted evenly over the time of a request
				continue
			}
			assert.InDelta(t, want, of.CPU[0], 0.35, "second %d", second)
		}
	}
}
