package dubbo

import (
	"testing"

	"go.uber.org/goleak"
)

// Every test closes its protocol, and every Close waits for what it started.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
