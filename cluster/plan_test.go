package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// named makes balancers that note who was asked.
func named(made, used map[string]int, names ...string) setup {
	return setup{config: func(cfg *cluster.Config) {
		cfg.Balancers = map[string]loadbalance.Factory{}
		for _, name := range names {
			cfg.Balancers[name] = func(loadbalance.Config) (loadbalance.LoadBalance, error) {
				made[name]++
				return &asked{answer: func(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
					used[name]++
					return c.Nodes()[0]
				}}, nil
			}
		}
	}}
}

// F27: what most providers say holds; the parameters' precedence is that of the
// merged URL.
func TestLoadBalanceOfAMethod(t *testing.T) {
	for _, c := range []struct {
		reference string
		provider  []string
		want      string
	}{
		{"", []string{""}, "random"},
		{"loadbalance=a", []string{""}, "a"},
		{"", []string{"loadbalance=b"}, "b"},
		{"loadbalance=a", []string{"loadbalance=b"}, "a"},
		{"loadbalance=a", []string{"find.loadbalance=b"}, "b"},
		{"loadbalance=a&find.loadbalance=c", []string{"find.loadbalance=b"}, "c"},
		{"loadbalance=a&other.loadbalance=c", []string{""}, "a"},
		{"", []string{"loadbalance=a", "loadbalance=b", "loadbalance=b"}, "b"},
		{"", []string{"loadbalance=a", "loadbalance=b"}, "a"},                 // as many: the first
		{"", []string{"loadbalance=", "loadbalance=b", "loadbalance=c"}, "b"}, // what is stated
		{"", []string{"loadbalance=", "loadbalance=b", "loadbalance="}, "random"},
		{"loadbalance=true", []string{""}, "random"}, // as Java's ExtensionLoader has it
		{"loadbalance=a", []string{"find.loadbalance=true"}, "random"},
		{"", []string{"loadbalance=b", "loadbalance=b", "loadbalance=true", "loadbalance=true", "loadbalance="}, "random"},
	} {
		made, used := map[string]int{}, map[string]int{}
		s := named(made, used, "random", "a", "b", "c")
		s.provider = c.provider
		scripts := make([]script, max(2, len(c.provider)))
		for i := range scripts {
			scripts[i] = ok
		}
		w := newWorld(t, c.reference, s, scripts...)
		for range 3 {
			target(t, w, "find")
		}
		assert.Equal(t, map[string]int{c.want: 3}, used, "%+v", c)
		assert.Equal(t, 1, made[c.want], "made once")
	}
}

// Of what as many providers say, the fewest retries hold, in whatever order they come.
func TestRetriesOfAMethod(t *testing.T) {
	for _, c := range []struct {
		provider []string
		want     int
	}{
		{[]string{"retries=0", ""}, 0},
		{[]string{"", "retries=0"}, 0},
		{[]string{"", "retries=5"}, 2},
		{[]string{"retries=5", ""}, 2},
		{[]string{"retries=4", "retries=3", "retries=4"}, 4},
	} {
		w := newWorld(t, "", setup{provider: c.provider}, make([]script, len(c.provider))...)
		assert.Equal(t, c.want, w.cluster.Retries(w.methods.Slot("find")), "%q", c.provider)
	}
}

// What an override or a provider names later is taken; a name that nobody knows
// leaves what is in force, and is logged once.
func TestLoadBalanceChanges(t *testing.T) {
	made, used := map[string]int{}, map[string]int{}
	w := newWorld(t, "loadbalance=a", named(made, used, "random", "a", "b"), ok, ok)
	update := func(balance string) {
		for _, n := range w.nodes() {
			n.Update(n.URL().With("loadbalance", balance), n.Life().Start)
		}
		w.publish(w.nodes()...)
		target(t, w, "find")
		target(t, w, "count")
	}
	update("b")
	assert.Equal(t, 2, used["b"])
	for range 3 {
		update("nope")
	}
	assert.Equal(t, 8, used["b"])
	logged := w.logs.FilterMessageSnippet("load balancer").All()
	require.Len(t, logged, 1)
	assert.Contains(t, logged[0].ContextMap()["error"], `unknown load balancer "nope"`)
	update("a")
	assert.Equal(t, 2, used["a"])
	assert.Equal(t, map[string]int{"a": 1, "b": 1}, made)
}

