package loadbalance_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// at adds a provider of an address.
func (f *fleet) at(address string, p params) *protocol.Node {
	f.made++
	n := protocol.NewNode(fmt.Sprint(f.made), url.New("dubbo", address, 0, "com.example.S", maps.Clone(p)), time.Time{}, &f.table, new(endpoint), nil)
	f.nodes = append(f.nodes, n)
	return n
}

// callOf is a call with arguments.
func (f *fleet) callOf(arguments ...any) *protocol.Invocation {
	inv := f.call()
	inv.Arguments = arguments
	return inv
}

func consistentHash(tb testing.TB) loadbalance.LoadBalance {
	lb, err := loadbalance.NewConsistentHash(loadbalance.Config{})
	require.NoError(tb, err)
	return lb
}

// owners are the nodes that keys go to.
func owners(lb loadbalance.LoadBalance, f *fleet, c *protocol.Candidates, keys []string) []*protocol.Node {
	out := make([]*protocol.Node, len(keys))
	for i, k := range keys {
		out[i] = lb.Select(c, f.callOf(k))
	}
	return out
}

func someKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("key-%d", i)
	}
	return keys
}

type pickVectors struct {
	Lists map[string][]string
	Keys  []string
	Picks []struct {
		List  string
		Nodes int
		Picks []int
	}
}

// Every key goes where Java sends it. The vectors have no bound (F7).
func TestVectorPicks(t *testing.T) {
	var v pickVectors
	readVectors(t, "consistenthash.json", &v)
	require.NotEmpty(t, v.Picks)
	for _, row := range v.Picks {
		t.Run(fmt.Sprintf("%s/%d", row.List, row.Nodes), func(t *testing.T) {
			require.Len(t, row.Picks, len(v.Keys))
			f := newFleet()
			for _, a := range v.Lists[row.List] {
				f.at(a, params{"hash.nodes": fmt.Sprint(row.Nodes)})
			}
			lb, c := consistentHash(t), f.list()
			for i, key := range v.Keys {
				for range 3 { // F7: also when it is asked for again
					require.Equal(t, row.Picks[i], f.index(t, lb.Select(c, f.callOf(key))), key)
				}
			}
		})
	}
}

// F7: the calls that Java's bounded variant was replayed with stay with their owners.
func TestNoBound(t *testing.T) {
	var v struct {
		pickVectors
		Bounded []struct {
			List  string
			Nodes int
			Calls []int
			Picks []int
		}
	}
	data, err := os.ReadFile("testdata/consistenthash.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &v))
	require.NotEmpty(t, v.Bounded)
	for _, row := range v.Bounded {
		i := slices.IndexFunc(v.Picks, func(p struct {
			List  string
			Nodes int
			Picks []int
		}) bool {
			return p.List == row.List && p.Nodes == row.Nodes
		})
		require.GreaterOrEqual(t, i, 0)
		f := newFleet()
		for _, a := range v.Lists[row.List] {
			f.at(a, nil)
		}
		lb, c := consistentHash(t), f.list()
		moved := 0
		for k, key := range row.Calls {
			n := f.index(t, lb.Select(c, f.callOf(v.Keys[key])))
			require.Equal(t, v.Picks[i].Picks[key], n)
			if n != row.Picks[k] {
				moved++
			}
		}
		assert.NotZero(t, moved, "the bounded variant does move keys")
	}
}

// Only the keys of providers that leave move, and those that go to ones that join;
// what else happens to a provider (weight, restart, order in the list) moves nothing.
func TestKeysStay(t *testing.T) {
	keys := someKeys(300)
	rapid.Check(t, func(t *rapid.T) {
		f := newFleet()
		for range rapid.IntRange(1, 15).Draw(t, "nodes") {
			f.add(weight(100), 0)
		}
		lb, err := loadbalance.NewConsistentHash(loadbalance.Config{})
		require.NoError(t, err)
		c := f.list()
		before := owners(lb, f, c, keys)
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			nodes := rapid.Permutation(f.nodes).Draw(t, "order")
			nodes = nodes[:rapid.IntRange(1, len(nodes)).Draw(t, "stay")]
			var joined []*protocol.Node
			for range rapid.IntRange(0, 3).Draw(t, "join") {
				joined = append(joined, f.node(weight(100), 0))
			}
			for _, n := range nodes {
				if rapid.Bool().Draw(t, "update") {
					n.Update(n.URL().With("weight", fmt.Sprint(rapid.IntRange(0, 200).Draw(t, "weight"))), f.clock.now())
				}
			}
			f.nodes = append(nodes, joined...)
			c = protocol.NewCandidates(f.nodes, c)
			after := owners(lb, f, c, keys)
			for i := range keys {
				if after[i] != before[i] {
					require.True(t, !slices.Contains(nodes, before[i]) || slices.Contains(joined, after[i]), "key %d has moved", i)
				}
			}
			require.Equal(t, owners(lb, f, protocol.NewCandidates(f.nodes, nil), keys), after, "as from a list without a past")
			before = after
		}
	})
}

