package gofer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/registry"
	"github.com/gofer-rpc/gofer/url"
)

// distant is a registry that delivers nothing by itself.
type distant struct {
	mu       sync.Mutex
	state    registry.State
	listener registry.Listener
	ready    chan struct{}
}

func newDistant() *distant {
	return &distant{
		state: registry.State{Address: "zookeeper://192.0.2.200:2181", Since: time.Now(), LastError: errors.New("connection refused")},
		ready: make(chan struct{}),
	}
}

func (r *distant) Subscribe(_ url.URL, l registry.Listener) (registry.Subscription, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener = l
	return distantSubscription{r}, nil
}

func (r *distant) Ready(ctx context.Context) error {
	select {
	case <-r.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *distant) Register(url.URL) error   { return nil }
func (r *distant) Unregister(url.URL) error { return nil }

func (r *distant) Close() error { return nil }

func (r *distant) State() registry.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

type distantSubscription struct{ *distant }

func (distantSubscription) Close() {}

// deliver makes the registry answer.
func (r *distant) deliver(t *testing.T, providers ...*dubbotest.Provider) {
	s := registry.Snapshot{Read: time.Now(), Source: r.state.Address, Path: "/dubbo/x/providers"}
	for _, p := range providers {
		u, err := url.Parse(p.URL())
		assert.NoError(t, err)
		u = u.With("interface", greeter)
		s.Providers = append(s.Providers, &registry.Entry{Raw: u.Encode(), URL: u})
	}
	r.mu.Lock()
	r.state.Connected = true
	l := r.listener
	r.mu.Unlock()
	l.Notify(s)
	close(r.ready)
}

const greeter = "com.example.GreetingService"

// cacheWorld has two providers, a file with the list of the first, and a client
// whose registry is away.
type cacheWorld struct {
	t        *testing.T
	old, new *dubbotest.Provider
	file     string
	registry *distant
	client   *Client
	log      *observer.ObservedLogs
}

func newCacheWorld(t *testing.T) *cacheWorld {
	w := &cacheWorld{t: t, file: filepath.Join(t.TempDir(), "lists")}
	for i, p := range []**dubbotest.Provider{&w.old, &w.new} {
		*p = dubbotest.Start(t, greeter, dubbotest.InMemory(), dubbotest.WithAddr(fmt.Sprintf("192.0.2.%d:20880", i+1)))
		require.NoError(t, (*p).Handle("hello(java.lang.String)", func(s string) string { return "hello " + s }))
	}
	w.open()
	r := w.refer("check=false")
	w.registry.deliver(t, w.old)
	require.NoError(t, r.Close())
	require.NoError(t, w.client.Close())
	require.FileExists(t, w.file)
	time.Sleep(3 * time.Hour)
	w.open()
	t.Cleanup(func() { require.NoError(t, w.client.Close()) })
	return w
}

func (w *cacheWorld) open() {
	core, log := observer.New(zapcore.InfoLevel)
	c, err := New(WithApplication("shop"), WithDialer(dubbotest.Dialer(w.old, w.new)), WithLogger(zap.New(core)))
	require.NoError(w.t, err)
	w.registry, w.client, w.log = newDistant(), c, log
	c.registry = w.registry
	c.address, err = url.Parse(w.registry.state.Address + "?file=" + w.file)
	require.NoError(w.t, err)
	c.openCache()
	require.NotNil(w.t, c.cache)
}

func (w *cacheWorld) refer(params string) *Reference {
	r, err := w.client.Refer(w.t.Context(), greeter+"?retries=0&"+params)
	require.NoError(w.t, err)
	return r
}

func (w *cacheWorld) hello(r *Reference) error {
	s, err := Call[string](w.t.Context(), r, "hello(java.lang.String)", "Ada")
	if err == nil {
		assert.Equal(w.t, "hello Ada", s)
	}
	return err
}

// took returns how long f takes, in virtual time.
func took(f func()) time.Duration {
	begun := time.Now()
	f()
	return time.Since(begun)
}

// With check=true the registry has its time; then the last known providers serve,
// with a warning. Further references do not wait for it again.
func TestCacheStartWithCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCacheWorld(t)
		var r *Reference
		assert.Equal(t, checkTimeout, took(func() { r = w.refer("") }))
		warnings := w.log.FilterLevelExact(zapcore.WarnLevel).FilterMessageSnippet("last known providers").All()
		require.Len(t, warnings, 1)
		assert.Contains(t, fmt.Sprint(warnings[0].ContextMap()["funnel"]), "from cache file written 3h ago")
		require.NoError(t, w.hello(r))

		s := r.Snapshot()
		assert.True(t, s.Stale)
		assert.Regexp(t, `^from cache file written 3h ago; registry not connected since .*: connection refused$`, s.Funnel.Note)
		require.Len(t, s.Providers, 1)
		assert.Equal(t, "ready", s.Providers[0].State)
		assert.Less(t, took(func() {
			for i := range 20 {
				require.NoError(t, w.hello(w.refer(fmt.Sprintf("timeout=%d", 500+i))))
			}
		}), time.Second)
	})
}

