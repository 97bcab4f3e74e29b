package gofer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
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

// pair is two registered providers that take 5 ms for a call, and callers without
// retries. It lives in a bubble.
type pair struct {
	t         *testing.T
	zk        *zktest.Server
	a, b      *dubbotest.Provider
	reference *gofer.Reference
	end       context.CancelFunc
	callers   sync.WaitGroup

	mu     sync.Mutex
	failed []failedCall
}

type failedCall struct {
	began, ended time.Time
	err          *gofer.Error
}

const pairCallers = 4

// underLoad runs a test in a bubble against two providers that behave like those of a
// Dubbo version.
func underLoad(t *testing.T, profile dubbotest.Profile, test func(t *testing.T, w *pair)) {
	synctest.Test(t, func(t *testing.T) {
		w := newPair(t, profile)
		w.load()
		test(t, w)
		w.end()
		w.callers.Wait()
		for _, p := range w.reference.Snapshot().Providers {
			for _, m := range p.Methods {
				assert.Zero(t, m.Active)
			}
		}
	})
}

func newPair(t *testing.T, profile dubbotest.Profile) *pair {
	w := &pair{t: t}
	var err error
	w.zk, err = zktest.Start(zktest.InMemory(), zktest.WithSessionLimits(time.Second, 10*time.Second))
	require.NoError(t, err)
	t.Cleanup(w.zk.Close)
	registry := "zookeeper://" + w.zk.Addr() + "?file-cache=false"
	for i, p := range []**dubbotest.Provider{&w.a, &w.b} {
		*p = startDemo(t, "", dubbotest.WithProfile(profile), dubbotest.InMemory(), dubbotest.WithRegistryDialer(w.zk.Dial),
			dubbotest.WithAddr(fmt.Sprintf("192.0.2.%d:20880", i+1)), dubbotest.WithDelay(dubbotest.ColdStart(5*time.Millisecond, 1, 0)))
		require.NoError(t, (*p).Register(registry))
	}
	c := newClient(t, gofer.WithRegistry(registry), gofer.WithRegistryDialer(w.zk.Dial), gofer.WithDialer(buffered(dubbotest.Dialer(w.a, w.b))))
	w.reference = refer(t, c, demo+"?retries=0&timeout=300&loadbalance=roundrobin")
	w.serves(w.a, time.Minute)
	w.serves(w.b, time.Minute)
	return w
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// buffered makes connections like those of sockets: what is written is gone, whether
// or not the other side reads.
func buffered(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		b := &bufferedConn{Conn: nc, out: make(chan []byte, 1000), closed: make(chan struct{})}
		go b.flush()
		return b, nil
	}
}

type bufferedConn struct {
	net.Conn
	out    chan []byte
	once   sync.Once
	closed chan struct{}
}

func (b *bufferedConn) Write(p []byte) (int, error) {
	select {
	case b.out <- bytes.Clone(p):
		return len(p), nil
	case <-b.closed:
		return 0, net.ErrClosed
	}
}

func (b *bufferedConn) flush() {
	for {
		select {
		case p := <-b.out:
			if _, err := b.Conn.Write(p); err != nil {
				_ = b.Close()
			}
		case <-b.closed:
			return
		}
	}
}

func (b *bufferedConn) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Conn.Close()
}

// load starts the callers.
func (w *pair) load() {
	ctx, end := context.WithCancel(context.Background())
	w.end = end
	for range pairCallers {
		w.callers.Go(func() {
			for ctx.Err() == nil {
				if w.call() != nil {
					<-time.After(10 * time.Millisecond)
				}
			}
		})
	}
}

func (w *pair) call() error {
	began := time.Now()
	_, err := gofer.Call[string](context.Background(), w.reference, "echo(java.lang.String)", "x")
	w.mu.Lock()
	defer w.mu.Unlock()
	var e *gofer.Error
	if errors.As(err, &e) {
		w.failed = append(w.failed, failedCall{began, time.Now(), e})
	}
	return err
}

// failures returns the calls that failed so far, and forgets them.
func (w *pair) failures() []failedCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.failed
	w.failed = nil
	return f
}

