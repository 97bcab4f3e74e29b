package suite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// Server is a ZooKeeper, real or fake, that can be killed and started again with its
// data.
type Server interface {
	Addr() string
	Kill() error
	Start(ctx context.Context) error
}

// scenario is one row of the registry suite.
type scenario struct {
	row  string
	play func(p *play)
}

// scenarios are all of them.
var scenarios = []scenario{
	{"first list", firstList}, {"changes", changes}, {"one batch", oneBatch}, {"malformed", malformed}, {"root", otherRoot},
	{"directory", directory}, {"consumer", consumerEntry}, {"credentials", credentials},
	{"cut", cut}, {"expired", expired}, {"killed", killed}, {"requests", requests}, {"watches", watches},
}

// play is one scenario being played: by a test of its own, on a server that start
// starts.
type play struct {
	*testing.T
	row, iface string
	start      func(t *testing.T) Server
	server     Server
	tree       *Tree
	seen       []Observation
}

// ObserveRegistry plays the registry suite, its scenarios at the same time, on one
// server; those that stop theirs have their own. All are observed, or certain rows.
func ObserveRegistry(t *testing.T, start func(t *testing.T) Server, rows ...string) []Observation {
	seen := make([][]Observation, len(scenarios))
	server := start(t)
	var playing sync.WaitGroup
	for i, s := range scenarios {
		if len(rows) > 0 && !slices.Contains(rows, s.row) {
			continue
		}
		playing.Go(func() { // not t.Parallel, which limits their number: they wait most of the time
			t.Run(s.row, func(t *testing.T) {
				p := &play{T: t, row: s.row, start: start, server: server}
				p.iface = "com.example.suite." + strings.ReplaceAll(s.row, " ", "_")
				p.tree = NewTree(t, server.Addr())
				defer func() { seen[i] = p.seen }()
				s.play(p)
			})
		})
	}
	playing.Wait()
	return slices.Concat(seen...)
}

// note observes a step.
func (p *play) note(name string, o Outcome, expect ...expectation) {
	s := step{p.row, name, func(context.Context, *Stage) Outcome { return o }, expect}
	p.seen = append(p.seen, s.observe(p.Context(), nil))
}

// client makes a client of a ZooKeeper, given with parameters as "host:port?session=2000".
func (p *play) client(zookeeper string) *gofer.Client {
	p.Helper()
	return OpenClient(p, zookeeper)
}

// refer makes a reference that waits for nothing.
func (p *play) refer(c *gofer.Client, reference string) *gofer.Reference {
	p.Helper()
	r, err := c.Refer(p.Context(), reference+"?check=false")
	if err != nil {
		p.Fatal(err)
	}
	return r
}

// refused tries to make a reference that waits for a provider, in vain.
func (p *play) refused(name string, c *gofer.Client, expect ...expectation) {
	p.Helper()
	_, err := c.Refer(p.Context(), p.iface)
	if err == nil {
		p.Fatalf("%s: there is a provider", name)
	}
	p.note(name, failed(err), append(expect, is(Code, gofer.ErrNoProvider.Error()))...)
}

// until waits for something that others bring about, and tells whether it came.
func until(ok func() bool) bool {
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// sees observes the providers of a reference: waits for them by their ports, and
// weights other than 100.
func (p *play) sees(name string, r *gofer.Reference, want ...string) {
	until(func() bool { return slices.Equal(providers(r), want) })
	p.note(name, Outcome{Value: strings.Join(providers(r), " ")}, is(Value, strings.Join(want, " ")))
}

// keeps observes that the providers of a reference are what they were.
func (p *play) keeps(name string, r *gofer.Reference, want ...string) {
	p.note(name, Outcome{Value: strings.Join(providers(r), " ")}, is(Value, strings.Join(want, " ")))
}

// Ports are the ports of a reference's providers, sorted.
func Ports(r *gofer.Reference) (ports []string) {
	for _, p := range r.Snapshot().Providers {
		ports = append(ports, p.Address[strings.LastIndexByte(p.Address, ':')+1:])
	}
	slices.Sort(ports)
	return ports
}

func providers(r *gofer.Reference) (all []string) {
	for _, p := range r.Snapshot().Providers {
		one := p.Address[strings.LastIndexByte(p.Address, ':')+1:]
		if _, weight, ok := strings.Cut(p.URL, "weight="); ok {
			weight, _, _ = strings.Cut(weight, "&")
			one += "(" + weight + ")"
		}
		all = append(all, one)
	}
	slices.Sort(all)
	return all
}

// stale observes whether the list is flagged as one that may have changed.
func (p *play) stale(name string, r *gofer.Reference, want bool) {
	until(func() bool { return r.Snapshot().Stale == want })
	p.note(name, Outcome{"stale": fmt.Sprint(r.Snapshot().Stale)}, is("stale", fmt.Sprint(want)))
}

// nodes observes how many nodes are below one.
func (p *play) nodes(name, path string, want int) {
	until(func() bool { return len(p.tree.Children(path)) == want })
	p.note(name, Outcome{"nodes": fmt.Sprint(len(p.tree.Children(path)))}, is("nodes", fmt.Sprint(want)))
}

// relay puts a relay before the server, for the play's time.
func (p *play) relay() *harness.Relay {
	p.Helper()
	r, err := harness.NewRelay(p.server.Addr())
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(r.Close)
	return r
}

// live starts a provider of another interface, registered in the server, and returns
// a reference to it.
func (p *play) live(c *gofer.Client) *gofer.Reference {
	p.Helper()
	iface := p.iface + ".Live"
	provider := dubbotest.Start(p, iface) // with it, a mistake ends the test
	_ = provider.Handle("ping()", func() string { return "pong" })
	_ = provider.Register("zookeeper://" + p.server.Addr())
	r, err := c.Refer(p.Context(), iface+"?retries=0&timeout=20000")
	if err != nil {
		p.Fatal(err)
	}
	return r
}

// calls calls the live provider all the time, until the function returned is called:
// that observes that no call has failed.
func (p *play) calls(c *gofer.Client) (stop func()) {
	r := p.live(c)
	var ended atomic.Bool
	var calling sync.WaitGroup
	p.Cleanup(func() { ended.Store(true); calling.Wait() })
	calls, errs := 0, map[string]bool{}
	calling.Go(func() {
		for ; !ended.Load(); time.Sleep(10 * time.Millisecond) {
			calls++
			if _, err := gofer.Call[string](context.Background(), r, "ping()"); err != nil {
				errs[failed(err).String()] = true
			}
		}
	})
	return func() {
		ended.Store(true)
		calling.Wait()
		p.note("calls all the while", Outcome{"calls": more(calls, 10), "failed": fmt.Sprint(errs)}, is("calls", "more than 10"), is("failed", "map[]"))
	}
}

func more(n, than int) string {
	if n > than {
		return fmt.Sprintf("more than %d", than)
	}
	return fmt.Sprint(n)
}
