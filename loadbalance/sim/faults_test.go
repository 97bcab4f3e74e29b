package sim

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outcome runs two providers of which one has these faults, and returns all that was
// measured as text.
func outcome(t *testing.T, policy string, sharing bool, faults ...Fault) string {
	t.Helper()
	s := &Scenario{
		Name: "faults", Duration: 8 * time.Second, Settle: time.Second, Rate: 200, Notify: 200 * time.Millisecond,
		Providers: []Provider{{Sharing: sharing}, {Sharing: sharing, Faults: faults}},
	}
	r, err := Run(t.Context(), s, Options{Policy: policy, Seed: 1, Detail: true})
	require.NoError(t, err)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	return string(text)
}

// Faults that hold at once mean what the documentation of [Fault] says: the same as one
// fault does, to the bit.
func TestOverlappingFaultsAreOne(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		name string
		many []Fault
		one  []Fault
	}{
		{
			"pauses are a union",
			[]Fault{{At: time.Second, For: 800 * ms, Pause: true}, {At: 1100 * ms, For: 1200 * ms, Pause: true}, {At: 1200 * ms, For: 100 * ms, Pause: true}},
			[]Fault{{At: time.Second, For: 1300 * ms, Pause: true}},
		}, {
			"slow ones multiply",
			[]Fault{{At: time.Second, For: 3 * time.Second, Slow: 2}, {At: time.Second, For: 3 * time.Second, Slow: 4}},
			[]Fault{{At: time.Second, For: 3 * time.Second, Slow: 8}},
		}, {
			"of errors the most frequent counts",
			[]Fault{{At: time.Second, For: 3 * time.Second, Error: 0.1, In: None}, {At: time.Second, For: 3 * time.Second, Error: 0.5}},
			[]Fault{{At: time.Second, For: 3 * time.Second, Error: 0.5}},
		}, {
			"and of two that are as frequent the sooner",
			[]Fault{{At: time.Second, For: 3 * time.Second, Error: 0.5, In: time.Second}, {At: time.Second, For: 3 * time.Second, Error: 0.5}},
			[]Fault{{At: time.Second, For: 3 * time.Second, Error: 0.5}},
		}, {
			"kills are a union",
			[]Fault{{At: time.Second, For: 2 * time.Second, Kill: true}, {At: 2 * time.Second, For: 3 * time.Second, Kill: true}, {At: 2 * time.Second, For: time.Second, Kill: true}},
			[]Fault{{At: time.Second, For: 4 * time.Second, Kill: true}},
		}, {
			"leaves are a union",
			[]Fault{{At: time.Second, For: 2 * time.Second, Leave: true}, {At: 3 * time.Second, For: 2 * time.Second, Leave: true}},
			[]Fault{{At: time.Second, For: 4 * time.Second, Leave: true}},
		}, {
			"who is dead cannot leave",
			[]Fault{{At: time.Second, For: 2 * time.Second, Kill: true}, {At: 2 * time.Second, For: 3 * time.Second, Leave: true}},
			[]Fault{{At: time.Second, For: 4 * time.Second, Kill: true}},
		}, {
			"a leave and a kill at once are a kill",
			[]Fault{{At: time.Second, For: 4 * time.Second, Leave: true}, {At: time.Second, For: 2 * time.Second, Kill: true}},
			[]Fault{{At: time.Second, For: 4 * time.Second, Kill: true}},
		},
	} {
		for _, policy := range []string{"roundrobin", "java-leastactive", "oracle", "jsq"} {
			for _, sharing := range []bool{false, true} {
				assert.Equal(t, outcome(t, policy, sharing, c.one...), outcome(t, policy, sharing, c.many...), "%s: %s, sharing %v", c.name, policy, sharing)
			}
		}
	}
}

func TestTheOrderOfFaultsMeansNothing(t *testing.T) {
	faults := []Fault{
		{At: 4 * time.Second, For: 700 * time.Millisecond, Pause: true},
		{At: time.Second, For: 800 * time.Millisecond, Pause: true},
		{At: 3 * time.Second, For: 2 * time.Second, Slow: 3},
		{At: 2 * time.Second, For: 2 * time.Second, Slow: 1.5},
		{At: 5 * time.Second, For: time.Second, Error: 0.4},
		{At: 5 * time.Second, For: time.Second, Error: 0.2},
		{At: 6 * time.Second, For: time.Second, Leave: true},
		{At: 6500 * time.Millisecond, For: 200 * time.Millisecond, Kill: true},
		{At: 2500 * time.Millisecond, For: 300 * time.Millisecond, Kill: true},
	}
	want := outcome(t, "leastactive", true, faults...)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		rng.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
		assert.Equal(t, want, outcome(t, "leastactive", true, faults...))
	}
}

