package cluster_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/protocol"
)

// asked counts how often a balancer is asked, and answers as it is told.
type asked struct {
	calls  int
	answer func(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node
}

func (a *asked) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	a.calls++
	return a.answer(c, inv)
}

func withAsked(a *asked) setup {
	return setup{config: func(cfg *cluster.Config) { withBalance(cfg, "asked", a) }}
}

// target returns the address that a call goes to.
func target(t *testing.T, w *world, method string) string {
	inv, err := w.call(t.Context(), method)
	require.NoError(t, err)
	return inv.Result.Value.(string)
}

// B095: the balancer decides for every list of two and more, also for retries; one
// candidate needs none.
func TestB095BalancerDecides(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 1, 3: 1} {
		a := &asked{answer: func(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
			return c.Nodes()[1]
		}}
		w := newWorld(t, "loadbalance=asked", withAsked(a), []script{ok, ok, ok}[:n]...)
		got := target(t, w, "find")
		assert.Equal(t, want, a.calls, "%d providers", n)
		if n > 1 {
			assert.Equal(t, "192.0.2.11:20880", got)
		}
	}
}

// A balancer that answers nobody, or somebody the call may not go to, does no harm.
func TestBadBalancer(t *testing.T) {
	for name, answer := range map[string]func(*protocol.Candidates, *protocol.Invocation) *protocol.Node{
		"nobody":                 func(*protocol.Candidates, *protocol.Invocation) *protocol.Node { return nil },
		"one that is down":       func(c *protocol.Candidates, _ *protocol.Invocation) *protocol.Node { return c.Nodes()[0] },
		"one that is saturated":  func(c *protocol.Candidates, _ *protocol.Invocation) *protocol.Node { return c.Nodes()[1] },
		"one that is not listed": func(*protocol.Candidates, *protocol.Invocation) *protocol.Node { return elsewhere(t) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "loadbalance=asked&actives=1&retries=0", withAsked(&asked{answer: answer}), ok, ok, ok)
			w.endpoints[0].set(protocol.Down)
			require.True(t, w.nodes()[1].Status(w.methods.Slot("find")).Begin(1))
			assert.Equal(t, "192.0.2.12:20880", target(t, w, "find"))
		})
	}
	w := newWorld(t, "loadbalance=asked", withAsked(&asked{answer: func(*protocol.Candidates, *protocol.Invocation) *protocol.Node { panic("bug") }}), ok, ok)
	_, err := w.call(t.Context(), "find")
	assert.ErrorContains(t, err, "panic: bug")
}

// A balancer's choice counts only if it is in the list: not a provider of another
// reference, one that is gone, or one that the router has ruled out.
func TestBalancerStrays(t *testing.T) {
	for name, answer := range map[string]func(w *world) *protocol.Node{
		"another reference": func(*world) *protocol.Node { return newWorld(t, "", setup{}, ok).nodes()[0] },
		"gone":              func(w *world) *protocol.Node { return w.node(7, "", ok, nil) },
		"ruled out":         func(w *world) *protocol.Node { return w.nodes()[0] },
		"no node at all":    func(*world) *protocol.Node { return new(protocol.Node) },
	} {
		t.Run(name, func(t *testing.T) {
			var choice *protocol.Node
			s := setup{config: func(cfg *cluster.Config) {
				withBalance(cfg, "asked", &asked{answer: func(*protocol.Candidates, *protocol.Invocation) *protocol.Node { return choice }})
				cfg.Router = oddRouter{}
			}}
			w := newWorld(t, "loadbalance=asked", s, ok, ok, ok, ok)
			choice = answer(w)
			for range 3 {
				inv := w.invocation("find")
				inv.Tag = "odd"
				_, err := w.invoker.Invoke(t.Context(), inv)
				require.NoError(t, err)
				assert.Same(t, w.nodes()[1], inv.Node)
			}
			logged := w.logs.FilterMessageSnippet("not in the list").All()
			require.Len(t, logged, 1, "once")
			assert.Equal(t, "asked", logged[0].ContextMap()["loadbalance"])
		})
	}
}

func elsewhere(t *testing.T) *protocol.Node {
	w := newWorld(t, "", setup{}, ok)
	w.endpoints[0].set(protocol.Down)
	return w.nodes()[0]
}

