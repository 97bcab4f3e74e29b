//go:build integration

package integration

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/stretchr/testify/require"
)

const providers = "/dubbo/" + harness.Interface + "/providers"

func connect(t *testing.T, addr string) *zk.Conn {
	conn, _, err := zk.Connect([]string{addr}, 10*time.Second, zk.WithLogInfo(false))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn
}

// registered answers the decoded name of the node that a provider registered, or "".
func registered(t *testing.T, conn *zk.Conn, provider *harness.Provider) string {
	names, _, err := conn.Children(providers)
	require.NoError(t, err)
	for _, name := range names {
		text, err := url.QueryUnescape(name)
		require.NoError(t, err)
		if strings.HasPrefix(text, fmt.Sprintf("dubbo://localhost.:%d/%s?", provider.Port, harness.Interface)) {
			return text
		}
	}
	return ""
}

func TestProvidersRegister(t *testing.T) {
	conn := connect(t, env.ZooKeeper.Addr())
	require.Equal(t, []string{"2.6.12", "2.7.23", "3.2.16", "3.3.6"}, env.Versions())
	for _, version := range env.Versions() {
		t.Run(version, func(t *testing.T) {
			provider := env.Shared(version)
			node := registered(t, conn, provider)
			require.Contains(t, node, "&group="+version+"&")
			require.Contains(t, node, "&version=1.0.0")
			if version != "2.6.12" {
				require.Contains(t, node, "&release="+version+"&")
			}
		})
	}
}

func TestProvidersStopAndComeBack(t *testing.T) {
	conn := connect(t, env.ZooKeeper.Addr())
	for _, version := range env.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			provider := env.StartProvider(t, version, "--group", "stops", "--weight", "30", "--tag", "gray", "--warmup=2000", "--shutdown-wait", "1000")
			node := registered(t, conn, provider)
			for _, parameter := range []string{"group=stops", "weight=30", "dubbo.tag=gray", "warmup=2000", "application=" + provider.Name} {
				require.Contains(t, node, parameter)
			}
			require.NoError(t, provider.Stop())
			require.Empty(t, registered(t, conn, provider), "a graceful stop takes the node along")

			require.NoError(t, provider.Start(t.Context()))
			require.NotEmpty(t, registered(t, conn, provider), "on the same port again")
		})
	}
}

func TestZooKeeperKeepsItsDataOverAKill(t *testing.T) {
	server := env.StartZooKeeper(t, harness.ZooKeeperConfig{})
	conn := connect(t, server.Addr())
	_, err := conn.Create("/kept", nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)

	require.NoError(t, server.Kill())
	require.NoError(t, server.Start(t.Context()))
	there, _, err := connect(t, server.Addr()).Exists("/kept")
	require.NoError(t, err)
	require.True(t, there)

	require.NoError(t, server.Stop())
	require.NoError(t, server.Wipe())
	require.NoError(t, server.Start(t.Context()))
	there, _, err = connect(t, server.Addr()).Exists("/kept")
	require.NoError(t, err)
	require.False(t, there)
}
