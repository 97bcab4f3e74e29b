package loadbalance_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

const reportKey = "lb_adaptive"

func newAdaptive(t *testing.T, f *fleet, seed uint64) loadbalance.LoadBalance {
	return balancer(t, "adaptive", loadbalance.Config{Now: f.clock.now, Rand: source(seed)})
}

// report makes a call that takes a time, and whose answer has a report if it is asked
// for one, as the wire has it.
func (f *fleet) report(t *testing.T, lb loadbalance.LoadBalance, n *protocol.Node, took time.Duration, report any) {
	inv := f.call()
	end := f.attempt(lb, n, inv)
	require.NotEmpty(t, inv.Attachment(reportKey))
	require.True(t, inv.Result.WantAttachments)
	inv.Result.Attachments = map[string]any{"dubbo": "2.0.2"}
	if report != nil {
		inv.Result.Attachments[reportKey] = report
	}
	end(took, protocol.Succeeded)
}

// explained returns what the strategy says about each provider.
func (f *fleet) explained(lb loadbalance.LoadBalance) []loadbalance.Candidate {
	return lb.(loadbalance.Explainer).Explain(f.list(), f.call()).Candidates
}

func load(percent string) string { return "curTime:1700000000000,load:" + percent }

// F5: whoever reports nothing, or nothing that makes sense, counts as all others do.
func TestAdaptiveUnknownIsUsual(t *testing.T) {
	for _, report := range []any{nil, "", load("0.0"), load("-25.0"), load("NaN"), load("Infinity"), load("."), load("x"), "load", 12.5} {
		t.Run(fmt.Sprint(report), func(t *testing.T) {
			f := newFleet().weights(100, 100)
			lb := newAdaptive(t, f, 1)
			f.report(t, lb, f.nodes[0], 10*milli, load("20.0"))
			f.report(t, lb, f.nodes[1], 10*milli, report)
			got := f.explained(lb)
			assert.InDelta(t, got[0].Score, got[1].Score, 1e-12)
			assert.Positive(t, got[1].Score)
			requireShares(t, []float64{1, 1}, f.picks(t, lb, f.list(), f.call(), 2000))
		})
	}
}

// Nobody reports anything, as before Dubbo 3.2: what the client sees decides.
func TestAdaptiveWithoutReports(t *testing.T) {
	f := newFleet().weights(100, 100, 100)
	lb := newAdaptive(t, f, 2)
	requireShares(t, []float64{1, 1, 1}, f.picks(t, lb, f.list(), f.call(), 3000))
	f.report(t, lb, f.nodes[0], 40*milli, nil)
	f.report(t, lb, f.nodes[1], 10*milli, nil)
	got := f.explained(lb)
	assert.Greater(t, got[0].Score, got[2].Score)
	assert.Greater(t, got[2].Score, got[1].Score, "of whom nothing is known, between the two")
	requireShares(t, []float64{0, 2, 1}, f.picks(t, lb, f.list(), f.call(), 3000))
}

// The processor load is a factor of the load, to a certain point.
func TestAdaptiveReportCounts(t *testing.T) {
	for _, tt := range []struct {
		low, high string
		ratio     float64
	}{
		{"20.0", "40.0", 2},
		{"2.0E1", "3.0E1", 1.5},
		{"9.9E1", "1.0E2", 1 / 0.99},
		{"1.0E-4", "40.0", 8}, // a quarter of what is usual, 20
		{"0.001", "0.002", 1}, // 1 % at least
	} {
		f := newFleet().weights(100, 100)
		lb := newAdaptive(t, f, 3)
		f.report(t, lb, f.nodes[0], 10*milli, load(tt.low))
		f.report(t, lb, f.nodes[1], 10*milli, load(tt.high))
		got := f.explained(lb)
		assert.InEpsilon(t, tt.ratio, got[1].Score/got[0].Score, 1e-4, "%s %s", tt.low, tt.high)
		assert.Contains(t, got[1].Reason, "as reported")
	}
}

