package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gofer-rpc/gofer/url"
)

// fakeRegistry delivers what a test says.
type fakeRegistry struct {
	mu        sync.Mutex
	state     State
	listeners map[*fakeSubscription]Listener
	closes    int
	known     []string
}

type fakeSubscription struct {
	registry *fakeRegistry
	service  string
}

func newFakeRegistry() *fakeRegistry {
	return &fakeRegistry{state: State{Address: "zookeeper://192.0.2.1:2181", Connected: true}, listeners: map[*fakeSubscription]Listener{}}
}

func (r *fakeRegistry) Subscribe(u url.URL, l Listener) (Subscription, error) {
	if u.Interface() == "" {
		return nil, errors.New("it names no interface")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &fakeSubscription{r, u.Interface()}
	r.listeners[s] = l
	return s, nil
}

func (s *fakeSubscription) Ready(context.Context) error { return nil }
func (s *fakeSubscription) Close() {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	delete(s.registry.listeners, s)
}

func (r *fakeRegistry) Register(u url.URL) error {
	r.known = append(r.known, u.Interface())
	return nil
}
func (r *fakeRegistry) Unregister(u url.URL) error { r.known = nil; return nil }
func (r *fakeRegistry) State() State               { return r.state }
func (r *fakeRegistry) Close() error {
	r.closes++
	clear(r.listeners)
	return errors.New("cannot close")
}

// deliver notifies the subscribers of the service.
func (r *fakeRegistry) deliver(service string, s Snapshot) {
	r.mu.Lock()
	var to []Listener
	for sub, l := range r.listeners {
		if sub.service == service {
			to = append(to, l)
		}
	}
	r.mu.Unlock()
	for _, l := range to {
		l.Notify(s)
	}
}

// cacheWorld is a cache before a fake registry, with its log.
type cacheWorld struct {
	*Cache
	t        testing.TB
	registry *fakeRegistry
	entries  *registered
	log      *observer.ObservedLogs
	writes   atomic.Int32
}

// newCacheWorld has a cache of a file; change may be nil. It is closed at the end.
func newCacheWorld(t testing.TB, file string, change func(*CacheConfig, *fakeRegistry)) *cacheWorld {
	core, log := observer.New(zapcore.DebugLevel)
	w := &cacheWorld{t: t, registry: newFakeRegistry(), entries: newRegistered(t), log: log}
	cfg := CacheConfig{File: file, Application: "shop-web", Root: "dubbo", Logger: zap.New(core)}
	if change != nil {
		change(&cfg, w.registry)
	}
	var err error
	w.Cache, err = NewCache(w.registry, cfg)
	require.NoError(t, err)
	w.Cache.store.replace = func(from, to string) error {
		w.writes.Add(1)
		return os.Rename(from, to)
	}
	t.Cleanup(func() { _ = w.Cache.Close() })
	return w
}

func serviceURL(t testing.TB, service string) url.URL {
	return parse(t, "consumer://192.0.2.100/"+service+"?interface="+service)
}

func (w *cacheWorld) subscribe(service string) Subscription {
	w.t.Helper()
	sub, err := w.Subscribe(serviceURL(w.t, service), ListenerFunc(func(Snapshot) {}))
	require.NoError(w.t, err)
	return sub
}

// lists delivers providers at 192.0.2.x.
func (w *cacheWorld) lists(hosts ...int) {
	raws := make([]string, len(hosts))
	for i, h := range hosts {
		raws[i] = provided(fmt.Sprintf("192.0.2.%d:20880", h), "token=s3cret")
	}
	w.registry.deliver(iface, w.entries.snapshot(raws...))
}

// onDisk returns the addresses in the file, by interface.
func onDisk(t testing.TB, file string) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	lines, err := decodeCache(data, time.Time{})
	require.NoError(t, err)
	out := map[string][]string{}
	for _, l := range lines {
		for _, e := range l.snapshot().Providers {
			out[l.Interface] = append(out[l.Interface], e.URL.Host())
		}
	}
	return out
}

func recalled(t testing.TB, c *Cache, service string) []string {
	s, ok := c.Recall(serviceURL(t, service))
	if !ok {
		return nil
	}
	assert.True(t, s.Stale && s.Cached)
	var out []string
	for _, e := range s.Providers {
		out = append(out, e.URL.Host())
	}
	return out
}

