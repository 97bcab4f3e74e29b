package cluster_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// traced collects the traces of one of so many calls.
func traced(every int) (*[]cluster.Trace, setup) {
	all := new([]cluster.Trace)
	return all, setup{config: func(cfg *cluster.Config) {
		withFirst(cfg)
		cfg.TraceEvery, cfg.Trace = every, func(t cluster.Trace) { *all = append(*all, t) }
	}}
}

func chosen(a cluster.TracedAttempt) (out []string) {
	for _, c := range a.Candidates {
		if c.Chosen {
			out = append(out, c.Address)
		}
	}
	return out
}

// A trace tells of every attempt where it went, how that was decided, and how it
// ended.
func TestTrace(t *testing.T) {
	all, s := traced(1)
	w := newWorld(t, "loadbalance=roundrobin", s, failing(protocol.ErrNetwork, protocol.RetryAlways), failing(protocol.ErrTimeout, protocol.RetryPolicy), ok)
	for range 3 {
		inv, err := w.call(t.Context(), "find")
		require.NoError(t, err)
		require.Len(t, *all, 1)
		x := (*all)[0]
		*all = nil
		assert.Equal(t, []any{"com.example.DemoService", "find", ""}, []any{x.Service, x.Method, x.Error})
		require.Len(t, x.Attempts, inv.Attempt)
		tried := map[string]bool{}
		for i, a := range x.Attempts {
			assert.Equal(t, i+1, a.Attempt)
			assert.Equal(t, []string{a.Provider}, chosen(a))
			assert.Equal(t, "roundrobin", a.LoadBalance)
			for _, c := range a.Candidates {
				assert.Equal(t, tried[c.Address], !c.Allowed, c.Refusal)
				if c.Chosen {
					assert.Equal(t, 1.0, c.Chance, "as it was before the choice: %s", c.Reason)
				}
			}
			tried[a.Provider] = true
			last := i == len(x.Attempts)-1
			assert.Equal(t, last, a.Outcome == "succeeded")
			assert.Equal(t, last, a.Error == "")
		}
	}
}

// One of so many calls is traced, whatever the order in which callers make them.
func TestTraceSample(t *testing.T) {
	all, s := traced(10)
	config := s.config
	s.config = func(cfg *cluster.Config) { config(cfg); cfg.Balancing.Rand = rand.New(rand.NewPCG(1, 2)).Uint64 }
	w := newWorld(t, "loadbalance=first", s, ok, ok)
	for range 5000 {
		target(t, w, "find")
		target(t, w, "count")
	}
	of := map[string]int{}
	for _, x := range *all {
		of[x.Method]++
	}
	assert.InDelta(t, 500, of["find"], 100)
	assert.InDelta(t, 500, of["count"], 100)
	assert.False(t, (*all)[0].Attempts[0].Explained)
	assert.Equal(t, []string{w.nodes()[0].Address()}, chosen((*all)[0].Attempts[0]))
}

// overtaken chooses the first, but explains a moment in which that was the last.
type overtaken struct{ first }

func (overtaken) Explain(c *protocol.Candidates, _ *protocol.Invocation) loadbalance.Explanation {
	x := loadbalance.Explanation{Candidates: make([]loadbalance.Candidate, c.Len())}
	for i, n := range c.Nodes() {
		x.Candidates[i] = loadbalance.Candidate{Node: n, Allowed: true}
	}
	x.Candidates[c.Len()-1].Chance = 1
	return x
}

// What others do between the explanation and the choice is not hidden.
func TestTraceOvertaken(t *testing.T) {
	all, s := traced(1)
	config := s.config
	s.config = func(cfg *cluster.Config) { config(cfg); withBalance(cfg, "overtaken", overtaken{}) }
	w := newWorld(t, "loadbalance=overtaken", s, ok, ok)
	target(t, w, "find")
	require.Len(t, *all, 1)
	a := (*all)[0].Attempts[0]
	assert.Equal(t, []string{w.nodes()[0].Address()}, chosen(a))
	assert.Equal(t, "the load balancer chooses; other calls changed what is compared before it did", a.Decision)
}

