package gofer_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
)

// One of three providers takes ten times as long as the others: what calls alone show.
func TestDiagnoseFromCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3, "", "loadbalance=roundrobin")
		for i, p := range w.providers {
			took := 10 * time.Millisecond
			if i == 1 {
				took *= 10
			}
			require.NoError(t, p.Handle("wait()", func() { time.Sleep(took) }))
		}
		assert.Empty(t, w.client.Diagnose(), "nothing was called")
		wait, err := gofer.Method[struct{}](w.reference, "wait()")
		require.NoError(t, err)
		for range 150 {
			_, err := wait.Call(t.Context())
			require.NoError(t, err)
		}
		found := w.reference.Diagnose()
		require.Len(t, found, 1)
		assert.Equal(t, gofer.FindingSlowProvider, found[0].Kind)
		assert.Equal(t, "wait", found[0].Method)
		assert.Equal(t, []string{"192.0.2.2:20880"}, found[0].Providers)
		assert.Contains(t, found[0].Text, "100ms on average where the median of the others is 10ms")
		assert.Equal(t, found, w.client.Diagnose())
	})
}

// The first of three providers names a load balancer of its own. What is in force is
// what most have, and that is what is looked at (F27).
func TestDiagnoseLooksAtTheStrategyInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3, "", "")
		urls := make([]string, 3)
		for i, p := range w.providers {
			took := 10 * time.Millisecond
			if i == 1 {
				took *= 10
			}
			require.NoError(t, p.Handle("wait()", func() { time.Sleep(took) }))
			urls[i] = p.URL([]string{"loadbalance=leastload", "", ""}[i])
		}
		r := refer(t, w.client, strings.Join(urls, ";"))
		for range 150 {
			_, err := gofer.Call[any](t.Context(), r, "wait()")
			require.NoError(t, err)
		}
		found := r.Diagnose()
		require.Len(t, found, 1)
		assert.Equal(t, gofer.FindingSlowProvider, found[0].Kind)
		assert.Contains(t, found[0].Text, "loadbalance=random")
	})
}
