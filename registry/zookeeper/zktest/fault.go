package zktest

import (
	"slices"
	"time"
)

// faults is what a test asked for. It is guarded by the server's lock.
type faults struct {
	refuse     bool
	delay      time.Duration
	dropEvents int
	failures   []failure
	ice        chan struct{} // closed while the server runs
}

// failure is a scripted answer.
type failure struct {
	request
	code Code
}

type request struct {
	op   Op
	path string
}

// Heal ends all faults: nothing is refused, frozen, delayed, dropped or scripted
// any more.
func (s *Server) Heal() {
	s.Freeze(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse, s.delay, s.dropEvents, s.failures = false, 0, 0, nil
}

// Cut closes all connections. Sessions live until their timeout.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut()
}

func (s *Server) cut() {
	for c := range s.conns {
		_ = c.Close()
		if !c.cut {
			c.cut = true
			close(c.severed)
		}
	}
}

// Refuse makes the server close new connections at once, until Refuse(false).
// Those that exist go on.
func (s *Server) Refuse(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = on
}

// Freeze makes the server mute, as a stopped process: connections are accepted
// and nothing is answered, until Freeze(false). No session expires meanwhile; one
// that was silent for its timeout does right after.
func (s *Server) Freeze(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case on && !s.frozen():
		s.ice = make(chan struct{})
	case !on && s.frozen():
		close(s.ice)
	}
}

func (s *Server) frozen() bool {
	select {
	case <-s.ice:
		return false
	default:
		return true
	}
}

func (s *Server) thaw() {
	s.ice = make(chan struct{})
	close(s.ice)
}

// admit holds a request back while the server is frozen, and for the delay; false
// if the connection is to end.
func (s *Server) admit(c *conn) bool {
	s.mu.Lock()
	ice, delay := s.ice, s.delay
	s.mu.Unlock()
	select {
	case <-ice:
	case <-c.severed:
		return false
	case <-s.done:
		return false
	}
	if delay == 0 {
		return true
	}
	t := time.NewTimer(delay)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.severed:
	case <-s.done:
	}
	return false
}

// Delay makes the server wait before it carries out each request; 0 ends that.
func (s *Server) Delay(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = d
}

// ExpireSession ends a session now, as its timeout would. It reports whether
// there was one.
func (s *Server) ExpireSession(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	se := s.sessions[id]
	if se != nil {
		s.end(se)
	}
	return se != nil
}

// DropEvents swallows the next n watch events: the watches are spent, but the
// clients are not told.
func (s *Server) DropEvents(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropEvents = n
}

// FailNext answers the next request of a kind, on one path or with "" on any, with
// a code instead of carrying it out. Several calls add up, in order. See
// [CutBefore] and [CutAfter] for lost connections.
func (s *Server) FailNext(op Op, path string, code Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, failure{request{op, path}, code})
}

// takeFault returns the code of the first script that fits, OK for none.
func (s *Server) takeFault(op Op, path string) Code {
	for i, f := range s.failures {
		if f.op == op && (f.path == "" || f.path == path) {
			s.failures = slices.Delete(s.failures, i, i+1)
			return f.code
		}
	}
	return OK
}

// Wipe removes all data and sessions and cuts all connections, as when a server
// comes back without its disk. Its transaction numbers start anew, so it refuses
// clients that knew the old data, without a word: it closes the connection in the
// handshake. To a client that is what a server that does not serve for a while looks
// like, too, during an election say, which its session outlives. So clients keep
// trying: the registry's give the session up for a new one after a minute, or two
// session timeouts if that is more. A test that cannot wait runs in a
// testing/synctest bubble ([InMemory]).
func (s *Server) Wipe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut()
	s.tree, s.sessions, s.watches, s.zxid = newTree(), map[int64]*session{}, newWatches(), 0
	for c := range s.conns {
		c.session = nil
	}
}

func (se *session) touch() { se.seen = time.Now() }
