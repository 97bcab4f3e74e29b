package loadbalance

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/protocol"
)

// learning is a learner whose time is told.
type learning struct {
	*learner
	node *protocol.Node
	zero time.Time
	now  atomic.Int64
}

func newLearning() *learning {
	l := &learning{zero: time.Unix(1_800_000_000, 0), node: fleetOf(100)[0]}
	l.learner = newLearner(l.zero, func(*protocol.Invocation, protocol.Outcome) time.Duration {
		return time.Duration(l.now.Load())
	})
	return l
}

func (l *learning) begin(life *protocol.Life, slot int) *protocol.Invocation {
	inv := &protocol.Invocation{
		Method: &protocol.Method{Slot: slot},
		Node:   l.node,
		Begun:  l.zero.Add(time.Duration(l.now.Load())),
	}
	l.Begun(inv, life)
	return inv
}

func (l *learning) end(inv *protocol.Invocation, life *protocol.Life, d time.Duration, v protocol.Verdict) {
	l.Ended(inv, protocol.Outcome{Life: life, Elapsed: d, Verdict: v})
}

func (l *learning) relativeOf(r *record) float64 {
	latency, _ := l.relative(r)
	return latency
}

// What every attempt writes is on other cache lines than what folds write.
func TestRecordLayout(t *testing.T) {
	var r record
	assert.EqualValues(t, 64, unsafe.Offsetof(r.begun))
	assert.Zero(t, unsafe.Offsetof(r.folding)%64)
	var l loads
	assert.GreaterOrEqual(t, unsafe.Offsetof(l.picks)-unsafe.Offsetof(l.cursor), uintptr(64))
}

// Whatever the calls are, however they end and in whatever order: none is left under
// way, and no note of one.
func TestLearnerCountsReturnToZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLearning()
		lives := []*protocol.Life{new(protocol.Life), new(protocol.Life)}
		type attempt struct {
			inv  *protocol.Invocation
			life *protocol.Life
		}
		var open []attempt
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			l.now.Add(rapid.SampledFrom([]int64{0, 1, 1e6, 1e9}).Draw(t, "step"))
			if len(open) == 0 || rapid.Bool().Draw(t, "begin") {
				life := lives[rapid.IntRange(0, 1).Draw(t, "life")]
				open = append(open, attempt{l.begin(life, rapid.IntRange(0, 2).Draw(t, "slot")), life})
				continue
			}
			i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
			l.end(open[i].inv, open[i].life, time.Duration(rapid.Int64Range(-1, 1e12).Draw(t, "took")), protocol.Verdict(rapid.IntRange(0, 3).Draw(t, "verdict")))
			open = append(open[:i], open[i+1:]...)
		}
		active := map[*protocol.Life]int64{}
		for _, a := range open {
			active[a.life]++
		}
		for _, life := range lives {
			require.Equal(t, active[life], l.of(life).active.Load())
		}
		for _, a := range open {
			l.end(a.inv, a.life, time.Millisecond, protocol.Neutral)
		}
		for _, life := range lives {
			r := l.of(life)
			require.Zero(t, r.active.Load())
			for i := range r.begun {
				require.Zero(t, r.begun[i].Load(), "a note of a call that has ended")
			}
			latency := l.relativeOf(r)
			require.False(t, math.IsNaN(latency) || math.IsInf(latency, 0) || latency <= 0, "latency %v", latency)
		}
	})
}

// Calls that end on many goroutines while others fold: no sample is lost. Time
// stands still, so nothing fades.
func TestFoldLosesNoSample(t *testing.T) {
	const before, goroutines, calls = 20, 10, 3
	for range 500 {
		l, life := newLearning(), new(protocol.Life)
		r := l.of(life)
		for range before { // so that what is usual is known
			l.end(l.begin(life, 0), life, time.Millisecond, protocol.Succeeded)
		}
		var workers, folder sync.WaitGroup
		done := make(chan struct{})
		folder.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					l.fold(r, 0)
					l.relativeOf(r)
				}
			}
		})
		for g := range goroutines {
			workers.Go(func() {
				for range calls {
					v := protocol.Succeeded
					if g%2 == 0 {
						v = protocol.Failed
					}
					l.end(l.begin(life, 0), life, time.Millisecond, v)
				}
			})
		}
		workers.Wait()
		close(done)
		folder.Wait()
		l.fold(r, 0)
		require.InDelta(t, before+goroutines*calls, r.samples.count, 1e-6)
		require.InDelta(t, before+goroutines*calls*(1.0+failurePrice)/2, r.samples.sum, 1, "successes as usual, failures at their price")
		require.Zero(t, r.active.Load())
		l.usual.due.Store(0)
		l.usual.fold(0, latencyMemory)
		require.InDelta(t, before+goroutines*calls/2, l.usual.weight(), 1e-6)
		require.InDelta(t, 1, l.usual.value(), 1e-3)
	}
}

