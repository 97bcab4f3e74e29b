//go:build !race

// Traffic of all kinds, minutes of it, in which nothing is to be found at those that are well.
// The race detector looks at the same calls in TestDiagnoseSickTraffic, and would make
// these take minutes.

package gofer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// Nothing is found where nothing is wrong, whatever the traffic.
func TestDiagnoseHealthyTraffic(t *testing.T) {
	wait := calling("wait()")
	steady := func(callers int, d time.Duration) func(*patient) {
		return func(w *patient) { assert.Zero(w.t, w.load(callers, d, wait)) }
	}
	cases := map[string]struct {
		providers int
		params    string
		traffic   func(*patient)
	}{
		"generic": {3, "", func(w *patient) {
			w.load(6, 8*time.Second, func(ctx context.Context, r *gofer.Reference) error {
				_, err := r.Generic(ctx, "wait()")
				return err
			})
		}},
		"300 providers": {300, "loadbalance=leastload", steady(100, 3*time.Second)},
		"a cold one warms up": {3, "loadbalance=leastload&warmup=60000", func(w *patient) {
			w.load(6, 8*time.Second, wait)
			w.restart(2, 10)
			for range 9 {
				w.load(6, 10*time.Second, wait)
				assert.Empty(w.t, w.reference.Diagnose())
			}
		}},
		"one after the other is restarted": {4, "loadbalance=random&warmup=60000&outlier=false", func(w *patient) {
			for i := range 4 {
				w.restart(i, 1)
				for range 2 {
					w.load(6, 10*time.Second, wait)
					assert.Empty(w.t, w.reference.Diagnose())
				}
			}
			w.load(6, time.Minute, wait)
		}},
		"a quiet night, then one more provider": {3, "loadbalance=roundrobin", func(w *patient) {
			w.providers[2].Unregister()
			w.load(1, time.Minute, wait)
			w.register(2, time.Now(), "warmup=1")
			w.load(20, 8*time.Second, wait)
		}},
		"one is away for a while": {3, "loadbalance=roundrobin", func(w *patient) {
			w.load(6, 8*time.Second, wait)
			w.providers[1].Freeze()
			w.load(6, 10*time.Second, func(ctx context.Context, r *gofer.Reference) error { _ = wait(ctx, r); return nil })
			w.providers[1].Resume()
			w.load(6, 8*time.Second, wait)
		}},
		"callers give up": {3, "loadbalance=leastactive&actives=1000", func(w *patient) {
			w.load(6, 8*time.Second, func(ctx context.Context, r *gofer.Reference) error {
				ctx, cancel := context.WithTimeout(ctx, time.Duration(1+rand.IntN(20))*time.Millisecond)
				defer cancel()
				_ = wait(ctx, r)
				return nil
			})
		}},
		"bursts": {3, "loadbalance=random", func(w *patient) {
			w.load(6, 8*time.Second, wait)
			var all sync.WaitGroup
			for range 300 {
				all.Go(func() { assert.NoError(w.t, wait(w.t.Context(), w.reference)) })
			}
			synctest.Wait()
			assert.Empty(w.t, w.reference.Diagnose())
			all.Wait()
		}},
		// One in 200: that one of the 30 has twelve of them, which would be a finding, happens
		// in less than one of 10⁷ runs.
		"a long tail": {30, "loadbalance=random", func(w *patient) {
			for i := range w.providers {
				w.providers[i].SetDelay(func(*dubbotest.Call, time.Duration) time.Duration {
					if rand.IntN(200) == 0 {
						return 900 * time.Millisecond
					}
					return 10 * time.Millisecond
				})
			}
			for range 3 {
				w.load(15, 3*time.Second, wait)
				w.load(15, 2*time.Second, calling("long()"))
				assert.Empty(w.t, w.reference.Diagnose())
			}
		}},
		"unequal speeds, one caller": {4, "loadbalance=leastload", func(w *patient) {
			for i := range w.providers {
				w.takes(i, time.Duration(10+10*i)*time.Millisecond)
			}
			w.load(1, 20*time.Second, wait)
		}},
		"a weight is halved": {3, "loadbalance=roundrobin", func(w *patient) {
			w.load(6, 10*time.Second, wait)
			w.register(1, w.started, "weight=30")
			time.Sleep(time.Second)
			assert.Empty(w.t, w.reference.Diagnose())
			w.load(6, 10*time.Second, wait)
		}},
		"sticky": {3, "sticky=true", steady(6, 8*time.Second)},
		"methods alike": {3, "loadbalance=leastactive&actives=1000", func(w *patient) {
			w.load(6, 8*time.Second, wait)
			w.load(6, 8*time.Second, calling("long()"))
		}},
		"many keys, unequal weights": {3, "loadbalance=consistenthash", func(w *patient) {
			w.register(0, w.started, "weight=10")
			w.register(2, w.started, "weight=400")
			time.Sleep(time.Second)
			w.load(6, 20*time.Second, anyKey)
		}},
		"many keys, a cold one": {3, "loadbalance=consistenthash&warmup=600000", func(w *patient) {
			w.restart(2, 1)
			w.load(6, 40*time.Second, anyKey)
		}},
		"a first burst of one key": {3, "loadbalance=ringload&timeout=10000", func(w *patient) {
			time.Sleep(time.Minute)
			for range 3 {
				var all sync.WaitGroup
				for range 60 {
					all.Go(func() { assert.NoError(w.t, wait(w.t.Context(), w.reference)) })
				}
				time.Sleep(9 * time.Millisecond)
				assert.Empty(w.t, w.reference.Diagnose())
				all.Wait()
			}
		}},
		"one-way": {3, "loadbalance=roundrobin&long.return=false", func(w *patient) {
			w.load(6, 8*time.Second, wait)
			w.load(6, 8*time.Second, calling("long()"))
		}},
		"a first long call": {3, "loadbalance=leastactive&actives=1000&timeout=7200000", func(w *patient) {
			w.load(6, 8*time.Second, wait)
			for i := range w.providers {
				w.takes(i, time.Minute)
			}
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() { assert.NoError(w.t, calling("long()")(w.t.Context(), w.reference)) })
			}
			time.Sleep(200 * time.Second)
			assert.Empty(w.t, w.reference.Diagnose())
			all.Wait()
		}},
		"many keys": {3, "loadbalance=consistenthash", func(w *patient) { w.load(6, 8*time.Second, anyKey) }},
	}
	for _, balance := range []string{"random", "roundrobin", "leastactive", "shortestresponse", "adaptive", "leastload"} {
		for callers, d := range map[int]time.Duration{1: 20 * time.Second, 6: 8 * time.Second, 40: 6 * time.Second} {
			c := cases["generic"]
			c.params, c.traffic = "actives=1000&loadbalance="+balance, steady(callers, d)
			cases[fmt.Sprintf("%s, %d callers", balance, callers)] = c
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPatient(t, c.providers, c.params)
				assert.Empty(t, w.reference.Diagnose(), "nothing was called")
				c.traffic(w)
				assert.Empty(t, w.reference.Diagnose())
			})
		})
	}
}

// A strategy keeps calls away from a provider that answers nothing, in all methods: the
// others have to have more, and are not blamed.
func TestDiagnoseMoreBecauseOneFails(t *testing.T) {
	for _, balance := range []string{"leastload", "adaptive", "shortestresponse"} {
		synctest.Test(t, func(t *testing.T) {
			w := newPatient(t, 3, "outlier=false&actives=1000&timeout=200&long.return=false&loadbalance="+balance)
			require.NoError(t, w.providers[0].AnswerAlways("wait", dubbotest.Never()))
			for range 3 {
				w.load(6, 10*time.Second, func(ctx context.Context, r *gofer.Reference) error {
					return calling([]string{"wait()", "long()"}[rand.IntN(2)])(ctx, r)
				})
				for _, f := range w.reference.Diagnose() { // shortestresponse sends it too few to tell
					assert.Equal(t, []string{address(0)}, f.Providers, "%s %s", balance, f)
					assert.Regexp(t, "calls failed, after 20.ms on average, the whole timeout", f.Text)
				}
			}
		})
	}
}
