package registry

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/url"
)

// CacheMaxAge is how long a list in a cache file counts after it was last known to
// hold, by default.
const CacheMaxAge = 7 * 24 * time.Hour

// CacheConfig says where a [Cache] keeps its lists. The zero value is usable.
type CacheConfig struct {
	// File is the path; a leading ~/ is the home directory. Empty: a file of the
	// application, the registry and the root below ~/.gofer/registry. Several
	// processes and registries may share a file. It may be (a copy of) a file of
	// Java's Dubbo, ~/.dubbo/dubbo-registry-….cache: its lists are used, until the
	// first write replaces it and keeps it under the name .old.
	File string
	// Application is the calling application: part of the default name.
	Application string
	// Root is the root of the registry's paths: lists of different roots are
	// different lists (B022).
	Root string
	// MaxAge is how old a list may be to be used, [CacheMaxAge] when 0.
	MaxAge time.Duration
	// Logger is silent when nil.
	Logger *zap.Logger
	// Now is the clock, time.Now when nil.
	Now func() time.Time
}

// Cache is a [Registry] that keeps the lists another one delivers in a file, so
// that a process can start while that one is away: see [Cache.Recall].
//
// Only lists of a registry that answers are kept, and never an empty one: the last
// providers known stay in the file until they are too old. It is written a second
// after a change at the earliest, every ten seconds at most, every few hours
// without a change (so that the age of a list is that of the news, not of the
// list), and by Close. A write replaces the file as a whole; lists in it that other
// processes wrote stay. Failures cost a warning, never a call.
//
// The file holds what providers registered, tokens too: only its owner may read it
// (mode 0600, in a directory of mode 0700 if that has to be made). Passwords of the
// registry are not in it.
//
// All methods are safe for concurrent use.
type Cache struct {
	registry Registry
	cfg      CacheConfig
	source   string // the registry, whatever the order of its servers
	store    cacheFile
	pace     cachePace

	mu     sync.Mutex
	lists  map[string]*cachedList // by interface
	stored map[string]cacheLine   // of the file, until asked for
	active bool                   // there is something to write, and who does
	closed bool
	warned map[string]bool // troubles with the file that are not over
	unread error           // why the file could not be read

	load    sync.Once     // of the file
	clean   sync.Once     // of its folder
	changed chan struct{} // holds one
	done    chan struct{}
	writer  sync.WaitGroup
}

// cachePace holds the times between writes; tests shorten them.
type cachePace struct {
	debounce time.Duration // from a change to the write
	interval time.Duration // between two writes, at least
	refresh  time.Duration // between two writes, at most
	retry    time.Duration // after a write that failed
}

// cachedList is what is known of one interface.
type cachedList struct {
	snapshot Snapshot  // the last list with providers
	seen     time.Time // when it was last known to hold
	live     bool      // it holds at this moment
	watchers int       // subscriptions
}

