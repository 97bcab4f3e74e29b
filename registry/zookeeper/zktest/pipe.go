package zktest

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// InMemory makes the server listen on no socket: [Server.Dial] is the only way to
// reach it. Such a server and its clients can live in a testing/synctest bubble,
// where timeouts of minutes pass at once. [Server.Addr] is then an address that
// nobody has (RFC 5737).
func InMemory() Option {
	return func(s *Server) { s.memory, s.addr = true, pipeAddr{}.String() }
}

// Dial connects to the server, whatever the address says. It has the form of the
// dialer that package zookeeper takes as an option.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	l, addr := s.listener, s.addr
	s.mu.Unlock()
	if p, ok := l.(*pipeListener); ok {
		return p.dial(ctx)
	}
	if s.memory {
		return nil, refused()
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

func refused() error {
	return &net.OpError{Op: "dial", Net: "pipe", Addr: pipeAddr{}, Err: syscall.ECONNREFUSED}
}

func (s *Server) listen() (net.Listener, error) {
	if s.memory {
		return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}, nil
	}
	return net.Listen("tcp", s.addr)
}

// pipeListener hands out the other ends of pipes.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- ours:
		return theirs, nil
	case <-l.closed:
		return nil, refused()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next connection.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses further connections.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns a name.
func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "192.0.2.1:2181" }
