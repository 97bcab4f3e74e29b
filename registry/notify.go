package registry

import (
	"errors"
	"slices"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// change is what a list did to the nodes.
type change struct {
	joined             []*provider
	left               []*protocol.Node
	updated, restarted int
}

// members reports whether other nodes are listed than before.
func (c *change) members() bool { return len(c.joined)+len(c.left) > 0 }

// Notify takes a list: afterwards the listing holds its usable providers and
// nobody else. It makes the [Directory] a [Listener].
func (d *Directory) Notify(s Snapshot) {
	var c change
	d.mu.Lock()
	if !d.closed {
		if d.news(s) {
			d.take(s, &c)
		} else if !s.Cached { // what is known stays
			d.last.Stale, d.last.Source, d.last.Path, d.last.Doubt = s.Stale, s.Source, s.Path, s.Doubt
		}
		d.publish(&c)
	}
	d.mu.Unlock()
	closeAll(c.left) // no call finds them any more
}

// news reports whether a snapshot tells more than the last one taken. A stale one
// does when it was read later (it replaced one that was not delivered) or when
// there is nothing yet (a cache); it never empties the list.
func (d *Directory) news(s Snapshot) bool {
	if !s.Stale {
		return true
	}
	return len(s.Providers) > 0 && (!d.listed || !s.Cached && s.Read.After(d.last.Read))
}

// take compares the list with the one before and settles what has changed.
func (d *Directory) take(s Snapshot, c *change) {
	now := d.cfg.Now()
	if s.Read.After(now) || s.Read.IsZero() && !s.Stale {
		s.Read = now
	}
	seen := sighting{after: d.last.Read, before: s.Read}
	if s.Read.IsZero() {
		seen.before = now
	}
	if d.listed && s.Held.After(seen.after) {
		seen.after = s.Held
	}
	for _, p := range d.keep(d.roster.compare(s.Providers, seen), seen.before) {
		d.settle(p, c)
	}
	for p := range d.failed {
		if p.touched != d.roster.lists { // else it has just been tried
			d.refer(p, c)
		}
	}
	s.Providers = nil
	d.last, d.listed = s, true
}

// settle puts the newest entry of a provider in force.
func (d *Directory) settle(p *provider, c *change) {
	if len(p.records) > 0 {
		if p.lives == nil {
			p.lives = d.departed.take(p.key)
		}
		p.lives.see(p.records, d.roster.lists)
	}
	r := p.newest()
	if r != nil && p.unlisted {
		d.relist(p, c)
	}
	switch {
	case r == nil:
		delete(d.failed, p)
		delete(d.roster.byKey, p.key)
		d.departed.add(p.key, p.lives, d.cfg.Now())
		if p.node != nil {
			d.leave(p, c)
		}
	case p.node == nil:
		p.used = r
		d.refer(p, c)
	case p.used != r:
		p.used = r
		d.update(p, c)
	}
}

// leave takes a provider's node from it.
func (d *Directory) leave(p *provider, c *change) {
	c.left = append(c.left, p.node)
	p.node = nil
}

// refer makes the node of a provider. A failure leaves out this provider alone.
func (d *Directory) refer(p *provider, c *change) {
	merged := d.merge(p.used)
	endpoint, err := d.cfg.Refer(merged)
	if err == nil && endpoint == nil {
		err = errors.New("there is no endpoint for it")
	}
	if err != nil {
		if p.err == nil || p.err.Error() != err.Error() {
			d.log.Warn("provider cannot be used", zap.Stringer("provider", merged), zap.Error(err))
		}
		p.err = err
		d.failed[p] = struct{}{}
		return
	}
	p.err = nil
	delete(d.failed, p)
	l := p.lives.latest()
	p.millis, p.start = l.millis, l.start
	p.node = protocol.NewNode(p.key, merged, p.start, d.cfg.Methods, endpoint, d.cfg.Wrap)
	c.joined = append(c.joined, p)
}

// update gives a node the parameters of the entry now in force, and a new life
// when the provider has been started again.
func (d *Directory) update(p *provider, c *change) {
	merged := d.merge(p.used)
	switch l := p.lives.latest(); {
	case l.millis != p.millis:
		start := l.start
		if start.Equal(p.start) && l.millis != 0 {
			start = start.Add(1) // corrected to the same moment; a node tells lives apart by it
		}
		p.millis, p.start = l.millis, start
		c.restarted++
	case merged.Equal(p.node.URL()):
		return
	}
	c.updated++
	p.node.Update(merged, p.start)
}

func (d *Directory) merge(r *record) url.URL {
	d.problems.check(r.url)
	return url.Merge(r.url, d.cfg.Reference)
}

// retryFailed tries the providers again that could not be referred. The retry
// timer runs it.
func (d *Directory) retryFailed(id int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.retry.fired(id) {
		return
	}
	var c change
	for p := range d.failed {
		d.refer(p, &c)
	}
	d.publish(&c)
}

// publish puts a new listing in force if there is anything new in it.
func (d *Directory) publish(c *change) {
	if len(d.failed) > 0 {
		d.retry.start(d.retryFailed)
	} else {
		d.retry.stop()
	}
	old := d.current.Load()
	next := d.listing(old, c)
	if next.same(old) {
		return
	}
	if d.cfg.Prepare != nil {
		d.cfg.Prepare(&old.Listing, &next.Listing)
	}
	d.current.Store(next)
	close(old.replaced)
	if d.cfg.OnPublish != nil {
		d.cfg.OnPublish(&old.Listing, &next.Listing)
	}
	d.report(c, old, next)
}

// listing returns what is to be published. The candidates stay the same object
// unless nodes came, went or have other parameters.
func (d *Directory) listing(old *published, c *change) *published {
	next := &published{replaced: make(chan struct{}), closed: d.closed, listed: d.listed, cached: d.last.Cached, read: d.last.Read, emptied: d.kept.since, doubt: d.last.Doubt}
	next.Stale = d.last.Stale
	nodes := old.Candidates.Nodes()
	if c.members() {
		d.roster.arrange(c.joined)
		nodes = make([]*protocol.Node, len(d.roster.nodes))
		for i, p := range d.roster.nodes {
			nodes[i] = p.node
		}
	}
	next.Candidates = old.Candidates
	if c.members() || c.updated > 0 {
		next.Candidates = protocol.NewCandidates(nodes, old.Candidates)
	}
	state := d.state()
	f := &next.Funnel
	f.Source, f.Path = d.last.Source, d.last.Path
	if f.Source == "" {
		f.Source = state.Address
	}
	f.Kept = len(d.kept.providers)
	f.Note = next.note(state, d.cfg.Now())
	if d.closed {
		return next
	}
	f.Registered = len(d.roster.records) + d.last.RejectedCount
	f.Enabled = len(nodes)
	f.Refused = d.refused()
	return next
}

// refused groups everything registered that is not enabled.
func (d *Directory) refused() []protocol.Refusal {
	var r refusals
	d.roster.refused(&r)
	for _, x := range d.last.Rejected {
		r.add(brief(x.Reason), 1).example(func() string { return brief(url.Redact(x.Raw)) })
	}
	if more := d.last.RejectedCount - len(d.last.Rejected); more > 0 {
		r.add("cannot be parsed", more)
	}
	return r.list()
}

// same reports whether two listings offer and tell the same.
func (p *published) same(o *published) bool {
	a, b := p.Funnel, o.Funnel
	return p.Candidates == o.Candidates && p.closed == o.closed && p.listed == o.listed && p.Stale == o.Stale &&
		a.Source == b.Source && a.Path == b.Path && a.Kept == b.Kept && a.Registered == b.Registered && a.Note == b.Note && slices.Equal(a.Refused, b.Refused)
}

// report logs what users of the reference notice, and nothing else (B030).
func (d *Directory) report(c *change, old, next *published) {
	n := next.Candidates.Len()
	first := next.listed && !old.listed
	d.reportKept(old, next)
	switch {
	case d.closed:
	case n == 0 && (first || old.Candidates.Len() > 0):
		d.log.Warn("no provider", zap.Stringer("funnel", next.Funnel))
	case old.Candidates == next.Candidates:
	case c.members():
		d.log.Info("providers changed", zap.Int("providers", n), zap.Int("joined", len(c.joined)),
			zap.Int("left", len(c.left)), zap.Int("updated", c.updated), zap.Int("restarted", c.restarted))
	default:
		d.log.Debug("parameters of providers changed", zap.Int("providers", n),
			zap.Int("updated", c.updated), zap.Int("restarted", c.restarted))
	}
}
