//go:build integration

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/rolling/drill"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

type pairTest func(t *testing.T, pair *drill.Pair, r *gofer.Reference)

// eachPair runs a test against two providers of every Dubbo version in a registry.
func eachPair(t *testing.T, registry, group, params string, run pairTest, flags ...string) {
	c := newClient(t, registry)
	for _, v := range env.Versions() {
		t.Run(v, func(t *testing.T) {
			pair, err := drill.JavaPair(t.Context(), env, v, group+"-"+v, append(flags, "--zk", registry)...)
			require.NoError(t, err)
			t.Cleanup(pair.Close)
			runPair(t, c, pair, params, run)
		})
	}
}

// eachProfile runs it against two in-process providers of every release line.
func eachProfile(t *testing.T, group, params string, run pairTest) {
	c := newClient(t, env.ZooKeeper.Addr())
	for _, profile := range []dubbotest.Profile{dubbotest.Dubbo26, dubbotest.Dubbo27, dubbotest.Dubbo32, dubbotest.Dubbo33} {
		t.Run("dubbotest "+profile.String(), func(t *testing.T) {
			pair, err := drill.InProcessPair("zookeeper://"+env.ZooKeeper.Addr(), group+"-as-"+profile.String(), dubbotest.WithProfile(profile))
			require.NoError(t, err)
			t.Cleanup(pair.Close)
			runPair(t, c, pair, params, run)
		})
	}
}

func runPair(t *testing.T, c *gofer.Client, pair *drill.Pair, params string, run pairTest) {
	r, err := pair.Refer(t.Context(), c, params)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	run(t, pair, r)
	for _, p := range r.Snapshot().Providers {
		for _, m := range p.Methods {
			assert.Zero(t, m.Active, "%s at %s", m.Name, p.Address)
		}
	}
}

// TestRolling restarts two providers in turn under load, without retries: no call
// fails when they are stopped, those under way there when they are killed.
func TestRolling(t *testing.T) {
	eachPair(t, env.ZooKeeper.Addr(), "rolling", drill.Patient, roll)
	eachProfile(t, "rolling", drill.Patient, roll)
}

func roll(t *testing.T, pair *drill.Pair, r *gofer.Reference) {
	for _, how := range []drill.Ending{drill.Stop, drill.Kill} {
		load := drill.Start(r, 8)
		err := drill.Roll(t.Context(), load, how, pair.A, pair.B)
		report := load.End()
		t.Logf("%s: calls=%d failed=%d, slowest %v", how, report.Calls, len(report.Failures), report.Slowest)
		require.NoError(t, err)
		require.Positive(t, report.Calls)
	}
}