// serves waits until a provider has got calls, and returns how long that took.
func (w *pair) serves(p *dubbotest.Provider, most time.Duration) time.Duration {
	w.t.Helper()
	begun, before := time.Now(), p.Counters().Calls
	for p.Counters().Calls == before {
		require.LessOrEqual(w.t, time.Since(begun), most)
		if w.end == nil { // nobody else calls
			_ = w.call()
		}
		<-time.After(time.Millisecond)
	}
	return time.Since(begun)
}

// A rolling restart fails no call, whatever the order of the provider's goodbyes.
func TestRollingRestart(t *testing.T) {
	for _, profile := range []dubbotest.Profile{dubbotest.Dubbo26, dubbotest.Dubbo27, dubbotest.Dubbo32, dubbotest.Dubbo33} {
		t.Run(profile.String(), func(t *testing.T) {
			underLoad(t, profile, func(t *testing.T, w *pair) {
				for range 2 {
					w.rolled(w.a)
					w.rolled(w.b)
				}
				for _, f := range w.failures() {
					assert.NoError(t, f.err)
				}
				assert.Greater(t, w.a.Counters().Calls+w.b.Counters().Calls, 5_000)
			})
		})
	}
}

// rolled stops a provider, starts it again and gives it time to serve.
func (w *pair) rolled(p *dubbotest.Provider) {
	p.Stop(w.t.Context())
	<-time.After(time.Second)
	require.NoError(w.t, p.Restart())
	w.serves(p, 2*time.Second)
	<-time.After(time.Second)
}

// A provider that is killed costs the calls that are under way at it, at once.
func TestKilledProvider(t *testing.T) {
	underLoad(t, dubbotest.Dubbo33, func(t *testing.T, w *pair) {
		for range 3 {
			for _, p := range []*dubbotest.Provider{w.a, w.b} {
				killed := time.Now()
				p.Kill()
				<-time.After(time.Second)
				failed := w.failures()
				assert.LessOrEqual(t, len(failed), pairCallers)
				for _, f := range failed {
					assert.ErrorIs(t, f.err, gofer.ErrNetwork)
					assert.Equal(t, p.Addr(), f.err.Provider)
					assert.True(t, f.err.Sent)
					assert.Equal(t, killed, f.ended)
				}
				require.NoError(t, p.Restart())
				w.serves(p, 2*time.Second)
			}
		}
		assert.Empty(t, w.failures())
	})
}

// Both crash and come back at their addresses while the registry lists the old
// processes still. They are used as soon as they listen; what the registry does with
// the old entries later disturbs nobody.
func TestCrashAndReturn(t *testing.T) {
	underLoad(t, dubbotest.Dubbo33, func(t *testing.T, w *pair) {
		for _, away := range []time.Duration{100 * time.Millisecond, 4 * time.Second} {
			w.a.Kill()
			w.b.Kill()
			<-time.After(away)
			for _, f := range w.failures() {
				assert.Less(t, f.ended.Sub(f.began), 100*time.Millisecond)
			}
			require.NoError(t, w.a.Restart())
			assert.LessOrEqual(t, w.serves(w.a, time.Minute), 2*time.Second)
			require.NoError(t, w.b.Restart())
			assert.LessOrEqual(t, w.serves(w.b, time.Minute), 2*time.Second)
			w.failures()
			<-time.After(11 * time.Second) // the old sessions expire
			assert.Empty(t, w.failures())
			assert.Len(t, w.reference.Snapshot().Providers, 2)
		}
	})
}

// A frozen provider costs one call of each caller, and of those that time out before
// the third one more; it serves as soon as it goes on.
func TestFrozenProvider(t *testing.T) {
	underLoad(t, dubbotest.Dubbo33, func(t *testing.T, w *pair) {
		for _, long := range []time.Duration{time.Second, 4 * time.Second, 9 * time.Second} {
			begun := time.Now()
			w.a.Freeze()
			<-time.After(long)
			failed := w.failures()
			assert.NotEmpty(t, failed)
			assert.LessOrEqual(t, len(failed), pairCallers+2)
			for _, f := range failed {
				assert.ErrorIs(t, f.err, gofer.ErrTimeout)
				assert.Equal(t, w.a.Addr(), f.err.Provider)
				assert.Less(t, f.ended.Sub(begun), time.Second)
			}
			w.a.Resume()
			assert.LessOrEqual(t, w.serves(w.a, time.Minute), time.Second)
			<-time.After(time.Second)
			assert.Empty(t, w.failures())
		}
	})
}