// A burst is written once, a second after it began; more follows ten seconds later
// at the earliest, and Close waits for nothing.
func TestCacheDebounce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "lists")
		w := newCacheWorld(t, file, nil)
		w.subscribe(iface)
		for i := range 9 {
			w.lists(1, i+2)
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		assert.NoFileExists(t, file)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, map[string][]string{iface: {"192.0.2.1", "192.0.2.10"}}, onDisk(t, file))

		for i := range 200 { // a minute of changes
			w.lists(1, i)
			time.Sleep(300 * time.Millisecond)
		}
		synctest.Wait()
		assert.InDelta(t, 6, w.writes.Load(), 1, "writes in a minute")
		w.lists(7)
		w.lists(8)
		assert.EqualError(t, w.Close(), "cannot close", "the registry's")
		assert.Equal(t, map[string][]string{iface: {"192.0.2.8"}}, onDisk(t, file), "written by Close")
		assert.EqualError(t, w.Close(), "cannot close")
		assert.Equal(t, 2, w.registry.closes)
		assert.Empty(t, w.log.FilterLevelExact(zapcore.WarnLevel).All())
	})
}

// Nothing bad replaces the last good list: not an empty one, not a stale one.
func TestCacheKeepsTheLastGoodList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "lists")
		w := newCacheWorld(t, file, nil)
		w.subscribe(iface)
		w.lists() // never had any
		time.Sleep(time.Minute)
		assert.NoFileExists(t, file)
		w.lists(1, 2)
		good := time.Now()
		time.Sleep(time.Minute)
		for _, s := range []Snapshot{
			{Read: time.Now()},
			{Stale: true, Read: time.Now()},
			{Stale: true, Read: time.Now(), Providers: w.entries.list(provided("192.0.2.9:1", ""))},
			{Read: time.Now(), RejectedCount: 3},
		} {
			w.registry.deliver(iface, s)
			time.Sleep(24 * time.Hour)
			require.Equal(t, []string{"192.0.2.1", "192.0.2.2"}, onDisk(t, file)[iface])
		}
		s, ok := w.Recall(serviceURL(t, iface))
		require.True(t, ok)
		assert.Equal(t, good, s.Read, "as old as it is")
		time.Sleep(CacheMaxAge)
		assert.Nil(t, recalled(t, w.Cache, iface), "too old")
		w.Close()
		fresh := newCacheWorld(t, file, nil)
		assert.Nil(t, recalled(t, fresh.Cache, iface), "too old, from the file, too")
	})
}

// The age of a list is that of the news, not of the list: it holds as long as the
// registry is watched.
func TestCacheRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "lists")
		w := newCacheWorld(t, file, nil)
		sub := w.subscribe(iface)
		w.lists(1)
		time.Sleep(30 * 24 * time.Hour)
		killed := newCacheWorld(t, file, nil) // as if this process had been killed
		s, ok := killed.Recall(serviceURL(t, iface))
		require.True(t, ok, "nothing has changed for a month")
		assert.LessOrEqual(t, time.Since(s.Read), 6*time.Hour)
		assert.Less(t, w.writes.Load(), int32(30*5), "few writes")

		sub.Close() // nobody looks any more
		sub.Close()
		until := time.Now()
		time.Sleep(3 * 24 * time.Hour)
		s, ok = newCacheWorld(t, file, nil).Recall(serviceURL(t, iface))
		require.True(t, ok)
		assert.True(t, until.Equal(s.Read), "it held until then: %v, %v", until, s.Read)
	})
}

