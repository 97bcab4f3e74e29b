package gofer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

func anyKey(ctx context.Context, r *gofer.Reference) error {
	_, err := gofer.Call[any](ctx, r, "key(java.lang.String)", fmt.Sprint(rand.IntN(10_000)))
	return err
}

// What is wrong is found in the traffic it makes, once and nothing else, with the
// figures that are true.
func TestDiagnoseSickTraffic(t *testing.T) {
	wait := calling("wait()")
	steady := func(w *patient) { assert.Zero(w.t, w.load(6, 8*time.Second, wait)) }
	slow := func(w *patient) { w.takes(1, 100*time.Millisecond); steady(w) }
	fast := func(failing float64) func(*patient) {
		return func(w *patient) {
			w.providers[1].SetDelay(func(*dubbotest.Call, time.Duration) time.Duration { return time.Millisecond })
			require.NoError(w.t, w.providers[1].AnswerAlways("wait", dubbotest.Status(70, "it is broken")))
			assert.NotZero(w.t, w.load(6, 8*time.Second, func(ctx context.Context, r *gofer.Reference) error {
				if rand.Float64() >= failing {
					return calling("long()")(ctx, r)
				}
				return wait(ctx, r)
			}))
		}
	}
	second := []string{address(1)}
	for name, c := range map[string]struct {
		params  string
		traffic func(*patient)
		kind    gofer.FindingKind
		method  string
		at      []string
		texts   []string
	}{
		"leastactive without actives": {"loadbalance=leastactive", steady, gofer.FindingNoActives, "", nil,
			[]string{"loadbalance=leastactive without actives (wait): gofer counts", "Java consumers"}},
		"shortestresponse without actives": {"wait.loadbalance=shortestresponse", steady, gofer.FindingNoActives, "", nil,
			[]string{"loadbalance=shortestresponse without actives (wait)"}},
		"leastactive, actives at one": {"loadbalance=leastactive", func(w *patient) {
			w.register(1, w.started, "actives=1000")
			time.Sleep(time.Second)
			steady(w)
		}, gofer.FindingNoActives, "wait", []string{address(0), address(2)}, []string{"only others have actives"}},
		"registered long after its start": {"warmup=1", func(w *patient) {
			w.providers[1].Kill()
			time.Sleep(time.Second)
			require.NoError(w.t, w.providers[1].Restart())
			started := time.Now()
			time.Sleep(5 * time.Minute)
			w.register(1, started)
			time.Sleep(time.Second)
			steady(w)
		}, gofer.FindingClockSkew, "", second, []string{"says it started 5m", "or it registered that long after it had started"}},
		"heterogeneous under leastactive": {"loadbalance=leastactive&actives=1000", slow, gofer.FindingSlowProvider, "wait", second,
			[]string{"answers in 100ms on average where the median of the others is 10ms; loadbalance=leastactive sees it only in calls under way"}},
		"piling up under random": {"", slow, gofer.FindingSlowProvider, "wait", second,
			[]string{"100ms", "10ms", "loadbalance=random sends it as many calls as its weight says"}},
		"piling up under roundrobin": {"wait.loadbalance=roundrobin&loadbalance=leastload", slow, gofer.FindingSlowProvider, "wait", second,
			[]string{"loadbalance=roundrobin sends"}},
		"piling up, generic": {"", func(w *patient) {
			w.takes(1, 100*time.Millisecond)
			w.load(6, 8*time.Second, func(ctx context.Context, r *gofer.Reference) error {
				_, err := r.Generic(ctx, "wait()")
				return err
			})
		}, gofer.FindingSlowProvider, "wait", second, []string{"100ms"}},
		"long and short mixed": {"loadbalance=leastactive&actives=1000", func(w *patient) {
			for i := range w.providers {
				w.providers[i].SetDelay(func(c *dubbotest.Call, _ time.Duration) time.Duration {
					return map[string]time.Duration{"wait": 5 * time.Millisecond, "long": 400 * time.Millisecond}[c.Name()]
				})
			}
			steady(w)
			w.load(6, 8*time.Second, calling("long()"))
		}, gofer.FindingMixedMethods, "", nil, []string{"long takes 400ms on average, wait 5ms", "loadbalance=leastactive"}},
		"failing fast": {"loadbalance=roundrobin&outlier=false", fast(1), gofer.FindingFailsFast, "wait", second,
			[]string{"after 1ms on average, where the others answer in 10ms; it has 33 % of all calls: loadbalance=roundrobin does not see that"}},
		"without timestamp": {"", func(w *patient) { w.register(1, time.Time{}, "timestamp="); time.Sleep(time.Second) },
			gofer.FindingNoWarmup, "", second, []string{"registered without a timestamp"}},
		"a hot key": {"loadbalance=consistenthash", func(w *patient) {
			w.load(6, 12*time.Second, func(ctx context.Context, r *gofer.Reference) error {
				key := "hot"
				if rand.IntN(10) == 0 {
					key = fmt.Sprint(rand.IntN(10_000))
				}
				_, err := gofer.Call[any](ctx, r, "key(java.lang.String)", key)
				return err
			})
		}, gofer.FindingOverShare, "key", nil, []string{"of the calls for 12", "an equal share is 33 % (loadbalance=consistenthash)"}},
		"no arguments to hash": {"loadbalance=consistenthash", steady, gofer.FindingOverShare, "wait", nil,
			[]string{"has had 100 % of the calls for 8", "an equal share is 33 % (loadbalance=consistenthash)"}},
		"calls of which none has returned": {"timeout=7200000&loadbalance=leastactive&actives=100", func(w *patient) {
			w.load(6, 8*time.Second, anyKey)
			for i := range w.providers {
				require.NoError(w.t, w.providers[i].AnswerAlways("wait", dubbotest.Never()))
			}
			for range 20 {
				w.beside(func(ctx context.Context) { _ = wait(ctx, w.reference) })
			}
			time.Sleep(time.Hour)
		}, gofer.FindingStuckCalls, "wait", []string{address(0), address(1), address(2)},
			[]string{"20 calls have been under way for 1h0m0s on average and none of this method has ever ended, where calls of key take 10ms; its timeout is 2h0m0s"}},
		"calls that do not return": {"timeout=600000&loadbalance=leastload", func(w *patient) {
			steady(w)
			require.NoError(w.t, w.providers[1].AnswerAlways("wait", dubbotest.Never()))
			for range 60 {
				w.beside(func(ctx context.Context) { _ = wait(ctx, w.reference) })
			}
			time.Sleep(time.Minute)
		}, gofer.FindingStuckCalls, "wait", second, []string{"calls have been under way for 1m0s on average, where calls take 10ms"}},
		"calls that have never returned": {"timeout=20000", func(w *patient) {
			w.providers[0].Unregister()
			w.providers[2].Unregister()
			time.Sleep(5 * time.Second)
			require.NoError(w.t, w.providers[1].AnswerAlways("wait", dubbotest.Never()))
			for range 7 {
				w.beside(func(ctx context.Context) { _ = wait(gofer.WithTimeout(ctx, time.Hour), w.reference) })
			}
			time.Sleep(30 * time.Second)
		}, gofer.FindingStuckCalls, "wait", second, []string{"7 calls have been under way for 30s on average, where the timeout is 20s and none has been answered"}},
		"clock ahead": {"", func(w *patient) { w.register(1, time.Now().Add(5*time.Minute)); steady(w) }, gofer.FindingClockSkew, "", second,
			[]string{"says it started 5m0s after this consumer first saw it"}},
		"clock behind": {"warmup=1", func(w *patient) {
			w.providers[1].Kill()
			time.Sleep(time.Second)
			require.NoError(w.t, w.providers[1].Restart())
			w.register(1, time.Now().Add(-30*time.Minute))
			time.Sleep(time.Second)
			steady(w)
		}, gofer.FindingClockSkew, "", second, []string{"says it started 30m", "before the last list that did not have it"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPatient(t, 3, c.params)
				c.traffic(w)
				found := w.find(c.kind, c.texts...)
				assert.Equal(t, demo, found.Reference)
				assert.Equal(t, c.method, found.Method)
				if c.at != nil {
					assert.Equal(t, c.at, found.Providers)
				}
				if name == "no arguments to hash" {
					assert.Contains(t, found.Remedy, "no arguments")
					assert.NotContains(t, found.Remedy, "hash.arguments")
				}
			})
		})
	}
}

