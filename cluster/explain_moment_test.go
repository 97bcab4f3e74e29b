package cluster_test

import (
	"fmt"
	"maps"
	"slices"
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

// flickering is a connection in another state at every look, or at every third.
type flickering struct {
	endpoint
	every, looks int
}

func (f *flickering) State() protocol.State {
	f.looks++
	if f.looks/f.every%2 == 0 {
		return protocol.Ready
	}
	return protocol.Down
}

// An explanation is of one moment: whatever changes while it is made, chances go to
// those who can be called, all of them, and every provider has its reason.
func TestExplanationIsOfOneMoment(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(loadbalance.Builtin())) {
		w := newWorld(t, "loadbalance="+name, setup{})
		var nodes []*protocol.Node
		for i := range 5 {
			u, err := url.Parse(fmt.Sprintf("dubbo://192.0.2.%d:20880/com.example.DemoService", 10+i))
			require.NoError(t, err)
			nodes = append(nodes, protocol.NewNode(u.Address(), url.Merge(u, w.reference), time.Time{}, &w.methods, &flickering{every: 1 + i}, nil))
		}
		w.publish(nodes...)
		for range 100 {
			x := w.explain("find")
			sum, allowed := 0.0, 0
			for _, c := range x.Candidates {
				sum += c.Chance
				assert.Equal(t, c.Allowed, c.State == "ready", "%s: %s", name, x)
				assert.Equal(t, c.Allowed, c.Refusal == "", "%s: %s", name, x)
				assert.NotEmpty(t, c.Reason, "%s: %s", name, x)
				if c.Allowed {
					allowed++
				} else {
					assert.Zero(t, c.Chance, "%s: %s", name, x)
				}
			}
			assert.InDelta(t, float64(min(1, allowed)), sum, 1e-9, "%s: %s", name, x)
		}
	}
}

// The calls under way are those of the method, as its limit counts them, whatever the
// load balancer counts.
func TestExplainedCallsOfAllMethods(t *testing.T) {
	for _, name := range []string{"leastload", "ringload", "leastactive"} {
		w := newWorld(t, "actives=3&loadbalance="+name, setup{}, ok, ok)
		n := w.nodes()[0]
		begin := func(method string) {
			inv := w.invocation(method)
			inv.StartAttempt(n, time.Now(), time.Time{})
			n.Status(inv.Method.Slot).Begin(3)
			for _, o := range n.Observers() {
				o.Begun(inv, n.Life())
			}
		}
		for range 3 {
			begin("find")
		}
		begin("count")
		c := w.explain("count").Candidates[0]
		assert.Equal(t, []int{1, 3}, []int{c.Active, c.Actives}, name)
		if name == "leastactive" {
			assert.Equal(t, 1, c.Counted)
			assert.Contains(t, c.Reason, "2 calls with this one")
			continue
		}
		assert.Equal(t, 4, c.Counted)
		assert.Contains(t, c.Reason, "5 calls of all methods with this one")
	}
}

// A method that nobody has called is explained by its own parameters and by what is
// known of the providers, and nothing is left of that: no name, no counters, no shadow,
// no load balancer that observes calls, no line in the log.
func TestExplainWithoutTrace(t *testing.T) {
	made := 0
	lb := &learning{}
	w := newWorld(t, "outlier.failures=1&loadbalance=leastload&loadbalance.shadow=random&rare.actives=7&odd.sticky=true", setup{
		provider: []string{"lazy.loadbalance=lazy&none.loadbalance=nope"},
		config: func(cfg *cluster.Config) {
			cfg.Balancers = loadbalance.Builtin()
			cfg.Balancers["lazy"] = func(loadbalance.Config) (loadbalance.LoadBalance, error) { made++; return lb, nil }
		},
	}, ok, ok, failing(protocol.ErrNetwork, protocol.RetryPolicy))
	for range 20 {
		_, _ = w.call(t.Context(), "find")
	}
	require.True(t, w.nodes()[2].Ejected())
	names := slices.Clone(w.methods.Names())
	counted := func() (all []string) {
		for _, n := range w.nodes() {
			for slot, s := range n.Life().Statuses {
				all = append(all, fmt.Sprint(n.Address(), slot, s.Counters()))
			}
		}
		return all
	}
	statuses, observers, lines := counted(), len(w.nodes()[0].Observers()), w.logs.Len()
	unknown := func(method string) cluster.Explanation {
		x, err := w.cluster.Explain(&protocol.Invocation{Method: &protocol.Method{Service: "com.example.DemoService", Name: method, Slot: -1}})
		require.NoError(t, err)
		return x
	}
	for i := range 2 * protocol.MaxMethods {
		x := unknown(fmt.Sprint("typo", i))
		require.Equal(t, "leastload", x.LoadBalance)
		require.Len(t, x.Candidates, 3)
	}
	x := unknown("rare")
	for i, c := range x.Candidates {
		assert.Equal(t, []int{0, 7}, []int{c.Active, c.Actives})
		assert.Equal(t, i == 2, c.Ejected)
		assert.Equal(t, i != 2, c.Allowed)
	}
	assert.Equal(t, 1.0, x.Candidates[0].Chance+x.Candidates[1].Chance, "%s", x)
	assert.Equal(t, []string{"rare", "the reference"}, []string{x.Method, x.Origin})
	assert.Contains(t, unknown("odd").Decision, "sticky: it will stay")
	assert.Equal(t, []string{"lazy", "all providers"}, []string{unknown("lazy").LoadBalance, unknown("lazy").Origin})
	assert.Equal(t, "leastload", unknown("none").LoadBalance)

	assert.Equal(t, names, w.methods.Names())
	assert.Equal(t, statuses, counted())
	assert.Len(t, w.cluster.Shadows(), 1)
	assert.Len(t, w.nodes()[0].Observers(), observers)
	assert.Equal(t, lines, w.logs.Len())
	assert.Empty(t, lb.seen)
	made = 0
	target(t, w, "lazy")
	assert.Equal(t, 1, made, "and then it is made for good")
	assert.NotEmpty(t, lb.seen)
}

// What is explained of a method's first call is what that call finds.
func TestExplainedFirstCall(t *testing.T) {
	w := newWorld(t, "loadbalance=roundrobin", setup{}, ok, ok, ok, ok)
	for i := range 20 {
		method := fmt.Sprint("m", i)
		x, err := w.cluster.Explain(&protocol.Invocation{Method: &protocol.Method{Name: method, Slot: -1}})
		require.NoError(t, err)
		got := target(t, w, method)
		for _, c := range x.Candidates {
			assert.Equal(t, c.Address == got, c.Chance == 1, c.Reason)
		}
	}
}

// A provider whose trial is due gets the first call of a method, too, and being asked
// about it is no trial.
func TestExplainedFirstCallIsTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "loadbalance=first&outlier.failures=1&outlier.pause=100", setup{config: withFirst}, failing(protocol.ErrNetwork, protocol.RetryPolicy), ok)
		target(t, w, "find")
		bad := w.nodes()[0]
		require.True(t, bad.Ejected())
		time.Sleep(time.Second)
		for range 3 {
			x, err := w.cluster.Explain(&protocol.Invocation{Method: &protocol.Method{Name: "count", Slot: -1}})
			require.NoError(t, err)
			assert.Equal(t, []float64{1, 0}, chances(x), "%s", x)
		}
		assert.True(t, bad.Ejected())
		inv, err := w.call(t.Context(), "count")
		require.NoError(t, err)
		assert.Equal(t, 2, inv.Attempt, "the first was the trial")
	})
}