// B081: lists made anew, in another order, have the keys where they were, and a
// ring is made once per set of addresses, not per list or call.
func TestRingPerSetOfAddresses(t *testing.T) {
	f := newFleet()
	for range 3 {
		f.add(weight(100), 0)
	}
	lb, c, keys := consistentHash(t), f.list(), someKeys(1000)
	want := owners(lb, f, c, keys)
	for range 100 {
		f.nodes = append(f.nodes[1:], f.nodes[0])
		c = protocol.NewCandidates(slices.Clone(f.nodes), c)
		require.Equal(t, want, owners(lb, f, c, keys))
	}
}

// A call that the owner may not serve goes to the next node on the ring, always the
// same, and comes home: nothing is built for it, retries and other methods included
// (F9), and the same with two nodes (B095).
func TestAwayAndHome(t *testing.T) {
	keys := someKeys(200)
	for _, n := range []int{2, 3, 10} {
		f := newFleet()
		for range n {
			f.add(params{"actives": "1"}, 0)
		}
		lb, c := consistentHash(t), f.list()
		home := owners(lb, f, c, keys)
		for i, key := range keys {
			rest := slices.DeleteFunc(slices.Clone(f.nodes), func(n *protocol.Node) bool { return n == home[i] })
			next := lb.Select(protocol.NewCandidates(rest, nil), f.callOf(key))

			retry := f.callOf(key)
			retry.MarkTried(home[i])
			require.Same(t, next, lb.Select(c, retry), "tried")

			setState(home[i], protocol.Down)
			require.Same(t, next, lb.Select(c, f.callOf(key)), "down")
			setState(home[i], protocol.Ready)

			status := home[i].Status(f.method.Slot)
			status.Begin(0)
			require.Same(t, next, lb.Select(c, f.callOf(key)), "saturated")
			status.End(time.Millisecond, false)
			require.Same(t, home[i], lb.Select(c, f.callOf(key)), "home again")

			other := &protocol.Invocation{Method: f.methodOf("save"), Arguments: []any{key}}
			require.Same(t, home[i], lb.Select(c, other), "another method, the same ring")
		}
	}
}

// F8: one provider, several on one address or nobody to go to: every pick ends, and
// nodes of one address stand in for each other.
func TestSharedAddresses(t *testing.T) {
	f := newFleet()
	first := f.at("10.0.0.1:20880", params{"group": "a"})
	second := f.at("10.0.0.1:20880", params{"group": "b"})
	lb, c := consistentHash(t), f.list()
	for _, key := range someKeys(100) {
		for range 3 {
			require.Same(t, second, lb.Select(c, f.callOf(key)), "Java's: the last in the list")
		}
		retry := f.callOf(key)
		retry.MarkTried(second)
		require.Same(t, first, lb.Select(c, retry))
		retry.MarkTried(first)
		require.Nil(t, lb.Select(c, retry))
	}
	f.at("10.0.0.2:20880", nil)
	setState(second, protocol.Down)
	c = protocol.NewCandidates(f.nodes, c)
	shares := f.picks(t, lb, c, f.callOf("x"), 10)
	assert.Equal(t, 10, shares[0]+shares[2])
	assert.Nil(t, lb.Select(protocol.NewCandidates(nil, c), f.callOf("x")))
}

