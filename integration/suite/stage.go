package suite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/interop"
)

// Provider is where a provider of the interop service is: in a JVM or in this process.
type Provider struct {
	Name           string // what its methods say
	Addr           string
	Group, Version string
}

// Reference is a reference to the provider through a registry, with parameters as
// "timeout=300".
func (p Provider) Reference(params ...string) string {
	return interop.Service + "?" + strings.Join(append([]string{"group=" + p.Group, "version=" + p.Version}, params...), "&")
}

// Direct is a reference to the provider without a registry.
func (p Provider) Direct(params ...string) string {
	return "dubbo://" + p.Addr + "/" + p.Reference(params...)
}

// The settings of the strict provider.
const (
	strictToken    = "s3cret"
	strictExecutes = "1"
	strictPayload  = "100000"
	strictVersion  = "2.0.0"
)

// StrictFlags are the flags with which the Java provider is the strict one of a stage.
func StrictFlags(dubbo string) []string {
	return []string{"--name", strictName(dubbo), "--group", strictName(dubbo), "--version", strictVersion,
		"--token", strictToken, "--executes", strictExecutes, "--payload", strictPayload}
}

// The names that the providers of a stage have.
func openName(dubbo string) string   { return "shared-" + dubbo }
func strictName(dubbo string) string { return "strict-" + dubbo }

// Stage is what the protocol suite plays on: two providers of one Dubbo version, real
// or fake, and a client that finds them in a registry.
type Stage struct {
	Dubbo  string // the release that the providers are, or play
	Client *gofer.Client
	Open   Provider // as it comes
	Strict Provider // with a token, executes, and a small payload

	refs map[string]*gofer.Reference
}

// Observe plays the protocol suite: one observation for every step, in order; of
// certain rows alone if they are given.
func (s *Stage) Observe(ctx context.Context, rows ...string) []Observation {
	var all []Observation
	for _, step := range protocolSteps(s.Dubbo) {
		if len(rows) == 0 || slices.Contains(rows, step.row) {
			all = append(all, step.observe(ctx, s))
		}
	}
	return all
}

// patience is for what must come; it is not waited for as a rule.
const patience = 20 * time.Second

// open is the reference to the open provider that most steps use.
func (s *Stage) open(ctx context.Context) *gofer.Reference {
	return s.refer(ctx, s.Open.Reference("timeout=20000&retries=0"))
}

func (s *Stage) strict(ctx context.Context) *gofer.Reference {
	return s.refer(ctx, s.Strict.Reference("timeout=20000&retries=0"))
}

// refer returns a reference, the same for the same text. A step cannot go on without
// one: it is a mistake of the stage.
func (s *Stage) refer(ctx context.Context, reference string) *gofer.Reference {
	if r := s.refs[reference]; r != nil {
		return r
	}
	r, err := s.Client.Refer(ctx, reference)
	if err != nil {
		panic(fmt.Sprintf("suite: no reference to %s: %v", reference, err))
	}
	if s.refs == nil {
		s.refs = map[string]*gofer.Reference{}
	}
	s.refs[reference] = r
	return r
}

// OpenClient makes the client of a world, of the ZooKeeper at an address; it is closed
// with the test. It remembers nothing of clients before: addresses are used again.
func OpenClient(t testing.TB, zookeeper string) *gofer.Client {
	t.Helper()
	separator := "?"
	if strings.Contains(zookeeper, "?") {
		separator = "&"
	}
	c, err := gofer.New(gofer.WithApplication("gofer-test"),
		gofer.WithRegistry("zookeeper://"+zookeeper+separator+"file-cache=false"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// protocolSteps are all steps of the protocol suite.
func protocolSteps(dubbo string) (all []step) {
	for _, some := range [][]step{
		scalarSteps(), arraySteps(), objectSteps(dubbo), collectionSteps(), overloadSteps(), describeSteps(),
		stateSteps(dubbo), countingSteps(dubbo), exceptionSteps(dubbo), unsendableSteps(dubbo), timeSteps(), attachmentSteps(dubbo), genericSteps(), refusalSteps(),
	} {
		all = append(all, some...)
	}
	return all
}
