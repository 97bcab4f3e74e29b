package harness

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// Relay passes TCP connections on to a target and can play a bad network between the two. It is safe for concurrent use.
type Relay struct {
	target string
	addr   string
	wg     sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener          // nil while it refuses
	open     map[net.Conn]struct{} // both ends of every connection
	accepted int
	thaw     chan struct{} // closed when bytes may flow
	frozen   bool
	closed   bool
}

// NewRelay listens on a free loopback port and passes connections on to target ("host:port"). Close it.
func NewRelay(target string) (*Relay, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Relay{target: target, addr: listener.Addr().String(), open: map[net.Conn]struct{}{}, thaw: make(chan struct{})}
	close(r.thaw)
	r.serve(listener)
	return r, nil
}

// Addr is where the relay listens, as host:port. It stays the same for the relay's life.
func (r *Relay) Addr() string { return r.addr }

// Port is the port of Addr.
func (r *Relay) Port() int {
	addr, _ := net.ResolveTCPAddr("tcp", r.addr)
	return addr.Port
}

// Accepted is the number of connections accepted so far.
func (r *Relay) Accepted() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.accepted
}

// Cut resets every connection; new ones are passed on as before.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut()
}

// Refuse resets every connection and refuses new ones until Resume.
func (r *Relay) Refuse() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse()
	r.cut()
}

// Freeze stops every byte in both directions until Resume: connections stay open, new ones are accepted, nothing answers.
func (r *Relay) Freeze() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.frozen {
		r.frozen = true
		r.thaw = make(chan struct{})
	}
}

// Resume ends Refuse and Freeze: what was held back is delivered, new connections are passed on.
func (r *Relay) Resume() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fmt.Errorf("relay %s is closed", r.addr)
	}
	r.unfreeze()
	if r.listener != nil {
		return nil
	}
	listener, err := net.Listen("tcp", r.addr)
	if err != nil {
		return fmt.Errorf("relay cannot listen again: %w", err)
	}
	r.serve(listener)
	return nil
}

// Close resets every connection, refuses new ones and waits for the relay's goroutines.
func (r *Relay) Close() {
	r.mu.Lock()
	r.closed = true
	r.refuse()
	r.cut()
	r.unfreeze()
	r.mu.Unlock()
	r.wg.Wait()
}

// serve accepts from listener. Called with mu held or before the relay is shared.
func (r *Relay) serve(listener net.Listener) {
	r.listener = listener
	r.wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			r.wg.Go(func() { r.pass(conn) })
		}
	})
}

func (r *Relay) pass(client net.Conn) {
	if !r.add(client, true) {
		return
	}
	defer r.remove(client)
	<-r.flowing()
	server, err := net.DialTimeout("tcp", r.target, 5*time.Second)
	if err != nil || !r.add(server, false) {
		return
	}
	defer r.remove(server)
	var pumps sync.WaitGroup
	pumps.Go(func() { r.pump(server, client) })
	r.pump(client, server)
	pumps.Wait()
}

// pump copies until either end is closed, then closes the writing half of the other, as the sender did.
func (r *Relay) pump(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		<-r.flowing()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				from.Close()
				return
			}
		}
		if err != nil {
			_ = to.(*net.TCPConn).CloseWrite()
			return
		}
	}
}

func (r *Relay) flowing() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.thaw
}

func (r *Relay) add(conn net.Conn, accepted bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener == nil {
		reset(conn)
		return false
	}
	r.open[conn] = struct{}{}
	if accepted {
		r.accepted++
	}
	return true
}

func (r *Relay) remove(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, conn)
	conn.Close()
}

func (r *Relay) cut() {
	for conn := range r.open {
		reset(conn)
		delete(r.open, conn)
	}
}

func (r *Relay) refuse() {
	if r.listener != nil {
		r.listener.Close()
		r.listener = nil
	}
}

func (r *Relay) unfreeze() {
	if r.frozen {
		r.frozen = false
		close(r.thaw)
	}
}

// reset closes a connection without a farewell: what was not sent yet is dropped and the peer sees ECONNRESET.
func reset(conn net.Conn) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}
