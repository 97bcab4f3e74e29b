package filter_test

import (
	"context"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/protocol"
)

func consumerContext(t *testing.T, parameters string) *filter.Chain {
	chain, err := filter.NewChain(filter.Config{Reference: reference(t, parameters)}, filter.Builtin())
	require.NoError(t, err)
	return chain
}

func TestTagOfTheReference(t *testing.T) {
	chain := consumerContext(t, "dubbo.tag=blue")
	p := newProvider(t, "", nil, chain.Attempt)
	invoker := chain.Call(p.node)
	for own, want := range map[string]string{"": "blue", "green": "green"} {
		inv := p.invocation()
		inv.Tag = own
		_, err := invoker.Invoke(t.Context(), inv)
		require.NoError(t, err)
		assert.Equal(t, want, inv.Tag)
	}
}

// _TO is what is left of the attempt, and only of methods that want it.
func TestTimeoutCountdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := map[string]string{}
		note := func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			sent = maps.Collect(inv.Attachments())
			return &inv.Result, nil
		}
		for parameters, want := range map[string]map[string]string{
			"":                                    {},
			"enable-timeout-countdown=true":       {"_TO": "600"},
			"find.enable-timeout-countdown=true":  {"_TO": "600"},
			"other.enable-timeout-countdown=true": {},
			"enable-timeout-countdown=true&find.enable-timeout-countdown=false": {},
		} {
			p := newProvider(t, parameters, note, consumerContext(t, "").Attempt)
			inv := p.invocation() // has a second
			time.Sleep(400 * time.Millisecond)
			_, err := p.node.Invoke(t.Context(), inv)
			require.NoError(t, err)
			assert.Equal(t, want, sent, parameters)
		}
	})
}

// Nothing that differs between attempts is left for the next one.
func TestCountdownIsOfTheAttempt(t *testing.T) {
	p := newProvider(t, "enable-timeout-countdown=true", nil, consumerContext(t, "").Attempt)
	inv := p.invocation()
	_, err := p.node.Invoke(t.Context(), inv)
	require.NoError(t, err)
	assert.Equal(t, 1, inv.AttachmentCount())
	inv.EndAttempt()
	assert.Zero(t, inv.AttachmentCount())
}