// What somebody has said is known, or what the strategy does not look at, is no finding.
func TestDiagnoseNotNeeded(t *testing.T) {
	for _, params := range []string{"loadbalance=leastactive&actives=0", "wait.loadbalance=leastactive&wait.actives=0", "loadbalance=consistenthash", "wait.loadbalance=consistenthash&loadbalance=consistenthash"} {
		synctest.Test(t, func(t *testing.T) {
			w := newPatient(t, 3, params)
			if w.reference.Snapshot().Parameters["loadbalance"] == "consistenthash" {
				w.register(1, time.Time{}, "timestamp=")
				time.Sleep(time.Second)
			}
			assert.Empty(t, w.reference.Diagnose(), "%s, nothing called", params)
			w.load(2, 2*time.Second, anyKey)
			assert.Empty(t, w.reference.Diagnose(), params)
		})
	}
}

// A provider that fails fast has its share where calls under way are counted (F4).
// Ejected, it has too few calls for that, and is found for being ejected.
func TestDiagnoseFailureUnderLeastActive(t *testing.T) {
	for _, outlier := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newPatient(t, 3, fmt.Sprintf("loadbalance=leastactive&actives=1000&outlier=%t", outlier))
			w.takes(1, time.Millisecond)
			require.NoError(t, w.providers[1].AnswerAlways("wait", dubbotest.Status(70, "it is broken")))
			failed := w.load(6, 8*time.Second, calling("wait()"))
			if outlier {
				assert.Less(t, failed, 20)
				found := w.find(gofer.FindingEjected, "in a row, without a minute of service between; the latest failure: ", "it is broken")
				assert.Equal(t, []string{address(1)}, found.Providers)
				return
			}
			share := float64(failed) / float64(w.total())
			found := w.find(gofer.FindingFailsFast, fmt.Sprintf("%d of %d calls failed, after 1ms on average, where the others answer in 10ms; it has %.0f %% of all calls: loadbalance=leastactive leaves it its share", failed, failed, 100*share))
			assert.Equal(t, []string{address(1)}, found.Providers)
			assert.InDelta(t, 1.0/3, share, 0.1)
		})
	}
}

