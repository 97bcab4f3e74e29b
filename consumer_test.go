package gofer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// TestConsumersOfOneURL: references that differ in private parameters are one entry
// in the registry, which stays until the last of them is closed.
func TestConsumersOfOneURL(t *testing.T) {
	zk, err := zktest.Start()
	require.NoError(t, err)
	defer zk.Close()
	p := startDemo(t, "")
	require.NoError(t, p.Register("zookeeper://"+zk.Addr()))
	entries := func() []string {
		n, _ := zk.Node("/dubbo/" + demo + "/consumers")
		return n.Children
	}

	c, err := gofer.New(gofer.WithApplication("shop-web"), gofer.WithRegistry("zookeeper://"+zk.Addr()+"?file-cache=false"))
	require.NoError(t, err)
	patient := refer(t, c, demo+"?timeout=5000")
	hasty := refer(t, c, demo+"?timeout=50")
	third := refer(t, c, demo+"?timeout=500")
	require.Eventually(t, func() bool { return len(entries()) == 1 }, 10*time.Second, time.Millisecond)
	require.NoError(t, hasty.Close())
	require.NoError(t, third.Close())
	_, err = gofer.Call[string](t.Context(), patient, "echo(java.lang.String)", "x")
	require.NoError(t, err)
	assert.Len(t, entries(), 1, "one reference is left")
	require.NoError(t, c.Close())
	assert.Empty(t, entries())
}
