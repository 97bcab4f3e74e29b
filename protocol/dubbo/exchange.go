package dubbo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// exchange is the connections to one address that several endpoints share, or
// that one endpoint has for itself. It lives as long as endpoints refer to it:
// with the last one it ends, its connections drain, and nothing reconnects any
// more (B033). A later reference to the address makes a new one.
type exchange struct {
	p        *Protocol
	settings settings
	ctx      context.Context // ends with the exchange
	cancel   context.CancelFunc
	links    []*link
	next     atomic.Uint32 // round robin over links
	base     time.Time     // zero of asked
	asked    atomic.Int64  // when somebody has last asked a provider that is down

	mu        sync.Mutex
	endpoints map[*endpoint]struct{}
	closed    error         // why it has ended, nil while it is referred to
	turn      chan struct{} // closed at the next change; nil when nobody waits
	watchers  []chan<- struct{}
}

// Why an exchange ended.
var (
	errReleased = errors.New("the provider has left the list")
	errShutDown = errors.New("the client is closed")
)

func newExchange(p *Protocol, s settings) *exchange {
	x := &exchange{p: p, settings: s, base: time.Now(), endpoints: map[*endpoint]struct{}{}}
	x.asked.Store(math.MinInt64)
	x.ctx, x.cancel = context.WithCancel(context.Background())
	for range s.count {
		x.links = append(x.links, &link{x: x, poke: make(chan struct{}, 1)})
	}
	return x
}

// add makes e one of the users; false: the exchange has ended.
func (x *exchange) add(e *endpoint, lazy bool) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed != nil {
		return false
	}
	x.endpoints[e] = struct{}{}
	if !lazy {
		x.connect()
	}
	x.update()
	return true
}

// remove ends e's use. The last user ends the exchange.
func (x *exchange) remove(e *endpoint) {
	x.mu.Lock()
	if _, ok := x.endpoints[e]; !ok {
		x.mu.Unlock()
		return
	}
	delete(x.endpoints, e)
	e.state.Store(int32(protocol.Down))
	last := len(x.endpoints) == 0
	if last && x.closed == nil {
		x.closed = errReleased // in the same breath: nobody may join what is about to end
	}
	x.mu.Unlock()
	if last {
		x.end(errReleased, x.p.opt.drain)
	}
}

// end closes the exchange. Calls under way may go on for the drain time.
func (x *exchange) end(why error, drain time.Duration) {
	x.mu.Lock()
	if x.closed == nil {
		x.closed = why
	}
	x.cancel() // ends attempts to connect
	x.update()
	var conns []*conn
	for _, l := range x.links {
		if l.conn != nil {
			conns = append(conns, l.conn)
		}
	}
	x.mu.Unlock()
	for _, c := range conns { // not under the lock: they tell us that they ended
		if drain > 0 {
			c.drain(drain)
		} else {
			c.fail(why)
		}
	}
	x.p.forget(x)
}

// gone reports whether the exchange has ended, and its connections too.
func (x *exchange) gone() (gone, ended bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	ended = x.closed != nil
	gone = ended
	for _, l := range x.links {
		gone = gone && l.conn == nil
	}
	return gone, ended
}

// lose takes out the endpoints that were to end with the connections there are
// ([endpoint.Unlist]), if those have ended, and returns whom to tell. Without
// endpoints the exchange is closed, and has to be ended. x.mu is held.
func (x *exchange) lose() (lost []func()) {
	if x.closed != nil || x.alive() {
		return nil
	}
	for e := range x.endpoints {
		if e.lost != nil {
			delete(x.endpoints, e)
			e.state.Store(int32(protocol.Down))
			lost = append(lost, e.lost)
		}
	}
	if len(x.endpoints) == 0 {
		x.closed = errReleased
	}
	return lost
}

// alive reports whether there is a connection whose provider has not asked for no
// more calls. x.mu is held.
func (x *exchange) alive() bool {
	return slices.ContainsFunc(x.links, func(l *link) bool {
		c := l.ready.Load()
		return c != nil && !c.readonly.Load()
	})
}

// listed reports whether some endpoint wants new connections. x.mu is held.
func (x *exchange) listed() bool {
	for e := range x.endpoints {
		if e.lost == nil {
			return true
		}
	}
	return false
}

