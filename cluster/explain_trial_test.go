package cluster_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/cluster"
)

// When the pause of an ejected provider is over, the next call goes there for sure, and
// explaining it takes that trial from nobody.
func TestExplainTheTrial(t *testing.T) {
	for _, method := range []string{"find", "never called"} {
		synctest.Test(t, func(t *testing.T) {
			var mended atomic.Bool
			w := newWorld(t, "retries=2&loadbalance=leastload", setup{}, ok, broken(&mended), ok)
			w.eject(1)
			x := w.explain(method)
			assert.Equal(t, "the load balancer chooses", x.Decision)
			assert.Zero(t, x.Candidates[1].Chance)
			assert.False(t, x.Candidates[1].Allowed)

			time.Sleep(time.Second)
			for range 3 {
				x = w.explain(method)
				assert.Equal(t, []float64{0, 1, 0}, chances(x))
				assert.Contains(t, x.Decision, "this call is the trial")
				assert.True(t, x.Explained)
				assert.Equal(t, []string{"the call goes elsewhere", "this call is its trial", "the call goes elsewhere"},
					[]string{x.Candidates[0].Reason, x.Candidates[1].Reason, x.Candidates[2].Reason})
				assert.Equal(t, []any{true, true, ""}, []any{x.Candidates[1].Ejected, x.Candidates[1].Allowed, x.Candidates[1].Refusal})
			}
			mended.Store(true)
			inv, err := w.call(t.Context(), method)
			require.NoError(t, err)
			assert.Same(t, w.nodes()[1], inv.Node)
			assert.Equal(t, "the load balancer chooses", w.explain(method).Decision)
		})
	}
}

// While the trial is under way it is no other call's.
func TestExplainBesideATrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mended atomic.Bool
		w := newWorld(t, "retries=2&loadbalance=leastload", setup{}, ok, broken(&mended), ok)
		w.eject(1)
		time.Sleep(time.Second)
		w.endpoints[1].script = slow(100 * time.Millisecond)
		go func() { _, _ = w.call(t.Context(), "find") }()
		synctest.Wait()
		x := w.explain("find")
		assert.Zero(t, x.Candidates[1].Chance)
		assert.Equal(t, "the load balancer chooses", x.Decision)
		time.Sleep(time.Second)
		assert.False(t, w.nodes()[1].Ejected())
	})
}

// Who finds nobody waits, and in the end for ejected providers, too.
func TestExplainWaitingBesideAnEjectedProvider(t *testing.T) {
	var mended atomic.Bool
	w := newWorld(t, "actives=1&retries=0&outlier.pause=30000&loadbalance=first", setup{config: withFirst}, broken(&mended), ok)
	w.eject(0)
	w.nodes()[1].Status(0).Begin(1)
	assert.Equal(t, "nobody can be called now: the call waits in line for the first free slot, and after half of its time for one of an ejected provider, too",
		w.explain("find").Decision)
	w.nodes()[0].Readmit(w.nodes()[0].Life())
	w.nodes()[0].Status(0).Begin(1)
	assert.Equal(t, "nobody can be called now: the call waits in line for the first free slot", w.explain("find").Decision)
}

// Next says what Trial does, whichever call asks.
func TestNextIsTheTrial(t *testing.T) {
	f := newFleet(t, 4, "")
	f.calls(f.at(2), 5, errLost)
	f.pass(100 * time.Millisecond)
	f.calls(f.at(0), 5, errLost)
	for range 40 {
		for _, spare := range []bool{false, true} {
			for _, oneWay := range []bool{false, true} {
				f.pass(12 * time.Millisecond) // calls look for a trial that others could not take
				inv := f.invocation()
				inv.OneWay = oneWay
				next := f.out.Next(f.list, inv, f.now, spare)
				n := f.out.Trial(f.list, inv, f.now, spare)
				require.Same(t, next, n)
				if n != nil {
					f.out.Abandon(inv, n)
				}
			}
		}
	}
	require.NotNil(t, f.out.Next(f.list, f.invocation(), f.now, false))
	assert.Nil(t, new(cluster.Outliers).Next(f.list, f.invocation(), f.now, true))
}
