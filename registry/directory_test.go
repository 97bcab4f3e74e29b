package registry

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

func TestSmoke(t *testing.T) {
	_ = fmt.Sprint
	d := NewDirectory(DirectoryConfig{})
	require.Equal(t, 0, d.List().Candidates.Len())
	require.Equal(t, protocol.StageRegistered, d.List().Funnel.Emptied())
	d.Close()
}