// connect makes every link that was not asked yet, or rests, connect. x.mu is held.
func (x *exchange) connect() {
	for _, l := range x.links {
		if !l.started || l.resting {
			l.started, l.resting = true, false
			l.restart(0)
		}
	}
}

// nudge tells that somebody wants connections, or that the provider seems to be
// there: links that wait for their next attempt wait no longer than demandGap.
func (x *exchange) nudge() {
	for _, l := range x.links {
		if l.ready.Load() == nil {
			select {
			case l.poke <- struct{}{}:
			default:
			}
		}
	}
}

// ask notes that somebody would like to call: no more than that, as it is done for
// every candidate of every call while the provider is down.
func (x *exchange) ask() { x.asked.Store(int64(time.Since(x.base))) }

// wanted reports whether somebody has asked since begun.
func (x *exchange) wanted(begun time.Time) bool { return x.asked.Load() > int64(begun.Sub(x.base)) }

// update publishes the state to the endpoints and wakes those that wait for a
// change. x.mu is held.
func (x *exchange) update() {
	s := x.state()
	for e := range x.endpoints {
		if before := e.state.Swap(int32(s)); s == protocol.Ready && protocol.State(before) != s {
			e.ready = time.Now()
		}
	}
	if x.turn != nil {
		close(x.turn)
		x.turn = nil
	}
	for _, wake := range x.watchers {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// state is the best of the links' states. x.mu is held.
func (x *exchange) state() protocol.State {
	if x.closed != nil {
		return protocol.Down
	}
	best := protocol.Down
	for _, l := range x.links {
		best = min(best, l.state())
	}
	return best
}

// pick returns the connection for the next call: one where it is welcome, another
// one when there is nothing better, nil when nothing is open.
func (x *exchange) pick() *conn {
	i := 0
	if len(x.links) > 1 {
		i = int(x.next.Add(1) % uint32(len(x.links)))
	}
	var last *conn
	for range x.links {
		c := x.links[i].ready.Load()
		if c != nil && c.welcome() {
			return c
		}
		if c != nil {
			last = c
		}
		if i++; i == len(x.links) {
			i = 0
		}
	}
	return last
}

// await is the slow way to a connection: it makes a lazy exchange connect and
// waits for a first attempt that is under way, but not for what has failed before.
// The error says why there is no connection.
func (x *exchange) await(ctx context.Context, timeout time.Duration) (*conn, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		x.mu.Lock()
		if x.closed != nil {
			defer x.mu.Unlock()
			return nil, x.closed
		}
		x.connect()
		if c := x.pick(); c != nil {
			x.mu.Unlock()
			return c, nil
		}
		if !x.hopeful() {
			err := x.reason()
			x.mu.Unlock()
			x.nudge()
			return nil, err
		}
		if x.turn == nil {
			x.turn = make(chan struct{})
		}
		turn := x.turn
		x.mu.Unlock()
		select {
		case <-turn:
			continue
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, ctx.Err()
			}
		case <-timer.C:
		}
		return nil, fmt.Errorf("not connected in time: %w", context.DeadlineExceeded)
	}
}

// hopeful reports whether a first connection, or the first one after a loss, may
// come soon. x.mu is held.
func (x *exchange) hopeful() bool {
	for _, l := range x.links {
		if !l.hopeless {
			return true
		}
	}
	return false
}

// reason says why the state is not ready, nil when it is. x.mu is held.
func (x *exchange) reason() error {
	if x.closed != nil {
		return x.closed
	}
	switch x.state() {
	case protocol.Ready:
		return nil
	case protocol.ReadOnly:
		for _, l := range x.links {
			if c := l.ready.Load(); c != nil && c.doubtful.Load() {
				return errDoubtful
			}
		}
		return errReadOnly
	}
	for _, l := range x.links {
		if l.last != nil {
			return fmt.Errorf("not connected: %w", l.last)
		}
	}
	return errConnecting
}

var (
	errReadOnly   = errors.New("the provider wants no new calls: it is shutting down")
	errDoubtful   = errors.New("calls have timed out and no complete frame has been read since: waiting for the answer to a heartbeat")
	errConnecting = errors.New("the first connection is being made")
)
