package dubbo

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEcho(t *testing.T) {
	p := listen(t, echo)
	e := refer(t, newProtocol(t), p.address)
	for _, s := range []string{"", "world", strings.Repeat("x", 9000), strings.Repeat("y", 200_000)} {
		v, err := invoke(t.Context(), e, invocation(s))
		require.NoError(t, err)
		assert.Equal(t, s, v)
	}
	assert.EqualValues(t, 1, p.accepted.Load())
}
