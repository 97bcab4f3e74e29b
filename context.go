package gofer

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// callValues are the per-call values that a context carries. A value is never
// changed: each With function makes a new one that points to its parent, so they
// never leak from one call to another.
type callValues struct {
	parent  *callValues
	key     string // one attachment, "" for none
	value   string
	tag     string
	timeout time.Duration
	reply   *Reply
}

type callValuesKey struct{}

func valuesOf(ctx context.Context) *callValues {
	v, _ := ctx.Value(callValuesKey{}).(*callValues)
	return v
}

func withValues(ctx context.Context, change func(*callValues)) context.Context {
	next := callValues{parent: valuesOf(ctx)}
	if p := next.parent; p != nil {
		next.tag, next.timeout, next.reply = p.tag, p.timeout, p.reply
	}
	change(&next)
	return context.WithValue(ctx, callValuesKey{}, &next)
}

// WithAttachment returns a context whose calls carry the attachment, on every
// attempt (B065). A key set twice has the later value. Keys with which Dubbo
// controls a call (path, interface, version, group, token, async, return, sent,
// generic …) are not sent from here: they belong to the provider chosen (B162).
func WithAttachment(ctx context.Context, key, value string) context.Context {
	return withValues(ctx, func(v *callValues) { v.key, v.value = key, value })
}

// WithTag returns a context whose calls carry the request tag (dubbo.tag).
func WithTag(ctx context.Context, tag string) context.Context {
	return withValues(ctx, func(v *callValues) { v.tag = tag })
}

// WithTimeout returns a context whose calls have the given timeout per attempt
// instead of the parameter "timeout"; 0 or less means the parameter again. The
// context's own deadline bounds the whole call as always.
func WithTimeout(ctx context.Context, timeout time.Duration) context.Context {
	return withValues(ctx, func(v *callValues) { v.timeout = timeout })
}

// Reply takes what comes with an answer beside the value. It belongs to the
// context that [WithReply] returned and is safe for concurrent use; after several
// calls it has the latest one's.
type Reply struct {
	mu          sync.Mutex
	attachments map[string]any
	provider    string
}

// WithReply returns a context and the holder that calls with this context fill.
// Without one the attachments of an answer are not even decoded.
func WithReply(ctx context.Context) (context.Context, *Reply) {
	r := new(Reply)
	return withValues(ctx, func(v *callValues) { v.reply = r }), r
}

// Attachments returns the attachments of the latest answer: a copy.
func (r *Reply) Attachments() map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.attachments)
}

// Attachment returns one attachment of the latest answer as text, "" when there
// is none or it is not a string.
func (r *Reply) Attachment(key string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, _ := r.attachments[key].(string)
	return s
}

// Provider returns the address of the provider that answered the latest call.
func (r *Reply) Provider() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.provider
}

func (r *Reply) fill(inv *protocol.Invocation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attachments = inv.Result.Attachments
	r.provider = ""
	if inv.Node != nil {
		r.provider = inv.Node.Address()
	}
}

// reservedAttachments are the keys that calls never take from a context: the wire
// sets them from the chosen provider, or they only steer the caller's side.
var reservedAttachments = [...]string{
	"path", "interface", "version", "group", "token", "timeout", "generic",
	"async", "return", "sent", "id", "dubbo", "input", "output",
}

func reserved(key string) bool {
	for _, k := range reservedAttachments {
		if k == key {
			return true
		}
	}
	return false
}

// apply puts the values of a context into an invocation.
func (v *callValues) apply(inv *protocol.Invocation) {
	inv.Tag, inv.Timeout = v.tag, max(v.timeout, 0)
	inv.Result.WantAttachments = v.reply != nil
	for p := v; p != nil; p = p.parent {
		if p.key != "" && !reserved(p.key) && inv.Attachment(p.key) == "" {
			inv.Attach(p.key, p.value)
		}
	}
}
