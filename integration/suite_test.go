//go:build integration

package integration

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/integration/suite"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// recording replaces the recordings, with which the fakes are compared in unit tests.
var recording = flag.Bool("record", false, "write what the real servers showed to suite/testdata")

// realStage are Java providers of a Dubbo version, found in a real ZooKeeper.
func realStage(t *testing.T, version string) *suite.Stage {
	return &suite.Stage{
		Dubbo: version, Client: suite.OpenClient(t, env.ZooKeeper.Addr()), Open: suiteProvider(env.Shared(version)),
		Strict: suiteProvider(env.StartProvider(t, version, suite.StrictFlags(version)...)),
	}
}

func suiteProvider(p *harness.Provider) suite.Provider {
	return suite.Provider{Name: p.Name, Addr: p.Addr(), Group: p.Group, Version: p.Version}
}

// TestSuiteOfProtocol plays the protocol suite on Java providers and on dubbotest
// ones, of every version, and compares them.
func TestSuiteOfProtocol(t *testing.T) {
	worlds := map[string][]suite.Observation{}
	for _, version := range env.Versions() {
		t.Run(version, func(t *testing.T) {
			real := realStage(t, version).Observe(t.Context())
			fake := suite.NewFakes(t, version).Observe(t.Context())
			worlds[version] = real
			hold(t, &protocolTable, suite.Protocol, version, real, fake)
			marks := suite.Marks(real)
			for _, o := range real {
				env.Table.Record(o.Row, version, marks[o.Row])
			}
		})
	}
	if *recording {
		require.Equal(t, suite.Versions(), slices.Sorted(maps.Keys(worlds)), "a recording is of all versions")
		require.NoError(t, suite.Record("suite/testdata", suite.Protocol, worlds))
	}
}

// TestSuiteOfRegistry plays the registry suite on a real ZooKeeper and on zktest, and
// compares them.
func TestSuiteOfRegistry(t *testing.T) {
	var real, fake []suite.Observation
	t.Run("real", func(t *testing.T) {
		real = suite.ObserveRegistry(t, func(t *testing.T) suite.Server { return env.StartZooKeeper(t, harness.ZooKeeperConfig{}) })
	})
	t.Run("fake", func(t *testing.T) {
		fake = suite.ObserveRegistry(t, func(t *testing.T) suite.Server { return suite.NewFakeServer(t) })
	})
	hold(t, &registryTable, suite.Registry, suite.ZooKeeper, real, fake)
	if *recording {
		require.NoError(t, suite.Record("suite/testdata", suite.Registry, map[string][]suite.Observation{suite.ZooKeeper: real}))
	}
}

// The tables of the suite: whether what is real is as expected, whether what is fake
// is, and whether they are the same.
var protocolTable, registryTable harness.Table

// hold compares a real world with a fake one, and with what was recorded of it, and
// writes the tables.
func hold(t *testing.T, table *harness.Table, name, version string, real, fake []suite.Observation) {
	t.Helper()
	suite.Tabulate(table, version, real, fake)
	publish(t)
	for world, all := range map[string][]suite.Observation{"real": real, "fake": fake} {
		for _, o := range suite.Wrong(all) {
			t.Errorf("%s: %s: %s: %s", world, o.Row, o.Step, o.Wrong)
		}
	}
	for _, d := range suite.Compare(real, fake) {
		t.Error(d)
	}
	if *recording {
		return
	}
	recorded, err := suite.Recorded(name, version)
	require.NoError(t, err)
	for _, d := range suite.Compare(recorded, real) {
		t.Errorf("%s: %s: %s is %q, and %q in suite/testdata, which unit tests use: if it is right so, run this test with -record",
			d.Row, d.Step, d.Fact, d.Fake, d.Real)
	}
}

// publish logs the tables, and writes them to suite.txt beside the interop table.
func publish(t *testing.T) {
	t.Helper()
	text := "real / fake / same\n"
	for _, table := range []*harness.Table{&protocolTable, &registryTable} {
		if !table.Empty() {
			text += "\n" + table.String()
		}
	}
	t.Log("\n" + text)
	if interop := os.Getenv("GOFER_INTEROP_TABLE"); interop != "" {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(interop), "suite.txt"), []byte(text), 0o644))
	}
}

// TestSuiteFindsWrongFake: a fake that answers something else than Java fails the
// comparison.
func TestSuiteFindsWrongFake(t *testing.T) {
	version := env.Versions()[0]
	fakes := suite.NewFakes(t, version)
	require.NoError(t, fakes.OpenProvider.AnswerAlways("echoInt", dubbotest.Value(int32(48))))
	require.NoError(t, fakes.OpenProvider.AnswerAlways("findOrder", dubbotest.Throw("java.lang.Error", "no order -1")))
	rows := []string{"echoInt", "echoLong", "findOrder"}
	real := (&suite.Stage{
		Dubbo: version, Client: suite.OpenClient(t, env.ZooKeeper.Addr()), Open: suiteProvider(env.Shared(version)),
	}).Observe(t.Context(), rows...)
	wrong := map[string]bool{}
	for _, d := range suite.Compare(real, fakes.Observe(t.Context(), rows...)) {
		wrong[d.Row] = true
	}
	require.Equal(t, map[string]bool{"echoInt": true, "findOrder": true}, wrong)
}
