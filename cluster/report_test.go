package cluster_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// reporting is a provider that says how busy its processors are when it is asked.
func reporting(percent string) script {
	return func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
		if inv.Result.WantAttachments {
			inv.Result.Attachments = map[string]any{"region": "eu"}
			if inv.Attachment("lb_adaptive") != "" {
				inv.Result.Attachments["lb_adaptive"] = "curTime:1700000000000,load:" + percent
			}
		}
		return &inv.Result, nil
	}
}

// A load balancer and its shadow read the same report of a provider, whatever name is
// in force, and the caller sees what he has asked for.
func TestReportsForAll(t *testing.T) {
	for _, parameters := range []string{
		"loadbalance=adaptive&loadbalance.shadow=adaptive",
		"loadbalance=adaptive&find.loadbalance=random&loadbalance.shadow=adaptive",
		"loadbalance.shadow=adaptive",
	} {
		w := newWorld(t, parameters, setup{}, reporting("90"), reporting("5"))
		for i := range 400 {
			inv := w.invocation("find")
			inv.Result.WantAttachments = i%2 == 0
			asked := i%4 == 0
			if asked {
				inv.Attach("lb_adaptive", "load")
			}
			_, err := w.invoker.Invoke(t.Context(), inv)
			require.NoError(t, err)
			var want map[string]any
			if inv.Result.WantAttachments {
				want = map[string]any{"region": "eu"}
			}
			if asked {
				want["lb_adaptive"] = inv.Result.Attachments["lb_adaptive"]
				assert.NotEmpty(t, want["lb_adaptive"], parameters)
			}
			require.Equal(t, want, inv.Result.Attachments, parameters)
			require.Equal(t, i%2 == 0, inv.Result.WantAttachments)
			require.Equal(t, map[bool]string{true: "load"}[asked], inv.Attachment("lb_adaptive"))
		}
		x := w.shadow()
		assert.Greater(t, x.Providers[1].WouldShare, 0.7, "%s: %+v", parameters, x.Providers)
	}
}
