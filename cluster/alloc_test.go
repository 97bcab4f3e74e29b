//go:build !race

package cluster_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// A call allocates nothing between the front door and the wire.
func TestPipelineAllocations(t *testing.T) {
	for _, parameters := range []string{
		"", "actives=10", "loadbalance=roundrobin", "loadbalance=leastactive", "sticky=true", "cluster=failfast", "dubbo.tag=blue",
	} {
		w, m := pipeline(t, 100, parameters)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		inv := new(protocol.Invocation)
		calls := testing.AllocsPerRun(1000, func() {
			*inv = protocol.Invocation{Method: m, Start: time.Now()}
			_, err := w.invoker.Invoke(ctx, inv)
			require.NoError(t, err)
		})
		assert.Zero(t, calls, parameters)
	}
}