// F27: what most providers say counts, not what the first says, by method if need
// be, and a change counts at once in the list that is in use.
func TestParametersOfMost(t *testing.T) {
	f := newFleet()
	odd := f.at("10.0.0.1:20880", params{"hash.arguments": "1", "hash.nodes": "8"})
	for i := range 4 {
		f.at(fmt.Sprintf("10.0.0.%d:20880", i+2), params{"hash.arguments": "0", "hash.nodes": "320", "save.hash.arguments": "0,1"})
	}
	plain := newFleet()
	for _, n := range f.nodes {
		plain.at(n.Address(), params{"hash.nodes": "320"})
	}
	lb, c, all := consistentHash(t), f.list(), plain.list()
	save := f.methodOf("save")
	check := func(want func(a, b string) []any, method *protocol.Method) {
		t.Helper()
		for i, a := range someKeys(100) {
			b := fmt.Sprint("other-", i)
			inv := f.callOf(a, b)
			inv.Method = method
			require.Equal(t, plain.index(t, lb.Select(all, plain.callOf(want(a, b)...))), f.index(t, lb.Select(c, inv)))
		}
	}
	onlyFirst := func(a, _ string) []any { return []any{a} }
	onlySecond := func(_, b string) []any { return []any{b} }
	check(onlyFirst, f.method)
	check(func(a, b string) []any { return []any{a + b} }, save)

	for _, n := range f.nodes[1:3] { // three of five now
		n.Update(n.URL().With("hash.arguments", "1"), n.Life().Start)
	}
	check(onlySecond, f.method)
	odd.Update(odd.URL().With("hash.arguments", "0"), odd.Life().Start)
	check(onlyFirst, f.method)
}

// B083: keys spread over all providers, with the second argument if it counts.
func TestKeysSpread(t *testing.T) {
	for arguments, call := range map[string]func(f *fleet, i int) *protocol.Invocation{
		"0":   func(f *fleet, i int) *protocol.Invocation { return f.callOf(int64(i)) },
		"0,1": func(f *fleet, i int) *protocol.Invocation { return f.callOf("same", int64(i)) },
	} {
		f := newFleet()
		for range 4 {
			f.add(params{"hash.arguments": arguments}, 0)
		}
		lb, c := consistentHash(t), f.list()
		counts := make([]int, 4)
		for i := range 1000 {
			counts[f.index(t, lb.Select(c, call(f, i)))]++
		}
		for _, n := range counts {
			assert.True(t, 150 <= n && n <= 350, "%v", counts)
		}
	}
}

// B085: values that break Java's ring are reported by the URL, and the ring stands.
func TestOddParameters(t *testing.T) {
	for name, tc := range map[string]struct {
		params params
		as     params
		bad    bool
	}{
		"nodes 163":       {params{"hash.nodes": "163"}, params{"hash.nodes": "160"}, false},
		"nodes 4":         {params{"hash.nodes": "4"}, params{"hash.nodes": "7"}, false},
		"nodes 2":         {params{"hash.nodes": "2"}, params{"hash.nodes": "160"}, true},
		"nodes -1":        {params{"hash.nodes": "-1"}, params{"hash.nodes": "160"}, true},
		"nodes many":      {params{"hash.nodes": "many"}, params{"hash.nodes": "160"}, true},
		"arguments a":     {params{"hash.arguments": "a"}, nil, true},
		"arguments 0,,1":  {params{"hash.arguments": "0,,1"}, params{"hash.arguments": "0,1"}, false},
		"arguments 0 , 1": {params{"hash.arguments": "0 , 1"}, params{"hash.arguments": "0,1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f, as := newFleet(), newFleet()
			for range 5 {
				f.add(tc.params, 0)
				as.add(tc.as, 0)
			}
			_, problems := url.CompileMethod(f.nodes[0].URL(), methodName)
			assert.Equal(t, tc.bad, len(problems) > 0, "%v", problems)
			lb, c, asc := consistentHash(t), f.list(), as.list()
			for i, key := range someKeys(100) {
				require.Equal(t, as.index(t, lb.Select(asc, as.callOf(key, i))), f.index(t, lb.Select(c, f.callOf(key, i))))
			}
		})
	}
}

// F24: an application with its own key is rid of joined texts and of methods without
// arguments.
func TestOwnKey(t *testing.T) {
	f := newFleet()
	for range 5 {
		f.add(nil, 0)
	}
	lb, err := loadbalance.ConsistentHashBy(func(inv *protocol.Invocation) string { return inv.Attachment("tenant") })(loadbalance.Config{})
	require.NoError(t, err)
	java, c := consistentHash(t), f.list()
	used := map[*protocol.Node]bool{}
	for _, key := range someKeys(100) {
		inv := f.call() // no arguments
		inv.Attach("tenant", key)
		n := lb.Select(c, inv)
		require.Same(t, java.Select(c, f.callOf(key)), n, "on the same ring")
		used[n] = true
		require.Same(t, java.Select(c, f.call()), java.Select(c, inv), "Java's key is the same for all")
	}
	assert.Len(t, used, 5)
}