func TestRecall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "a", "lists")
		w := newCacheWorld(t, file, func(_ *CacheConfig, r *fakeRegistry) { r.state.Address = "zookeeper://192.0.2.1:1,192.0.2.2:1" })
		assert.Equal(t, file, w.File())
		w.subscribe(iface)
		s := w.entries.snapshot(provided("192.0.2.10:20880", ""), provided("192.0.2.11:20880", ""))
		s.Configurators, s.Routers = []string{"c"}, []string{"r"}
		w.registry.deliver(iface, s)
		assert.Equal(t, []string{"192.0.2.10", "192.0.2.11"}, recalled(t, w.Cache, iface), "what the process knows itself")
		w.Close()
		time.Sleep(3*time.Hour + time.Minute)

		open := func(address, root string) *Cache {
			return newCacheWorld(t, file, func(cfg *CacheConfig, r *fakeRegistry) { r.state.Address, cfg.Root = address, root }).Cache
		}
		same := open("zookeeper://192.0.2.2:1,192.0.2.1:1", "/dubbo/")
		got, ok := same.Recall(serviceURL(t, iface))
		require.True(t, ok, "the order of the servers does not matter")
		assert.Equal(t, []string{"c"}, got.Configurators)
		assert.Equal(t, []string{"r"}, got.Routers)
		assert.Equal(t, s.Path, got.Path)
		again, _ := same.Recall(serviceURL(t, iface))
		assert.Same(t, got.Providers[0], again.Providers[0], "parsed once")
		assert.Nil(t, recalled(t, same, "com.example.Other"))
		assert.Nil(t, recalled(t, open("zookeeper://192.0.2.2:1,192.0.2.1:1", "prod"), iface), "B022: another root")
		assert.Nil(t, recalled(t, open("zookeeper://192.0.2.3:1", "dubbo"), iface), "another registry")
		assert.Nil(t, recalled(t, nil, iface))

		d, _ := newDirectory(t, "", func(c *DirectoryConfig) {
			c.State = func() State { return State{LastError: errors.New("connection refused")} }
		})
		defer d.Close()
		d.Notify(got)
		assert.NoError(t, d.Ready(t.Context()))
		assert.Equal(t, []string{"192.0.2.10:20880", "192.0.2.11:20880"}, addresses(d.List()))
		assert.True(t, d.List().Stale)
		assert.Equal(t, "from cache file written 3h ago; registry not connected: connection refused", d.Funnel().Note)
		time.Sleep(48 * time.Hour)
		assert.Contains(t, d.Funnel().Note, "from cache file written 2d ago", "as of now")

		d.Notify(newRegistered(t).snapshot(provided("192.0.2.12:20880", ""))) // the registry is back
		for range 2 {
			assert.Equal(t, []string{"192.0.2.12:20880"}, addresses(d.List()))
			assert.False(t, d.List().Stale)
			assert.NotContains(t, d.Funnel().Note, "cache")
			got.Read = time.Now()
			d.Notify(got) // late
		}
		d.Notify(Snapshot{Read: time.Now()})
		d.Notify(got)
		assert.Empty(t, addresses(d.List()), "the registry says there is none")
	})
}

// A list that was recalled and is not refreshed stays in the file.
func TestCacheFileOutlivesAStartWithoutRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "lists")
		w := newCacheWorld(t, file, nil)
		for _, service := range []string{"a.A", "b.B"} {
			w.subscribe(service)
			w.registry.deliver(service, w.entries.snapshot("dubbo://192.0.2.10:1/"+service))
		}
		w.Close()
		time.Sleep(24 * time.Hour)
		w = newCacheWorld(t, file, nil)
		assert.NotNil(t, recalled(t, w.Cache, "a.A"))
		w.Close()
		assert.Zero(t, w.writes.Load(), "there is no news")
		w = newCacheWorld(t, file, nil)
		assert.NotNil(t, recalled(t, w.Cache, "a.A"))
		require.NoError(t, os.Remove(file))
		w.subscribe(iface)
		w.lists(1)
		w.Close()
		assert.Equal(t, []string{"a.A", "b.B", iface}, slices.Sorted(maps.Keys(onDisk(t, file))), "nor is it lost with the file")
	})
}

// Many references cost one goroutine.
func TestCacheGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		w := newCacheWorld(t, filepath.Join(t.TempDir(), "lists"), nil)
		for i := range 100 {
			service := fmt.Sprintf("com.example.S%d", i)
			w.subscribe(service)
			w.registry.deliver(service, w.entries.snapshot("dubbo://192.0.2.10:1/"+service))
		}
		synctest.Wait()
		assert.LessOrEqual(t, runtime.NumGoroutine(), before+1)
		w.Close()
		assert.LessOrEqual(t, runtime.NumGoroutine(), before)
	})
}

func TestCachePassesOn(t *testing.T) {
	w := newCacheWorld(t, filepath.Join(t.TempDir(), "lists"), nil)
	assert.Equal(t, w.registry.state, w.State())
	require.NoError(t, w.Register(serviceURL(t, iface)))
	assert.Equal(t, []string{iface}, w.registry.known)
	require.NoError(t, w.Unregister(serviceURL(t, iface)))
	assert.Empty(t, w.registry.known)
	_, err := w.Subscribe(parse(t, "consumer://h"), ListenerFunc(func(Snapshot) {}))
	require.EqualError(t, err, "it names no interface")
	assert.NoError(t, w.subscribe(iface).Ready(t.Context()))
	w.Close()
	assert.NoFileExists(t, w.File(), "nothing to keep")
}