// However much there was of it, what was bad is soon outweighed.
func TestThousandsOfFailuresAreOutweighed(t *testing.T) {
	l, life := newLearning(), new(protocol.Life)
	end := func(v protocol.Verdict, calls int) float64 {
		for range calls {
			l.end(l.begin(life, 0), life, time.Millisecond, v)
			l.fold(l.of(life), 0)
		}
		return l.relativeOf(l.of(life))
	}
	end(protocol.Succeeded, 10)
	require.Greater(t, end(protocol.Failed, 3000), 45.0)
	assert.Less(t, end(protocol.Succeeded, 3*remembered), 4.0, "no time has passed")
}

// The memory is of exponential decay, whether it is worked in often or seldom.
func TestFaded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var often faded
		often.add(30, 3)
		end := time.Duration(0)
		for range rapid.IntRange(1, 20).Draw(t, "folds") {
			end += time.Duration(rapid.Int64Range(-1e8, 1e9).Draw(t, "step"))
			often = often.fade(end, latencyMemory)
		}
		seldom := faded{30, 3, 0}.fade(often.at, latencyMemory)
		require.InDelta(t, seldom.sum, often.sum, 1e-9)
		require.InDelta(t, often.sum, 10*often.count, 1e-9, "the mean stays")
		require.LessOrEqual(t, often.count, 3.0)
	})
	f := faded{30, 3, 0}.fade(latencyMemory, latencyMemory)
	assert.InDelta(t, 3/math.E, f.count, 1e-12)
}

// A slow answer is clipped, so the slowest success costs less than the fastest
// failure; a method that becomes slow is known as such soon.
func TestSamplesAreClipped(t *testing.T) {
	l := newLearning()
	slow, bad, usual := new(protocol.Life), new(protocol.Life), new(protocol.Life)
	for range 50 {
		l.end(l.begin(usual, 0), usual, 10*time.Millisecond, protocol.Succeeded)
	}
	l.end(l.begin(slow, 0), slow, time.Hour, protocol.Succeeded)
	l.end(l.begin(bad, 0), bad, time.Microsecond, protocol.Failed)
	l.now.Add(int64(foldEvery))
	for _, life := range []*protocol.Life{slow, bad, usual} {
		l.fold(l.of(life), time.Duration(l.now.Load()))
	}
	assert.Less(t, l.relativeOf(l.of(usual)), 1.2)
	assert.InDelta(t, (1+8)/2.0, l.relativeOf(l.of(slow)), 0.2)
	assert.InDelta(t, (1+50)/2.0, l.relativeOf(l.of(bad)), 0.5)

	for range 40 { // now all take an hour
		for _, life := range []*protocol.Life{slow, usual} {
			l.end(l.begin(life, 0), life, time.Hour, protocol.Succeeded)
		}
		l.now.Add(int64(2 * foldEvery))
	}
	assert.InEpsilon(t, l.relativeOf(l.of(slow)), l.relativeOf(l.of(usual)), 0.5)
	assert.Greater(t, l.methods.at(0).value(), 20*60*1000.0, "ms, of an hour")
}

// Nothing is kept of a life but in the life, and nothing is known of a new one.
func TestRecordsOfLives(t *testing.T) {
	l, m := newLearning(), newLearning()
	a, b := new(protocol.Life), new(protocol.Life)
	l.end(l.begin(a, 0), a, time.Millisecond, protocol.Failed)
	assert.Same(t, l.of(a), l.of(a))
	assert.NotSame(t, l.of(a), l.of(b))
	assert.NotSame(t, l.of(a), m.of(a), "each strategy learns for itself")
	assert.EqualValues(t, 1, l.relativeOf(l.of(b)), "as usual, not 0")
	_, samples := m.relative(m.of(a))
	assert.Zero(t, samples)
}
