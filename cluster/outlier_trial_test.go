package cluster_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// longTrial is a fleet whose ejected provider is tried by a call that may take an hour.
func longTrial(t *testing.T) (f *fleet, n *protocol.Node, long *attempt) {
	f = newFleet(t, 3, "find.timeout=3600000")
	n = f.at(1)
	f.calls(n, 5, errLost)
	f.pass(time.Second)
	inv := f.invocation()
	require.Nil(t, f.out.Trial(f.list, inv, f.now, true), "others are preferred")
	f.pass(trialGrace)
	require.Same(t, n, f.out.Trial(f.list, inv, f.now, true), "but none came")
	long = &attempt{f: f, inv: inv, life: n.Life()}
	inv.StartAttempt(n, f.now, f.now.Add(time.Hour))
	f.out.Begun(inv, long.life)
	return f, n, long
}

const (
	trialGrace = 500 * time.Millisecond
	trialPoll  = 10 * time.Millisecond
)

// A trial that may take an hour is not waited for so long.
func TestLongTrial(t *testing.T) {
	f, n, long := longTrial(t)
	f.pass(30*time.Second - 1)
	assert.Nil(t, f.quick())
	f.pass(1)
	a := f.quick()
	require.NotNil(t, a, "another call is the trial")
	a.end(time.Millisecond, nil)
	require.False(t, n.Ejected())
	f.pass(time.Hour)
	long.end(time.Hour, errLate)
	assert.False(t, n.Ejected())
	assert.Equal(t, 1, f.out.Ejection(n).Failures, "one failure, no more")
}

// quick asks for a trial with a call that takes a second.
func (f *fleet) quick() *attempt {
	inv := f.invocation()
	inv.Timeout = time.Second
	n := f.out.Trial(f.list, inv, f.now, true)
	if n == nil {
		return nil
	}
	a := &attempt{f: f, inv: inv}
	a.start(n)
	return a
}

// The end of a trial that was given up does what that of any call does.
func TestLateEndOfALongTrial(t *testing.T) {
	t.Run("well, while another is tried", func(t *testing.T) {
		f, n, long := longTrial(t)
		f.pass(40 * time.Second)
		a := f.quick()
		require.NotNil(t, a)
		long.end(40*time.Second, nil)
		assert.False(t, n.Ejected(), "an answer is an answer")
		a.end(time.Second, errLost)
		assert.False(t, n.Ejected())
		assert.Equal(t, 1, f.out.Ejection(n).Failures)
	})
	t.Run("badly, while another is tried", func(t *testing.T) {
		f, n, long := longTrial(t)
		f.pass(40 * time.Second)
		a := f.quick()
		require.NotNil(t, a)
		before := f.out.Ejection(n)
		long.end(40*time.Second, errLost)
		after := f.out.Ejection(n)
		assert.Equal(t, before.Failures+1, after.Failures)
		assert.Equal(t, []any{before.Until, before.Trips, true}, []any{after.Until, after.Trips, after.Trial}, "no new pause")
		a.end(time.Millisecond, nil)
		assert.False(t, n.Ejected())
	})
	t.Run("well, in a later pause", func(t *testing.T) {
		f, n, long := longTrial(t)
		f.pass(40 * time.Second)
		f.quick().end(time.Millisecond, errLost)
		f.pass(time.Second)
		long.end(41*time.Second, nil)
		assert.True(t, n.Ejected(), "it began before that pause")
		f.pass(2 * time.Second)
		f.quick().end(time.Millisecond, nil)
		assert.False(t, n.Ejected())
	})
}

// With real calls: the provider is back half a minute after the long call at the latest.
func TestLongCallsKeepNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "timeout=500&retries=0&job.timeout=7200000&job.retries=2&loadbalance=first", setup{config: withFirst},
			failing(protocol.ErrNetwork, protocol.RetryPolicy), ok)
		n := w.nodes()[0]
		w.eject(0)
		w.endpoints[0].script = func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			if inv.Method.Name == "job" {
				return slow(time.Hour)(ctx, inv)
			}
			return ok(ctx, inv)
		}
		time.Sleep(1500 * time.Millisecond)
		go func() { _, _ = w.call(t.Context(), "job") }()
		synctest.Wait()
		require.True(t, w.cluster.Ejection(n).Trial)
		start := time.Now()
		for n.Ejected() && time.Since(start) < time.Hour {
			time.Sleep(100 * time.Millisecond)
			target(t, w, "find")
		}
		assert.LessOrEqual(t, time.Since(start), 31*time.Second)
		time.Sleep(time.Hour)
		assert.False(t, n.Ejected())
	})
}

// oneWay asks for a trial with a call that nobody answers.
func (f *fleet) oneWay() *attempt {
	inv := f.invocation()
	inv.OneWay = true
	n := f.out.Trial(f.list, inv, f.now, true)
	if n == nil {
		return nil
	}
	a := &attempt{f: f, inv: inv}
	a.start(n)
	return a
}

// sent makes one-way calls at a provider, whatever it is.
func (f *fleet) sent(n *protocol.Node, times int) {
	for range times {
		a := f.begin(n)
		a.inv.OneWay = true
		a.end(0, nil)
	}
}

// A provider that hangs takes one-way calls: those hide no timeouts, and do not bring it
// back as long as there are calls that somebody answers.
func TestOneWayCallsProveNoAnswers(t *testing.T) {
	f := newFleet(t, 3, "")
	n := f.at(1)
	for range 5 {
		f.begin(n).end(2*time.Second, errLate)
		f.sent(n, 3)
	}
	require.True(t, n.Ejected(), "five timeouts in a row")
	f.pass(2500 * time.Millisecond)
	f.sent(n, 3)
	require.True(t, n.Ejected(), "sent there as nobody else was left, say")
	f.pass(500 * time.Millisecond)
	assert.Nil(t, f.oneWay())
	f.pass(trialPoll)
	a := f.trial()
	require.NotNil(t, a)
	a.end(2*time.Second, errLate)
	require.True(t, n.Ejected())
	f.pass(4 * time.Second)
	assert.Nil(t, f.oneWay())
	f.pass(30 * time.Second)
	a = f.oneWay()
	require.NotNil(t, a, "nobody else has called")
	a.end(0, nil)
	assert.False(t, n.Ejected())
}

// A connection that was lost and works again is shown by any call that is sent.
func TestOneWayCallsProveTheConnection(t *testing.T) {
	f := newFleet(t, 3, "")
	n := f.at(1)
	f.calls(n, 4, errLost)
	f.sent(n, 1)
	f.calls(n, 4, errLost)
	require.False(t, n.Ejected(), "never five in a row")
	f.calls(n, 1, errLost)
	require.True(t, n.Ejected())
	f.pass(time.Second)
	a := f.oneWay()
	require.NotNil(t, a)
	a.end(0, nil)
	assert.False(t, n.Ejected())
}
