package sim

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Who knows everything knows when a request is back that shares the cores, too: where
// nobody comes after it, to the rounding of the events before.
func TestTheOracleKnowsWhoSharesCores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		conf := Provider{Workers: rapid.IntRange(1, 6).Draw(t, "cores"), Sharing: true, Speed: rapid.Float64Range(0.2, 3).Draw(t, "speed")}
		for range rapid.IntRange(0, 3).Draw(t, "pauses") {
			conf.Faults = append(conf.Faults, Fault{
				At: time.Duration(rapid.IntRange(0, 200).Draw(t, "at")) * time.Millisecond, For: time.Duration(rapid.IntRange(1, 60).Draw(t, "for")) * time.Millisecond, Pause: true,
			})
		}
		s := &Scenario{Rate: 1, Network: &Network{Delay: time.Duration(rapid.IntRange(0, 20).Draw(t, "way")) * time.Millisecond}, Providers: []Provider{conf}}
		w := newWorld(s.filled(), 1, false)
		w.now = 0
		c, err := newOracle(w, 0)
		require.NoError(t, err)
		v := w.servers[0]
		drawn := func() *request {
			r := w.requests.take()
			r.key, r.work, r.wait, r.there, r.back = -1, float64(rapid.IntRange(0, 40_000_000).Draw(t, "work")), 0, 0, 0
			return r
		}
		send := func(r *request, at int64) {
			v.coming++
			v.onWay += r.work
			w.events.add(event{at: at, kind: reaches, ref: r.id, who: v.id})
		}
		until := func(done func() bool) {
			for !done() {
				e := w.events.next()
				switch w.now = e.at; e.kind {
				case reaches:
					w.reach(v, w.requests.all[e.ref])
				case shared:
					w.finishShared(v, e.mark)
				}
			}
		}
		n := rapid.IntRange(0, 20).Draw(t, "others")
		for range n {
			send(drawn(), int64(rapid.IntRange(0, 100_000_000).Draw(t, "comes")))
		}
		until(func() bool { return v.coming == 0 }) // some are finished by then, some have begun
		r := drawn()
		want, _ := c.(*oracle).finish(v, r)
		send(r, w.now+travel(v.conf.Network, 0))
		back := int64(-1)
		until(func() bool {
			for _, e := range w.events.heap {
				if e.kind == answered && e.ref == r.id {
					back = e.at
				}
			}
			return back >= 0
		})
		if math.Abs(float64(back-want)) > float64(2*n+10) {
			t.Fatalf("back at %d, foretold %d: %d off", back, want, back-want)
		}
	})
}

// By hand: two cores, and others that need 1, 2 and 4.
func TestASharedForecast(t *testing.T) {
	f := sharedForecast{left: []float64{1, 2, 4}, each: 1}
	for _, c := range []struct {
		work, after, took, others float64
		why                       string
	}{
		{1, 0, 2, 3 * 0.5, "four share two cores until all need one less; each of the three would be half as far again"},
		{2, 0, 2 + 1.5, 3*0.5 + 2*0.5, "and then three"},
		{3, 0, 2 + 1.5 + 1, 3*0.5 + 2*0.5, "and then two, a core each"},
		{10, 0, 2 + 1.5 + 2 + 6, 3*0.5 + 2*0.5, "and at last it is alone"},
		{1.5, 1.5, 1.5 + 0.5, 2 * 0.5, "it comes when the first goes"},
		{1, 3.5, 1, 0, "it comes when one is left"},
		{5, 100, 5, 0, "nobody is left"},
		{0, 0, 0, 0, "there is nothing to do"},
	} {
		took, others := f.takes(c.work, c.after, 2)
		assert.Equal(t, c.took, took, c.why)
		assert.Equal(t, c.others, others, c.why)
	}
}

// Where a request waits for a worker it holds up nobody who was there before.
func TestTheOracleMindsTheOthers(t *testing.T) {
	for _, sharing := range []bool{false, true} {
		w := newWorld((&Scenario{Rate: 100, Network: new(Network), Providers: []Provider{{Count: 2, Workers: 1, Sharing: sharing}}}).filled(), 1, false)
		c, err := newOracle(w, 0)
		require.NoError(t, err)
		come := func(v *server, works ...float64) {
			for _, work := range works {
				r := w.requests.take()
				r.key, r.work = -1, work
				v.coming++
				v.onWay += work
				w.reach(v, r)
			}
		}
		come(w.servers[0], 1000, 1000, 1000) // it would be finished after 40 here, and make three wait for 10
		come(w.servers[1], 45)               // after 20, and make one wait for 10
		r := w.requests.take()
		r.key, r.work = -1, 10
		for i, want := range [][2]int64{{3010, 0}, {55, 0}, {40, 30}, {20, 10}}[map[bool]int{false: 0, true: 2}[sharing]:][:2] {
			at, others := c.(*oracle).finish(w.servers[i], r)
			assert.Equal(t, want, [2]int64{at - w.now, others}, "sharing %v, server %d", sharing, i)
		}
	}
}

// However many share the cores, only so many are looked at, and they stand for all.
func TestASharedForecastOfMany(t *testing.T) {
	w := newWorld((&Scenario{Rate: 100, Providers: []Provider{{Workers: 2, Sharing: true}}}).filled(), 1, false)
	v := w.servers[0]
	const n = 100_000
	for i := range n {
		v.cores.add(job{ref: int32(i)}, float64(i))
	}
	v.cores.updated = w.now
	v.coming, v.onWay = n, n*float64(n)
	var f sharedForecast
	f.start(w, v, 1)
	assert.LessOrEqual(t, len(f.left), mostShared+2)
	assert.InEpsilon(t, 2*n, float64(len(f.left))*f.each, 0.01)
	sum := 0.0 // of what all still need
	for _, l := range f.left {
		sum += l * f.each
	}
	assert.InEpsilon(t, n*(n/2.0)+n*float64(n), sum, 0.02)
	took, others := f.takes(2*n, 0, 2)
	assert.InEpsilon(t, (sum+2*n)/2, took, 0.01, "two cores, all of them busy until the end but for the last")
	assert.InEpsilon(t, sum/2, others, 0.01, "each is held up by half of what it needs")
}
