//go:build integration

package integration

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/integration/suite"
)

// TestZooKeeperLosesItsData: a ZooKeeper that comes back from a backup, or without its
// data, refuses clients that have seen later changes, for ever and without a word.
// The list stays as it is until the client has started anew.
func TestZooKeeperLosesItsData(t *testing.T) {
	t.Parallel() // it takes a minute
	const iface = "com.example.Lost"
	for name, lose := range map[string]struct {
		data func(*harness.ZooKeeper) error
		left []string
	}{
		"restored with older data": {(*harness.ZooKeeper).Restore, []string{"1", "2", "9"}},
		"wiped":                    {(*harness.ZooKeeper).Wipe, []string{"9"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			z := env.StartZooKeeper(t, harness.ZooKeeperConfig{})
			w := suite.NewTree(t, z.Addr())
			w.Add(iface, 1)
			w.Add(iface, 2)
			require.NoError(t, z.Stop())
			require.NoError(t, z.Save())
			require.NoError(t, z.Start(t.Context()))

			c := newClient(t, z.Addr()+"?session=4000")
			r := refer(t, c, iface+"?check=false")
			w.Add(iface, 3)
			lists(t, r, 20*time.Second, "1", "2", "3")
			require.NoError(t, z.Kill())
			require.NoError(t, lose.data(z))
			require.NoError(t, z.Start(t.Context()))
			lost := time.Now()
			eventually(t, 2*time.Minute, "a session", func() bool {
				assert.Subset(t, portsOf(r), []string{"1", "2", "3"}, "nothing is lost meanwhile")
				return c.Snapshot().Registry.Connected
			})
			assert.Less(t, time.Since(lost), 90*time.Second)
			suite.NewTree(t, z.Addr()).Add(iface, 9)
			lists(t, r, 20*time.Second, lose.left...)
			assert.False(t, r.Snapshot().Stale)
		})
	}
}

func lists(t *testing.T, r *gofer.Reference, within time.Duration, want ...string) {
	t.Helper()
	eventually(t, within, "providers at "+strings.Join(want, ", "), func() bool { return slices.Equal(portsOf(r), want) })
}

func portsOf(r *gofer.Reference) []string {
	var out []string
	for _, p := range r.Snapshot().Providers {
		out = append(out, p.Address[strings.LastIndexByte(p.Address, ':')+1:])
	}
	slices.Sort(out)
	return out
}
