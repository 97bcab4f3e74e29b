package dubbo

import (
	"fmt"
	"sync"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// Protocol makes endpoints that speak the dubbo protocol and owns their
// connections. It implements [protocol.Protocol]; all methods are safe for
// concurrent use. Make it with [New].
type Protocol struct {
	opt options
	wg  sync.WaitGroup // every goroutine

	mu        sync.Mutex // before an exchange's lock
	shared    map[string]*exchange
	exchanges map[*exchange]struct{} // all that have connections or may get some
	closed    bool
}

var _ protocol.Protocol = (*Protocol)(nil)

// New makes a protocol without any connection.
func New(opts ...Option) *Protocol {
	return &Protocol{opt: newOptions(opts), shared: map[string]*exchange{}, exchanges: map[*exchange]struct{}{}}
}

// Refer returns the endpoint for a merged provider URL and begins to connect,
// unless the URL says lazy=true: then the first call does. It does not wait.
//
// Endpoints of one address share a connection (shareconnections=N: N connections);
// with connections=N in the URL the endpoint has N of its own. What the URL says
// about connections (connections, shareconnections, lazy, connect.timeout,
// heartbeat, heartbeat.timeout, ssl-enabled) is read here, and for shared
// connections from the first URL referred; an update does not change it. The
// payload limit is each service's own (B109).
//
// Arguments are always sent in Hessian 2, whatever serialization and
// prefer.serialization say: every provider takes it unless its operator has
// forbidden it (B115). One that has answers with an error that says so.
//
// The error names what in the URL cannot be served.
func (p *Protocol) Refer(u url.URL) (protocol.Endpoint, error) {
	s, err := p.settingsOf(u)
	if err != nil {
		return nil, fmt.Errorf("dubbo: provider %s: %w", u, err)
	}
	e := &endpoint{p: p, address: u.Address()}
	e.service.Store(newService(u, p.opt.application))
	e.state.Store(int32(protocol.Down))
	lazy := url.Bool(u.Param("lazy"))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fmt.Errorf("dubbo: provider %s: %w", u, errShutDown)
	}
	if !s.private {
		if x := p.shared[s.key()]; x != nil && x.add(e, lazy) {
			e.x = x
			x.nudge()
			return e, nil
		}
	}
	x := newExchange(p, s)
	p.exchanges[x] = struct{}{}
	if !s.private {
		p.shared[s.key()] = x
	}
	e.x = x
	x.add(e, lazy)
	return e, nil
}

// forget drops an exchange that has ended: for new endpoints at once, wholly when
// its last connection has gone.
func (p *Protocol) forget(x *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	gone, ended := x.gone()
	if ended && p.shared[x.settings.key()] == x {
		delete(p.shared, x.settings.key())
	}
	if gone {
		delete(p.exchanges, x)
	}
}

// Close ends all endpoints and connections at once; calls under way fail with
// [protocol.ErrClosed]. Every goroutine of the protocol has ended when it returns.
func (p *Protocol) Close() error {
	p.mu.Lock()
	p.closed = true
	var all []*exchange
	for x := range p.exchanges {
		all = append(all, x)
	}
	p.mu.Unlock()
	for _, x := range all {
		x.end(errShutDown, 0)
	}
	p.wg.Wait()
	return nil
}