// F6: reading changes nothing, however often and when it is done, but that what is
// known of those who are not called gives way to what is usual.
func TestAdaptiveReadChangesNothing(t *testing.T) {
	f := newFleet().weights(100, 100, 100)
	lb, still := newAdaptive(t, f, 4), newAdaptive(t, f, 4)
	for i, took := range []time.Duration{10 * milli, 40 * milli, 300 * milli} {
		f.report(t, lb, f.nodes[i], took, load("25.0"))
		f.report(t, still, f.nodes[i], took, load("25.0"))
	}
	c, inv := f.list(), f.call()
	for range 100 {
		lb.Select(c, inv)
	}
	assert.Equal(t, f.explained(still), f.explained(lb))
	for range 2000 {
		f.clock.advance(milli)
		lb.Select(c, inv)
	}
	after := f.explained(lb)
	assert.Equal(t, f.explained(still), after)
	usual := (10.0 + 40 + 300) / 3
	assert.InDelta(t, usual-(usual-10)/4, millis(after[0].Latency), 0.1, "two timeouts later")
	assert.InDelta(t, usual+((usual+300)/2-usual)/4, millis(after[2].Latency), 0.1, "the first one counts half")
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// A provider that owes an answer takes as long as it has been silent; one that has
// just been called, or answers others, does not.
func TestAdaptiveSilence(t *testing.T) {
	f := newFleet().weights(100, 100)
	lb := newAdaptive(t, f, 5)
	for _, n := range f.nodes {
		f.report(t, lb, n, 10*milli, load("25.0"))
	}
	f.clock.advance(time.Minute)
	end := f.attempt(lb, f.nodes[0], f.call())
	assert.InDelta(t, 10, millis(f.explained(lb)[0].Latency), 0.01, "idle until now")
	f.clock.advance(400 * milli)
	assert.InDelta(t, 400, millis(f.explained(lb)[0].Latency), 0.01)
	f.report(t, lb, f.nodes[0], 10*milli, load("25.0"))
	assert.InDelta(t, 10, millis(f.explained(lb)[0].Latency), 0.01, "it answers")
	f.clock.advance(time.Hour)
	assert.InDelta(t, 2000, millis(f.explained(lb)[0].Latency), 0.01, "twice the timeout at most")
	end(time.Hour, protocol.Neutral)
	assert.InDelta(t, 10, millis(f.explained(lb)[0].Latency), 0.01, "nothing is owed")
}

// F4: who fails, fast or by timeout, gets less than its share.
func TestAdaptiveFailuresAreNotFast(t *testing.T) {
	for name, tt := range map[string]struct {
		took    time.Duration
		verdict protocol.Verdict
	}{"fast": {milli, protocol.Failed}, "timeout": {time.Second, protocol.TimedOut}} {
		for _, nodes := range []int{2, 4} {
			t.Run(fmt.Sprint(name, nodes), func(t *testing.T) {
				f, rand := newFleet(), source(6)
				for range nodes {
					f.add(weight(100), 0)
				}
				bad := f.nodes[0]
				s := f.traffic(balancer(t, "adaptive", loadbalance.Config{Now: f.clock.now, Rand: rand}))
				s.verdict = func(n *protocol.Node) protocol.Verdict {
					if n == bad {
						return tt.verdict
					}
					return protocol.Succeeded
				}
				s.stream(t, 5*milli, time.Minute, rand, func(n *protocol.Node) time.Duration {
					if n == bad {
						return tt.took
					}
					return exponential(rand, 10*milli)
				})
				assert.Less(t, s.share(bad), 0.05)
			})
		}
	}
}

// F6: a slow provider is not flooded each time it was left alone for a while.
func TestAdaptiveNoBursts(t *testing.T) {
	f, rand := newFleet().weights(100, 100, 100, 100), source(7)
	slow := f.nodes[3]
	s := f.traffic(balancer(t, "adaptive", loadbalance.Config{Now: f.clock.now, Rand: rand}))
	most := 0
	s.stream(t, 2500*time.Microsecond, time.Minute, rand, func(n *protocol.Node) time.Duration {
		most = max(most, slow.Status(f.method.Slot).Active()+1)
		if n == slow {
			return 400 * milli
		}
		return exponential(rand, 10*milli)
	})
	assert.LessOrEqual(t, most, 12, "calls under way there")
	assert.Less(t, s.share(slow), 0.03)
}

// F20: one bad method does not spoil the others; F23: nor does an earlier life.
func TestAdaptiveByMethodAndLife(t *testing.T) {
	f := newFleet().weights(100, 100)
	lb := newAdaptive(t, f, 8)
	save := &protocol.Invocation{Method: f.methodOf("save")}
	for range 10 {
		f.attempt(lb, f.nodes[0], save)(milli, protocol.Failed)
	}
	got := f.explained(lb)
	assert.InDelta(t, got[1].Score, got[0].Score, 1e-12)

	f.learn(lb, f.nodes[1], protocol.Succeeded, 10*milli)
	f.report(t, lb, f.nodes[0], 50*milli, load("80.0"))
	late := f.attempt(lb, f.nodes[0], f.call())
	require.Greater(t, f.explained(lb)[0].Score, f.explained(lb)[1].Score)
	f.nodes[0].Update(f.nodes[0].URL(), f.clock.now())
	late(time.Minute, protocol.Failed)
	got = f.explained(lb)
	assert.Zero(t, got[0].Active)
	assert.Contains(t, got[0].Reason, "not reported")
	assert.InDelta(t, 30, millis(got[0].Latency), 0.01, "what is usual")
}

// F5: weight and warm-up count; one that warms up has a tenth of its weight at least.
func TestAdaptiveWeights(t *testing.T) {
	f := newFleet()
	f.add(warm(100), time.Hour)
	f.add(warm(100), time.Second)
	f.add(weight(50), 0)
	got := f.explained(newAdaptive(t, f, 9))
	assert.InEpsilon(t, 101.0/11, got[1].Score/got[0].Score, 1e-9)
	assert.InEpsilon(t, 101.0/51, got[2].Score/got[0].Score, 1e-9)
	assert.True(t, got[1].Warming)
}

// Weights that are as great as can be do not make the sum negative (F16).
func TestAdaptiveTiesByWeight(t *testing.T) {
	f := newFleet().weights(math.MaxInt32, math.MaxInt32)
	requireShares(t, []float64{1, 1}, f.picks(t, newAdaptive(t, f, 10), f.list(), f.call(), 2000))
}

// Who asked for the attachments of the answer does not see the report, who did not sees
// none at all; and a retry asks anew.
func TestAdaptiveAttachments(t *testing.T) {
	for _, want := range []bool{false, true} {
		f := newFleet().weights(100, 100)
		lb := newAdaptive(t, f, 11)
		inv := f.call()
		inv.Result.WantAttachments = want
		for _, n := range f.nodes {
			end := f.attempt(lb, n, inv)
			assert.Equal(t, "mem,load", inv.Attachment(reportKey))
			assert.True(t, inv.Result.WantAttachments)
			inv.Result.Attachments = map[string]any{reportKey: load("12.5"), "region": "eu"}
			end(milli, protocol.Succeeded)
			assert.Empty(t, inv.Attachment(reportKey), "it was of the attempt")
			assert.Equal(t, want, inv.Result.WantAttachments)
			if want {
				assert.Equal(t, map[string]any{"region": "eu"}, inv.Result.Attachments)
			} else {
				assert.Nil(t, inv.Result.Attachments)
			}
		}
	}
}
