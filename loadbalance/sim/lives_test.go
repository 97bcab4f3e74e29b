package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A provider that dies as soon as it is there, before anybody knows of it.
func TestAProviderDiesBeforeAnybodyKnowsIt(t *testing.T) {
	s := &Scenario{
		Name: "unknown", Duration: 10 * time.Second, Rate: 100, Notify: 3 * time.Second,
		Providers: []Provider{{}, {Joins: At(2 * time.Second), Faults: []Fault{{At: 2 * time.Second, For: 4 * time.Second, Kill: true}, {At: 7 * time.Second, For: time.Second, Leave: true}}}},
	}
	for _, policy := range Policies() {
		r, err := Run(t.Context(), s, Options{Policy: policy, Seed: 1})
		require.NoError(t, err, policy)
		assert.Zero(t, r.NoOne, policy)
	}
	s.Providers[1].Faults[0].At = time.Second
	assert.EqualError(t, s.Check(), "scenario unknown: providers[1].faults[0].at: 1s is before the provider joins, at 2s")
}

// Whatever comes and goes, and however late and in whatever order consumers hear of it:
// in the end each knows what is so.
func TestConsumersKnowInTheEndWhatIsSo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Scenario{Duration: 8 * time.Second, Settle: None, Rate: 50, Consumers: 3, Notify: 2 * time.Second, Providers: []Provider{{}}}
		for range rapid.IntRange(1, 3).Draw(t, "providers") {
			p := Provider{}
			if rapid.Bool().Draw(t, "joins") {
				p.Joins = At(0)
			}
			for range rapid.IntRange(1, 4).Draw(t, "faults") {
				kill := rapid.Bool().Draw(t, "kill")
				p.Faults = append(p.Faults, Fault{
					At:   time.Duration(rapid.IntRange(0, 50).Draw(t, "at")) * 100 * time.Millisecond,
					For:  time.Duration(rapid.IntRange(1, 2000).Draw(t, "for")) * time.Millisecond,
					Kill: kill, Leave: !kill,
				})
			}
			s.Providers = append(s.Providers, p)
		}
		require.NoError(t, s.Check())
		for _, policy := range []string{"roundrobin", "java-roundrobin"} {
			one, err := find(policy, nil)
			require.NoError(t, err)
			w := newWorld(s.filled(), 1, false)
			require.NoError(t, w.choose(t.Context(), one))
			w.end = int64(12 * time.Second) // until all is known
			require.NoError(t, w.run(t.Context()))
			for _, c := range w.choosers {
				for _, v := range w.servers {
					require.Equal(t, v.up, takes(c, v), "%s: server %d of %+v", policy, v.id, s.Providers)
				}
			}
		}
	})
}

// takes reports whether a consumer believes that a server takes requests.
func takes(c chooser, v *server) bool {
	switch c := c.(type) {
	case *java:
		for _, id := range c.list {
			if id == v.id {
				return true
			}
		}
	case *real:
		return c.listed[v.id] && c.nodes[v.id].Endpoint().(*endpoint).state == 0
	}
	return false
}

// ends records the ends of requests.
type ends struct {
	truth
	ids     []int32
	answers []answer
}

func (e *ends) choose(*request) int32 { return 1 }

func (e *ends) ended(r *request, a answer) {
	e.ids, e.answers = append(e.ids, r.id), append(e.answers, a)
}

// What a consumer has sent to former lives of a server is lost when it learns of it, in
// the order of the requests, and nothing else is.
func TestWhatIsLost(t *testing.T) {
	w := newWorld((&Scenario{Rate: 100, Consumers: 2, Providers: []Provider{{Count: 2}}}).filled(), 1, false)
	one, other := new(ends), new(ends)
	w.choosers = []chooser{one, other}
	for _, consumer := range []int32{0, 1, 0, 0} {
		r := w.requests.take()
		r.consumer, r.open = consumer, true
		require.True(t, w.send(r))
	}
	w.change(w.servers[1], dies)
	w.change(w.servers[1], starts)
	last := w.requests.take()
	last.open = true
	require.True(t, w.send(last), "to the new life")

	w.lose(0, w.servers[0])
	assert.Empty(t, one.ids)
	w.lose(0, w.servers[1])
	assert.Equal(t, []int32{0, 2, 3}, one.ids)
	assert.Equal(t, []answer{dead, dead, dead}, one.answers)
	assert.Empty(t, other.ids)
	assert.True(t, last.open)
}

// The lists of open requests are what a slow look would find.
func TestOpenRequestsByServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const consumers, servers = 2, 3
		w := &world{open: newOpen(consumers, servers)}
		var model []*request
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(model) > 0 && rapid.Bool().Draw(t, "end") {
				i := rapid.IntRange(0, len(model)-1).Draw(t, "which")
				w.removeOpen(model[i])
				w.requests.release(model[i])
				model = append(model[:i], model[i+1:]...)
				continue
			}
			r := w.requests.take()
			r.consumer, r.server = rapid.Int32Range(0, consumers-1).Draw(t, "consumer"), rapid.Int32Range(0, servers-1).Draw(t, "server")
			w.addOpen(r)
			model = append(model, r)
		}
		for c := range int32(consumers) {
			for v := range int32(servers) {
				var want, got []*request
				for _, r := range model {
					if r.consumer == c && r.server == v {
						want = append(want, r)
					}
				}
				for id := *w.open.list(c, v); id >= 0; id = w.requests.all[id].older {
					got = append(got, w.requests.all[id])
				}
				require.ElementsMatch(t, want, got)
			}
		}
	})
}

// Deadlines that are met are forgotten when there are many, and no other.
func TestDeadlinesAreForgottenWhenMet(t *testing.T) {
	w := new(world)
	for range 4 {
		w.requests.take().open = true
	}
	for i := range 3 * many {
		w.remember(deadline{at: int64(i), ref: int32(i % 4), turn: int32(i / (many / 2))})
	}
	assert.LessOrEqual(t, len(w.deadlines.items), 2*many, "turn 0 is the one that waits")
	for last := int64(-1); w.deadlines.n > 0; {
		d := w.deadlines.pop()
		require.Greater(t, d.at, last)
		last = d.at
		if d.turn == 0 {
			w.requests.free = append(w.requests.free, d.ref)
		}
	}
	assert.Len(t, w.requests.free, many/2, "none of those that wait is lost")
}
