package gofer_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
)

// What was resolved before makes no other text a signature.
func TestMalformedSignaturesStayMalformed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, "", "timeout=1000")
		require.NoError(t, w.provider().Handle("none()", func() string { return "called" }))
		require.NoError(t, w.provider().Handle("$echo(java.lang.String)", func(s string) string { return s }))
		for range 2 {
			got, err := gofer.Call[string](t.Context(), w.reference, "none")
			require.NoError(t, err)
			assert.Equal(t, "called", got)
			_, err = w.reference.Generic(t.Context(), "echo(java.lang.String)", "generic")
			require.NoError(t, err)
			for _, malformed := range []string{"none(", "echo(java.lang.String"} {
				_, err = gofer.Call[string](t.Context(), w.reference, malformed)
				require.ErrorIs(t, err, gofer.ErrBadArgument, malformed)
			}
			got, err = gofer.Call[string](t.Context(), w.reference, "$echo(java.lang.String)", "own")
			require.NoError(t, err, "another method")
			assert.Equal(t, "own", got)
		}
	})
}
