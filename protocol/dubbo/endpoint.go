package dubbo

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
	"github.com/gofer-rpc/gofer/url"
)

var (
	_ protocol.Unlister   = (*endpoint)(nil)
	_ protocol.Connecting = (*endpoint)(nil)
	_ protocol.Enduring   = (*endpoint)(nil)
)

// endpoint is one provider's service: the innermost invoker.
type endpoint struct {
	p       *Protocol
	x       *exchange
	address string // as in the provider's URL, for messages
	service atomic.Pointer[service]
	state   atomic.Int32 // written by the exchange
	lost    func()       // not nil: the provider is not listed; guarded by the exchange's lock
	ready   time.Time    // since when it is, if it is; guarded by the exchange's lock
}

// State returns what the endpoint can do for new calls. A lazy endpoint that has
// not been called is ready. To be asked while the provider is down is demand, which
// makes the attempts to connect come sooner: clusters invoke no endpoint that is down.
func (e *endpoint) State() protocol.State {
	s := protocol.State(e.state.Load())
	if s == protocol.Down {
		e.x.ask()
	}
	return s
}

// StateReason says why the endpoint is not ready.
func (e *endpoint) StateReason() error {
	e.x.mu.Lock()
	defer e.x.mu.Unlock()
	if _, ok := e.x.endpoints[e]; !ok && e.x.closed == nil {
		return errReleased
	}
	return e.x.reason()
}

// ReadySince tells since when the endpoint has been ready.
func (e *endpoint) ReadySince() time.Time {
	e.x.mu.Lock()
	defer e.x.mu.Unlock()
	if protocol.State(e.state.Load()) != protocol.Ready {
		return time.Time{}
	}
	return e.ready
}

// Update gives the endpoint a new URL of the same identity. If the provider is not
// connected it is tried soon: somebody has just said that it is there.
func (e *endpoint) Update(u url.URL) {
	e.service.Store(newService(u, e.p.opt.application))
	e.x.nudge()
}

// Close takes no new calls. The running ones may end within the drain time; they
// keep the connection until then, others share it on.
func (e *endpoint) Close() { e.x.remove(e) }

// Unlist makes the endpoint end with the connections it has. See [protocol.Unlister].
func (e *endpoint) Unlist(lost func()) bool {
	x := e.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.endpoints[e]; !ok || !x.alive() || x.state() != protocol.Ready {
		return false
	}
	e.lost = lost
	return true
}

// Relist takes Unlist back, if the endpoint has not ended. Connections that were
// lost in between are made again.
func (e *endpoint) Relist() bool {
	x := e.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.endpoints[e]; !ok {
		return false
	}
	e.lost = nil
	x.connect()
	return true
}

// Watch tells a call that the connection is on its way. See [protocol.Connecting].
func (e *endpoint) Watch(wake chan<- struct{}) bool {
	x := e.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.endpoints[e]; !ok || e.lost != nil || x.closed != nil || !x.hopeful() {
		return false
	}
	x.watchers = append(x.watchers, wake)
	return true
}

// Unwatch takes Watch back.
func (e *endpoint) Unwatch(wake chan<- struct{}) {
	x := e.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := slices.Index(x.watchers, wake); i >= 0 {
		x.watchers = slices.Delete(x.watchers, i, i+1)
	}
}

// Invoke sends the call and waits for the answer until inv.Deadline, which is
// without one the method's timeout away, or the end of ctx. A one-way call ends
// when its frame is in the queue, with sent=true when it has been written.
//
// The error is always a [*protocol.Error].
func (e *endpoint) Invoke(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	inv.Result.Reset()
	a := attempt{e: e, s: e.service.Load(), inv: inv}
	if err := a.run(ctx); err != nil {
		return nil, err
	}
	return &inv.Result, nil
}

// attempt is one call at one provider, on the stack.
type attempt struct {
	e   *endpoint
	s   *service
	inv *protocol.Invocation
	c   *conn // nil until there is one
}

func (a *attempt) run(ctx context.Context) *protocol.Error {
	now := time.Now()
	deadline := a.deadline(ctx, now)
	budget := deadline.Sub(now)
	if err := a.check(ctx, budget); err != nil {
		return err
	}
	var err error
	if a.c = a.e.connection(); a.c == nil {
		if a.c, err = a.e.await(ctx, budget); err != nil {
			return a.unconnected(ctx, err)
		}
	}
	k := a.c.take()
	defer a.c.release(k)
	if k.out, err = a.s.appendRequest(k.out[:0], a.inv, budget); err != nil {
		return a.fail(protocol.ErrSerialization, protocol.RetryNever, err)
	}
	if size := len(k.out) - frame.HeaderLen; size > a.s.payload {
		return a.fail(protocol.ErrSerialization, protocol.RetryNever,
			fmt.Errorf("the request has %d bytes, more than the provider's payload limit of %d (parameter payload)", size, a.s.payload))
	}
	at := int64(deadline.Sub(a.c.base))
	if a.inv.OneWay {
		frame.OneWay(k.out)
		if sent, err := a.c.oneWay(ctx, k, at, a.awaitsWrite()); err != nil {
			return a.broken(ctx, sent, err, now)
		}
		a.inv.Result.Null = true
		return nil
	}
	if sent, err := a.c.roundTrip(ctx, k, at, a.s.payload); err != nil {
		return a.broken(ctx, sent, err, now)
	}
	return a.outcome(k)
}

// deadline is the earliest of the attempt's and the context's.
func (a *attempt) deadline(ctx context.Context, now time.Time) time.Time {
	d := a.inv.Deadline
	if d.IsZero() {
		d = now.Add(a.parameters().Timeout)
	}
	if c, ok := ctx.Deadline(); ok && c.Before(d) {
		d = c
	}
	return d
}

// parameters returns the provider's view of the method's parameters.
func (a *attempt) parameters() *url.Method {
	if n := a.inv.Node; n != nil {
		return n.Method(a.inv.Method.Slot)
	}
	m, _ := url.CompileMethod(a.s.url, a.inv.Method.Name)
	return &m
}

// awaitsWrite reads the parameter "sent".
func (a *attempt) awaitsWrite() bool { return a.parameters().Sent }

// outcome reads the answer.
func (a *attempt) outcome(k *call) *protocol.Error {
	h := k.head
	if h.Status != frame.OK {
		text, ok := hessian2.DecodeText(h.Serialization, k.body)
		return a.refused(h, text, ok)
	}
	if h.Serialization != frame.Hessian2 {
		return a.executed(protocol.ErrSerialization, fmt.Errorf("the answer is in serialization %d, the request was in %d (hessian2)", h.Serialization, frame.Hessian2))
	}
	remote, err := hessian2.DecodeResult(k.body, &a.inv.Result)
	switch {
	case err != nil:
		return a.executed(protocol.ErrSerialization, fmt.Errorf("the answer of %d bytes cannot be decoded: %w", len(k.body), err))
	case remote != nil:
		a.maskRemote(remote)
		return a.executed(protocol.ErrBusiness, remote)
	}
	return nil
}

// connection returns an open connection, nil if there is none.
func (e *endpoint) connection() *conn {
	if e.State() == protocol.Down {
		return nil
	}
	return e.x.pick()
}

// await waits for a connection that may come soon.
func (e *endpoint) await(ctx context.Context, timeout time.Duration) (*conn, error) {
	e.x.mu.Lock()
	_, ok := e.x.endpoints[e]
	closed := e.x.closed
	e.x.mu.Unlock()
	switch {
	case closed != nil:
		return nil, closed
	case !ok:
		return nil, errReleased
	}
	return e.x.await(ctx, timeout)
}
