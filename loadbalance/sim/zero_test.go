package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A 0 that is written is never taken for a default.
func TestAWrittenZeroThatMakesNoSense(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"duration: 0s", "x.yml:1: duration: 0s is not between 1s and 24h0m0s"},
		{"load: 0", "x.yml:1: load: 0 is not between 0.000001 and 10"},
		{"load: -0.0", "x.yml:1: load: 0 is not between"},
		{"load: 0\nrate: 5", "x.yml:1: load: 0 is not between"},
		{"rate: 0", "x.yml:1: rate: 0 is not between 0.001 and 10000000"},
		{"consumers: 0", "x.yml:1: consumers: 0 is not between 1 and 10000"},
		{"deadline: 0", "x.yml:1: deadline: 0s is not between 1ms and 24h0m0s"},
		{"requests: [{share: 0}]", "x.yml:1: requests[0].share: 0 is not between 0.000000001 and 1000000000"},
		{"requests: [{mean: 0s}]", "x.yml:1: requests[0].mean: 0s is not between 1µs and"},
		{"keys: {count: 0}", "x.yml:1: keys.count: 0 is not between 1 and 10000000"},
		{"long: {each: 0}", "x.yml:1: long.each: 0 is not between 0.01 and 1000"},
		{"long: {each: 1, lasts: 0s}", "x.yml:1: long.lasts: 0s is not between 1s and"},
		{"providers: [{}, {count: 0}]", "x.yml:1: providers[1].count: 0 is not between 1 and 20000"},
		{"providers: [{workers: 0}]", "x.yml:1: providers[0].workers: 0 is not between 1 and 100000"},
		{"providers: [{speed: 0}]", "x.yml:1: providers[0].speed: 0 is not between 0.001 and 1000"},
		{"keys: {}\nproviders: [{cache: {keys: 0}}]", "x.yml:2: providers[0].cache.keys: 0 is not between 1 and"},
		{"keys: {}\nproviders: [{cache: {keys: 1, miss: 0}}]", "x.yml:2: providers[0].cache.miss: 0 is not between 1 and 10000"},
		{"providers: [{joins: 1s, cold: {slow: 0, for: 1s}}]", "x.yml:1: providers[0].cold.slow: 0 is not between 1 and 10000"},
		{"providers: [{faults: [{at: 1s, for: 0s, pause: true}]}]", "x.yml:1: providers[0].faults[0].for: 0s is not between 1ms and"},
		{"providers: [{faults: [{at: 1s, for: 1s, slow: 0}]}]", "x.yml:1: providers[0].faults[0].slow: 0 is not between 1 and 10000"},
		{"providers: [{faults: [{at: 1s, for: 1s, every: 0s, pause: true}]}]", "x.yml:1: providers[0].faults[0].every: 0s is not between 2s and"},
		{"providers: [{faults: [{at: 1s, for: 1s, error: 0}]}]", "x.yml:1: providers[0].faults[0]: exactly one of error, slow, pause, kill and leave is needed, not 0"},
	} {
		text := c.text + "\n"
		if !strings.Contains(text, "providers:") {
			text += "providers: [{}]\n"
		}
		_, err := Parse("x.yml", []byte(text))
		assert.ErrorContains(t, err, c.want, c.text)
	}
}

// Numbers of all kinds are written alike.
func TestHowNumbersAreWritten(t *testing.T) {
	for _, key := range []string{"leaked", "speed"} {
		for _, text := range []string{"1_000", "0x10", "0x1p4", "1_0.0"} {
			_, err := Parse("x.yml", []byte("rate: 100\nproviders: [{"+key+": "+text+"}]\n"))
			assert.ErrorContains(t, err, `"`+text+`" is not a`, key)
		}
		_, err := Parse("x.yml", []byte("rate: 100\nproviders: [{"+key+": 100}]\n"))
		assert.NoError(t, err)
	}
	s, err := Parse("x.yml", []byte("rate: 1e2\nproviders: [{}]\n"))
	require.NoError(t, err)
	assert.Equal(t, 100.0, s.Rate)
}