// However little time there is, some is left for connections.
func TestCacheStartInAHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCacheWorld(t)
		ctx, cancel := context.WithTimeout(t.Context(), checkGrace/4)
		defer cancel()
		assert.Equal(t, checkGrace/4, took(func() {
			r, err := w.client.Refer(ctx, greeter)
			require.NoError(t, err)
			require.NoError(t, w.hello(r))
		}))
	})
}

// Only a provider that can be reached counts.
func TestCacheStartWithCheckNobodyThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCacheWorld(t)
		w.old.Kill()
		_, err := w.client.Refer(t.Context(), greeter)
		require.ErrorIs(t, err, ErrNoProvider)
		assert.ErrorContains(t, err, "from cache file written 3h ago")
		assert.ErrorContains(t, err, "connection refused")
		assert.ErrorContains(t, err, "check=false")

		_, err = w.client.Refer(t.Context(), "com.example.Other")
		require.ErrorIs(t, err, ErrNoProvider)
		assert.NotContains(t, err.Error(), "cache file", "there is no list of it")
	})
}

// A registry that answers in time is believed, and nobody else.
func TestCacheRegistryInTime(t *testing.T) {
	for _, after := range []time.Duration{checkGrace / 2, 2 * checkGrace} {
		synctest.Test(t, func(t *testing.T) {
			w := newCacheWorld(t)
			time.AfterFunc(after, func() { w.registry.deliver(t, w.new) })
			var r *Reference
			assert.InDelta(t, after, took(func() { r = w.refer("") }), float64(10*checkPoll))
			s := r.Snapshot()
			assert.False(t, s.Stale)
			assert.Empty(t, s.Funnel.Note)
			require.Len(t, s.Providers, 1)
			assert.Equal(t, w.new.Addr(), s.Providers[0].Address)
			assert.Empty(t, w.log.FilterLevelExact(zapcore.WarnLevel).All())
		})
	}
}

// With check=false nobody waits, calls neither.
func TestCacheStartWithoutCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCacheWorld(t)
		assert.Less(t, took(func() {
			r := w.refer("check=false")
			require.NoError(t, w.hello(r))
			assert.True(t, r.Snapshot().Stale)
		}), 10*checkPoll)
		r := w.refer("check=false")
		time.Sleep(2 * checkGrace)
		require.NoError(t, w.hello(r))
		assert.True(t, r.service.listed.Load(), "later calls do not even look")
		w.registry.deliver(t, w.new)
		eventuallyReady(r)
		require.NoError(t, w.hello(r))
		assert.False(t, r.Snapshot().Stale)
		assert.Len(t, w.new.Calls(), 1)
		assert.Len(t, w.old.Calls(), 2)
	})
}

