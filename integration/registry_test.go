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
)

func TestStartBeforeTheFirstProvider(t *testing.T) {
	for _, v := range env.Versions() {
		t.Run(v, func(t *testing.T) {
			c := newClient(t, env.ZooKeeper.Addr())
			early := harness.Interface + "?timeout=20000&group=early-" + v
			_, err := c.Refer(t.Context(), early)
			require.ErrorIs(t, err, gofer.ErrNoProvider, "check=true")
			assert.Contains(t, err.Error(), "check=false", "the remedy")

			r := refer(t, c, early+"&check=false")
			_, err = gofer.Call[string](t.Context(), r, "hello(java.lang.String)", "Ada")
			require.ErrorIs(t, err, gofer.ErrNoProvider)
			var none *gofer.NoProviderError
			require.ErrorAs(t, err, &none)
			assert.Positive(t, none.Funnel.Registered, "other groups are seen")
			assert.Zero(t, none.Funnel.Enabled)
			assert.Contains(t, err.Error(), "group", "why they are refused")

			p := env.StartProvider(t, v, "--group", "early-"+v)
			eventually(t, 10*time.Second, "the new provider is used", func() bool {
				s, err := gofer.Call[string](t.Context(), r, "hello(java.lang.String)", "Ada")
				return err == nil && s == "hello Ada from "+p.Name
			})
		})
	}
}

func TestRegistryRootAndCredentials(t *testing.T) {
	z := env.StartZooKeeper(t, harness.ZooKeeperConfig{})
	p := env.StartProvider(t, "3.3.6", "--zk", z.Addr(), "--registry-root", "prod", "--registry-user", "ada:s3cret")
	c := newClient(t, z.Addr()+"?group=prod")
	_, err := c.Refer(t.Context(), p.Reference("timeout=3000"))
	require.ErrorIs(t, err, gofer.ErrNoProvider)
	assert.Contains(t, strings.ToLower(err.Error()), "auth", "the registry denies access and the error says so")

	c = newClient(t, "ada:s3cret@"+z.Addr()+"?group=prod")
	r := refer(t, c, p.Reference("timeout=3000"))
	s, err := gofer.Call[string](t.Context(), r, "hello(java.lang.String)", "Ada")
	require.NoError(t, err)
	assert.Equal(t, "hello Ada from "+p.Name, s)

	other := newClient(t, "ada:s3cret@"+z.Addr())
	_, err = other.Refer(t.Context(), p.Reference())
	require.ErrorIs(t, err, gofer.ErrNoProvider)
	assert.Contains(t, err.Error(), "/dubbo/", "where it looked")
}
