//go:build integration

package integration

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/integration/interop"
)

// env is shared by all tests of the package.
var env *harness.Environment

func TestMain(m *testing.M) {
	if err := gofer.Register(interop.Types()...); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		os.Exit(1)
	}
	os.Exit(harness.Main(m, func(e *harness.Environment) { env = e }))
}

// newClient makes a client of a ZooKeeper at address that is closed with the test. It
// remembers nothing of clients before: ports are used again.
func newClient(t *testing.T, address string, opts ...gofer.Option) *gofer.Client {
	t.Helper()
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	registry := "zookeeper://" + address + separator + "file-cache=false"
	c, err := gofer.New(append([]gofer.Option{gofer.WithApplication("gofer-test"), gofer.WithRegistry(registry)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func refer(t *testing.T, c *gofer.Client, reference string) *gofer.Reference {
	t.Helper()
	r, err := c.Refer(t.Context(), reference)
	require.NoError(t, err)
	return r
}

// eachVersion runs a test against the shared provider of every Dubbo version,
// found through ZooKeeper.
func eachVersion(t *testing.T, params string, run func(t *testing.T, version string, r *gofer.Reference)) {
	c := newClient(t, env.ZooKeeper.Addr())
	for _, v := range env.Versions() {
		t.Run(v, func(t *testing.T) { run(t, v, refer(t, c, env.Shared(v).Reference(params))) })
	}
}

var failedRows sync.Map // method and version: a row stays failed

// record fills the interop table: a row is ok when every check of its method was.
func record(method, version string, err error) {
	name, _, _ := strings.Cut(method, "(")
	key := name + " " + version
	if err != nil {
		failedRows.Store(key, true)
	}
	outcome := "ok"
	if _, failed := failedRows.Load(key); failed {
		outcome = "FAIL"
	}
	env.Table.Record(name, version, outcome)
}

// eventually waits for a condition that other processes bring about.
func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}
