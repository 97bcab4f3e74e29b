package gofer

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/url"
)

// Reference is a declared service. It is safe for concurrent use.
type Reference struct {
	service *service
	closed  atomic.Bool
}

// URL returns the reference's own parameters; the providers' are in [Reference.Snapshot].
func (r *Reference) URL() url.URL { return r.service.url }

// Close gives the reference up. The last reference of the same text ends the
// subscription and the connections; calls under way may finish (B175, B179). A
// second call does nothing.
func (r *Reference) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	return r.service.client.release(r.service)
}

// invoke is the way of every call: fill in the invocation, pass it on, hand over
// what came back.
func (r *Reference) invoke(ctx context.Context, m *method, inv *protocol.Invocation) error {
	s := r.service
	if r.closed.Load() || s.closed.Load() {
		return &Error{Code: ErrClosed, Service: s.url.Interface(), Method: m.Name, Detail: "the reference is closed"}
	}
	inv.Method, inv.OneWay = &m.Method, m.oneWay
	inv.ArgumentText = hessian2.Text
	inv.Start = time.Now()
	values := valuesOf(ctx)
	if values != nil {
		values.apply(inv)
	}
	if err := m.check(inv.Arguments); err != nil {
		return s.badArgument(m.Name, err)
	}
	if !s.listed.Load() {
		if err := s.awaitList(ctx, inv); err != nil {
			return err
		}
	}
	_, err := s.invoker.Invoke(ctx, inv)
	if err != nil {
		s.annotate(err)
	}
	if values != nil && values.reply != nil {
		values.reply.fill(inv)
	}
	return err
}