// Where 0 makes sense a file says 0 and a program says None, and nothing negative is
// taken for it.
func TestAWrittenZeroThatMakesSense(t *testing.T) {
	s, err := Parse("x.yml", []byte(`
settle: 0s
notify: 0s
rate: 100
requests: [{cv: 0}]
keys: {count: 10, zipf: 0}
providers:
  - weight: 0
    cache: {keys: 5, hits: 0}
    joins: 0s
    cold: {slow: 2, cpu: 0, for: 1s}
    faults: [{at: 0s, for: 1s, error: 0.5, in: 0s}]
  - {}
`))
	require.NoError(t, err)
	assert.Equal(t, &Scenario{
		Name: "x", Settle: None, Notify: None, Rate: 100,
		Requests: []Request{{CV: None}},
		Keys:     &Keys{Count: 10, Zipf: None},
		Providers: []Provider{{
			Weight: None, Cache: &Cache{Keys: 5, Hits: None}, Joins: At(0), Cold: &Cold{Slow: 2, CPU: None, For: time.Second},
			Faults: []Fault{{For: time.Second, Error: 0.5, In: None}},
		}, {}},
	}, s)

	f := s.filled()
	assert.Zero(t, f.Settle)
	assert.Zero(t, f.Notify)
	assert.Zero(t, f.Requests[0].CV)
	assert.Zero(t, f.Keys.Zipf)
	p := &f.Providers[0]
	assert.Zero(t, p.Cache.Hits)
	assert.Zero(t, p.Cold.CPU)
	assert.Zero(t, p.Faults[0].In)
	assert.Equal(t, "0", (&server{conf: p}).params(f)["weight"])
	assert.NotContains(t, (&server{conf: &f.Providers[1]}).params(f), "weight", "nothing is said")

	for _, text := range []string{
		"settle: -1ns", "notify: -1s", "requests: [{cv: -1}]", "keys: {zipf: -1}", "providers: [{weight: -1}]",
		"keys: {}\nproviders: [{cache: {keys: 1, hits: -1}}]", "providers: [{joins: 1s, cold: {slow: 1, for: 1s, cpu: -1}}]",
		"providers: [{faults: [{at: 1s, for: 1s, error: 1, in: -1ns}]}]",
	} {
		_, err := Parse("x.yml", []byte("\n"+text+"\n"))
		assert.ErrorContains(t, err, "is less than 0", text)
	}
}

// What None does.
func TestNone(t *testing.T) {
	constant := &Scenario{
		Name: "none", Settle: None, Rate: 5, Network: new(Network), Notify: None, Requests: []Request{{CV: None}},
		Keys:      &Keys{Count: 2, Zipf: None},
		Providers: []Provider{{Count: 2, Workers: 100}, {Weight: None}},
	}
	r, err := Run(t.Context(), constant, Options{Policy: "random", Seed: 1})
	require.NoError(t, err)
	assert.Equal(t, 10*time.Millisecond, r.Mean, "every request takes the same")
	assert.Zero(t, r.Providers[2].Calls, "a weight of 0")

	z := newZipf(4, 0)
	for i, sum := range z.sums {
		assert.InDelta(t, float64(i+1)/4, sum, 1e-12, "all keys are alike")
	}

	// Consumers know of a start at once.
	at := map[time.Duration]int{}
	for _, notify := range []time.Duration{None, 20 * time.Second} {
		joins := &Scenario{Name: "joins", Rate: 200, Notify: notify, Providers: []Provider{{}, {Joins: At(10 * time.Second), Params: map[string]string{"warmup": "0"}}}}
		r, err := Run(t.Context(), joins, Options{Policy: "roundrobin", Seed: 1, Detail: true})
		require.NoError(t, err)
		at[notify] = r.Seconds[10].Calls[1]
	}
	assert.InEpsilon(t, 100, at[None], 0.2, fmt.Sprint(at))
	assert.Less(t, at[20*time.Second], 50)
}

