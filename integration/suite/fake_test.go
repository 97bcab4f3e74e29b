package suite

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/interop"
)

func TestMain(m *testing.M) {
	if err := gofer.Register(interop.Types()...); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func TestProtocolOnFakes(t *testing.T) {
	for _, profile := range profiles {
		t.Run(profile.String(), func(t *testing.T) {
			t.Parallel()
			stage := NewFakes(t, profile.String())
			for _, o := range stage.Observe(t.Context()) {
				t.Log(o.Row, "|", o.Step, "|", o.Outcome)
				assert.Empty(t, o.Wrong, "%s: %s", o.Row, o.Step)
			}
		})
	}
}
