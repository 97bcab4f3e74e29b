//go:build integration

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
)

const hello = "hello(java.lang.String)"

// TestBootstrapConfiguration: providers started as Spring Boot does write error
// texts and events in their own serialization (23 from 3.2 by default).
func TestBootstrapConfiguration(t *testing.T) {
	c := newClient(t, env.ZooKeeper.Addr())
	for _, v := range []string{"3.2.16", "3.3.6"} {
		t.Run(v, func(t *testing.T) {
			p := env.StartProvider(t, v, "--bootstrap", "--group", "boot-"+v, "--executes", "1", "--shutdown-wait", "2000")
			r := refer(t, c, p.Reference("timeout=5000&retries=0"))
			s, err := gofer.Call[string](t.Context(), r, hello, "Ada")
			require.NoError(t, err)
			assert.Equal(t, "hello Ada from "+p.Name, s)
			executes(t, r)
			_, err = gofer.Call[string](t.Context(), r, "noSuchMethod", "x")
			require.Error(t, err)
			assert.Contains(t, err.Error(), "Fail to decode request", "the provider's own words")
			assert.Contains(t, err.Error(), "inferred")
			_, err = gofer.Call[any](t.Context(), r, "optional(java.lang.String)", "x")
			require.Error(t, err)
			assert.Contains(t, err.Error(), "Optional")
			require.NoError(t, p.Stop())
		})
	}
}

// TestWrongVersionDirect: a version that the provider does not export is an error
// that lists what was sent, and what is exported where the provider says it.
func TestWrongVersionDirect(t *testing.T) {
	c := newClient(t, env.ZooKeeper.Addr())
	for _, v := range env.Versions() {
		t.Run(v, func(t *testing.T) {
			p := env.Shared(v)
			r := refer(t, c, "dubbo://"+p.Addr()+"/"+harness.Interface+"?group="+p.Group+"&version=9.9.9&retries=0")
			_, err := gofer.Call[string](t.Context(), r, hello, "Ada")
			require.Error(t, err)
			assert.Contains(t, err.Error(), "9.9.9")
			assert.Contains(t, err.Error(), harness.Interface)
			if v < "3" {
				assert.ErrorIs(t, err, gofer.ErrNotFound)
				assert.Contains(t, err.Error(), "1.0.0", "what is exported")
			}
			for _, m := range r.Snapshot().Providers[0].Methods {
				assert.Zero(t, m.Active)
			}
		})
	}
}

// TestProviderKilledAndBack: a provider that is killed and comes back on its
// address is used again; meanwhile the other one serves.
func TestProviderKilledAndBack(t *testing.T) {
	c := newClient(t, env.ZooKeeper.Addr())
	for _, v := range env.Versions() {
		t.Run(v, func(t *testing.T) {
			a := env.StartProvider(t, v, "--group", "back-"+v)
			b := env.StartProvider(t, v, "--group", "back-"+v)
			r := refer(t, c, a.Reference("timeout=3000&loadbalance=roundrobin"))
			both := func() bool { return bothServe(t, r) }
			eventually(t, 10*time.Second, "both providers are used", both)
			require.NoError(t, a.Kill())
			for range 50 { // retries go to the other one; nothing waits for the dead one, which would be 3 s
				began := time.Now()
				s, err := gofer.Call[string](t.Context(), r, hello, "Ada")
				require.NoError(t, err)
				assert.Equal(t, "hello Ada from "+b.Name, s)
				assert.Less(t, time.Since(began), 2*time.Second)
			}
			require.NoError(t, a.Start(t.Context()))
			eventually(t, 5*time.Second, "the provider that came back is used", both)
		})
	}
}

// bothServe tells whether two providers answer in turn.
func bothServe(t *testing.T, r *gofer.Reference) bool {
	seen := map[string]bool{}
	for range 8 {
		s, err := gofer.Call[string](t.Context(), r, hello, "Ada")
		if err != nil {
			return false
		}
		seen[s] = true
	}
	return len(seen) == 2
}

// executes makes calls at the same time at a provider that allows one: some are
// refused, as a limit.
func executes(t *testing.T, r *gofer.Reference) {
	errs := make(chan error, 4)
	for range cap(errs) {
		go func() {
			_, err := gofer.Call[int64](context.Background(), r, "slow(long)", int64(1000))
			errs <- err
		}()
	}
	served, refused := 0, 0
	for range cap(errs) {
		if err := <-errs; err == nil {
			served++
		} else {
			refused++
			assert.ErrorIs(t, err, gofer.ErrLimitExceeded)
		}
	}
	assert.Positive(t, served)
	assert.Positive(t, refused)
}
