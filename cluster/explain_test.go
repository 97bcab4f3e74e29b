package cluster_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/protocol"
)

func (w *world) explain(method string) cluster.Explanation {
	w.t.Helper()
	x, err := w.cluster.Explain(w.invocation(method))
	require.NoError(w.t, err)
	return x
}

func chances(x cluster.Explanation) (out []float64) {
	for _, c := range x.Candidates {
		out = append(out, c.Chance)
	}
	return out
}

// Everything that a decision depends on is told.
func TestExplain(t *testing.T) {
	s := setup{provider: []string{"weight=100", "weight=300", "weight=100&actives=1", "weight=100"}}
	w := newWorld(t, "", s, ok, ok, ok, ok)
	nodes := w.nodes()
	w.endpoints[3].set(protocol.Down)
	w.endpoints[3].reason = errOdd
	slot := w.methods.Slot("find")
	nodes[2].Status(slot).Begin(1)
	nodes[0].Status(slot).Begin(0)
	nodes[0].Status(slot).End(20*time.Millisecond, false)
	nodes[0].Status(slot).Begin(0)
	nodes[0].Status(slot).End(40*time.Millisecond, true)

	x := w.explain("find")
	assert.Equal(t, []string{"random", "the default", "at random by weight", "the load balancer chooses"},
		[]string{x.LoadBalance, x.Origin, x.Rule, x.Decision})
	assert.True(t, x.Explained)
	assert.Equal(t, []float64{0.25, 0.75, 0, 0}, chances(x))
	c := x.Candidates[0]
	assert.Equal(t, []any{nodes[0].Address(), "ready", true, 100, 100, true, int64(2), int64(1), 30 * time.Millisecond, true},
		[]any{c.Address, c.State, c.Allowed, c.Weight, c.FullWeight, c.WeightUsed, c.Total, c.Failed, c.Latency, c.LatencyMeasured})
	c = x.Candidates[2]
	assert.Equal(t, []any{false, 1, 1, "its 1 slot of actives is in use"}, []any{c.Allowed, c.Active, c.Actives, c.Refusal})
	c = x.Candidates[3]
	assert.Equal(t, []any{false, "down", "not connected: " + errOdd.Error()}, []any{c.Allowed, c.State, c.Refusal})
	assert.Equal(t, [3]int{4, 4, 3}, [3]int{x.Funnel.Enabled, x.Funnel.Routed, x.Funnel.Available})

	for range 4 {
		assert.Equal(t, chances(x), chances(w.explain("find")))
	}
	assert.Equal(t, 1, w.active(), "nothing was called")
	_, err := json.Marshal(x)
	assert.NoError(t, err)
}

// An explanation takes no turn: the next call goes where it said.
func TestExplainedTurn(t *testing.T) {
	w := newWorld(t, "loadbalance=roundrobin", setup{}, ok, ok, ok)
	for range 10 {
		x := w.explain("find")
		w.explain("find")
		assert.Equal(t, "the reference", x.Origin)
		got := target(t, w, "find")
		for _, c := range x.Candidates {
			assert.Equal(t, c.Address == got, c.Chance == 1, c.Reason)
		}
	}
}

// Where no load balancer is asked the explanation says so.
func TestExplainedWithoutBalancer(t *testing.T) {
	for name, c := range map[string]struct {
		parameters string
		prepare    func(w *world)
		decision   string
		chances    []float64
	}{
		"none":        {"", func(w *world) { w.publish() }, "there is no provider: check that a provider", nil},
		"all down":    {"", func(w *world) { w.endpoints[0].set(protocol.Down); w.endpoints[1].set(protocol.Down) }, "there is no provider: no connection to any", []float64{0, 0}},
		"one":         {"", func(w *world) { w.publish(w.nodes()[0]) }, "there is one candidate", []float64{1}},
		"read-only":   {"loadbalance=roundrobin", func(w *world) { w.endpoints[0].set(protocol.ReadOnly) }, "the load balancer chooses", []float64{0, 1}},
		"all so":      {"", func(w *world) { w.endpoints[0].set(protocol.ReadOnly); w.endpoints[1].set(protocol.ReadOnly) }, "the load balancer chooses", []float64{0.5, 0.5}},
		"sticky":      {"sticky=true&loadbalance=first", func(w *world) { _, _ = w.call(w.t.Context(), "find") }, "the method is sticky: it stays", []float64{1, 0}},
		"sticky, new": {"sticky=true", func(*world) {}, "the method is sticky: it will stay", []float64{0.5, 0.5}},
		"own":         {"loadbalance=first", func(*world) {}, "the load balancer chooses; it does not explain itself", []float64{0, 0}},
		"busy": {"actives=1", func(w *world) {
			for _, n := range w.nodes() {
				n.Status(w.methods.Slot("find")).Begin(1)
			}
		}, "nobody can be called now", []float64{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.parameters, setup{config: withFirst}, ok, ok)
			c.prepare(w)
			x := w.explain("find")
			assert.Contains(t, x.Decision, c.decision)
			assert.Equal(t, c.chances, chances(x))
			assert.Equal(t, name != "own", x.Explained)
			assert.NotEmpty(t, x.String())
		})
	}
}

