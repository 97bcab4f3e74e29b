package gofer

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer/protocol"
)

func applied(ctx context.Context) *protocol.Invocation {
	inv := new(protocol.Invocation)
	if v := valuesOf(ctx); v != nil {
		v.apply(inv)
	}
	return inv
}

func attachments(inv *protocol.Invocation) map[string]string {
	out := map[string]string{}
	for k, v := range inv.Attachments() {
		out[k] = v
	}
	return out
}

func TestContextValues(t *testing.T) {
	base := WithAttachment(WithAttachment(t.Context(), "trace", "a"), "user", "u")
	child := WithTimeout(WithTag(WithAttachment(base, "trace", "b"), "gray"), time.Second)

	inv := applied(child)
	assert.Equal(t, map[string]string{"trace": "b", "user": "u"}, attachments(inv), "the later value wins")
	assert.Equal(t, "gray", inv.Tag)
	assert.Equal(t, time.Second, inv.Timeout)
	assert.False(t, inv.Result.WantAttachments)

	inv = applied(base)
	assert.Equal(t, map[string]string{"trace": "a", "user": "u"}, attachments(inv), "a child changes its parent")
	assert.Empty(t, inv.Tag)
	assert.Zero(t, inv.Timeout)
	assert.Empty(t, attachments(applied(t.Context())))

	assert.Zero(t, applied(WithTimeout(child, -1)).Timeout, "the parameter again")
}

// B162: keys that steer a call are never taken from the context.
func TestB162ControlKeysAreNotSent(t *testing.T) {
	ctx := t.Context()
	for _, key := range reservedAttachments {
		ctx = WithAttachment(ctx, key, "x")
	}
	assert.Empty(t, attachments(applied(WithAttachment(ctx, "", "no key"))))
}

func TestReplyIsACopy(t *testing.T) {
	ctx, reply := WithReply(t.Context())
	assert.True(t, applied(ctx).Result.WantAttachments)
	reply.fill(&protocol.Invocation{Result: protocol.Result{Attachments: map[string]any{"k": "v", "n": 1}}})
	reply.Attachments()["k"] = "changed"
	assert.Equal(t, "v", reply.Attachment("k"))
	assert.Empty(t, reply.Attachment("n"), "not a text")
	assert.Empty(t, reply.Provider())
	reply.fill(&protocol.Invocation{})
	assert.Empty(t, reply.Attachment("k"), "of the latest answer only")
}
