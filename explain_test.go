package gofer_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
)

// A reference tells where a call would go, in a table and as data, and calls nobody.
func TestExplain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3, "", "loadbalance=roundrobin&timeout=1000")
		for range 6 {
			x, err := w.reference.Explain(t.Context(), "echo(java.lang.String)", "hi")
			require.NoError(t, err)
			again, err := w.reference.Explain(t.Context(), "echo")
			require.NoError(t, err)
			assert.Equal(t, x, again)
			_, err = json.Marshal(x)
			require.NoError(t, err)
			ctx, reply := gofer.WithReply(t.Context())
			require.NoError(t, echo(ctx, w))
			var next []string
			for _, c := range x.Candidates {
				if c.Chance == 1 {
					next = append(next, c.Address)
				}
			}
			assert.Equal(t, []string{reply.Provider()}, next)
			assert.Contains(t, x.String(), reply.Provider())
		}
		_, total := w.counted()
		assert.Equal(t, int64(6), total)
		_, err := w.reference.Explain(t.Context(), "echo(")
		assert.ErrorIs(t, err, gofer.ErrBadArgument)
		require.NoError(t, w.reference.Close())
		_, err = w.reference.Explain(t.Context(), "echo")
		assert.ErrorIs(t, err, gofer.ErrClosed)
	})
}

// Names that are only asked about take nothing from those that are called: neither
// their parameters nor a place in what is reported.
func TestExplainChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPatient(t, 3, "loadbalance=leastactive&timeout=1000&long.timeout=20")
		wait, err := gofer.Method[any](w.reference, "wait()") // resolved, not called
		require.NoError(t, err)
		before := w.reference.Diagnose()
		for i := range 300 {
			x, err := w.reference.Explain(t.Context(), fmt.Sprint("typo", i))
			require.NoError(t, err)
			require.Len(t, x.Candidates, 3)
		}
		_, err = w.reference.Explain(t.Context(), "typo(java.lang.String)", "x")
		require.NoError(t, err)
		_, err = w.reference.Explain(t.Context(), "wait()")
		require.NoError(t, err)
		assert.Equal(t, before, w.reference.Diagnose())
		for _, p := range w.reference.Snapshot().Providers {
			assert.Empty(t, p.Methods)
		}
		assert.ErrorIs(t, calling("long()")(t.Context(), w.reference), gofer.ErrTimeout, "long.timeout holds: it takes 40 ms")
		_, err = wait.Call(t.Context())
		require.NoError(t, err)
		names := map[string]bool{}
		for _, p := range w.reference.Snapshot().Providers {
			for _, m := range p.Methods {
				names[m.Name] = true
			}
		}
		assert.Equal(t, map[string]bool{"long": true, "wait": true}, names)
	})
}

// Equal arguments are explained as they are hashed.
func TestExplainHashed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3, "", "loadbalance=consistenthash")
		for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
			x, err := w.reference.Explain(t.Context(), "echo", key)
			require.NoError(t, err)
			ctx, reply := gofer.WithReply(t.Context())
			_, err = gofer.Call[string](ctx, w.reference, "echo(java.lang.String)", key)
			require.NoError(t, err)
			for _, c := range x.Candidates {
				assert.Equal(t, c.Address == reply.Provider(), c.Chance == 1, key)
			}
		}
	})
}

// A traced call tells of its attempts: where the first went, and that it failed.
func TestWithTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var traces []gofer.Trace
		w := newWorld(t, 2, "", "timeout=100", gofer.WithTrace(1, func(x gofer.Trace) { traces = append(traces, x) }))
		for _, p := range w.providers {
			p.Freeze()
		}
		for range 2 {
			assert.ErrorIs(t, echo(t.Context(), w), gofer.ErrTimeout)
		}
		require.Len(t, traces, 2)
		for _, x := range traces {
			assert.Contains(t, x.Error, "timeout")
			require.Contains(t, []int{3, 4}, len(x.Attempts), "one that was not written may be made up for")
			for _, a := range x.Attempts {
				assert.Equal(t, "timed out", a.Outcome)
				assert.Equal(t, 100*time.Millisecond, a.Elapsed)
			}
			assert.NotEqual(t, x.Attempts[0].Provider, x.Attempts[1].Provider)
		}
	})
}

func TestWithTraceChecks(t *testing.T) {
	_, err := gofer.New(gofer.WithApplication("a"), gofer.WithTrace(0, func(gofer.Trace) {}))
	assert.ErrorContains(t, err, "one of every 0 calls")
	_, err = gofer.New(gofer.WithApplication("a"), gofer.WithTrace(1, nil))
	assert.ErrorContains(t, err, "no function")
}

// The snapshot compares a load balancer with its shadow.
func TestShadowSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2, "", "loadbalance=roundrobin&loadbalance.shadow=leastload")
		for range 10 {
			require.NoError(t, echo(t.Context(), w))
		}
		shadows := w.reference.Snapshot().Shadows
		require.Len(t, shadows, 1)
		s := shadows[0]
		assert.Equal(t, []any{"echo", "roundrobin", "leastload", int64(10)}, []any{s.Method, s.LoadBalance, s.Shadow, s.Choices})
		would := int64(0)
		for _, p := range s.Providers {
			assert.Equal(t, int64(5), p.Real)
			would += p.Would
		}
		assert.Equal(t, int64(10), would)
	})
}

// A shadow may stand in a file, and a name that nobody knows is an error there.
func TestShadowConfigured(t *testing.T) {
	for text, want := range map[string]string{
		"dubbo.references.orders.loadbalance.shadow=leastload":            "",
		"dubbo.references.orders.find.loadbalance.shadow=roundrobin":      "",
		"dubbo.references.orders.loadbalance-shadow=leastload":            "",
		"dubbo.consumer.loadbalance.shadow.sample=0":                      "less than 1",
		"dubbo.references.orders.loadbalance.shadow=leastlod":             `unknown load balancer "leastlod", did you mean "leastload"?`,
		"dubbo.references.orders.find.loadbalance.shadow=nobody":          `unknown load balancer "nobody"`,
		"dubbo.references.orders.methods.find.loadbalance.shadow=ringlod": `did you mean "ringload"?`,
	} {
		key, value, _ := strings.Cut(text, "=")
		c, err := gofer.New(gofer.WithApplication("a"), gofer.WithProperty("dubbo.references.orders.interface", "com.example.Orders"),
			gofer.WithProperty(key, value))
		if want != "" {
			assert.ErrorContains(t, err, want, text)
			continue
		}
		require.NoError(t, err, text)
		settings, err := c.Config().Explain("orders")
		require.NoError(t, err, text)
		assert.True(t, slices.ContainsFunc(settings, func(s gofer.Setting) bool {
			return strings.HasSuffix(s.Key, "loadbalance.shadow") && s.Value == value
		}), "%s: %v", text, settings)
		require.NoError(t, c.Close())
	}
}
