package protocol_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer/protocol"
)

func TestFunnel(t *testing.T) {
	for _, tt := range []struct {
		want    string
		emptied protocol.Stage
		funnel  protocol.Funnel
	}{
		{
			"registered 0 → enabled 0 → routed 0 → available 0; emptied at stage \"registered\"",
			protocol.StageRegistered, protocol.Funnel{},
		},
		{
			"registered 2 → enabled 0 → routed 0 → available 0; emptied at stage \"enabled\"; from zookeeper://127.0.0.1:2181 /dubbo/com.example.S/providers; refused: 192.0.2.1:20880 (version 2.0.0, wanted 1.0.0), 192.0.2.2:20880 (disabled)",
			protocol.StageEnabled,
			protocol.Funnel{
				Source: "zookeeper://127.0.0.1:2181", Path: "/dubbo/com.example.S/providers", Registered: 2,
				Refused: []protocol.Refusal{
					{Provider: "192.0.2.1:20880", Reason: "version 2.0.0, wanted 1.0.0", Count: 1},
					{Provider: "192.0.2.2:20880", Reason: "disabled", Count: 1},
				},
			},
		},
		{
			"registered 3 → enabled 3 → routed 0 → available 0; emptied at stage \"routed\"; rule demo.condition-router",
			protocol.StageRouted, protocol.Funnel{Registered: 3, Enabled: 3, Rule: "demo.condition-router"},
		},
		{
			"registered 3 → enabled 3 → routed 2 → available 0; emptied at stage \"available\"; from direct; never read",
			protocol.StageAvailable, protocol.Funnel{Registered: 3, Enabled: 3, Routed: 2, Source: "direct", Note: "never read"},
		},
		{
			"registered 3 → enabled 3 → routed 3 → available 1",
			"", protocol.Funnel{Registered: 3, Enabled: 3, Routed: 3, Available: 1},
		},
		{
			"registered 3 → enabled 3 → routed 3 → available 2 (1 of them ejected for their failures)",
			"", protocol.Funnel{Registered: 3, Enabled: 3, Routed: 3, Available: 2, Ejected: 1},
		},
	} {
		assert.Equal(t, tt.want, tt.funnel.String())
		assert.Equal(t, tt.emptied, tt.funnel.Emptied())
	}
}

func TestNoProviderError(t *testing.T) {
	e := &protocol.NoProviderError{Service: "blue/com.example.S:1.0.0"}
	assert.EqualError(t, e, "no provider of blue/com.example.S:1.0.0: "+e.Funnel.String())
	e.Remedy = "start one"
	assert.EqualError(t, e, "no provider of blue/com.example.S:1.0.0: "+e.Funnel.String()+"; start one")
	assert.ErrorIs(t, &protocol.Error{Code: protocol.ErrNoProvider, Cause: e}, e)
}
