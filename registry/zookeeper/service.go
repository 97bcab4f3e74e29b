package zookeeper

import (
	"time"

	"github.com/gofer-rpc/gofer/registry"
)

// service is an interface somebody subscribed to: its three watched paths and
// what was read there. All subscriptions of the interface share it, whatever
// their groups and versions. Fields are guarded by the client's lock.
type service struct {
	client *client
	dir    string
	paths  [categories]*watched
	subs   map[*subscription]struct{}
	first  *job // ends the wait for rules

	known     [categories]bool
	providers parsed
	rules     [categories][]string
	readAt    time.Time // of the providers
	held      time.Time // until when those before were known to hold
	doubt     *registry.Doubt
	stale     bool
	impatient bool // the first snapshot waits for rules no more
	current   *registry.Snapshot
}

// watch returns the service of a directory, with its paths watched.
func (c *client) watch(dir string) *service {
	s := c.services[dir]
	if s != nil {
		return s
	}
	s = &service{client: c, dir: dir, subs: map[*subscription]struct{}{}}
	s.first = newJob(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		s.impatient = true
		s.publish()
	})
	c.services[dir] = s
	now := time.Now()
	for i := range s.paths {
		w := newWatched(s, i)
		s.paths[i] = w
		c.paths[w.path] = w
		w.wake(now)
	}
	return s
}

// unwatch forgets the service. A late event or answer finds nothing.
func (c *client) unwatch(s *service) {
	delete(c.services, s.dir)
	c.queue.set(s.first, time.Time{})
	for _, w := range s.paths {
		w.removed = true
		delete(c.paths, w.path)
		c.queue.set(w.job, time.Time{})
	}
}

func (s *service) setProviders(p parsed, now, held time.Time, doubt *registry.Doubt) {
	if !s.known[providers] {
		s.known[providers] = true
		s.client.queue.set(s.first, now.Add(s.client.s.rules))
	}
	s.providers, s.readAt, s.held, s.doubt, s.stale = p, now, held, doubt, false
	s.publish()
}

func (s *service) setRules(category int, names []string) {
	s.known[category] = true
	s.rules[category] = names
	s.publish()
}

// confirmed takes notice of a read that brought nothing new.
func (s *service) confirmed(category int, now time.Time, doubt *registry.Doubt) {
	if category != providers {
		return
	}
	s.readAt = now
	if s.stale || !sameDoubt(s.doubt, doubt) {
		s.stale, s.doubt = false, doubt
		s.publish()
	}
}

// flagStale tells the subscribers that what they have is old.
func (s *service) flagStale() {
	if !s.stale && s.current != nil {
		s.stale = true
		s.publish()
	}
}

// publish gives the state to all subscribers. The first time it waits for the
// rules, so that no call is routed without them, but not for ever.
func (s *service) publish() {
	complete := s.known[configurators] && s.known[routers]
	if !s.known[providers] || s.current == nil && !complete && !s.impatient {
		return
	}
	s.client.queue.set(s.first, time.Time{})
	s.current = &registry.Snapshot{
		Providers:     s.providers.list,
		Rejected:      s.providers.rejected,
		RejectedCount: s.providers.count,
		Configurators: s.rules[configurators],
		Routers:       s.rules[routers],
		Read:          s.readAt,
		Held:          s.held,
		Doubt:         s.doubt,
		Stale:         s.stale,
		Source:        s.client.session.addr.source,
		Path:          s.paths[providers].path,
	}
	for sub := range s.subs {
		sub.box.put(s.current)
	}
}
