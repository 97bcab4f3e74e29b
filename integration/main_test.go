//go:build integration

package integration

import (
	"fmt"
	"os"
	"strings"
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
