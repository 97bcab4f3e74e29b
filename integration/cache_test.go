//go:build integration

package integration

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/integration/suite"
)

const demo = "com.example.DemoService"

// cachedClient is a client that keeps its lists in a file; close it.
func cachedClient(t *testing.T, address, file string) *gofer.Client {
	t.Helper()
	c, err := gofer.New(gofer.WithApplication("gofer-test"), gofer.WithRegistry("zookeeper://"+address+"?timeout=3000&file="+file))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func greets(t *testing.T, r *gofer.Reference, p *harness.Provider) {
	t.Helper()
	s, err := gofer.Call[string](t.Context(), r, "hello(java.lang.String)", "Ada")
	require.NoError(t, err)
	assert.Equal(t, "hello Ada from "+p.Name, s)
}

// TestCacheStartWithoutRegistry: what a process has learned, the next one starts
// from while ZooKeeper is down, and believes ZooKeeper again when it is back.
func TestCacheStartWithoutRegistry(t *testing.T) {
	for _, v := range env.Versions() {
		t.Run(v, func(t *testing.T) {
			z := env.StartZooKeeper(t, harness.ZooKeeperConfig{})
			p := env.StartProvider(t, v, "--zk", z.Addr(), "--token", "s3cret")
			file := filepath.Join(t.TempDir(), "sub", "lists")
			reference := p.Reference("timeout=3000")

			first := cachedClient(t, z.Addr(), file)
			greets(t, refer(t, first, reference), p)
			require.NoError(t, first.Close())
			info, err := os.Stat(file)
			require.NoError(t, err, "written by Close")
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it holds the token")
			require.NoError(t, z.Kill())

			begun := time.Now()
			checked := refer(t, cachedClient(t, z.Addr(), file), reference)
			assert.Greater(t, time.Since(begun), 2*time.Second, "the registry had its time")
			greets(t, checked, p)
			s := checked.Snapshot()
			assert.True(t, s.Stale)
			assert.Contains(t, s.Funnel.Note, "from cache file written ")
			assert.Contains(t, s.Funnel.Note, "connection refused")

			begun = time.Now()
			unchecked := refer(t, cachedClient(t, z.Addr(), file), reference+"&check=false")
			assert.Less(t, time.Since(begun), 2*time.Second, "waits for nobody")
			greets(t, unchecked, p)

			require.NoError(t, z.Start(t.Context()))
			for _, r := range []*gofer.Reference{checked, unchecked} {
				eventually(t, 30*time.Second, "ZooKeeper's own list", func() bool { return !r.Snapshot().Stale })
				eventually(t, 30*time.Second, "the provider in it", func() bool { return len(r.Snapshot().Providers) == 1 })
				assert.NotContains(t, r.Snapshot().Funnel.Note, "cache")
				greets(t, r, p)
			}
		})
	}
}

// TestCacheDamaged: a file that cannot be read is like none, and replaced.
func TestCacheDamaged(t *testing.T) {
	z := env.StartZooKeeper(t, harness.ZooKeeperConfig{})
	w := suite.NewTree(t, z.Addr())
	w.Add(demo, 1)
	file := filepath.Join(t.TempDir(), "lists")
	require.NoError(t, os.WriteFile(file, []byte("{\"gofer\":\"registry cache\",\"format\":1,\"lists\":1}\n{\"interf"), 0o600))
	require.NoError(t, z.Kill())
	c := cachedClient(t, z.Addr(), file)
	_, err := c.Refer(t.Context(), demo)
	require.ErrorIs(t, err, gofer.ErrNoProvider)
	assert.ErrorContains(t, err, file, "the error names the file that cannot be read")

	r := refer(t, c, demo+"?check=false")
	assert.Empty(t, r.Snapshot().Providers)
	require.NoError(t, z.Start(t.Context()))
	serves(t, r, "1")
	require.NoError(t, c.Close())
	require.NoError(t, z.Kill())
	serves(t, refer(t, cachedClient(t, z.Addr(), file), demo+"?check=false"), "1")
}

// serves expects that the only provider of a reference is at a port.
func serves(t *testing.T, r *gofer.Reference, port string) {
	t.Helper()
	eventually(t, 20*time.Second, "the provider of the list", func() bool { return slices.Equal(suite.Ports(r), []string{port}) })
}