// NewCache puts a cache before a registry, which it closes with itself. It reads
// and writes nothing yet. The error says why there is no file to use.
func NewCache(r Registry, cfg CacheConfig) (*Cache, error) {
	if cfg.MaxAge <= 0 {
		cfg.MaxAge = CacheMaxAge
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Root = "/" + strings.Trim(cfg.Root, "/")
	c := &Cache{
		registry: r,
		cfg:      cfg,
		source:   sortServers(r.State().Address),
		pace:     cachePace{debounce: time.Second, interval: 10 * time.Second, refresh: 6 * time.Hour, retry: time.Minute},
		lists:    map[string]*cachedList{},
		warned:   map[string]bool{},
		changed:  make(chan struct{}, 1),
		done:     make(chan struct{}),
	}
	var err error
	if c.store, err = newCacheFile(cfg, c.source); err != nil {
		return nil, fmt.Errorf("cache file: %w", err)
	}
	return c, nil
}

// sortServers makes the same address of the same ensemble.
func sortServers(address string) string {
	scheme, hosts, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	servers := strings.Split(hosts, ",")
	slices.Sort(servers)
	return scheme + "://" + strings.Join(servers, ",")
}

// File returns the path of the file.
func (c *Cache) File() string { return c.store.path }

// State returns that of the registry.
func (c *Cache) State() State { return c.registry.State() }

// Register passes the URL on to the registry.
func (c *Cache) Register(u url.URL) error { return c.registry.Register(u) }

// Unregister passes the URL on to the registry.
func (c *Cache) Unregister(u url.URL) error { return c.registry.Unregister(u) }

// Subscribe subscribes to the registry and keeps what it delivers. It does not
// deliver from the file.
func (c *Cache) Subscribe(reference url.URL, l Listener) (Subscription, error) {
	service := reference.Interface()
	sub, err := c.registry.Subscribe(reference, ListenerFunc(func(s Snapshot) {
		l.Notify(s)
		c.record(service, s)
	}))
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list(service).watchers++
	return &cachedSubscription{Subscription: sub, end: sync.OnceFunc(func() { c.release(service) })}, nil
}

// cachedSubscription tells the cache when nobody looks after a list any more.
type cachedSubscription struct {
	Subscription
	end func()
}

// Close ends the subscription.
func (s *cachedSubscription) Close() {
	s.Subscription.Close()
	s.end()
}

func (c *Cache) list(service string) *cachedList {
	l := c.lists[service]
	if l == nil {
		l = &cachedList{}
		c.lists[service] = l
	}
	return l
}

// record keeps a list that the registry delivered.
func (c *Cache) record(service string, s Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.list(service)
	switch {
	case s.Stale || len(s.Providers) == 0: // what held before may hold no more
		l.live = false
		return
	case s.Read.IsZero():
		s.Read = c.cfg.Now()
	}
	l.snapshot, l.seen, l.live = s, s.Read, true
	c.change()
}

// release takes notice of the end of a subscription.
func (c *Cache) release(service string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.list(service)
	if l.watchers--; l.watchers == 0 && l.live {
		l.live, l.seen = false, c.cfg.Now() // it held until now
		c.change()
	}
}

// Recall returns the last known list of the reference's interface, from this
// process or else from the file. It is flagged as stale and cached; ok is false
// when there is none, or none that is young enough. On a nil Cache it always is.
func (c *Cache) Recall(reference url.URL) (s Snapshot, ok bool) {
	if c == nil {
		return Snapshot{}, false
	}
	service := reference.Interface()
	l, bad := c.recall(service)
	if l == nil {
		c.load.Do(c.read)
		l, bad = c.recall(service)
	}
	if bad > 0 {
		c.cfg.Logger.Warn("entries of the cache file that cannot be read are left out",
			zap.String("file", c.store.path), zap.String("interface", service), zap.Int("entries", bad))
	}
	if l == nil {
		return Snapshot{}, false
	}
	return *l, true
}

// recall returns the list of an interface, nil when there is none that is young
// enough, and how many entries of it were found bad just now.
func (c *Cache) recall(service string) (s *Snapshot, bad int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.list(service)
	if line, ok := c.stored[service]; ok {
		delete(c.stored, service)
		if len(l.snapshot.Providers) == 0 { // else the registry's is newer
			l.snapshot, l.seen = line.snapshot(), line.Time
			bad = l.snapshot.RejectedCount
		}
	}
	now := c.cfg.Now()
	if l.live {
		l.seen = now
	}
	if len(l.snapshot.Providers) == 0 || now.Sub(l.seen) > c.cfg.MaxAge {
		return nil, bad
	}
	found := l.snapshot
	found.Read, found.Held, found.Stale, found.Cached = l.seen, time.Time{}, true, true
	return &found, bad
}

// Problem says why the file of the last known lists could not be read, wholly or in
// part, nil if it was or nobody has asked for a list yet. On a nil Cache it is nil.
func (c *Cache) Problem() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unread == nil {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", cannotRead, c.store.path, c.unread)
}

// read reads the file.
func (c *Cache) read() {
	lines, err := c.store.read()
	c.trouble(cannotRead, err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !errors.Is(err, errJava) {
		c.unread = err
	}
	c.stored = map[string]cacheLine{}
	for _, line := range c.settle(lines) {
		if line.Registry == c.source && line.Root == c.cfg.Root {
			c.stored[line.Interface] = line
		}
	}
}

// settle completes lines from a file, drops what is too old and keeps the newest
// of each list, the newest first.
func (c *Cache) settle(lines []cacheLine) []cacheLine {
	now := c.cfg.Now()
	newest := map[[3]string]cacheLine{}
	for _, l := range lines {
		if l.Registry == "" { // a file of Java, which is of one registry
			l.Registry, l.Root = c.source, c.cfg.Root
		}
		if l.Time.After(now) { // the clock was set back: it must not stay for ever
			l.Time = now
		}
		key := [3]string{l.Registry, l.Root, l.Interface}
		if now.Sub(l.Time) <= c.cfg.MaxAge && !newest[key].Time.After(l.Time) {
			newest[key] = l
		}
	}
	return slices.SortedFunc(maps.Values(newest), func(a, b cacheLine) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Registry+a.Root, b.Registry+b.Root), cmp.Compare(a.Interface, b.Interface))
	})
}

const (
	cannotRead  = "cache file cannot be read"
	cannotWrite = "cache file is not written"
)

// trouble warns of a problem with the file, once until the file is written.
func (c *Cache) trouble(message string, err error) {
	if err == nil || errors.Is(err, errJava) {
		return
	}
	c.mu.Lock()
	known := c.warned[err.Error()]
	c.warned[err.Error()] = true
	c.mu.Unlock()
	if !known {
		c.cfg.Logger.Warn(message, zap.String("file", c.store.path), zap.Error(err))
	}
}

// Close closes the registry, waits for the writer and writes what is known. An error of the file is only logged. A second call does nothing.
func (c *Cache) Close() error {
	err := c.registry.Close() // no list comes after that
	c.mu.Lock()
	again, active := c.closed, c.active
	c.closed = true
	c.mu.Unlock()
	if again {
		return err
	}
	close(c.done)
	c.writer.Wait()
	if active {
		c.write()
	}
	return err
}
