package gofer_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// A provider that refuses a call for a limit of its own, "executes" or the size of
// its thread pool, has not executed it: it goes elsewhere, whatever "retries" says,
// and if there is no elsewhere the error names the limit.
func TestLimitsOfProviders(t *testing.T) {
	for _, profile := range []dubbotest.Profile{dubbotest.Dubbo26, dubbotest.Dubbo27, dubbotest.Dubbo32, dubbotest.Dubbo33} {
		pool := "thread pool is exhausted"
		if profile == dubbotest.Dubbo26 {
			pool = "threadpool is exhausted" // the words of that line
		}
		for limit, text := range map[string]string{
			"executes=1":      `The service using threads greater than <dubbo:service executes="1" /> limited.`,
			"echo.executes=1": `The service using threads greater than <dubbo:service executes="1" /> limited.`,
			"threads=1":       pool,
		} {
			t.Run(profile.String()+" "+limit, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					limited := startDemo(t, limit, dubbotest.InMemory(), dubbotest.WithAddr("192.0.2.1:20880"), dubbotest.WithProfile(profile))
					free := startDemo(t, "", dubbotest.InMemory(), dubbotest.WithAddr("192.0.2.2:20880"), dubbotest.WithProfile(profile))
					c := newClient(t, gofer.WithDialer(dubbotest.Dialer(limited, free)))
					one := refer(t, c, limited.URL("retries=0"))
					both := refer(t, c, limited.URL("retries=0&loadbalance=roundrobin")+";"+free.URL("retries=0&loadbalance=roundrobin"))
					synctest.Wait()

					limited.SetDelay(func(*dubbotest.Call, time.Duration) time.Duration { return 500 * time.Millisecond })
					var wg sync.WaitGroup
					wg.Go(func() { assert.NoError(t, echoAt(t.Context(), one)) })
					synctest.Wait()
					for range 6 {
						assert.NoError(t, echoAt(t.Context(), both), "free of charge at the other provider")
					}
					assert.Len(t, free.Calls("echo"), 6)

					err := echoAt(t.Context(), one)
					var e *gofer.Error
					require.ErrorAs(t, err, &e)
					assert.Equal(t, gofer.ErrLimitExceeded, e.Code)
					assert.Contains(t, e.Detail, text)
					assert.Contains(t, e.Detail, "a limit of the provider's own (executes, threads), the method did not run")
					assert.True(t, e.Sent)
					assert.Equal(t, 1, e.Attempts)
					assert.Less(t, e.Elapsed, 100*time.Millisecond, "nobody waits")
					wg.Wait()
					assert.NoError(t, echoAt(t.Context(), one), "and the slot is free again")
				})
			})
		}
	}
}

func echoAt(ctx context.Context, r *gofer.Reference) error {
	_, err := gofer.Call[string](ctx, r, "echo(java.lang.String)", "a")
	return err
}

// Under more load than all providers allow, those at their limit are not ejected:
// they answer as many calls as without the mechanism.
func TestOverloadEjectsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served := map[string]int{}
		for _, outlier := range []string{"true", "false"} {
			w := newWorld(t, 3, "executes=2", "retries=0&loadbalance=roundrobin&outlier="+outlier)
			for _, p := range w.providers {
				p.SetDelay(func(*dubbotest.Call, time.Duration) time.Duration { return 50 * time.Millisecond })
			}
			var n atomic.Int32
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() {
					for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
						if echoAt(t.Context(), w.reference) == nil {
							n.Add(1)
						}
						time.Sleep(25 * time.Millisecond)
					}
				})
			}
			wg.Wait()
			served[outlier] = int(n.Load())
			assert.Zero(t, w.reference.Snapshot().Funnel.Ejected)
			require.NoError(t, w.client.Close())
			for _, p := range w.providers {
				p.Close()
			}
		}
		assert.InEpsilon(t, served["false"], served["true"], 0.02)
	})
}