// Picks during changes see one whole ring: a key goes to its owner in the list that
// the pick was given, or, after a change of that, to the new one.
func TestPicksDuringChanges(t *testing.T) {
	f := newFleet()
	for range 20 {
		f.add(weight(100), 0)
	}
	keys := someKeys(50)
	lists := [][]*protocol.Node{f.nodes, f.nodes[1:], f.nodes[:12], append(slices.Clone(f.nodes[5:]), f.nodes[0])}
	oracle := consistentHash(t)
	want := map[*protocol.Candidates][]*protocol.Node{}
	var chain []*protocol.Candidates
	var before *protocol.Candidates
	for i := range 200 {
		before = protocol.NewCandidates(lists[i%len(lists)], before)
		chain = append(chain, before)
		want[before] = owners(oracle, f, protocol.NewCandidates(lists[i%len(lists)], nil), keys)
	}
	lb := consistentHash(t).(interface {
		loadbalance.LoadBalance
		loadbalance.Preparer
	})
	var current atomic.Pointer[protocol.Candidates]
	current.Store(chain[0])
	var pickers, changer sync.WaitGroup
	changer.Go(func() {
		for i, c := range chain {
			if i%2 == 0 {
				lb.Prepare(c, f.method.Slot)
			}
			n := f.nodes[i%20]
			n.Update(n.URL().With("weight", fmt.Sprint(i)), f.clock.now())
			current.Store(c)
		}
	})
	for range 4 {
		pickers.Go(func() {
			for i := range 3000 {
				c := current.Load()
				k := i % len(keys)
				assert.Same(t, want[c][k], lb.Select(c, f.callOf(keys[k])))
			}
		})
	}
	pickers.Wait()
	changer.Wait()
}

// Without MD5 the strategy is refused when it is made, not at the first call.
func TestConsistentHashWithoutMD5(t *testing.T) {
	if os.Getenv("GOFER_TEST_FIPS") == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestConsistentHashWithoutMD5$", "-test.v")
		cmd.Env = append(os.Environ(), "GOFER_TEST_FIPS=1", "GODEBUG=fips140=only")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), "--- PASS: TestConsistentHashWithoutMD5")
		return
	}
	_, err := loadbalance.NewConsistentHash(loadbalance.Config{})
	require.Error(t, err)
	require.True(t, strings.Contains(err.Error(), "FIPS 140-only"), err)
}

// What is explained is what happens, and the ranks are the way of a call from one
// provider to the next.
func TestExplainedRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.inv.Arguments = []any{rapid.Int64().Draw(t, "key")}
		lb, err := loadbalance.NewConsistentHash(loadbalance.Config{})
		require.NoError(t, err)
		chosen := lb.Select(w.list, w.inv)
		x := lb.(loadbalance.Explainer).Explain(w.list, w.inv)
		require.NotEmpty(t, x.Rule)
		require.Len(t, x.Candidates, len(w.nodes))
		byRank := make([]*protocol.Node, len(w.nodes))
		for i, c := range x.Candidates {
			require.Same(t, w.nodes[i], c.Node)
			require.Equal(t, w.inv.Allows(c.Node), c.Allowed)
			require.Equal(t, c.Node == chosen, c.Chance == 1)
			var rank int
			_, err := fmt.Sscanf(c.Reason, "no. %d", &rank)
			require.NoError(t, err, c.Reason)
			require.Nil(t, byRank[rank-1])
			byRank[rank-1] = c.Node
		}
		call := w.callOf(w.inv.Arguments...)
		call.SetRelax(protocol.RelaxState | protocol.RelaxSaturated)
		for _, n := range byRank {
			if call.Allows(n) {
				require.Same(t, n, lb.Select(w.list, call))
				call.MarkTried(n)
			}
		}
		require.Nil(t, lb.Select(w.list, call))
	})
	empty := consistentHash(t).(loadbalance.Explainer).Explain(protocol.NewCandidates(nil, nil), newFleet().call())
	assert.NotEmpty(t, empty.Rule)
	assert.Empty(t, empty.Candidates)
}
