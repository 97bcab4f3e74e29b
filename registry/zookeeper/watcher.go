package zookeeper

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/registry"
)

const (
	// maxArms bounds the watches set on one path without an event in between:
	// the library keeps a channel for each. Beyond, it is trusted to restore
	// the watch, and a second read checks.
	maxArms = 50
	// maxLags is how often a list older than the known one is refused. After
	// that it is the truth of servers that were restored from a backup.
	maxLags = 25
	// maxCuts is how often in a row a read may end with the connection until
	// the list is taken for too large to be received.
	maxCuts = 5
	// maxFails is how many failures in a row make the providers stale.
	maxFails = 5
)

// watched is one path whose children are followed: a category of a service.
type watched struct {
	service  *service
	category int
	path     string
	job      *job // one read at a time

	// guarded by the client's lock
	removed bool
	readAt  time.Time // when to read and watch; zero when there is no reason
	auditAt time.Time // when to look for unseen changes
	held    time.Time // until when the list was known to hold; zero: until it was read
	pace    pace
	arms    int   // watches set since the last event
	err     error // of the last try
	fails   int   // in a row
	cuts    int   // of them lost connections

	// used by the job only
	known    bool     // read at least once
	believed []string // children last believed, sorted
	listed   []string // the same, and more while in doubt
	doubt    doubt
	conn     *zk.Conn // that the list was read on
	session  int64    // that the doubt began in
	seen     version
	lags     int
	entries  entries
}

// version orders the lists of one node: created tells nodes of the same name
// apart, changed counts within one.
type version struct{ created, changed int64 }

func newWatched(s *service, category int) *watched {
	w := &watched{service: s, category: category, path: s.dir + "/" + categoryNames[category]}
	w.job = newJob(w.run)
	return w
}

// wake asks for a read at t at the latest.
func (w *watched) wake(t time.Time) {
	if w.removed {
		return
	}
	if w.readAt.IsZero() || t.Before(w.readAt) {
		w.readAt = t
	}
	w.schedule()
}

func (w *watched) schedule() {
	due := w.readAt
	if due.IsZero() || !w.auditAt.IsZero() && w.auditAt.Before(due) {
		due = w.auditAt
	}
	w.service.client.queue.set(w.job, due)
}

// event takes notice of a watch event: the watches on the path are spent.
func (w *watched) event(now time.Time) {
	w.arms = 0
	w.ended(now)
	w.wake(now.Add(w.pace.next(now, w.service.client.s)))
}

// ended notes until when the list is known to have held.
func (w *watched) ended(t time.Time) {
	if w.held.IsZero() {
		w.held = t
	}
}

// sessionUp has the path read again. One that seems to tear down the connection
// waits.
func (w *watched) sessionUp(now time.Time) {
	if w.cuts >= maxCuts {
		s := w.service.client.s
		now = now.Add(s.retry.around(s.denied))
	}
	w.wake(now)
}

// run is the job: a read if there is reason for one, else an audit. Without a
// session it does nothing; the next one has every path read.
func (w *watched) run() {
	c := w.service.client
	conn := c.session.conn()
	now := time.Now()
	c.mu.Lock()
	if conn == nil || w.removed {
		c.mu.Unlock()
		return
	}
	held := w.held
	read := !w.readAt.IsZero() && !w.readAt.After(now)
	if read {
		w.readAt, w.held = time.Time{}, time.Time{} // before the read: what happens meanwhile counts
	}
	arm := w.arms < maxArms
	c.mu.Unlock()
	if read {
		w.read(conn, arm, held)
	} else {
		w.audit(conn)
	}
}

