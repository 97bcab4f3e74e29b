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
		want := c.(*oracle).finish(v, r)
		send(r, w.now+travel(v.conf.Network, 0))
		back := int64(0)
		until(func() bool {
			for _, e := range w.events.heap {
				if e.kind == answered && e.ref == r.id {
					back = e.at
				}
			}
			return back != 0
		})
		if math.Abs(float64(back-want)) > float64(2*n+10) {
			t.Fatalf("back at %d, foretold %d: %d off", back, want, back-want)
		}
	})
}

// By hand: two cores, and others that need 1, 2 and 4.
func TestASharedForecast(t *testing.T) {
	f := sharedForecast{left: []float64{1, 2, 4}, each: 1}
	assert.Equal(t, 2.0, f.takes(1, 0, 2), "four share two cores until all need one less")
	assert.Equal(t, 2+1.5, f.takes(2, 0, 2), "and then three")
	assert.Equal(t, 2+1.5+1, f.takes(3, 0, 2), "and then two, a core each")
	assert.Equal(t, 2+1.5+2+6, f.takes(10, 0, 2), "and at last alone")
	assert.Equal(t, 1.0, f.takes(1, 3.5, 2), "one is left when it comes: 1.5, 1 and what is left of the third")
	assert.Equal(t, 1.5+0.5, f.takes(1.5, 1.5, 2), "it comes when the first goes: three until the second goes, then two")
	assert.Equal(t, 5.0, f.takes(5, 100, 2), "nobody is left")
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
	assert.InEpsilon(t, (sum+2*n)/2, f.takes(2*n, 0, 2), 0.01, "two cores, all of them busy until the end but for the last")
}
