package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// What hashing takes from the providers' URLs, Dubbo's rules take, too.
func TestParamsOfHashing(t *testing.T) {
	calls := func(policy, key, value string) (all []int) {
		p := Provider{Count: 4}
		if key != "" {
			p.Params = map[string]string{key: value}
		}
		r, err := Run(t.Context(), &Scenario{Name: "keyed", Duration: 5 * time.Second, Settle: None, Rate: 400, Keys: &Keys{Count: 1000, Zipf: None}, Providers: []Provider{p}}, Options{Policy: policy, Seed: 1})
		require.NoError(t, err)
		for _, p := range r.Providers {
			if all = append(all, p.Calls); p.Calls == r.Requests {
				return []int{p.Calls} // all went to one
			}
		}
		return all
	}
	for _, policy := range []string{"consistenthash", "java-consistenthash"} {
		usual := calls(policy, "", "")
		assert.Len(t, usual, 4, policy)
		assert.Equal(t, usual, calls(policy, "hash.nodes", "160"), policy)
		assert.NotEqual(t, usual, calls(policy, "hash.nodes", "8"), policy)
		assert.NotEqual(t, usual, calls(policy, "call.hash.nodes", "8"), policy)
		assert.Len(t, calls(policy, "hash.arguments", "1"), 1, "%s: there is no second argument", policy)
		assert.Equal(t, usual, calls(policy, "hash.arguments", "-1,0,7"), policy)
		assert.NotEqual(t, usual, calls(policy, "hash.arguments", "0,0"), policy)
	}
}

// A name that is nearly that of a parameter is a slip of the pen, where nobody reads it.
func TestParamsThatAreMisspelt(t *testing.T) {
	s := &Scenario{Name: "slip", Duration: 5 * time.Second, Rate: 100, Providers: []Provider{{}, {Params: map[string]string{"warmpu": "0", "weigth": "50", "call.weihgt": "7", "zone": "here", "a.b": "c"}}}}
	require.NoError(t, s.Check(), "a load balancer of one's own may read all of them")
	_, err := Run(t.Context(), s, Options{})
	require.Error(t, err)
	for _, want := range []string{
		`scenario slip: providers[1].params.warmpu: gofer has no such parameter, did you mean "warmup"?`,
		`params.weigth: gofer has no such parameter, did you mean "weight"?`,
		`params.call.weihgt: gofer has no such parameter, did you mean "weight"?`,
	} {
		assert.ErrorContains(t, err, want)
	}
	assert.NotContains(t, err.Error(), "zone")
	own := map[string]loadbalance.Factory{"own": loadbalance.NewRandom}
	_, err = Run(t.Context(), s, Options{Policy: "own", Balancers: own})
	assert.NoError(t, err)
}

// Where nothing is hashed there is no argument to choose.
func TestParamsOfHashingWithoutKeys(t *testing.T) {
	_, err := Parse("x.yml", []byte("rate: 100\nproviders:\n  - {}\n  - params:\n      call.hash.arguments: 3\n"))
	assert.EqualError(t, err, "x.yml:5: providers[1].params.call.hash.arguments: has no effect: the scenario has no keys")
}

// A load balancer of one's own may read what gofer does not know.
func TestParamsOfOnesOwn(t *testing.T) {
	near := map[string]loadbalance.Factory{"near": func(loadbalance.Config) (loadbalance.LoadBalance, error) {
		return selector(func(list *protocol.Candidates, _ *protocol.Invocation) *protocol.Node {
			for _, n := range list.Nodes() {
				if n.URL().Param("zone") == "here" && n.URL().Param("shelf.row") == "3" {
					return n
				}
			}
			return nil
		}), nil
	}}
	s := &Scenario{Name: "zones", Duration: 5 * time.Second, Rate: 100, Providers: []Provider{
		{Params: map[string]string{"zone": "there"}}, {Params: map[string]string{"zone": "here", "shelf.row": "3"}},
	}}
	r, err := Run(t.Context(), s, Options{Policy: "near", Balancers: near})
	require.NoError(t, err)
	assert.Equal(t, r.Requests, r.Providers[1].Calls)
}