// read lists the children, sets a watch with the same request, and publishes.
func (w *watched) read(conn *zk.Conn, arm bool, held time.Time) {
	names, stat, err := w.children(conn, arm)
	c := w.service.client
	now := time.Now()
	var again time.Time
	var news update
	if err == nil {
		w.origin(conn)
		again, news = w.digest(names, version{stat.Czxid, stat.Pzxid}, now, held)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.removed {
		return
	}
	if err != nil || news == nil {
		w.held = held
	}
	if err != nil {
		w.failed(err, now)
		return
	}
	w.err, w.fails, w.cuts = nil, 0, 0
	if arm {
		w.arms++
		w.auditAt = c.nextAudit(now)
	} else {
		w.auditAt = now.Add(c.s.calm) // was the watch really restored?
	}
	if !again.IsZero() {
		w.wake(again)
	}
	w.schedule()
	if news != nil {
		news(w.service)
	}
}

// origin takes notice of where a list comes from. In a new session the wait for a
// second opinion starts anew. A new connection was made because the servers do not
// know our history any more, so theirs counts.
func (w *watched) origin(conn *zk.Conn) {
	if id := conn.SessionID(); id != w.session {
		w.session, w.doubt = id, doubt{}
	}
	if conn != w.conn {
		w.conn, w.seen = conn, version{}
	}
}

// update brings what was read into the service, under the client's lock.
type update func(*service)

// digest makes sense of a list. It returns when to read again, if at all, and
// what to tell the service: nothing for a list that is older than the known one.
func (w *watched) digest(names []string, v version, now, held time.Time) (again time.Time, news update) {
	s := w.service.client.s
	if v.created == w.seen.created && v.changed < w.seen.changed && w.lags < maxLags {
		w.lags++
		return now.Add(s.lag), nil
	}
	w.seen, w.lags = v, 0
	slices.Sort(names)
	list := names
	if w.category == providers {
		sure := w.doubt.since.IsZero()
		if list, again = w.doubt.judge(w.believed, names, now, s.confirm); !again.IsZero() && sure {
			w.service.client.log.Warn("list shrank suddenly: reading again before it is believed",
				zap.String("path", w.path), zap.Int("known", len(w.believed)), zap.Int("read", len(names)))
		}
	}
	var doubt *registry.Doubt
	if again.IsZero() {
		w.believed = names
	} else {
		doubt = &registry.Doubt{Listed: len(names), Known: len(w.believed), Since: w.doubt.since}
	}
	if w.known && slices.Equal(list, w.listed) {
		return again, func(s *service) { s.confirmed(w.category, now, doubt) }
	}
	w.known, w.listed = true, list
	if w.category != providers {
		return again, func(s *service) { s.setRules(w.category, list) }
	}
	p := w.entries.parse(list)
	p.warn(w.service.client.log, w.path)
	return again, func(s *service) { s.setProviders(p, now, held, doubt) }
}

// children reads the list. A node that does not exist is created, as Java
// consumers do (B020); where that is not allowed its creation is watched, and it
// counts as an empty list.
func (w *watched) children(conn *zk.Conn, arm bool) ([]string, *zk.Stat, error) {
	list := func() ([]string, *zk.Stat, error) {
		if !arm {
			return conn.Children(w.path)
		}
		names, stat, _, err := conn.ChildrenW(w.path)
		return names, stat, err
	}
	names, stat, err := list()
	if !errors.Is(err, zk.ErrNoNode) {
		return names, stat, err
	}
	if err := w.service.client.createPersistent(conn, w.path); err != nil {
		if connectionLost(err) {
			return nil, nil, err
		}
		there, _, _, err := conn.ExistsW(w.path)
		if err != nil || !there {
			return nil, &zk.Stat{}, err
		}
	}
	names, stat, err = list()
	if errors.Is(err, zk.ErrNoNode) { // gone again: the next try tells
		err = fmt.Errorf("created but gone at once: %w", err)
	}
	return names, stat, err
}

// audit looks whether the node changed without an event. It reads the node's
// figures only, not the list.
func (w *watched) audit(conn *zk.Conn) {
	there, stat, err := conn.Exists(w.path)
	c := w.service.client
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.removed {
		return
	}
	defer w.schedule()
	w.auditAt = c.nextAudit(now)
	if err != nil {
		return // the next session, or the next audit
	}
	if v := (version{stat.Czxid, stat.Pzxid}); there && v != w.seen || !there && w.seen != (version{}) {
		c.log.Warn("a change went unseen: reading again", zap.String("path", w.path))
		w.arms = 0
		w.wake(now)
	}
}

// failed decides when to try again. The list stays.
func (w *watched) failed(err error, now time.Time) {
	c := w.service.client
	first := w.fails == 0
	w.fails++
	wait := c.s.retry.after(w.fails)
	switch {
	case errors.Is(err, zk.ErrNoAuth):
		err = fmt.Errorf("no permission to read %s: %w (user and password in the registry's address?)", w.path, err)
		wait = c.s.retry.around(c.s.denied)
	case connectionLost(err):
		if w.cuts++; w.cuts >= maxCuts {
			first = w.cuts == maxCuts
			err = fmt.Errorf("reading %s has ended the connection %d times, perhaps the list is larger than %d MiB: %w", w.path, w.cuts, receiveLimit>>20, err)
			wait = c.s.retry.around(c.s.denied)
		} else {
			first = false // the loss itself was logged
			err = fmt.Errorf("read %s: %w", w.path, err)
		}
	default:
		err = fmt.Errorf("read %s: %w", w.path, err)
	}
	w.err = err
	if first {
		c.log.Warn("cannot read: the list stays as it is", zap.Error(err))
	}
	if w.category == providers && (errors.Is(err, zk.ErrNoAuth) || w.fails >= maxFails) {
		w.service.flagStale()
	}
	w.wake(now.Add(wait))
}

// connectionLost reports errors that say nothing about the node.
func connectionLost(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrClosing) ||
		errors.Is(err, zk.ErrNoServer) || errors.Is(err, zk.ErrSessionExpired)
}
