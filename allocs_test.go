//go:build !race

package gofer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The call path without the wire allocates the call and the boxed argument: the
// budget of two.
func TestPipelineAllocations(t *testing.T) {
	for _, lb := range []string{"random", "roundrobin", "leastactive"} {
		echo, err := Method[string](pipeline(t, 100, "loadbalance="+lb+"&actives=10"), "echo(java.lang.String)")
		require.NoError(t, err)
		text := strings.Repeat("x", 100)
		n := testing.AllocsPerRun(1000, func() {
			if s, err := echo.Call(t.Context(), text); err != nil || s != text {
				t.Fatal(s, err)
			}
		})
		assert.LessOrEqual(t, n, 2.0, lb)
	}
}
