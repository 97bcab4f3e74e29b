package gofer

import (
	"context"
	"time"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
)

// Explanation tells how a call is decided: plain data for pages and support, and with
// its method String a table for a terminal.
type Explanation = cluster.Explanation

// Candidate is one provider in an [Explanation].
type Candidate = cluster.Candidate

// Explain tells which provider a call would go to at this moment, and why: for every
// provider whether it can be called, its weight and warm-up and whether they matter,
// calls under way, latency, failures, score and chance. It makes no call and changes
// nothing; no turn is taken.
//
// method is a name or a signature as for [Call]. Arguments matter to load balancers
// that hash them, and are not sent; values of ctx such as the tag matter to routers. To
// see what happens to real calls use [WithTrace].
func (r *Reference) Explain(ctx context.Context, method string, args ...any) (Explanation, error) {
	s := r.service
	name, typed, err := splitSignature(method)
	if err != nil {
		return Explanation{}, s.badArgument(name, err)
	}
	if typed {
		sig, err := hessian2.ParseSignature(method)
		if err != nil {
			return Explanation{}, s.badArgument(name, err)
		}
		name = sig.Name
	}
	if r.closed.Load() || s.closed.Load() {
		return Explanation{}, &Error{Code: ErrClosed, Service: s.url.Interface(), Method: name, Detail: "the reference is closed"}
	}
	slot, known := s.methods.table.Find(name)
	if !known {
		slot = -1
	}
	inv := &protocol.Invocation{
		Method:       &protocol.Method{Service: s.url.Interface(), Name: name, WireName: name, Slot: slot},
		Arguments:    args,
		ArgumentText: hessian2.Text,
		Start:        time.Now(),
	}
	if values := valuesOf(ctx); values != nil {
		values.apply(inv)
	}
	x, err := s.cluster.Explain(inv)
	x.Funnel.Note = s.directory.Funnel().Note
	return x, err
}