// Whom a call goes to, by the states of A, B and C: the ready ones, then the
// read-only ones, never one that is down.
func TestStatesOfProviders(t *testing.T) {
	const ready, readOnly, down = protocol.Ready, protocol.ReadOnly, protocol.Down
	for _, c := range []struct {
		states [3]protocol.State
		fail   bool
		want   string // the targets that are possible, with retries=3
	}{
		{[3]protocol.State{ready, readOnly, down}, false, "A"},
		{[3]protocol.State{readOnly, down, down}, false, "A"},
		{[3]protocol.State{down, readOnly, readOnly}, false, "B C"},
		{[3]protocol.State{ready, readOnly, down}, true, "AAAA"},
		{[3]protocol.State{readOnly, readOnly, down}, true, "ABAB BABA"},
		{[3]protocol.State{readOnly, down, down}, true, "AAAA"},
		{[3]protocol.State{ready, ready, readOnly}, true, "ABAB BABA"},
	} {
		for _, balance := range []string{"random", "roundrobin", "leastactive"} {
			var l log
			s := l.then(ok)
			if c.fail {
				s = l.then(failing(protocol.ErrNetwork, protocol.RetryPolicy))
			}
			w := newWorld(t, "retries=3&loadbalance="+balance, setup{}, s, s, s)
			for i, state := range c.states {
				w.endpoints[i].set(state)
			}
			_, err := w.call(t.Context(), "find")
			assert.Equal(t, c.fail, err != nil)
			assert.Contains(t, c.want, l.String(), "%v", c.states)
		}
	}
}

// A provider that goes down between attempts is not asked again.
func TestRetryAvoidsWhoWentDown(t *testing.T) {
	var w *world
	var l log
	w = newWorld(t, "retries=3&loadbalance=first", setup{config: withFirst}, l.then(failing(protocol.ErrNetwork, protocol.RetryPolicy)), l.then(ok))
	w.endpoints[1].set(protocol.ReadOnly)
	_, err := w.call(t.Context(), "find")
	require.ErrorIs(t, err, protocol.ErrNetwork)
	require.Equal(t, "AAAA", l.String(), "the only ready one")
	l.targets = nil
	w.endpoints[0].script = l.then(func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
		w.endpoints[0].set(protocol.Down)
		return nil, &protocol.Error{Code: protocol.ErrNetwork}
	})
	_, err = w.call(t.Context(), "find")
	require.NoError(t, err)
	assert.Equal(t, "AB", l.String())
}

// F26: sticky is per method, and does not depend on anything else.
func TestStickyPerMethod(t *testing.T) {
	w := newWorld(t, "find.sticky=true&count.sticky=true&loadbalance=roundrobin", setup{}, ok, ok, ok)
	find, other := target(t, w, "find"), target(t, w, "other")
	count := target(t, w, "count")
	seen := map[string]bool{other: true}
	for range 10 {
		assert.Equal(t, find, target(t, w, "find"))
		assert.Equal(t, count, target(t, w, "count"))
		seen[target(t, w, "other")] = true
	}
	assert.Len(t, seen, 3, "a method that is not sticky")
}

func TestStickyMoves(t *testing.T) {
	w := newWorld(t, "sticky=true&loadbalance=first&actives=1", setup{config: withFirst}, ok, ok, ok)
	a, b, c := "192.0.2.10:20880", "192.0.2.11:20880", "192.0.2.12:20880"
	at := func(want, why string) {
		t.Helper()
		assert.Equal(t, want, target(t, w, "find"), why)
	}
	at(a, "the first choice")
	s := w.nodes()[0].Status(w.methods.Slot("find"))
	s.Begin(1)
	at(b, "saturated: elsewhere")
	s.End(0, false)
	at(a, "and back")
	w.endpoints[0].set(protocol.Down)
	at(b, "gone: it moves")
	w.endpoints[0].set(protocol.Ready)
	at(b, "and stays")
	w.publish(w.nodes()[0], w.nodes()[2])
	at(a, "not in the list any more")
	w.publish(w.nodes()[1], w.nodes()[0])
	at(a, "a new list that has it")
	w.endpoints[0].script = failing(protocol.ErrNetwork, protocol.RetryPolicy)
	at(c, "failed: it moves")
	w.endpoints[0].script = ok
	at(c, "and stays")
}

// Routing narrows the list; a sticky method does not leave it.
func TestStickyWithinTheRoute(t *testing.T) {
	w := newWorld(t, "sticky=true", setup{config: func(c *cluster.Config) { c.Router = oddRouter{} }}, ok, ok)
	for range 3 {
		for tag, want := range map[string]string{"even": "192.0.2.10:20880", "odd": "192.0.2.11:20880"} {
			inv := w.invocation("find")
			inv.Tag = tag
			_, err := w.invoker.Invoke(t.Context(), inv)
			require.NoError(t, err)
			assert.Equal(t, want, inv.Result.Value)
		}
	}
}
