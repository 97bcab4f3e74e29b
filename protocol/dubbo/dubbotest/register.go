package dubbotest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofer-rpc/gofer/registry"
	"github.com/gofer-rpc/gofer/registry/zookeeper"
	"github.com/gofer-rpc/gofer/url"
)

// registerPatience is how long Register waits until its entry can be seen.
const registerPatience = 10 * time.Second

// home is a registry that the provider registers in.
type home struct {
	address url.URL
	params  []string
	entry   *entry // nil while it is not registered there
}

// entry is a registration and the session that it lives with.
type entry struct {
	registry *zookeeper.Registry
	wires    *wires
	url      url.URL
}

// homes are guarded by a lock of their own, which is held while a registry is
// waited for.
type homes struct {
	mu      sync.Mutex
	all     []*home
	leaving sync.WaitGroup // abandoned sessions
}

// Register makes the provider visible in a ZooKeeper, or in a zktest server,
// zookeeper://host:port, with a URL like a Java provider's of the profile and the
// parameters given as "weight=50" on top. It returns when the entry can be seen;
// after ten seconds in vain with an error that tells why. Several registries are
// possible; a second call for one replaces the entry.
func (p *Provider) Register(registryURL string, params ...string) error {
	if p.tb != nil {
		p.tb.Helper()
	}
	u, err := url.Parse(registryURL)
	if err != nil {
		return p.mistake(fmt.Errorf("dubbotest: registry: %w", err))
	}
	p.homes.mu.Lock()
	defer p.homes.mu.Unlock()
	h := &home{address: u}
	if i := slices.IndexFunc(p.homes.all, func(h *home) bool { return h.address.Full() == u.Full() }); i >= 0 {
		h = p.homes.all[i]
	}
	h.params = params
	if err := p.settle(h); err != nil {
		return p.mistake(fmt.Errorf("dubbotest: %w", err))
	}
	if !slices.Contains(p.homes.all, h) {
		p.homes.all = append(p.homes.all, h)
	}
	return nil
}

// Unregister takes the provider out of all registries, and goes on serving.
func (p *Provider) Unregister() {
	p.homes.mu.Lock()
	defer p.homes.mu.Unlock()
	for _, h := range p.homes.all {
		h.withdraw()
	}
	p.homes.all = nil
}

// Reregister registers the provider again with the present moment as its start time,
// as if it had been restarted, and only then takes the old entries out.
func (p *Provider) Reregister() error {
	if p.tb != nil {
		p.tb.Helper()
	}
	p.mu.Lock()
	p.started = laterThan(p.started)
	p.mu.Unlock()
	p.homes.mu.Lock()
	defer p.homes.mu.Unlock()
	return p.settleAll()
}

// laterThan is now, and another millisecond than before: timestamps must differ.
func laterThan(before time.Time) time.Time {
	now := time.Now()
	if now.UnixMilli() <= before.UnixMilli() {
		return before.Add(time.Millisecond)
	}
	return now
}

// settleAll registers in all homes anew. The lock of the homes is held.
func (p *Provider) settleAll() error {
	var errs []error
	for _, h := range p.homes.all {
		if err := p.settle(h); err != nil {
			errs = append(errs, fmt.Errorf("dubbotest: %w", err))
		}
	}
	if len(errs) > 0 {
		return p.mistake(errors.Join(errs...))
	}
	return nil
}

// settle registers in one home, waits until the entry is there, and only then takes
// the old one out.
func (p *Provider) settle(h *home) error {
	u := p.registered(h.params)
	if h.entry != nil && h.entry.url.Full() == u.Full() {
		return nil
	}
	w := &wires{dial: p.opt.dial}
	r, err := zookeeper.New(h.address, zookeeper.WithDialer(w.connect))
	if err != nil {
		return err
	}
	e := &entry{registry: r, wires: w, url: u}
	if err = r.Register(e.url); err == nil {
		err = e.awaitVisible()
	}
	if err != nil {
		return errors.Join(err, r.Close())
	}
	old := h.entry
	h.entry = e
	if old != nil {
		_ = old.registry.Close()
	}
	return nil
}