// Who has taken leave works off what it has, unless it is killed meanwhile.
func TestOutages(t *testing.T) {
	leave := func(at, lasts time.Duration) Fault { return Fault{At: at, For: lasts, Leave: true} }
	kill := func(at, lasts time.Duration) Fault { return Fault{At: at, For: lasts, Kill: true} }
	for _, c := range []struct {
		faults []Fault
		want   []outage
	}{
		{nil, nil},
		{[]Fault{leave(1, 5), kill(3, 1)}, []outage{{1, 3, 6, true}}},
		{[]Fault{leave(1, 5), kill(6, 2)}, []outage{{1, 6, 8, true}}},
		{[]Fault{leave(1, 5), leave(4, 5), kill(8, 1)}, []outage{{1, 8, 9, true}}},
		{[]Fault{leave(1, 2), leave(3, 2)}, []outage{{1, 5, 5, true}}},
		{[]Fault{kill(9, 1), leave(1, 2)}, []outage{{1, 3, 3, true}, {9, 9, 10, false}}},
		{[]Fault{kill(1, 9), kill(2, 1), leave(3, 1)}, []outage{{1, 1, 10, false}}},
	} {
		assert.Equal(t, c.want, (&Provider{Faults: c.faults}).outages(0), "%+v", c.faults)
	}
	staggered := &Provider{Faults: []Fault{{At: 1, For: 5, Stagger: 10, Kill: true}}}
	assert.Equal(t, []outage{{31, 31, 36, false}}, staggered.outages(3))
}

// A provider that is up has the share that all its faults together leave it, and is cold
// once, since its latest start.
func TestCapacityOfOverlappingFaults(t *testing.T) {
	p := Provider{
		Count: 1, Workers: 1, Speed: 1, Joins: At(0), Cold: &Cold{Slow: 4, For: 2 * time.Second},
		Faults: []Fault{
			{At: 10 * time.Second, For: time.Second, Kill: true}, {At: 10 * time.Second, For: 1500 * time.Millisecond, Leave: true},
			{At: 20 * time.Second, For: time.Second, Slow: 2}, {At: 20 * time.Second, For: time.Second, Slow: 3},
		},
	}
	for range 2 {
		for at, want := range map[time.Duration]float64{
			0: 0.25, 5 * time.Second: 1, 10 * time.Second: 0, 11200 * time.Millisecond: 0, 11600 * time.Millisecond: 0.25,
			13200 * time.Millisecond: 0.25, 14 * time.Second: 1, 20 * time.Second: 1.0 / 6,
		} {
			assert.InDelta(t, want, p.capacityAt(at, 0), 1e-9, at)
		}
		slices.Reverse(p.Faults)
	}
}

// Slowness is of the work that begins meanwhile, a pause is of all work.
func TestSlownessHoldsForWorkThatBegins(t *testing.T) {
	took := func(f Fault) map[time.Duration]time.Duration {
		all := map[time.Duration]time.Duration{} // by the second in which a request came, the longest
		f.At, f.For = 5*time.Second, 5*time.Second
		s := &Scenario{
			Name: "slow", Duration: 20 * time.Second, Settle: None, Rate: 10, Deadline: time.Minute, Network: new(Network),
			Requests:  []Request{{Mean: 2 * time.Second, CV: None}},
			Providers: []Provider{{Workers: 1000, Faults: []Fault{f}}},
		}
		_, err := Run(t.Context(), s, Options{Detail: true, Calls: func(c Call) {
			second := c.At.Truncate(time.Second)
			all[second] = max(all[second], c.Took)
		}})
		require.NoError(t, err)
		return all
	}
	slow, paused := took(Fault{Slow: 10}), took(Fault{Pause: true})
	assert.Equal(t, 2*time.Second, slow[4*time.Second], "it was begun before")
	assert.Equal(t, 20*time.Second, slow[9*time.Second], "to its end, 15 s after the last that is slow was begun")
	assert.Equal(t, 2*time.Second, slow[10*time.Second])
	assert.Equal(t, 7*time.Second, paused[4*time.Second], "a pause holds it up")
	assert.InDelta(t, 3, paused[9*time.Second].Seconds(), 1.1, "but what comes during it only until its end")
}
