package gofer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// patient is a fleet whose reference is diagnosed. It lives in a bubble.
type patient struct {
	t         *testing.T
	zk        *zktest.Server
	providers []*dubbotest.Provider
	reference *gofer.Reference
	started   time.Time // of the providers, as they say
}

// newPatient starts n providers that take 10 ms for a call of wait, 40 for one of long and
// started an hour ago, and refers to them with these parameters.
func newPatient(t *testing.T, n int, params string, opts ...gofer.Option) *patient {
	w := &patient{t: t}
	var err error
	w.zk, err = zktest.Start(zktest.InMemory(), zktest.WithSessionLimits(time.Second, 10*time.Second))
	require.NoError(t, err)
	t.Cleanup(w.zk.Close)
	w.started = time.Now()
	time.Sleep(time.Hour)
	for i := range n {
		p := dubbotest.Start(t, demo, dubbotest.InMemory(), dubbotest.WithRecords(0), dubbotest.WithRegistryDialer(w.zk.Dial), dubbotest.WithAddr(address(i)))
		for _, signature := range []string{"wait()", "long()", "key(java.lang.String)"} {
			var f any = func() {}
			if strings.HasPrefix(signature, "key") {
				f = func(string) {}
			}
			require.NoError(t, p.Handle(signature, f))
		}
		w.providers = append(w.providers, p)
		w.takes(i, 10*time.Millisecond)
		w.register(i, w.started)
	}
	c := newClient(t, append(opts, gofer.WithRegistry(w.registry()), gofer.WithRegistryDialer(w.zk.Dial), gofer.WithDialer(dubbotest.Dialer(w.providers...)))...)
	w.reference = refer(t, c, demo+"?retries=0&"+params)
	synctest.Wait()
	return w
}

func address(i int) string { return fmt.Sprintf("192.0.%d.%d:20880", 2+i/200, 1+i%200) }

func (w *patient) registry() string { return "zookeeper://" + w.zk.Addr() + "?file-cache=false" }

// register registers a provider as started at that time, by its own clock.
func (w *patient) register(i int, started time.Time, params ...string) {
	stamp := fmt.Sprintf("timestamp=%d", started.UnixMilli())
	require.NoError(w.t, w.providers[i].Register(w.registry(), append([]string{stamp}, params...)...))
}

// takes sets how long the calls of a provider take: wait that long, long four times.
func (w *patient) takes(i int, d time.Duration) {
	w.providers[i].SetDelay(func(c *dubbotest.Call, _ time.Duration) time.Duration {
		if c.Name() == "long" {
			return 4 * d
		}
		return d
	})
}

// load calls from so many callers for a while, each after the other with a pause of 0
// to 20 ms between.
func (w *patient) load(callers int, d time.Duration, call func(ctx context.Context, r *gofer.Reference) error) (failed int) {
	var mu sync.Mutex
	var all sync.WaitGroup
	end := time.Now().Add(d)
	for range callers {
		all.Go(func() {
			for time.Now().Before(end) {
				err := call(w.t.Context(), w.reference)
				time.Sleep(time.Duration(rand.Int64N(int64(20 * time.Millisecond))))
				if err != nil {
					mu.Lock()
					failed++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return failed
}

// find diagnoses, and wants one finding.
func (w *patient) find(kind gofer.FindingKind, texts ...string) gofer.Finding {
	w.t.Helper()
	found := w.reference.Diagnose()
	require.Len(w.t, found, 1)
	assert.Equal(w.t, kind, found[0].Kind)
	for _, text := range texts {
		assert.Contains(w.t, found[0].Text, text)
	}
	return found[0]
}

func calling(method string) func(context.Context, *gofer.Reference) error {
	return func(ctx context.Context, r *gofer.Reference) error {
		_, err := gofer.Call[any](ctx, r, method)
		return err
	}
}

// restart kills a provider and starts it again, so many times slower than usual at first.
func (w *patient) restart(i int, slower float64) {
	w.providers[i].Kill()
	time.Sleep(time.Second)
	require.NoError(w.t, w.providers[i].Restart())
	w.providers[i].SetDelay(dubbotest.ColdStart(10*time.Millisecond, slower, 30*time.Second))
	w.register(i, time.Now())
	time.Sleep(time.Second)
}

// beside calls in a goroutine of its own, which ends with the test.
func (w *patient) beside(call func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		call(ctx)
	}()
	w.t.Cleanup(func() { cancel(); <-done })
	synctest.Wait()
}

// total is how many calls there have been.
func (w *patient) total() (n int64) {
	for _, p := range w.reference.Snapshot().Providers {
		for _, m := range p.Methods {
			n += m.Total
		}
	}
	return n
}
