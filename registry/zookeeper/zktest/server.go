package zktest

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// Server is one in-process ZooKeeper server. All methods are safe for concurrent
// use.
type Server struct {
	minTimeout, maxTimeout time.Duration

	mu          sync.Mutex
	memory      bool
	addr        string
	listener    net.Listener // nil while stopped
	tree        tree
	zxid        int64
	sessions    map[int64]*session
	lastSession int64
	conns       map[*conn]struct{}
	watches     watches
	counts      map[request]int
	faults
	closed  bool
	done    chan struct{}
	janitor sync.WaitGroup
	serving sync.WaitGroup // accept loop and connections
}

// session is a client's session. It outlives connections.
type session struct {
	id         int64
	password   []byte
	timeout    time.Duration
	seen       time.Time
	ephemerals map[string]struct{}
	conn       *conn // nil while there is none
}

// Option changes a setting of [Start].
type Option func(*Server)

// WithAddr sets the address to listen on; the default is a free port of
// 127.0.0.1.
func WithAddr(addr string) Option { return func(s *Server) { s.addr = addr } }

// WithSessionLimits sets the shortest and the longest session timeout that
// clients get; the defaults are 100 ms and two minutes. (A real server with its
// default tick gives 4 to 40 s.)
func WithSessionLimits(shortest, longest time.Duration) Option {
	return func(s *Server) { s.minTimeout, s.maxTimeout = shortest, longest }
}

// epoch2020 is 2020 in Unix time. The clock of a synctest bubble is before it.
const epoch2020 = 1_577_836_800

// Start starts a server with an empty tree.
func Start(opts ...Option) (*Server, error) {
	s := &Server{
		addr: "127.0.0.1:0", minTimeout: 100 * time.Millisecond, maxTimeout: 2 * time.Minute,
		tree: newTree(), sessions: map[int64]*session{}, conns: map[*conn]struct{}{},
		watches: newWatches(), counts: map[request]int{}, done: make(chan struct{}),
		lastSession: time.Now().UnixMilli() << 20,
		// The epoch in the upper half comes from the clock, so that a client
		// that knew an earlier server at the address is not refused.
		zxid: max(1, time.Now().Unix()-epoch2020) << 32,
	}
	s.thaw()
	for _, o := range opts {
		o(s)
	}
	if err := s.Resume(); err != nil {
		return nil, err
	}
	s.janitor.Go(s.expire)
	return s, nil
}

// Addr returns the address as "host:port". It stays the same over
// [Server.Stop] and [Server.Resume].
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// Resume listens again after [Server.Stop], with what the server had then.
// Sessions have their full timeout to come back.
func (s *Server) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	if s.listener != nil {
		return nil
	}
	l, err := s.listen()
	if err != nil {
		return fmt.Errorf("zktest: %w", err)
	}
	s.listener, s.addr = l, l.Addr().String()
	for _, se := range s.sessions {
		se.seen = time.Now()
	}
	s.serving.Go(func() { s.accept(l) })
	return nil
}

// Stop closes the listener and all connections, as a killed server does, and
// waits for them. Data and sessions are kept; no session expires meanwhile.
func (s *Server) Stop() {
	s.mu.Lock()
	if s.listener != nil {
		_ = s.listener.Close()
		s.listener = nil
	}
	s.cut()
	s.mu.Unlock()
	s.serving.Wait()
}

// Close stops the server for good and waits for all its goroutines.
func (s *Server) Close() {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if first {
		close(s.done)
	}
	s.Stop()
	s.janitor.Wait()
}

func (s *Server) accept(l net.Listener) {
	for {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.refuse || s.listener != l {
			s.mu.Unlock()
			_ = nc.Close()
			continue
		}
		c := &conn{server: s, Conn: nc, wake: make(chan struct{}, 1), gone: make(chan struct{}), severed: make(chan struct{})}
		s.conns[c] = struct{}{}
		s.serving.Go(c.serve)
		s.mu.Unlock()
	}
}

const (
	tick           = 20 * time.Millisecond
	containerTicks = 500
)

// expire ends sessions that were silent for too long and removes empty
// containers.
func (s *Server) expire() {
	t := time.NewTicker(tick)
	defer t.Stop()
	for n := 1; ; n++ {
		select {
		case <-s.done:
			return
		case now := <-t.C:
			s.mu.Lock()
			s.expireAt(now)
			if n%containerTicks == 0 {
				s.sweepContainers()
			}
			s.mu.Unlock()
		}
	}
}

func (s *Server) expireAt(now time.Time) {
	if s.listener == nil || s.frozen() {
		return // a process that does not run expires nothing
	}
	for _, se := range s.sessions {
		if now.Sub(se.seen) > se.timeout {
			s.end(se)
		}
	}
}

func (s *Server) sweepContainers() {
	for path, n := range s.tree {
		if n.container && len(n.children) == 0 && n.stat.ChildVersion > 0 {
			t := change{s: s}
			t.delete(path, -1)
			s.fire(t.events)
		}
	}
}

// end deletes the session's nodes and closes its connection once what is queued
// was written. The server's lock is held.
func (s *Server) end(se *session) {
	delete(s.sessions, se.id)
	if se.conn != nil {
		s.watches.drop(se.conn)
	}
	t := change{s: s}
	for _, path := range sortedKeys(se.ephemerals) {
		t.delete(path, -1)
	}
	s.fire(t.events)
	if se.conn != nil {
		se.conn.finish()
		se.conn = nil
	}
}
