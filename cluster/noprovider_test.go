package cluster_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/protocol"
)

// nobody is a router whose rule leaves nobody.
type nobody struct{}

func (nobody) Route(*protocol.Candidates, *protocol.Invocation) (*protocol.Candidates, string) {
	return protocol.NewCandidates(nil, nil), "=> host = 203.0.113.1 (force)"
}

// B048: a rule that leaves nobody is an error that names it.
func TestB048RuleThatLeavesNobody(t *testing.T) {
	w := newWorld(t, "version=1.0.0", setup{config: func(c *cluster.Config) { c.Router = nobody{} }}, ok, ok)
	_, err := w.call(t.Context(), "find")
	assert.ErrorIs(t, err, protocol.ErrNoProvider)
	var none *protocol.NoProviderError
	require.ErrorAs(t, err, &none)
	assert.Equal(t, protocol.StageRouted, none.Funnel.Emptied())
	assert.Equal(t, 2, none.Funnel.Enabled)
	assert.Equal(t, 0, none.Funnel.Routed)
	for _, text := range []string{"com.example.DemoService.find", "com.example.DemoService:1.0.0", "=> host = 203.0.113.1 (force)",
		"registered 2 → enabled 2 → routed 0 → available 0", "change the rule"} {
		assert.ErrorContains(t, err, text)
	}
	e := asError(t, err)
	assert.False(t, e.Sent)
	assert.Zero(t, e.Attempts)
	assert.Empty(t, e.Provider)
}

func TestNobodyRegistered(t *testing.T) {
	w := newWorld(t, "", setup{})
	_, err := w.call(t.Context(), "find")
	assert.ErrorContains(t, err, `emptied at stage "registered"; from zookeeper://192.0.2.200:2181`)
	assert.ErrorContains(t, err, "check that a provider of this interface is running")
}

func TestEverybodyRefused(t *testing.T) {
	w := newWorld(t, "", setup{})
	l := *w.List()
	l.Funnel.Registered, l.Funnel.Refused = 2, []protocol.Refusal{{Provider: "192.0.2.10:20880", Reason: "version 2.0.0, not 1.0.0", Count: 2}}
	w.listing.Store(&l)
	_, err := w.call(t.Context(), "find")
	assert.ErrorContains(t, err, `emptied at stage "enabled"`)
	assert.ErrorContains(t, err, "version 2.0.0, not 1.0.0")
	assert.ErrorContains(t, err, "compare group, version and protocol")
}

// Nobody is connected: why, grouped and bounded.
func TestNobodyConnected(t *testing.T) {
	w := newWorld(t, "", setup{}, make([]script, 20)...)
	for i, e := range w.endpoints {
		e.set(protocol.Down)
		switch {
		case i < 3:
			e.reason = errors.New("connection refused")
		case i < 5:
			e.reason = nil
		default:
			e.reason = fmt.Errorf("dial: trouble %d", i)
		}
	}
	_, err := w.call(t.Context(), "find")
	var none *protocol.NoProviderError
	require.ErrorAs(t, err, &none)
	assert.Equal(t, protocol.StageAvailable, none.Funnel.Emptied())
	assert.Equal(t, 20, none.Funnel.Routed)
	assert.Equal(t, []protocol.Refusal{
		{Provider: "192.0.2.10:20880 and 2 more", Reason: "not connected: connection refused", Count: 3},
		{Provider: "192.0.2.13:20880 and 1 more", Reason: "not connected", Count: 2},
		{Provider: "192.0.2.15:20880", Reason: "not connected: dial: trouble 5", Count: 1},
		{Provider: "192.0.2.16:20880", Reason: "not connected: dial: trouble 6", Count: 1},
		{Provider: "192.0.2.17:20880 and 12 more", Reason: "not connected", Count: 13},
	}, none.Funnel.Refused)
	assert.ErrorContains(t, err, "no connection to any of them is up")
	assert.Empty(t, w.List().Funnel.Refused, "the listing is not touched")
}

// NoProvider explains a list outside of a call; a read-only provider can serve.
func TestNoProvider(t *testing.T) {
	w := newWorld(t, "", setup{}, ok, ok)
	w.endpoints[0].set(protocol.ReadOnly)
	w.endpoints[1].set(protocol.Down)
	f := cluster.NoProvider("com.example.DemoService", w.List()).Funnel
	assert.Equal(t, 1, f.Available)
	assert.Empty(t, f.Emptied())
	assert.Empty(t, f.Refused)
}
