package cluster_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// last is a balancer that takes the last allowed provider.
type last struct{}

func (last) Select(c *protocol.Candidates, inv *protocol.Invocation) (n *protocol.Node) {
	for _, m := range c.Nodes() {
		if inv.Allows(m) {
			n = m
		}
	}
	return n
}

func withShadow(b loadbalance.LoadBalance) setup {
	return setup{config: func(cfg *cluster.Config) {
		withFirst(cfg)
		cfg.Balancers["other"] = func(loadbalance.Config) (loadbalance.LoadBalance, error) { return b, nil }
	}}
}

func (w *world) shadow() cluster.Shadow {
	w.t.Helper()
	all := w.cluster.Shadows()
	require.Len(w.t, all, 1)
	return all[0]
}

// A shadow is asked for what the load balancer is asked, and its answer is compared
// and not used.
func TestShadow(t *testing.T) {
	w := newWorld(t, "loadbalance=first&loadbalance.shadow=other", withShadow(last{}), ok, ok, ok)
	slot, nodes := w.methods.Slot("find"), w.nodes()
	for range 3 {
		nodes[0].Status(slot).Begin(0)
	}
	nodes[2].Status(slot).Begin(0)
	nodes[2].Status(slot).End(7*time.Millisecond, false)
	for range 10 {
		assert.Equal(t, nodes[0].Address(), target(t, w, "find"))
	}
	x := w.shadow()
	assert.Equal(t, []string{"find", "first", "other"}, []string{x.Method, x.LoadBalance, x.Shadow})
	assert.Equal(t, []any{int64(10), int64(0), int64(0), 0.0, true, false}, []any{x.Choices, x.Agreed, x.Abstained, x.Agreement, x.InForce, x.Disabled})
	assert.Equal(t, []cluster.ShadowProvider{
		{Address: nodes[0].Address(), Real: 10, RealShare: 1},
		{Address: nodes[1].Address()},
		{Address: nodes[2].Address(), Would: 10, WouldShare: 1},
	}, x.Providers)
	assert.Equal(t, 3.0, x.Real.Active)
	assert.Equal(t, cluster.ShadowFigures{Latency: 7 * time.Millisecond}, x.Would)

	// A provider that leaves keeps its figures, without a name; comparing goes on.
	w.publish(nodes[:2]...)
	w.endpoints[1].set(protocol.Down)
	target(t, w, "find")
	x = w.shadow()
	assert.Equal(t, []any{int64(11), int64(1)}, []any{x.Choices, x.Agreed})
	assert.Equal(t, []cluster.ShadowProvider{
		{Address: nodes[0].Address(), Real: 11, Would: 1, RealShare: 1, WouldShare: 1.0 / 11},
		{Address: nodes[1].Address()},
		{Would: 10, WouldShare: 10.0 / 11},
	}, x.Providers)
}

// One of so many choices is compared; methods are told apart, and only those that
// have a shadow are there.
func TestShadowSample(t *testing.T) {
	s := withShadow(last{})
	config := s.config
	s.config = func(cfg *cluster.Config) { config(cfg); cfg.Balancing.Rand = rand.New(rand.NewPCG(1, 2)).Uint64 }
	w := newWorld(t, "loadbalance=first&find.loadbalance.shadow=other&find.loadbalance.shadow.sample=5", s, ok, ok)
	for range 5000 {
		target(t, w, "find")
		target(t, w, "count")
	}
	x := w.shadow()
	assert.Equal(t, "find", x.Method)
	assert.InDelta(t, 1000, x.Choices, 150)
}

// The sample does not go by turns, in which it would meet one and the same provider.
func TestShadowSampleOfRotation(t *testing.T) {
	w := newWorld(t, "loadbalance=roundrobin&loadbalance.shadow=random&loadbalance.shadow.sample=3", setup{config: func(cfg *cluster.Config) {
		cfg.Balancing.Rand = rand.New(rand.NewPCG(1, 2)).Uint64
	}}, ok, ok, ok)
	for range 3000 {
		target(t, w, "find")
	}
	for _, p := range w.shadow().Providers {
		assert.InDelta(t, 1.0/3, p.RealShare, 0.06)
	}
}