// A provider that names an unknown one from the start: the reference's, or Dubbo's
// default.
func TestUnknownLoadBalanceOfAProvider(t *testing.T) {
	for reference, want := range map[string]string{"": "random", "loadbalance=a": "a"} {
		made, used := map[string]int{}, map[string]int{}
		s := named(made, used, "random", "a")
		s.provider = []string{"find.loadbalance=adaptivee"}
		w := newWorld(t, reference, s, ok, ok)
		target(t, w, "find")
		assert.Equal(t, map[string]int{want: 1}, used)
	}
}

// Unknown names in the reference are errors that show the way.
func TestUnknownNames(t *testing.T) {
	for parameters, want := range map[string][]string{
		"cluster=failovr":                    {`parameter cluster: unknown cluster "failovr", did you mean "failover"?`, "known: failfast, failover"},
		"cluster=zone":                       {`unknown cluster "zone" (known: failfast, failover)`},
		"loadbalance=leastactiv":             {`parameter loadbalance: unknown load balancer "leastactiv"`, `did you mean "leastactive"? (known: `, "roundrobin, shortestresponse"},
		"find.loadbalance=nope":              {`parameter find.loadbalance: unknown load balancer "nope"`},
		"loadbalance=Random":                 {`unknown load balancer "Random"`},
		"loadbalance=random&a.loadbalance=x": {`parameter a.loadbalance`},
	} {
		u, err := url.Parse("consumer://192.0.2.1/com.example.DemoService?" + parameters)
		require.NoError(t, err)
		var w world
		_, err = cluster.New(cluster.Config{Reference: u, Directory: &w, Methods: &w.methods})
		for _, text := range want {
			assert.ErrorContains(t, err, text, parameters)
		}
	}
	_, err := cluster.New(cluster.Config{})
	assert.ErrorContains(t, err, "required")
}

func TestFactoryErrors(t *testing.T) {
	var w world
	_, err := cluster.New(cluster.Config{Directory: &w, Methods: &w.methods, Clusters: map[string]cluster.Factory{
		"failover": func(cluster.Config) (cluster.Strategy, error) { return nil, errOdd },
	}})
	assert.ErrorIs(t, err, errOdd)
	assert.ErrorContains(t, err, `cluster "failover"`)
}

// A factory that makes nothing, or is nothing, is named when the cluster is made.
func TestFactoriesThatMakeNothing(t *testing.T) {
	var w world
	for want, cfg := range map[string]cluster.Config{
		`cluster "failover": its factory is nil`: {Clusters: map[string]cluster.Factory{"failover": nil}},
		`cluster "failover": its factory returned neither a strategy nor an error`: {Clusters: map[string]cluster.Factory{
			"failover": func(cluster.Config) (cluster.Strategy, error) { return nil, nil },
		}},
		`load balancer "random": its factory is nil`: {Balancers: map[string]loadbalance.Factory{"random": nil}},
		`load balancer "random": its factory returned neither a load balancer nor an error`: {Balancers: map[string]loadbalance.Factory{
			"random": func(loadbalance.Config) (loadbalance.LoadBalance, error) { return nil, nil },
		}},
	} {
		cfg.Directory, cfg.Methods = &w, &w.methods
		_, err := cluster.New(cfg)
		assert.ErrorContains(t, err, want)
	}
}

// Builtin maps belong to who asked for them.
func TestBuiltinIsFresh(t *testing.T) {
	m := cluster.Builtin()
	delete(m, "failover")
	assert.Contains(t, cluster.Builtin(), cluster.Default)
}
