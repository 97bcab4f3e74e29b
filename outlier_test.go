package gofer_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// A provider that never answers costs five timeouts and one call per pause. The
// snapshot shows it.
func TestOutlierAtTheFrontDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3, "", "timeout=100&retries=2")
		require.NoError(t, w.providers[0].AnswerAlways("echo", dubbotest.Never()))
		call := func(calls int) (slow int) {
			for range calls {
				start := time.Now()
				_, err := gofer.Call[string](t.Context(), w.reference, "echo(java.lang.String)", "a")
				require.NoError(t, err)
				if time.Since(start) >= 100*time.Millisecond {
					slow++
				}
				time.Sleep(10 * time.Millisecond)
			}
			return slow
		}
		assert.LessOrEqual(t, call(500), 5+3)
		s := w.reference.Snapshot()
		assert.Equal(t, 1, s.Funnel.Ejected)
		assert.Contains(t, s.Funnel.String(), "available 3 (1 of them ejected for their failures)")
		for _, p := range s.Providers {
			if p.Address != "192.0.2.1:20880" {
				assert.Equal(t, gofer.OutlierSnapshot{}, p.Outlier)
				continue
			}
			assert.True(t, p.Outlier.Ejected)
			assert.Equal(t, 3, p.Outlier.Trips)
			assert.Equal(t, 4*time.Second, p.Outlier.Until.Sub(p.Outlier.Since))
			assert.Equal(t, 7, p.Outlier.Failures)
			assert.Contains(t, p.Outlier.LastFailure, "no answer after 100ms")
		}

		w.providers[0].Unscript("echo")
		call(500)
		assert.Zero(t, w.reference.Snapshot().Funnel.Ejected)
	})
}

// The parameters come from every source as others do, and an unknown one is found.
func TestOutlierParametersAreKnown(t *testing.T) {
	for _, text := range []string{"outlier=perhaps", "outlier.failures=0", "outlier.pause=soon"} {
		c := newClient(t)
		_, err := c.Refer(t.Context(), fmt.Sprintf("dubbo://192.0.2.1:20880/%s?check=false&%s", demo, text))
		assert.ErrorContains(t, err, "parameter "+text)
	}
}

// Callers that cancel, as an HTTP server does for clients that have left, find out who
// hangs, too.
func TestCanceledCallsAtTheFrontDoor(t *testing.T) {
	for _, name := range []string{"random", "leastload", "leastactive", "shortestresponse", "adaptive"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 3, "", "timeout=5000&loadbalance="+name)
			call := func(calls int) (left int) {
				for range calls {
					ctx, leave := context.WithCancel(t.Context())
					gone := time.AfterFunc(time.Second, leave)
					if _, err := gofer.Call[string](ctx, w.reference, "echo(java.lang.String)", "a"); err != nil {
						require.ErrorIs(t, err, gofer.ErrCanceled)
						left++
					}
					gone.Stop()
					leave()
					time.Sleep(10 * time.Millisecond)
				}
				return left
			}
			require.Zero(t, call(300))
			require.NoError(t, w.providers[0].AnswerAlways("echo", dubbotest.Never()))
			// Ten, three trials, and those that follow the first before anybody else has answered:
			// one in three, so that there are many once in 10⁷ runs. Else there would be hundreds.
			assert.LessOrEqual(t, call(1000), 10+3+27, name)
			w.providers[0].Unscript("echo")
			time.Sleep(31 * time.Second)
			call(100)
			assert.Zero(t, w.reference.Snapshot().Funnel.Ejected)
		})
	}
}
