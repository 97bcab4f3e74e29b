//go:build integration

package integration

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/integration/suite"
)

// recording replaces the recordings, with which the fakes are compared in unit tests.
var recording = flag.Bool("record", false, "write what the real servers showed to suite/testdata")

// realStage are Java providers of a Dubbo version, found in a real ZooKeeper.
func realStage(t *testing.T, version string) *suite.Stage {
	at := func(p *harness.Provider) suite.Provider {
		return suite.Provider{Name: p.Name, Addr: p.Addr(), Group: p.Group, Version: p.Version}
	}
	return &suite.Stage{
		Dubbo: version, Client: suite.OpenClient(t, env.ZooKeeper.Addr()),
		Open: at(env.Shared(version)), Strict: at(env.StartProvider(t, version, suite.StrictFlags(version)...)),
	}
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
			hold(t, suite.Protocol, version, real, fake)
			marks := suite.Marks(real)
			for _, o := range real {
				env.Table.Record(o.Row, version, marks[o.Row])
			}
		})
	}
	if *recording {
		require.Equal(t, len(worlds), len(env.Versions()))
		require.NoError(t, suite.Record("suite/testdata", suite.Protocol, worlds))
	}
}

// hold compares a real world with a fake one, and with what was recorded of it.
func hold(t *testing.T, name, version string, real, fake []suite.Observation) {
	t.Helper()
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
	before, err := suite.Recorded(name, version)
	require.NoError(t, err)
	for _, d := range suite.Compare(before, real) {
		t.Errorf("not as recorded; run the test with -record if that is right\n%s: %s: %s differs\n  recorded: %s\n  real: %s", d.Row, d.Step, d.Fact, d.Real, d.Fake)
	}
}
