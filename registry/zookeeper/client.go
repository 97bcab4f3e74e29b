package zookeeper

import (
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/url"
)

// Pool opens registries that share connections: those with the same servers and
// credentials have one session, whatever their root group (B022). Options are
// common to all of them; of the session timeout the first address decides. A Pool
// holds nothing that has to be closed; the last registry of a connection closes it.
type Pool struct {
	opts []Option

	mu      sync.Mutex
	clients map[string]*client
}

// NewPool returns an empty pool.
func NewPool(opts ...Option) *Pool { return &Pool{opts: opts, clients: map[string]*client{}} }

// Open returns a registry for the address; see [New].
func (p *Pool) Open(u url.URL) (*Registry, error) {
	addr, err := parseAddress(u)
	if err != nil {
		return nil, err
	}
	key := strings.Join(slices.Sorted(slices.Values(addr.servers)), ",") + " " + addr.secret
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.clients[key]
	if c == nil {
		c = newClient(newSettings(p.opts), addr)
		p.clients[key] = c
	}
	c.users++
	return &Registry{pool: p, key: key, client: c, root: addr.root, subs: map[*subscription]struct{}{}, registered: map[string]struct{}{}}, nil
}

// release gives a client back and closes it after its last user.
func (p *Pool) release(key string, c *client) {
	p.mu.Lock()
	c.users--
	last := c.users == 0
	if last {
		delete(p.clients, key)
	}
	p.mu.Unlock()
	if last {
		c.close()
	}
}

// client is what registries with the same servers share: the session, the queue
// and everything watched or registered.
type client struct {
	s       *settings
	log     *zap.Logger
	session *session
	queue   *queue
	users   int // guarded by the pool
	lost    *job

	mu            sync.Mutex
	services      map[string]*service // by directory
	paths         map[string]*watched
	registrations map[string]*registration // by path
}

func newClient(s *settings, addr address) *client {
	c := &client{
		s: s, session: newSession(s, addr), queue: newQueue(s.workers),
		services: map[string]*service{}, paths: map[string]*watched{}, registrations: map[string]*registration{},
	}
	c.log = c.session.log
	c.lost = newJob(c.flagStale)
	c.session.up, c.session.down, c.session.changed = c.sessionUp, c.sessionDown, c.pathChanged
	c.session.start()
	return c
}

// sessionUp has every path read and every registration checked, whatever happened
// to watches and nodes meanwhile (B019).
func (c *client) sessionUp() {
	c.queue.set(c.lost, time.Time{})
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.registrations {
		c.queue.set(r.job, now)
	}
	for _, w := range c.paths {
		w.sessionUp(now)
	}
}

func (c *client) sessionDown() {
	st := c.session.state()
	c.log.Warn("connection lost: lists stay as they are", zap.Error(st.LastError))
	now := time.Now()
	c.queue.set(c.lost, now.Add(c.s.grace))
	// A mute server is noticed after two thirds of the session timeout.
	held := now.Add(-c.session.addr.session)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.paths {
		w.ended(held)
	}
}

// flagStale tells all subscribers that their lists are old.
func (c *client) flagStale() {
	if c.session.conn() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.services {
		s.flagStale()
	}
}

// pathChanged marks a path as due. It runs on the library's goroutine.
func (c *client) pathChanged(path string) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.paths[path]; w != nil {
		w.event(now)
	}
}

// nextAudit returns when to look again; the zero time when audits are off.
func (c *client) nextAudit(now time.Time) time.Time {
	if c.s.audit == 0 {
		return time.Time{}
	}
	return now.Add(c.s.retry.around(c.s.audit))
}

// trouble returns what is being repeated below root at present, if anything.
func (c *client) trouble(root string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path, w := range c.paths {
		if w.err != nil && strings.HasPrefix(path, root+"/") {
			return w.err
		}
	}
	for path, r := range c.registrations {
		if r.err != nil && strings.HasPrefix(path, root+"/") {
			return r.err
		}
	}
	return nil
}

func (c *client) close() {
	c.session.close() // frees the jobs that wait for an answer
	c.queue.close()
}