// One that fails at once is not fast, neither to the load balancer in force nor to the
// one that would avoid it; how much failed, the figures say.
func TestShadowOfFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "retries=0&outlier=false&loadbalance.shadow=leastload", setup{config: func(cfg *cluster.Config) {
			cfg.Balancing.Rand = rand.New(rand.NewPCG(1, 2)).Uint64
		}}, failing(protocol.ErrNetwork, protocol.RetryPolicy), slow(10*time.Millisecond), slow(10*time.Millisecond))
		for range 3000 {
			_, _ = w.call(t.Context(), "find")
		}
		x := w.shadow()
		assert.InDelta(t, 1.0/3, x.Real.Failed, 0.05)
		assert.Less(t, x.Would.Failed, 0.03)
		for _, f := range []cluster.ShadowFigures{x.Real, x.Would} {
			assert.Equal(t, 10*time.Millisecond, f.Latency)
		}
	})
}

// Nothing is compared where no load balancer is asked, and asking for figures does
// not make any.
func TestShadowOfOne(t *testing.T) {
	w := newWorld(t, "loadbalance.shadow=roundrobin", setup{}, ok)
	target(t, w, "find")
	assert.Zero(t, w.shadow().Choices)
	assert.Zero(t, w.shadow().Real)
}

// A shadow that is what is in force compares nothing, which is said once, whatever
// lists and methods there are.
func TestShadowOfTheSameNameIsReported(t *testing.T) {
	for _, c := range []struct{ reference, provider string }{
		{"loadbalance=first&loadbalance.shadow=first", ""},
		{"find.loadbalance=first&loadbalance.shadow=first", ""},
		{"loadbalance.shadow=random", ""},
		{"loadbalance=true&loadbalance.shadow=random", ""},
		{"loadbalance=first", "find.loadbalance.shadow=first"},
	} {
		s := withShadow(last{})
		s.provider = []string{c.provider}
		w := newWorld(t, c.reference, s, ok, ok)
		for range 3 {
			target(t, w, "find")
			target(t, w, "count")
			w.publish(w.nodes()...)
		}
		logged := w.logs.FilterMessageSnippet("nothing to compare").All()
		require.Len(t, logged, 1, "%+v", c)
		fields := logged[0].ContextMap()
		assert.Equal(t, "loadbalance.shadow", fields["parameter"])
		assert.Contains(t, []string{"first", "random"}, fields["value"])
		assert.NotEmpty(t, fields["method"])
		assert.Equal(t, zapcore.WarnLevel, logged[0].Level)
	}
	w := newWorld(t, "loadbalance=first&loadbalance.shadow=other", withShadow(last{}), ok, ok)
	target(t, w, "find")
	assert.Zero(t, w.logs.FilterMessageSnippet("nothing to compare").Len())
}

// A shadow of the same name is an instance of its own: it takes no turn of the other.
func TestShadowOfTheSameName(t *testing.T) {
	w := newWorld(t, "loadbalance=roundrobin&loadbalance.shadow=roundrobin", setup{}, ok, ok, ok)
	var turns []string
	for range 6 {
		turns = append(turns, target(t, w, "find"))
	}
	assert.Equal(t, turns[:3], turns[3:])
	assert.ElementsMatch(t, []string{w.nodes()[0].Address(), w.nodes()[1].Address(), w.nodes()[2].Address()}, turns[:3])
	for _, p := range w.shadow().Providers {
		assert.Equal(t, []int64{2, 2}, []int64{p.Real, p.Would})
	}
}

// learner is a balancer that learns from calls.
type learner struct {
	last
	begun, ended []string
	panics       string
}

func (l *learner) Begun(inv *protocol.Invocation, _ *protocol.Life) {
	l.begun = append(l.begun, inv.Node.Address())
	l.odd("begun")
}

func (l *learner) Ended(inv *protocol.Invocation, o protocol.Outcome) {
	l.ended = append(l.ended, o.Verdict.String())
	l.odd("ended")
}

func (l *learner) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	l.odd("select")
	return l.last.Select(c, inv)
}

