package suite

import (
	"context"
	"fmt"
	"testing"

	"github.com/gofer-rpc/gofer/integration/interop"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// profiles are the release lines that dubbotest can play.
var profiles = []dubbotest.Profile{dubbotest.Dubbo26, dubbotest.Dubbo27, dubbotest.Dubbo32, dubbotest.Dubbo33}

// Versions are the Dubbo releases that the fakes can play.
func Versions() (all []string) {
	for _, p := range profiles {
		all = append(all, p.String())
	}
	return all
}

// ProfileOf is the profile of a Dubbo release.
func ProfileOf(dubbo string) (dubbotest.Profile, error) {
	for _, p := range profiles {
		if p.String() == dubbo {
			return p, nil
		}
	}
	return 0, fmt.Errorf("suite: no profile plays Dubbo %s", dubbo)
}

// Fakes are the providers of a fake stage, for tests that make them wrong.
type Fakes struct {
	*Stage
	OpenProvider, StrictProvider *dubbotest.Provider
}

// NewFakes starts dubbotest providers that play a Dubbo release, and a zktest server
// in which a client finds them. All of it ends with the test.
func NewFakes(t testing.TB, dubbo string) *Fakes {
	t.Helper()
	zookeeper := NewFakeServer(t).Addr()
	f := &Fakes{}
	f.Stage = &Stage{Dubbo: dubbo, Open: Provider{Name: openName(dubbo), Group: dubbo, Version: "1.0.0"},
		Strict: Provider{Name: strictName(dubbo), Group: strictName(dubbo), Version: strictVersion}}
	f.OpenProvider = startFake(t, zookeeper, dubbo, &f.Open, "")
	f.StrictProvider = startFake(t, zookeeper, dubbo, &f.Strict,
		"&token="+strictToken+"&executes="+strictExecutes+"&payload="+strictPayload)
	f.Client = OpenClient(t, zookeeper)
	return f
}

func startFake(t testing.TB, zookeeper, dubbo string, as *Provider, params string) *dubbotest.Provider {
	t.Helper()
	profile, err := ProfileOf(dubbo)
	if err != nil {
		t.Fatal(err)
	}
	p := dubbotest.Start(t, as.Reference()+params, dubbotest.WithProfile(profile), dubbotest.WithRecords(0))
	if err := interop.Serve(p, as.Name, profile); err != nil {
		t.Fatal(err)
	}
	_ = p.Register("zookeeper://" + zookeeper) // a failure ends the test
	as.Addr = p.Addr()
	return p
}

// FakeServer is a zktest server in the place of a ZooKeeper.
type FakeServer struct{ *zktest.Server }

// NewFakeServer starts one for a test.
func NewFakeServer(t testing.TB) FakeServer {
	t.Helper()
	z, err := zktest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(z.Close)
	return FakeServer{z}
}

// Kill stops it; its data stay.
func (f FakeServer) Kill() error {
	f.Stop()
	return nil
}

// Start starts it again.
func (f FakeServer) Start(context.Context) error { return f.Resume() }
