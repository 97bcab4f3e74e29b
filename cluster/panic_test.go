package cluster_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// choosing is a load balancer that is a function.
type choosing func(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node

func (f choosing) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	return f(c, inv)
}

// A load balancer that panics in each call fails each call, and does not fill the log.
func TestPanicsAreLoggedNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := "boom"
		w := newWorld(t, "loadbalance=bad", setup{config: func(cfg *cluster.Config) {
			withBalance(cfg, "bad", choosing(func(*protocol.Candidates, *protocol.Invocation) *protocol.Node { panic(text) }))
		}}, ok, ok)
		call := func() {
			_, err := w.call(t.Context(), "find")
			require.ErrorContains(t, err, "panic: "+text)
		}
		for range 1000 {
			call()
			time.Sleep(30 * time.Millisecond)
		}
		lines := w.logs.FilterMessage("panic: the call fails").All()
		require.Len(t, lines, 3, "of 30 seconds")
		assert.Contains(t, lines[0].ContextMap()["stack"], "panic_test.go", "the first with its stack")
		assert.NotContains(t, lines[0].ContextMap(), "notLogged")
		for _, line := range lines[1:] {
			assert.Equal(t, map[string]any{"method": "find", "error": "panic: boom", "notLogged": int64(333)}, line.ContextMap())
		}

		text = "another"
		call()
		assert.Len(t, w.logs.TakeAll(), 4, "another text is another matter")
		for i := range 1000 {
			text = fmt.Sprint("number ", i)
			call()
		}
		assert.Equal(t, 20-2+1, w.logs.Len(), "the texts that are told apart have a limit")
	})
}

// A factory that panics is an error that names it, whichever parameter asks for it.
func TestFactoriesThatPanic(t *testing.T) {
	errBoom := errors.New("boom")
	for parameters, want := range map[string]string{
		"loadbalance=bad":        `parameter loadbalance: load balancer "bad": its factory: panic: boom`,
		"find.loadbalance=bad":   `parameter find.loadbalance: load balancer "bad": its factory: panic: boom`,
		"loadbalance.shadow=bad": `parameter loadbalance.shadow: load balancer "bad": its factory: panic: boom`,
		"cluster=bad":            `cluster "bad": its factory: panic: boom`,
	} {
		w := newWorld(t, "", setup{}, ok, ok)
		reference, err := url.Parse("consumer://192.0.2.1/com.example.DemoService?" + parameters)
		require.NoError(t, err)
		cfg := cluster.Config{Reference: reference, Directory: w, Methods: &w.methods, Clusters: cluster.Builtin(), Balancers: loadbalance.Builtin()}
		cfg.Clusters["bad"] = func(cluster.Config) (cluster.Strategy, error) { panic(errBoom) }
		cfg.Balancers["bad"] = func(loadbalance.Config) (loadbalance.LoadBalance, error) { panic(errBoom) }
		_, err = cluster.New(cfg)
		assert.EqualError(t, err, want)
		assert.ErrorIs(t, err, errBoom)
	}
}

// One that a provider names does not harm the calls, and is asked for once.
func TestFactoryThatPanicsLater(t *testing.T) {
	asked := 0
	w := newWorld(t, "", setup{provider: []string{"loadbalance=bad"}, config: func(cfg *cluster.Config) {
		cfg.Balancers = loadbalance.Builtin()
		cfg.Balancers["bad"] = func(loadbalance.Config) (loadbalance.LoadBalance, error) { asked++; panic("boom") }
	}}, ok, ok)
	for range 10 {
		target(t, w, "find")
	}
	assert.Equal(t, 1, asked)
	assert.Equal(t, 1, w.logs.FilterMessageSnippet("load balancer that cannot be used").Len())
}
