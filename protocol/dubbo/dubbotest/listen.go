package dubbotest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
)

// Dial connects to the provider, whatever the address says. It has the form of the
// dialer that consumers take as an option.
func (p *Provider) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	p.mu.Lock()
	f, addr := p.life, p.opt.addr
	p.mu.Unlock()
	if !p.opt.memory {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", addr)
	}
	if f == nil {
		return nil, refused(addr)
	}
	return f.listener.(*pipeListener).dial(ctx)
}

// Dialer connects to whichever of the providers has the address.
func Dialer(providers ...*Provider) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		for _, p := range providers {
			if p.Addr() == address {
				return p.Dial(ctx, network, address)
			}
		}
		return nil, fmt.Errorf("dubbotest: no provider has the address %s", address)
	}
}

func refused(addr string) error {
	return &net.OpError{Op: "dial", Net: "pipe", Addr: pipeAddr(addr), Err: syscall.ECONNREFUSED}
}

func (p *Provider) listen() (net.Listener, error) {
	if p.opt.memory {
		return &pipeListener{addr: pipeAddr(p.opt.addr), conns: make(chan net.Conn), closed: make(chan struct{})}, nil
	}
	return net.Listen("tcp", p.opt.addr)
}

// pipeListener hands out the other ends of pipes.
type pipeListener struct {
	addr   pipeAddr
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
		return nil, refused(l.addr.String())
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

// Addr returns the name that stands for the address.
func (l *pipeListener) Addr() net.Addr { return l.addr }

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }
