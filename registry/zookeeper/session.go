package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/registry"
)

const (
	sendLimit    = 1536 << 10 // the library's own; a server takes less
	receiveLimit = 64 << 20   // a list of about 140,000 providers
)

// session keeps a connection to the ensemble, and says when it may be used.
type session struct {
	s    *settings
	addr address
	log  *zap.Logger
	// Called without locks of the session: up when the session may be used,
	// down when it was lost, changed for a node event. The last two run on the
	// library's goroutines and must not call it back.
	up, down func()
	changed  func(path string)

	mu       sync.Mutex
	link     *link
	ready    bool
	since    time.Time // of ready
	sessions int
	id       int64
	lastErr  error
	closed   bool
	done     chan struct{}
	keeper   sync.WaitGroup
}

// link is one connection of the library with what belongs to it. It is replaced
// when the watchdog bites.
type link struct {
	conn   *zk.Conn
	events <-chan zk.Event // never read: it drops what is not; closed at the end
	dialer *dialer
	stop   context.CancelFunc
	wake   chan struct{} // holds one

	// guarded by the session's lock
	online  bool      // has a session
	since   time.Time // of online
	epoch   int       // changes with online
	reached bool      // a server accepted a connection since

	authenticated bool // used by the keeper only
}

func newSession(s *settings, addr address) *session {
	if s.watchdog == 0 {
		s.watchdog = max(2*addr.session, time.Minute)
	}
	return &session{s: s, addr: addr, log: s.log.With(zap.String("registry", addr.source)), since: time.Now(), done: make(chan struct{})}
}

func (s *session) start() {
	s.keeper.Go(func() {
		for {
			l := s.connect()
			if l == nil {
				return
			}
			again := s.keep(l)
			s.settled(l)
			l.close()
			if !again {
				return
			}
		}
	})
}

// connect makes a link; it does not wait for a server. It returns nil when the
// session is closed.
func (s *session) connect() *link {
	ctx, stop := context.WithCancel(context.Background())
	l := &link{stop: stop, wake: make(chan struct{}, 1)}
	h := &hosts{}
	l.dialer = &dialer{s: s.s, hosts: h, ctx: ctx, failed: func(err error) { s.failed(l, err) }, reached: func(server string) { s.reached(l, server) }}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		stop()
		return nil
	}
	s.link = l
	var err error
	l.conn, l.events, err = zk.Connect(s.addr.servers, s.addr.session,
		zk.WithHostProvider(h),
		zk.WithDialer(l.dialer.dial),
		zk.WithEventCallback(func(e zk.Event) { s.event(l, h, e) }),
		zk.WithMaxConnBufferSize(sendLimit),
		zk.WithMaxBufferSize(receiveLimit),
		zk.WithLogger(libraryLog{s.log}),
		zk.WithLogInfo(false),
	)
	if err != nil { // only an empty list of servers can fail, and there is none
		stop()
		s.link, s.lastErr = nil, err
		return nil
	}
	return l
}

// settled waits until the library, on a fresh connection, has done what would race
// with the answer to its closing. One that has no session yet does not get it any
// more.
func (s *session) settled(l *link) {
	l.stop() // no further connection
	s.mu.Lock()
	young := s.s.settle - time.Since(l.since)
	online := l.online
	s.mu.Unlock()
	switch {
	case !online:
		l.dialer.drop()
	case young > 0:
		time.Sleep(young)
	}
}

// close ends the link and waits for the library's goroutine.
func (l *link) close() {
	l.conn.Close() // ends the session if there is a connection; waits a second at most
	l.dialer.drop()
	for range l.events {
	}
}

// event is the library's callback. It may run under the library's locks.
func (s *session) event(l *link, h *hosts, e zk.Event) {
	switch {
	case e.Type != zk.EventSession:
		s.changed(e.Path)
		return
	case e.State == zk.StateExpired:
		h.expired()
		s.failed(l, errors.New("session expired"))
		return
	case e.State != zk.StateHasSession && e.State != zk.StateDisconnected:
		return
	}
	s.mu.Lock()
	if online := e.State == zk.StateHasSession; online == l.online { // a failed attempt
		s.mu.Unlock()
		return
	}
	l.online, l.since = !l.online, time.Now()
	l.epoch++
	l.reached = false
	lost := s.link == l && s.ready
	if lost {
		s.ready, s.since = false, time.Now()
	}
	s.mu.Unlock()
	if lost {
		s.down()
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// keep looks after a link until it has to be replaced (true) or the session is
// closed.
func (s *session) keep(l *link) bool {
	watchdog := time.NewTimer(s.s.watchdog)
	defer watchdog.Stop()
	for {
		select {
		case <-s.done:
			return false
		case <-l.wake:
			s.mu.Lock()
			online, epoch := l.online, l.epoch
			s.mu.Unlock()
			if online {
				s.admit(l, epoch)
			}
		case <-watchdog.C:
			s.mu.Lock()
			stuck := !l.online && l.reached
			s.mu.Unlock()
			if stuck {
				s.log.Warn("servers answer but grant no session: starting a new one", zap.Duration("after", s.s.watchdog))
				return true
			}
		}
		watchdog.Reset(s.s.watchdog)
	}
}

// admit prepares a new session for use: credentials come first (B015).
func (s *session) admit(l *link, epoch int) {
	if s.addr.secret != "" && !l.authenticated {
		answer := make(chan error, 1)
		s.keeper.Go(func() { answer <- l.conn.AddAuth("digest", []byte(s.addr.secret)) })
		select {
		case err := <-answer:
			if err != nil { // the connection is gone; the next one tries again
				s.failed(l, fmt.Errorf("credentials of user %q not accepted: %w", s.addr.user, err))
				return
			}
		case <-s.done: // closing the link frees the call
			return
		}
		l.authenticated = true // from now on the library repeats it
	}
	s.mu.Lock()
	if l.epoch != epoch || s.closed {
		s.mu.Unlock()
		return
	}
	s.ready, s.since, s.lastErr = true, time.Now(), nil
	if id := l.conn.SessionID(); id != s.id {
		s.id = id
		s.sessions++
	}
	n := s.sessions
	s.mu.Unlock()
	s.log.Info("connected", zap.String("server", l.conn.Server()), zap.Int("session", n))
	s.up()
}

// conn returns the connection while it may be used, else nil.
func (s *session) conn() *zk.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ready {
		return nil
	}
	return s.link.conn
}

func (s *session) failed(l *link, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == l && !s.closed {
		s.lastErr = err
	}
}

// reached notes that a server accepted a connection, which is all there is to tell
// until it answers or its time is up.
func (s *session) reached(l *link, server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.reached = true
	if s.link == l && !s.ready && s.lastErr == nil {
		s.lastErr = noSession(server)
	}
}

func (s *session) state() registry.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return registry.State{Address: s.addr.source, Connected: s.ready, Since: s.since, LastError: s.lastErr, Sessions: s.sessions}
}

// close ends the session and waits for all its goroutines. Calls under way return.
func (s *session) close() {
	s.mu.Lock()
	s.closed, s.ready = true, false
	s.mu.Unlock()
	close(s.done)
	s.keeper.Wait()
}

// libraryLog sends the library's lines to debug: what matters is logged by the
// session itself.
type libraryLog struct{ log *zap.Logger }

// Printf logs one line.
func (l libraryLog) Printf(format string, args ...any) {
	if ce := l.log.Check(zap.DebugLevel, "zk"); ce != nil {
		ce.Write(zap.String("message", strings.TrimSpace(fmt.Sprintf(format, args...))))
	}
}