func TestExplainedOrigin(t *testing.T) {
	for _, c := range []struct {
		reference string
		provider  []string
		balance   string
		want      string
	}{
		{"", []string{""}, "random", "the default"},
		{"loadbalance=roundrobin", []string{""}, "roundrobin", "the reference"},
		{"find.loadbalance=roundrobin", []string{"loadbalance=leastactive"}, "roundrobin", "the reference"},
		{"loadbalance=true", []string{""}, "random", "the reference"},
		{"", []string{"loadbalance=true"}, "random", "all providers"},
		{"", []string{"loadbalance=leastactive"}, "leastactive", "all providers"},
		{"", []string{"loadbalance=leastactive", "loadbalance=leastactive", "loadbalance=random"}, "leastactive", "2 of 3 providers"},
		{"", []string{"loadbalance=nope"}, "random", "in force before; what most providers name cannot be used"},
	} {
		w := newWorld(t, c.reference, setup{provider: c.provider}, ok, ok, ok)
		x := w.explain("find")
		assert.Equal(t, []string{c.balance, c.want}, []string{x.LoadBalance, x.Origin}, "%+v", c)
	}
}

// A router or load balancer that panics is an error, no more.
func TestExplainThatPanics(t *testing.T) {
	w := newWorld(t, "", setup{config: func(cfg *cluster.Config) { cfg.Router = panicking{} }}, ok, ok)
	x, err := w.cluster.Explain(w.invocation("find"))
	assert.ErrorContains(t, err, "no way")
	assert.Empty(t, x.String(), "nothing that could mislead")
	x.Funnel.Note = "the registry is away"
	assert.Empty(t, x.String())
}

type panicking struct{}

func (panicking) Route(*protocol.Candidates, *protocol.Invocation) (*protocol.Candidates, string) {
	panic("no way")
}

func TestExplanationText(t *testing.T) {
	x := cluster.Explanation{
		Service: "com.example.DemoService", Method: "find", Attempt: 2, LoadBalance: "leastactive", Origin: "the reference",
		Rule: "the least", Explained: true, Decision: "the load balancer chooses",
		Funnel: protocol.Funnel{Registered: 2, Enabled: 2, Routed: 2, Available: 2},
		Candidates: []cluster.Candidate{
			{Address: "192.0.2.1:20880", State: "ready", Weight: 37, FullWeight: 100, Warming: true, Uptime: 222 * time.Second, WeightUsed: true,
				Active: 2, Actives: 5, Latency: 12345678, Total: 7, Failed: 1, Score: 0.03, Scored: true, Chance: 1, Chosen: true, Reason: "nobody has less"},
			{Address: "192.0.2.2:20880", State: "ready", Ejected: true, Weight: 100, FullWeight: 100,
				Latency: 1e6, LatencyMeasured: true, Reason: "ejected after 5 failures"},
		},
	}
	assert.Equal(t, `com.example.DemoService.find, attempt 2: leastactive (the reference), the least
the load balancer chooses
registered 2 → enabled 2 → routed 2 → available 2
   provider         state           weight               active  latency   failed  score  chance   why
→  192.0.2.1:20880  ready           37 of 100, up 3m42s  2 of 5  12.35ms   1 of 7  0.03   100.0 %  nobody has less
   192.0.2.2:20880  ready, ejected  100, not used        0       1ms mean  0 of 0  -      0.0 %    ejected after 5 failures`, x.String())
	x.Candidates = make([]cluster.Candidate, 1000)
	assert.Contains(t, x.String(), "and 950 more")
}