// eventuallyReady waits for a connection, in virtual time.
func eventuallyReady(r *Reference) {
	for !r.service.ready() {
		time.Sleep(checkPoll)
	}
}

// When the last known providers are gone a first call waits a moment for the
// registry: no worse than without a file. After that it fails at once.
func TestCacheOutdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCacheWorld(t)
		w.old.Kill()
		r := w.refer("check=false&timeout=3000")
		assert.Equal(t, checkGrace, took(func() { require.ErrorIs(t, w.hello(r), ErrNoProvider) }))
		assert.Zero(t, took(func() { require.ErrorIs(t, w.hello(r), ErrNoProvider) }))
	})
	synctest.Test(t, func(t *testing.T) {
		w := newCacheWorld(t)
		w.old.Kill()
		r := w.refer("check=false&timeout=3000")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(checkGrace/2, cancel)
		assert.Equal(t, checkGrace/2, took(func() {
			_, err := Call[string](ctx, r, "hello(java.lang.String)", "Ada")
			require.ErrorIs(t, err, context.Canceled)
		}))
	})
}

// The first call profits from what the registry says meanwhile.
func TestCacheOutdatedRegistryBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCacheWorld(t)
		w.old.Kill()
		r := w.refer("check=false&timeout=3000")
		time.AfterFunc(checkGrace/2, func() { w.registry.deliver(t, w.new) })
		assert.InDelta(t, checkGrace/2, took(func() { require.NoError(t, w.hello(r)) }), float64(10*checkPoll))
	})
	synctest.Test(t, func(t *testing.T) {
		w := newCacheWorld(t)
		w.old.Kill()
		r := w.refer("check=false&timeout=3000")
		time.AfterFunc(checkGrace/2, func() { w.registry.deliver(t) })
		assert.InDelta(t, checkGrace/2, took(func() { require.ErrorIs(t, w.hello(r), ErrNoProvider) }), float64(10*checkPoll), "there is none")
	})
}

// The registry's parameters decide whether there is a file.
func TestOpenCache(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	open := func(params string) (*Client, *observer.ObservedLogs) {
		core, log := observer.New(zapcore.WarnLevel)
		c, err := New(WithApplication("shop"), WithLogger(zap.New(core)), WithRegistry("zookeeper://u:s3cret@127.0.0.1:1?"+params))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, c.Close()) })
		return c, log
	}
	for params, want := range map[string]string{
		"group=prod":             filepath.Join(home, ".gofer", "registry", "shop-127.0.0.1-1-prod-"),
		"file=/var/lib/x/lists":  "/var/lib/x/lists",
		"file-cache=TRUE&file=x": "x",
		"file-cache=false":       "",
		"file.cache=false":       "",
	} {
		c, log := open(params)
		assert.Equal(t, want == "", c.cache == nil, params)
		if c.cache != nil {
			assert.Contains(t, c.cache.File(), want)
			assert.NotContains(t, c.cache.File(), "s3cret")
		}
		assert.Zero(t, log.Len())
	}
	_, err := New(WithApplication("shop"), WithRegistry("zookeeper://127.0.0.1:1?file-cache=maybe"))
	assert.ErrorContains(t, err, "file-cache=maybe")

	t.Setenv("HOME", "") // a container without a user
	c, log := open("")
	assert.Nil(t, c.cache)
	require.Equal(t, 1, log.Len())
	assert.Contains(t, log.All()[0].Message, "file-cache=false")
}

// A file that cannot be read is named by the error of who would have needed it.
func TestCacheFileIsDamaged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCacheWorld(t)
		text, err := os.ReadFile(w.file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(w.file, text[:len(text)-20], 0o600))
		_, err = w.client.Refer(t.Context(), greeter)
		require.ErrorIs(t, err, ErrNoProvider)
		assert.ErrorContains(t, err, "cache file cannot be read: "+w.file+": it is damaged: 1 of 1 lists cannot be read")
	})
}