func (l *learner) odd(where string) {
	if l.panics == where {
		panic("odd")
	}
}

// A shadow learns from the real calls.
func TestShadowLearns(t *testing.T) {
	l := new(learner)
	w := newWorld(t, "loadbalance=first&loadbalance.shadow=other", withShadow(l), ok, ok)
	target(t, w, "find")
	assert.Equal(t, []string{w.nodes()[0].Address()}, l.begun)
	assert.Equal(t, []string{"succeeded"}, l.ended)
}

// A shadow that panics, wherever, fails no call: it is not asked any more, and that is
// logged once.
func TestShadowThatPanics(t *testing.T) {
	for _, where := range []string{"select", "begun", "ended"} {
		w := newWorld(t, "loadbalance=first&loadbalance.shadow=other", withShadow(&learner{panics: where}), ok, ok)
		for range 5 {
			target(t, w, "find")
			target(t, w, "count")
		}
		logged := w.logs.FilterMessageSnippet("it is not asked any more").All()
		require.Len(t, logged, 1, where)
		assert.Equal(t, "panic: odd", logged[0].ContextMap()["error"], where)
		assert.True(t, w.cluster.Shadows()[0].Disabled, where)
		assert.Equal(t, "panic: odd", w.cluster.Shadows()[0].Failure, where)
		assert.LessOrEqual(t, w.cluster.Shadows()[0].Choices, int64(1), where)
		assert.Zero(t, w.active(), where)
	}
}

// One that answers with nobody, or with somebody who is not there, abstains.
func TestShadowThatAbstains(t *testing.T) {
	for _, answer := range []func(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node{
		func(*protocol.Candidates, *protocol.Invocation) *protocol.Node { return nil },
		func(*protocol.Candidates, *protocol.Invocation) *protocol.Node { return new(protocol.Node) },
	} {
		w := newWorld(t, "loadbalance=first&loadbalance.shadow=other", withShadow(&asked{answer: answer}), ok, ok)
		target(t, w, "find")
		x := w.shadow()
		assert.Equal(t, []int64{1, 0, 1}, []int64{x.Choices, x.Agreed, x.Abstained})
		assert.Zero(t, x.Providers[0].WouldShare)
	}
}

// A name that nobody knows is an error in the reference, and ignored in a provider.
func TestUnknownShadow(t *testing.T) {
	u, err := url.Parse("consumer://192.0.2.1/com.example.DemoService?find.loadbalance.shadow=leastlod")
	require.NoError(t, err)
	var w world
	_, err = cluster.New(cluster.Config{Reference: u, Directory: &w, Methods: &w.methods})
	assert.ErrorContains(t, err, `parameter find.loadbalance.shadow: unknown load balancer "leastlod", did you mean "leastload"? (known: `)

	p := newWorld(t, "", setup{provider: []string{"loadbalance.shadow=leastlod"}}, ok, ok)
	for range 3 {
		target(t, p, "find")
		p.publish(p.nodes()...)
	}
	assert.Empty(t, p.cluster.Shadows())
	logged := p.logs.FilterMessageSnippet("load balancer that cannot be used").All()
	require.Len(t, logged, 1)
	assert.Equal(t, "loadbalance.shadow", logged[0].ContextMap()["parameter"])
}

// An override turns a shadow on and off; its figures stay.
func TestShadowByOverride(t *testing.T) {
	w := newWorld(t, "loadbalance=first", withShadow(last{}), ok, ok)
	set := func(kv ...string) {
		for _, n := range w.nodes() {
			n.Update(n.URL().With(kv...), n.Life().Start)
		}
		w.publish(w.nodes()...)
		target(t, w, "find")
	}
	set("loadbalance.shadow", "other")
	assert.Equal(t, int64(1), w.shadow().Choices)
	set("loadbalance.shadow", "")
	assert.Equal(t, []any{int64(1), false}, []any{w.shadow().Choices, w.shadow().InForce})
	set("loadbalance.shadow", "other")
	assert.Equal(t, []any{int64(2), true}, []any{w.shadow().Choices, w.shadow().InForce})
}
