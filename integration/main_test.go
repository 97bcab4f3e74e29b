//go:build integration

package integration

import (
	"os"
	"testing"

	"github.com/gofer-rpc/gofer/integration/harness"
)

// env is shared by all tests of the package.
var env *harness.Environment

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, func(e *harness.Environment) { env = e }))
}
