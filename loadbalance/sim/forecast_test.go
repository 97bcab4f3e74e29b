package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// prophet notes when the oracle thinks that each request will be back, and when it is.
type prophet struct {
	*oracle
	t        *testing.T
	expected map[int32]int64
	kept     int // forecasts that did not have to be made anew
}

func (p *prophet) choose(r *request) int32 {
	best := p.oracle.choose(r)
	v := p.w.servers[best]
	p.expected[r.id], _ = p.finish(v, r)
	if v.queue.n > 0 {
		if p.waits[best].upto-v.queue.gone == v.queue.n && v.queue.gone > 0 {
			p.kept++
		}
		var anew forecast
		anew.upto = -1
		anew.wait(p.w, v)
		require.ElementsMatch(p.t, anew.free, p.waits[best].free, "what is kept is what a look at all would find")
	}
	return best
}

func (p *prophet) ended(r *request, a answer) {
	require.Equal(p.t, served, a)
	require.Equal(p.t, p.expected[r.id], p.w.now, "request at %v", time.Duration(r.at))
}

// Who knows everything knows it to the nanosecond, where nothing is on its way.
func TestTheOracleKnows(t *testing.T) {
	s := (&Scenario{
		Duration: 20 * time.Second, Load: 1.2, Deadline: time.Hour, Network: new(Network), Requests: []Request{{CV: 2}},
		Providers: []Provider{
			{}, {Workers: 1, Joins: At(3 * time.Second), Cold: &Cold{Slow: 20, Requests: 100}},
			{Joins: At(4 * time.Second), Cold: &Cold{Slow: 5, For: 2 * time.Second, Heal: 8 * time.Second}},
			{Speed: 0.7, Faults: []Fault{{At: 2 * time.Second, For: 4 * time.Second, Slow: 3}, {At: 0, For: 300 * time.Millisecond, Every: 2 * time.Second, Pause: true}}},
		},
	}).filled()
	w := newWorld(s, 1, false)
	c, err := newOracle(w, 0)
	require.NoError(t, err)
	p := &prophet{oracle: c.(*oracle), t: t, expected: map[int32]int64{}}
	w.choosers = []chooser{p, p, p}
	require.NoError(t, w.run(t.Context()))
	assert.Greater(t, p.kept, 3000, "most of the time there is a queue")
}

// However many wait, each is looked at once.
func TestAForecastLooksAtEachOnce(t *testing.T) {
	w := newWorld((&Scenario{Rate: 100, Providers: []Provider{{Workers: 2}}}).filled(), 1, false)
	v := w.servers[0]
	come := func(n int) {
		for range n {
			r := w.requests.take()
			r.key, r.work = -1, float64(time.Millisecond)
			v.coming++
			v.onWay += r.work
			w.reach(v, r)
		}
	}
	come(102)
	var f forecast
	f.wait(w, v)
	at := func(ms int64) int64 { return w.now + ms*int64(time.Millisecond) }
	assert.Equal(t, at(51), f.free[0])
	for i := range v.queue.n {
		w.requests.all[*v.queue.at(i)].work *= 1000 // nobody sees it any more
	}
	f.wait(w, v)
	assert.Equal(t, at(51), f.free[0])
	come(2)
	f.wait(w, v)
	assert.Equal(t, at(52), f.free[0])

	for _, id := range v.stop() { // a new life has a new one
		w.requests.release(w.requests.all[id])
	}
	v.start(w.now)
	come(6)
	f.wait(w, v)
	assert.Equal(t, at(3), f.free[0])
}

// What is on a long way is not looked at one by one, but nothing of it is forgotten.
func TestAForecastOfManyOnTheirWay(t *testing.T) {
	w := newWorld((&Scenario{Rate: 100, Providers: []Provider{{Workers: 2}}}).filled(), 1, false)
	c, err := newOracle(w, 0)
	require.NoError(t, err)
	v := w.servers[0]
	v.coming, v.onWay = 300_000, 3000*float64(time.Second)
	assert.Equal(t, 1500*time.Second, time.Duration(c.(*oracle).begin(v)-w.now).Round(10*time.Second))
}
