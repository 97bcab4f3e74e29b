package gofer_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
	"github.com/gofer-rpc/gofer/url"
)

var (
	chaosDuration = flag.Duration("chaos.duration", 5*time.Second, "how long TestChaos makes trouble; in memory it is four times as long")
	chaosSeed     = flag.Uint64("chaos.seed", 0, "seed of TestChaos; 0 takes a new one")
)

// TestChaos makes trouble for the duration of -chaos.duration: the registry is cut,
// frozen, refuses, expires sessions, fails requests and loses directories, providers are killed, stopped,
// frozen, restarted, registered anew, slow or talk nonsense, while calls run and
// references come and go. Then everything heals, and nothing may be wrong any more or
// left over. Over sockets that takes its time; in memory virtual time goes by.
func TestChaos(t *testing.T) {
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64() | 1
	}
	t.Logf("again with: go test -run '^TestChaos$' -chaos.duration=%v -chaos.seed=%d .", *chaosDuration, seed)
	t.Run("sockets", func(t *testing.T) {
		startDemo(t, "").Close() // Go opens what it keeps open for the network
		before, ignore := openFiles(t), goleak.IgnoreCurrent()
		runChaos(t, seed, false, *chaosDuration)
		awaitTruth(t, "the descriptors of before", func() bool { return openFiles(t) <= before })
		goleak.VerifyNone(t, ignore)
	})
	t.Run("memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { runChaos(t, seed, true, 4**chaosDuration) })
	})
}

const (
	chaosServices = 2
	chaosEach     = 4 // providers of a service; the first one is spared
	chaosSession  = 3 * time.Second
)

// chaosReferences are declared over the services in turn.
var chaosReferences = []string{
	"loadbalance=roundrobin&retries=0&timeout=200",
	"loadbalance=random&retries=1&timeout=300",
	"loadbalance=leastactive&actives=3&retries=2&timeout=200",
	"loadbalance=random&sticky=true&cluster=failfast&timeout=100",
}

// chaos is a registry, its providers, and a client that has to cope.
type chaos struct {
	t         *testing.T
	seed      uint64
	memory    bool
	slack     time.Duration // for the machine
	zk        *zktest.Server
	providers []*chaosProvider
	client    *gofer.Client
	texts     []string
	refs      []*gofer.Reference
	over      chan struct{} // closed when the trouble ends
	agents    sync.WaitGroup
	calls     chaosCalls
	deleted   [chaosServices]atomic.Bool // the directory of a service, once at least
}

func runChaos(t *testing.T, seed uint64, memory bool, duration time.Duration) {
	c := newChaos(t, seed, memory)
	c.start()
	<-time.After(duration)
	close(c.over)
	c.agents.Wait()
	c.heal()
	begun := time.Now()
	c.truth()
	t.Logf("seed %d: %v; all is well %v after the end", seed, &c.calls, time.Since(begun).Round(time.Millisecond))
	c.close()
}

func newChaos(t *testing.T, seed uint64, memory bool) *chaos {
	c := &chaos{t: t, seed: seed, memory: memory, slack: 5 * time.Second, over: make(chan struct{})}
	server := []zktest.Option{zktest.WithSessionLimits(time.Second, chaosSession)}
	if memory {
		server, c.slack = append(server, zktest.InMemory()), 10*time.Millisecond
	}
	var err error
	c.zk, err = zktest.Start(server...)
	require.NoError(t, err)
	t.Cleanup(c.zk.Close)
	var all []*dubbotest.Provider
	for i := range chaosServices * chaosEach {
		p := c.newProvider(i)
		c.providers, all = append(c.providers, p), append(all, p.Provider)
	}
	opts := []gofer.Option{gofer.WithApplication("shop-web"), gofer.WithRegistry(c.registry() + "?file-cache=false")}
	if memory {
		opts = append(opts, gofer.WithDialer(buffered(dubbotest.Dialer(all...))), gofer.WithRegistryDialer(c.zk.Dial))
	}
	c.client, err = gofer.New(opts...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.client.Close()) })
	for i, params := range chaosReferences {
		text := chaosService(i%chaosServices) + "?" + params
		c.texts, c.refs = append(c.texts, text), append(c.refs, refer(t, c.client, text))
	}
	return c
}

func chaosService(i int) string { return fmt.Sprintf("com.example.Chaos%d", i) }

func (c *chaos) registry() string { return "zookeeper://" + c.zk.Addr() }