// awaitVisible waits until the entry is in the list that consumers get.
func (e *entry) awaitVisible() error {
	seen := make(chan struct{})
	var once sync.Once
	sub, err := e.registry.Subscribe(e.url, registry.ListenerFunc(func(s registry.Snapshot) {
		if slices.ContainsFunc(s.Providers, func(other *registry.Entry) bool { return other.URL.Full() == e.url.Full() }) {
			once.Do(func() { close(seen) })
		}
	}))
	if err != nil {
		return err
	}
	defer sub.Close()
	ctx, cancel := context.WithTimeout(context.Background(), registerPatience)
	defer cancel()
	select {
	case <-seen:
		return nil
	case <-ctx.Done():
	}
	if err := sub.Ready(ctx); err != nil {
		return fmt.Errorf("register in %s: %w", e.registry.State().Address, err)
	}
	err = fmt.Errorf("register in %s: the entry does not appear", e.registry.State().Address)
	if last := e.registry.State().LastError; last != nil {
		err = fmt.Errorf("%w: %w", err, last)
	}
	return err
}

// withdraw takes the entry out, as a provider does that shuts down.
func (h *home) withdraw() {
	if h.entry != nil {
		_ = h.entry.registry.Close()
		h.entry = nil
	}
}

// withdraw takes the provider out of all registries until it starts again.
func (p *Provider) withdraw() {
	p.homes.mu.Lock()
	defer p.homes.mu.Unlock()
	for _, h := range p.homes.all {
		h.withdraw()
	}
}

// abandon leaves the entries to their sessions, as a provider does that is killed.
func (p *Provider) abandon() {
	p.homes.mu.Lock()
	defer p.homes.mu.Unlock()
	for _, h := range p.homes.all {
		if e := h.entry; e != nil {
			h.entry = nil
			e.wires.cut()
			p.homes.leaving.Go(func() { _ = e.registry.Close() }) // takes its time to find out
		}
	}
}

// registered returns the URL that a Java provider of the profile would register.
func (p *Provider) registered(params []string) url.URL {
	p.mu.Lock()
	u, started := p.service, p.started
	methods := map[string]bool{}
	for _, h := range p.handlers {
		methods[h.Name] = true
	}
	for key := range p.scripts {
		if name, _, _ := strings.Cut(key, "("); name != "" {
			methods[name] = true
		}
	}
	p.mu.Unlock()
	names := make([]string, 0, len(methods))
	for name := range methods {
		names = append(names, name)
	}
	slices.Sort(names)
	own := map[string]string{
		"application": "dubbotest", "dubbo": protocolVersion, "interface": u.Path(), "side": "provider",
		"methods": strings.Join(names, ","), "generic": "false", "timestamp": strconv.FormatInt(started.UnixMilli(), 10),
		"revision": u.ParamOr("version", "1.0.0"), "release": p.opt.profile.String(),
	}
	profile := p.opt.profile
	if profile == Dubbo26 {
		delete(own, "release")
	} else {
		own["deprecated"], own["dynamic"] = "false", "true"
	}
	if !profile.modern() {
		own["pid"], own["anyhost"] = strconv.Itoa(os.Getpid()), "true"
	}
	switch profile {
	case Dubbo27:
		own["metadata-type"] = "remote"
	case Dubbo32:
		own["prefer.serialization"], own["service-name-mapping"] = "fastjson2,hessian2", "true"
	case Dubbo33:
		own["prefer.serialization"], own["service-name-mapping"] = "hessian2,fastjson2", "true"
	}
	for key, value := range u.Params() {
		own[key] = value
	}
	if profile.modern() {
		for _, key := range []string{"threads", "accepts"} {
			delete(own, key)
		}
	}
	return withParams(url.New("dubbo", u.Host(), u.Port(), u.Path(), own), params)
}

// wires are the connections to a registry, which can be cut as if the process had
// been killed.
type wires struct {
	dial  func(ctx context.Context, network, address string) (net.Conn, error)
	mu    sync.Mutex
	conns []net.Conn
	dead  bool
}

var errDead = errors.New("the provider was killed")

func (w *wires) connect(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := w.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		_ = nc.Close()
		return nil, errDead
	}
	w.conns = append(w.conns, nc)
	return nc, nil
}

// cut ends all connections, and there will be no other.
func (w *wires) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
	for _, nc := range w.conns {
		_ = nc.Close()
	}
}