// flood is a strategy of somebody's own that once gives one provider most calls.
type flood struct {
	on    atomic.Bool
	calls atomic.Int64
}

func (f *flood) Select(c *protocol.Candidates, _ *protocol.Invocation) *protocol.Node {
	n := f.calls.Add(1)
	if f.on.Load() && n%4 > 0 {
		return c.Nodes()[1]
	}
	return c.Nodes()[n%int64(c.Len())]
}

// A restarted provider that a strategy floods has far over its share of the calls
// since, whatever there was before.
func TestDiagnoseFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := new(flood)
		w := newPatient(t, 3, "loadbalance=flood&warmup=1&outlier=false", gofer.WithLoadBalance("flood",
			func(loadbalance.Config) (loadbalance.LoadBalance, error) { return f, nil }))
		w.load(6, time.Minute, calling("wait()"))
		assert.Empty(t, w.reference.Diagnose())
		w.restart(1, 1)
		f.on.Store(true)
		w.load(2, 40*time.Second, calling("wait()"))
		found := w.find(gofer.FindingOverShare, "has had 8", "% of the calls for 4", "its weight was worth 33 % (loadbalance=flood)")
		assert.Equal(t, []string{address(1)}, found.Providers)
		assert.Contains(t, found.Remedy, "loadbalance.shadow=leastload")
	})
}