// start starts whoever makes trouble, and who has to live with it.
func (c *chaos) start() {
	agent := func(run func(*rand.Rand)) {
		random := rand.New(rand.NewPCG(c.seed, uint64(len(c.providers))+c.calls.agents))
		c.calls.agents++
		c.agents.Go(func() { run(random) })
	}
	agent(c.disturbRegistry)
	for i, p := range c.providers {
		if i%chaosEach > 0 {
			agent(p.disturb)
		}
	}
	for i := range c.refs {
		agent(func(r *rand.Rand) { c.call(r, i) })
		agent(func(r *rand.Rand) { c.call(r, i) })
	}
	agent(c.comeAndGo)
}

// pause waits up to so long; false: the trouble has ended.
func (c *chaos) pause(r *rand.Rand, most time.Duration) bool {
	t := time.NewTimer(time.Duration(r.Int64N(int64(most))))
	defer t.Stop()
	select {
	case <-c.over:
		return false
	case <-t.C:
		return true
	}
}

// heal ends all faults.
func (c *chaos) heal() {
	c.zk.Heal()
	for _, p := range c.providers {
		p.heal()
	}
}

// truth waits until every directory equals the truth, and then calls.
func (c *chaos) truth() {
	t := c.t
	ctx := t.Context()
	if !c.memory { // how fast a busy machine is is no truth about them
		ctx = gofer.WithTimeout(ctx, 20*time.Second)
	}
	for i := range chaosServices {
		awaitTruth(t, "the registry's entries are the live providers", func() bool { return slices.Equal(c.registered(i), c.alive(i)) })
	}
	for i, r := range c.refs {
		want := c.alive(i % chaosServices)
		awaitTruth(t, "the list of "+c.texts[i], func() bool {
			s := r.Snapshot()
			return !s.Stale && !s.Kept && slices.Equal(usable(s), want)
		})
		for range 40 {
			s, err := gofer.Call[string](ctx, r, "echo(java.lang.String)", "well")
			require.NoError(t, err)
			require.Equal(t, "well", s)
		}
	}
	for i := range chaosServices { // the first references balance in turn, or at random
		for _, p := range c.providers[i*chaosEach : (i+1)*chaosEach] {
			if !p.dead {
				before := p.Counters().Calls
				awaitTruth(t, "calls to "+p.Addr(), func() bool {
					_, err := gofer.Call[string](ctx, c.refs[i], "echo(java.lang.String)", "you")
					require.NoError(t, err)
					return p.Counters().Calls > before
				})
			}
		}
	}
	for _, r := range c.client.Snapshot().References {
		for _, p := range r.Providers {
			for _, m := range p.Methods {
				assert.Zero(t, m.Active, "%s at %s", r.Service, p.Address)
			}
		}
	}
	require.Positive(t, c.calls.ok.Load())
	require.Positive(t, c.calls.failed(), "no trouble at all")
	if c.memory { // no busy machine can be the reason of failures
		assert.Less(t, c.calls.failed(), c.calls.ok.Load()/4)
	}
}

// usable are the addresses that calls can go to, sorted.
func usable(s gofer.ReferenceSnapshot) (out []string) {
	for _, p := range s.Providers {
		if p.State == "ready" {
			out = append(out, p.Address)
		}
	}
	slices.Sort(out)
	return out
}

// registered are the addresses in the registry, each once.
func (c *chaos) registered(service int) (out []string) {
	n, _ := c.zk.Node("/dubbo/" + chaosService(service) + "/providers")
	for _, name := range n.Children {
		u, err := url.ParseEncoded(name)
		require.NoError(c.t, err)
		out = append(out, u.Address())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (c *chaos) alive(service int) (out []string) {
	for _, p := range c.providers[service*chaosEach : (service+1)*chaosEach] {
		if !p.dead {
			out = append(out, p.Addr())
		}
	}
	slices.Sort(out)
	return out
}

// close closes everything and looks for what is left over.
func (c *chaos) close() {
	t := c.t
	require.NoError(t, c.client.Close())
	for _, n := range c.zk.Dump() {
		if strings.HasSuffix(n.Path, "/consumers") {
			assert.Empty(t, n.Children)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, p := range c.providers {
		assert.NoError(t, p.Await(ctx, func(n dubbotest.Counters) bool { return n.Connections == 0 }), "connections to %s", p.Addr())
		p.Close()
	}
	awaitTruth(t, "no session", func() bool { return len(c.zk.Sessions()) == 0 })
	for _, n := range c.zk.Dump() {
		assert.Zero(t, c.zk.Watched(n.Path), "watches of %s", n.Path)
	}
	c.zk.Close()
}

// awaitTruth waits for a minute at most.
func awaitTruth(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); <-time.After(5 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "not within a minute: %s", what)
	}
}

func openFiles(t *testing.T) int {
	files, err := os.ReadDir("/proc/self/fd")
	if os.IsNotExist(err) {
		return 0 // not Linux
	}
	require.NoError(t, err)
	return len(files)
}