// What is said has an effect, or is a mistake.
func TestWhatHasNoEffect(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"load: 0.5\nrate: 5\nproviders: [{}]", "x.yml:1: load: there is a rate, too: one of them"},
		{"providers:\n  - cold: {slow: 2, for: 1s}", "x.yml:2: providers[0].cold: the provider is up from long before the beginning"},
		{"rate: 5\nlong: {each: 1}\nproviders: [{joins: 1s}]", "x.yml:2: long: nobody has any: every provider joins later"},
		{"providers:\n  - faults: [{at: 1s, for: 1s, pause: true, in: 1s}]", "x.yml:2: providers[0].faults[0].in: is for errors alone"},
		{"providers:\n  - faults: [{at: 1s, for: 1s, pause: true, in: 0s}]", "x.yml:2: providers[0].faults[0].in: is for errors alone"},
		{"providers:\n  - faults: [{at: 1s, for: 1s, pause: true, stagger: 1s}]", "x.yml:2: providers[0].faults[0].stagger: there is one provider in the group"},
		{"providers:\n  - {count: 2, faults: [{at: 1s, for: 1s, every: 3s, pause: true, stagger: 1s}]}", "x.yml:2: providers[0].faults[0].stagger: with every, each provider has moments of its own"},
		{"providers:\n  - {count: 30, faults: [{at: 1s, for: 1s, pause: true, stagger: 3s}]}", "x.yml:2: providers[0].faults[0].stagger: the last of 30 providers would have it at 1m28s, after the end"},
		{"providers:\n  - {joins: 5s, faults: [{at: 1s, for: 1s, slow: 2}]}", "x.yml:2: providers[0].faults[0].at: 1s is before the provider joins, at 5s"},
		{"providers:\n  - faults: [{at: 60s, for: 1s, pause: true}]", "x.yml:2: providers[0].faults[0].at: 1m0s is the end: nothing comes after it"},
		{"duration: 2s\nrate: 100\nproviders:\n  - {count: 3, faults: [{at: 0s, for: 1s, pause: true, stagger: 1s}]}", "x.yml:4: providers[0].faults[0].stagger: the last of 3 providers would have it at 2s, after the end"},
		{"providers:\n  - {}\n  - joins: 60s", "x.yml:3: providers[1].joins: 1m0s is the end: nothing comes after it"},
		{"providers:\n  - faults: [{at: 1s, for: 1s, slow: 1}]", "x.yml:2: providers[0].faults[0].slow: 1 is as fast as without it"},
		{"providers:\n  - {joins: 1s, cold: {slow: 1, for: 1s}}", "x.yml:2: providers[0].cold.slow: 1 is as fast as without it"},
		{"providers:\n  - {joins: 1s, cold: {slow: 1, cpu: 1, for: 1s}}", "x.yml:2: providers[0].cold.slow: 1 is as fast as without it"},
		{"providers:\n  - {joins: 1s, cold: {slow: 2, cpu: 3, for: 1s}}", "x.yml:2: providers[0].cold.cpu: 3 is more than slow, 2: no request takes more of the CPU than the time that it is on a worker"},
		{"providers:\n  - params: {'': x}", "x.yml:2: providers[0].params: a parameter has no name"},
		{"providers:\n  - params: {loadbalance: nope}", "x.yml:2: providers[0].params.loadbalance: has no effect: a run is told its policy"},
		{"providers:\n  - params: {actives: 2}", "x.yml:2: providers[0].params.actives: has no effect: no request waits for others at its consumer; threads of the provider has those refused that are too many"},
		{"providers:\n  - params: {executes: 2}", "x.yml:2: providers[0].params.executes: has no effect: threads is a key of the provider itself"},
		{"providers:\n  - params: {threads: 2}", "x.yml:2: providers[0].params.threads: has no effect: threads is a key of the provider itself"},
		{"providers:\n  - params: {timeout: 5}", "x.yml:2: providers[0].params.timeout: has no effect: the scenario has a deadline"},
		{"providers:\n  - params: {call.timeout: 5}", "x.yml:2: providers[0].params.call.timeout: has no effect: the scenario has a deadline"},
		{"providers:\n  - params: {default.timeout: 5}", "x.yml:2: providers[0].params.default.timeout: has no effect: the scenario has a deadline"},
		{"providers:\n  - params: {retries: 3}", "x.yml:2: providers[0].params.retries: has no effect: there are no retries, so that errors show"},
		{"providers:\n  - params: {enabled: false}", "x.yml:2: providers[0].params.enabled: has no effect: leave the provider out, or let it take leave by a fault"},
		{"providers:\n  - params: {disabled: true}", "x.yml:2: providers[0].params.disabled: has no effect: leave the provider out, or let it take leave by a fault"},
		{"providers:\n  - params: {timestamp: 5}", "x.yml:2: providers[0].params.timestamp: has no effect: joins is when the provider starts"},
		{"providers:\n  - params: {shortestResponseSlidePeriod: 5}", "x.yml:2: providers[0].params.shortestResponseSlidePeriod: has no effect: it is a reference's, not a provider's"},
		{"providers:\n  - params: {serialization: x}", "x.yml:2: providers[0].params.serialization: has no effect: of the parameters that gofer knows a simulated provider has hash.arguments, hash.nodes, outlier, outlier.failures, outlier.pause, warmup, weight, and any that gofer does not know"},
		{"providers:\n  - params: {find.weight: 5}", `x.yml:2: providers[0].params.find.weight: has no effect: the method that is called is "call"`},
		{"providers:\n  - params: {call.outlier: false}", "x.yml:2: providers[0].params.call.outlier: has no effect: outlier is one for all methods"},
		{"providers:\n  - {weight: 3, params: {call.weight: 4}}", "x.yml:2: providers[0].params.call.weight: the provider has a weight of its own, too"},
		{"providers:\n  - params: {weight: abc}", `x.yml:2: providers[0].params.weight: "abc": not a whole number`},
		{"providers:\n  - {weight: 3, params: {weight: 4}}", "x.yml:2: providers[0].params.weight: the provider has a weight of its own, too"},
		{"providers:\n  - params: {warmup: 5x}", `x.yml:2: providers[0].params.warmup: "5x": neither whole milliseconds`},
	} {
		_, err := Parse("x.yml", []byte(c.text+"\n"))
		assert.ErrorContains(t, err, c.want, c.text)
	}
}
