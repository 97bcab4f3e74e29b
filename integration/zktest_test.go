//go:build integration

package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// TestJavaRegistersInZktest: Java's Curator takes the in-process server for a real
// one: it registers, registers again after its session has expired, and takes its
// node out when it stops.
func TestJavaRegistersInZktest(t *testing.T) {
	for _, v := range env.Versions() {
		t.Run(v, func(t *testing.T) {
			zk, err := zktest.Start()
			require.NoError(t, err)
			t.Cleanup(zk.Close)
			providers := func() (out []zktest.Node) {
				for _, n := range zk.Dump() {
					if strings.Contains(n.Path, "/"+harness.Interface+"/providers/") {
						out = append(out, n)
					}
				}
				return out
			}
			p := env.StartProvider(t, v, "--zk", zk.Addr(), "--shutdown-wait", "1000")
			c := newClient(t, zk.Addr()+"?file-cache=false")
			r := refer(t, c, p.Reference("timeout=5000"))
			s, err := gofer.Call[string](t.Context(), r, hello, "Ada")
			require.NoError(t, err)
			assert.Equal(t, "hello Ada from "+p.Name, s)

			require.Len(t, providers(), 1)
			first := providers()[0].Stat.EphemeralOwner
			require.NotZero(t, first, "an ephemeral node")
			require.True(t, zk.ExpireSession(first))
			eventually(t, 30*time.Second, "the provider registers again", func() bool {
				now := providers()
				return len(now) == 1 && now[0].Stat.EphemeralOwner != first
			})
			eventually(t, 5*time.Second, "the provider is used again", func() bool {
				_, err := gofer.Call[string](t.Context(), r, hello, "Ada")
				return err == nil
			})
			require.NoError(t, p.Stop())
			assert.Empty(t, providers(), "a provider that stops takes its node out")
		})
	}
}
