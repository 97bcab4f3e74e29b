package registry

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// TestReferError: one provider that cannot be referred is left out, named, and
// tried again; the others serve.
func TestReferError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logging, logs := observed(zapcore.WarnLevel)
		d, w := newDirectory(t, "", logging)
		defer d.Close()
		r := newRegistered(t)
		a, b := provided("192.0.2.10:20880", "token=geheim"), provided("192.0.2.11:20880", "")
		w.fail("192.0.2.10:20880", errors.New("ssl-enabled=true is not supported"))
		d.Notify(r.snapshot(a, b))
		require.Equal(t, []string{"192.0.2.11:20880"}, addresses(d.List()))
		assert.Equal(t, []protocol.Refusal{{Provider: "192.0.2.10:20880", Reason: "cannot be used: ssl-enabled=true is not supported", Count: 1}}, d.List().Funnel.Refused)

		// With the next list, and after 1 s, 2 s, 4 s …; the log says it once.
		require.Equal(t, 2, w.tried())
		d.Notify(r.snapshot(a, b))
		require.Equal(t, 3, w.tried())
		d.Notify(r.snapshot(a+"&weight=1", b))
		require.Equal(t, 4, w.tried())
		time.Sleep(10 * time.Second)
		assert.Equal(t, 4+3, w.tried())
		assert.Equal(t, 1, logs.Len())
		assert.NotContains(t, fmt.Sprint(logs.All()[0].ContextMap()), "geheim")
		w.fail("192.0.2.10:20880", nil)
		time.Sleep(time.Hour)
		assert.Equal(t, 4+4, w.tried())
		require.Equal(t, []string{"192.0.2.10:20880", "192.0.2.11:20880"}, addresses(d.List()))
		assert.Empty(t, d.List().Funnel.Refused)
		assert.Equal(t, 2, w.made())

		// Gone before it ever worked.
		w.fail("192.0.2.12:20880", errors.New("no"))
		d.Notify(r.snapshot(a, b, provided("192.0.2.12:20880", "")))
		assert.Equal(t, 3, d.List().Funnel.Registered)
		time.Sleep(time.Hour)
		assert.Equal(t, 9+5+(3600-31)/30, w.tried(), "every 30 s after 1, 3, 7, 15 and 31 s")
		d.Notify(r.snapshot(a, b))
		time.Sleep(time.Hour)
		assert.Equal(t, 2, w.made())
		assert.Empty(t, d.List().Funnel.Refused)

		// Closed before the next attempt: the bubble ends, so no timer is left.
		d.Notify(r.snapshot(a, b, provided("192.0.2.12:20880", "")))
	})
}

// TestReferNothing: a Refer that returns neither endpoint nor error is an error.
func TestReferNothing(t *testing.T) {
	d := NewDirectory(DirectoryConfig{Reference: reference(t, ""), Refer: func(url.URL) (protocol.Endpoint, error) { return nil, nil }})
	defer d.Close()
	d.Notify(newRegistered(t).snapshot(provided("192.0.2.10:20880", "")))
	require.Empty(t, d.List().Candidates.Nodes())
	assert.Equal(t, "cannot be used: there is no endpoint for it", d.List().Funnel.Refused[0].Reason)
}

// TestWrap: attempt filters are composed once per node.
func TestWrap(t *testing.T) {
	wraps, calls := 0, 0
	d, _ := newDirectory(t, "", func(c *DirectoryConfig) {
		c.Wrap = func(next protocol.Invoker) protocol.Invoker {
			wraps++
			return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
				calls++
				return next.Invoke(ctx, inv)
			})
		}
	})
	r := newRegistered(t)
	for i := range 3 {
		d.Notify(r.snapshot(provided("192.0.2.10:20880", fmt.Sprint("weight=", i))))
		_, err := node(t, d, 0).Invoke(t.Context(), &protocol.Invocation{})
		require.NoError(t, err)
	}
	assert.Equal(t, 1, wraps)
	assert.Equal(t, 3, calls)
}