// A call that finds nobody, or meets a panic, has its trace.
func TestTraceOfFailures(t *testing.T) {
	all, s := traced(1)
	w := newWorld(t, "", s, func(context.Context, *protocol.Invocation) (*protocol.Result, error) { panic("odd") })
	_, err := w.call(t.Context(), "find")
	require.Error(t, err)
	w.publish()
	_, err = w.call(t.Context(), "find")
	require.ErrorIs(t, err, protocol.ErrNoProvider)
	require.Len(t, *all, 2)
	a := (*all)[0].Attempts[0]
	assert.Equal(t, []string{"neutral", "panic"}, []string{a.Outcome, a.Error})
	assert.Contains(t, (*all)[0].Error, "odd")
	require.Len(t, (*all)[1].Attempts, 1)
	a = (*all)[1].Attempts[0]
	assert.Equal(t, "", a.Provider)
	assert.Contains(t, a.Decision, "there is no provider")
}

// What the function that takes traces does is not the call's problem.
func TestTraceThatPanics(t *testing.T) {
	w := newWorld(t, "", setup{config: func(cfg *cluster.Config) { cfg.Trace = func(cluster.Trace) { panic("full") } }}, ok, ok)
	target(t, w, "find")
	logged := w.logs.FilterMessageSnippet("takes traces panicked").All()
	require.Len(t, logged, 1)
	assert.Equal(t, "panic: full", logged[0].ContextMap()["error"])
}

// Calls that wait say for how long.
func TestTraceOfWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, s := traced(1)
		w := newWorld(t, "actives=1&timeout=5000", s, ok, ok)
		slot, free := w.methods.Slot("find"), w.nodes()[1]
		for _, n := range w.nodes() {
			n.Status(slot).Begin(1)
		}
		time.AfterFunc(20*time.Millisecond, func() {
			free.Status(slot).End(time.Millisecond, false)
			free.Freed(slot)
		})
		assert.Equal(t, free.Address(), target(t, w, "find"))
		a := (*all)[0].Attempts[0]
		assert.Equal(t, []time.Duration{20 * time.Millisecond, 20 * time.Millisecond}, []time.Duration{a.Waited, a.Elapsed})
		assert.Equal(t, []string{free.Address()}, chosen(a))
	})
}

// The texts have all that a person looks for.
func TestTraceText(t *testing.T) {
	x := cluster.Explanation{
		Service: "com.example.DemoService", Method: "find", Attempt: 1, LoadBalance: "random", Origin: "the default",
		Explained: true, Decision: "the load balancer chooses",
		Funnel:     protocol.Funnel{Registered: 1, Enabled: 1, Routed: 1, Available: 1},
		Candidates: []cluster.Candidate{{Address: "192.0.2.1:20880", State: "ready", Chosen: true}},
	}
	a := cluster.TracedAttempt{Explanation: x, Provider: "192.0.2.1:20880", Waited: 20 * time.Millisecond, Elapsed: 320*time.Millisecond + 1, Outcome: "timed out", Error: "gofer: timeout: no answer"}
	assert.Equal(t, "attempt 1 at 192.0.2.1:20880: timed out after 320ms, of which it waited for a provider 20ms: gofer: timeout: no answer\n"+x.String(), a.String())

	nobody := cluster.TracedAttempt{Elapsed: time.Millisecond, Outcome: "neutral", Error: "gofer: canceled"}
	assert.Equal(t, "attempt: neutral after 1ms, no provider was found: gofer: canceled", nobody.String())

	call := cluster.Trace{
		Service: "com.example.DemoService", Method: "find", Start: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC),
		Elapsed: 321 * time.Millisecond, Attempts: []cluster.TracedAttempt{a, nobody}, Error: "gofer: canceled",
	}
	assert.Equal(t, "com.example.DemoService.find at 03:04:05.006: failed after 321ms in 2 attempts: gofer: canceled\n"+a.String()+"\n"+nobody.String(), call.String())
	call.Attempts, call.Error = call.Attempts[:1], ""
	assert.Equal(t, "com.example.DemoService.find at 03:04:05.006: succeeded after 321ms in 1 attempt\n"+a.String(), call.String())
}

// An answer of no use is told apart.
func TestTraceOfAUselessAnswer(t *testing.T) {
	all, s := traced(1)
	w := newWorld(t, "loadbalance=first", s, returns(errUseless), ok)
	_, err := w.call(t.Context(), "find")
	require.ErrorIs(t, err, protocol.ErrNotFound)
	require.Len(t, *all, 1)
	assert.Equal(t, "answered uselessly", (*all)[0].Attempts[0].Outcome)
}
