package zookeeper

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/zap"
)

// registration keeps one ephemeral node there.
type registration struct {
	client *client
	path   string
	job    *job

	// guarded by the client's lock
	users int
	leave bool          // to be taken out
	err   error         // of the last try
	fails int           // in a row
	gone  chan struct{} // closed when it is out

	created bool // may be there; used by the job only
}

// register puts a node in, or counts one more user of it.
func (c *client) register(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.registrations[path]
	if r == nil {
		r = &registration{client: c, path: path, gone: make(chan struct{})}
		r.job = newJob(r.run)
		c.registrations[path] = r
	}
	if r.leave { // being taken out: the job puts it in again
		close(r.gone) // nobody has to wait for that any more
		r.leave, r.gone = false, make(chan struct{})
	}
	r.users++
	c.queue.set(r.job, time.Now())
}

// unregister takes a node out after its last user; the channel is closed when
// that is done.
func (c *client) unregister(path string) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.registrations[path]
	if r.users--; r.users > 0 {
		done := make(chan struct{})
		close(done)
		return done
	}
	r.leave = true
	c.queue.set(r.job, time.Now())
	return r.gone
}

// run is the job: it brings the node to where it should be, and looks again after
// each new session and at each audit.
func (r *registration) run() {
	c := r.client
	conn := c.session.conn()
	c.mu.Lock()
	leave := r.leave
	out := c.registrations[r.path] != r // a session that came meanwhile asked for one more run
	c.mu.Unlock()
	if conn == nil || out {
		return
	}
	var err error
	if leave {
		err = r.remove(conn)
	} else {
		err = r.ensure(conn)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	switch {
	case err != nil:
		r.failed(err, now)
	case leave != r.leave:
		c.queue.set(r.job, now)
	case leave:
		delete(c.registrations, r.path)
		close(r.gone)
	default:
		r.err, r.fails = nil, 0
		c.queue.set(r.job, c.nextAudit(now))
	}
}

// failed decides when to try again.
func (r *registration) failed(err error, now time.Time) {
	c := r.client
	r.fails++
	wait := c.s.retry.after(r.fails)
	if errors.Is(err, zk.ErrNoAuth) {
		wait = c.s.retry.around(c.s.denied)
	}
	verb := "register"
	if r.leave {
		verb = "unregister"
	}
	r.err = fmt.Errorf("%s %s: %w", verb, r.path, err)
	if r.fails == 1 && !connectionLost(err) {
		c.log.Warn("cannot write: trying again", zap.Error(r.err))
	}
	c.queue.set(r.job, now.Add(wait))
}

// ensure creates the node. One of the same name that another session owns goes
// with that session, so it is replaced; one of ours came from a try whose answer
// was lost.
func (r *registration) ensure(conn *zk.Conn) error {
	for range 4 {
		r.created = true
		_, err := conn.Create(r.path, []byte{}, zk.FlagEphemeral, r.client.acl())
		switch {
		case errors.Is(err, zk.ErrNodeExists):
			there, stat, err := conn.Exists(r.path)
			if err != nil {
				return err
			}
			if there && stat.EphemeralOwner == conn.SessionID() {
				return nil
			}
			if there {
				if err := conn.Delete(r.path, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
					return err
				}
			}
		case errors.Is(err, zk.ErrNoNode):
			dir := r.path[:strings.LastIndexByte(r.path, '/')]
			if err := r.client.createPersistent(conn, dir); err != nil {
				return err
			}
		default:
			return err
		}
	}
	return errors.New("the node or its parents keep changing under our hands")
}

// remove deletes the node if it is ours.
func (r *registration) remove(conn *zk.Conn) error {
	if !r.created {
		return nil
	}
	there, stat, err := conn.Exists(r.path)
	if err != nil || !there || stat.EphemeralOwner != conn.SessionID() {
		return err
	}
	if err := conn.Delete(r.path, -1); !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	return nil
}

// acl is for nodes we create: open to the world, or with credentials to the
// creator alone, as Java 3 does (B029). Nodes of others are left as they are.
func (c *client) acl() []zk.ACL {
	if c.session.addr.secret != "" {
		return zk.AuthACL(zk.PermAll)
	}
	return zk.WorldACL(zk.PermAll)
}

// createPersistent creates a node and what is missing above it.
func (c *client) createPersistent(conn *zk.Conn, path string) error {
	create := func(p string) error {
		_, err := conn.Create(p, []byte{}, 0, c.acl())
		if errors.Is(err, zk.ErrNodeExists) {
			return nil
		}
		return err
	}
	err := create(path)
	if !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	for _, p := range append(parents(path), path) {
		// What is above may be there and closed to us; the last one decides.
		if err = create(p); connectionLost(err) {
			return err
		}
	}
	return err
}
