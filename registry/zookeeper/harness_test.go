package zookeeper

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gofer-rpc/gofer/registry"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
	"github.com/gofer-rpc/gofer/url"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	iface        = "com.example.OrderService"
	ifaceDir     = "/dubbo/" + iface
	providersDir = ifaceDir + "/providers"
)

// inBubble runs a test in virtual time with a server that is in memory. What the
// test leaves running fails it.
func inBubble(t *testing.T, f func(t *testing.T, s *zktest.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, err := zktest.Start(zktest.InMemory())
		require.NoError(t, err)
		t.Cleanup(s.Close) // after the registries
		f(t, s)
	})
}

func parse(t testing.TB, text string) url.URL {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return u
}

// open returns a registry of the server; it is closed with the test.
func open(t *testing.T, s *zktest.Server, query string, opts ...Option) *Registry {
	t.Helper()
	r, err := New(parse(t, "zookeeper://"+s.Addr()+query), append([]Option{WithDialer(s.Dial)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// recorder is a listener that keeps what it is given.
type recorder struct {
	mu    sync.Mutex
	all   []registry.Snapshot
	block chan struct{} // not nil: each call waits for it
}

func (r *recorder) Notify(s registry.Snapshot) {
	r.mu.Lock()
	r.all = append(r.all, s)
	block := r.block
	r.mu.Unlock()
	if block != nil {
		<-block
	}
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all)
}

func (r *recorder) last() registry.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) == 0 {
		return registry.Snapshot{}
	}
	return r.all[len(r.all)-1]
}

// hosts are the providers' host names of the last snapshot, sorted.
func (r *recorder) hosts() []string { return hostsOf(r.last()) }

func hostsOf(s registry.Snapshot) []string {
	out := []string{}
	for _, e := range s.Providers {
		out = append(out, e.URL.Host())
	}
	slices.Sort(out)
	return out
}

func subscribe(t *testing.T, r *Registry, l registry.Listener) registry.Subscription {
	t.Helper()
	sub, err := r.Subscribe(parse(t, "consumer://10.0.0.9/"+iface), l)
	require.NoError(t, err)
	return sub
}

// subscribed returns a recorder that has its first snapshot.
func subscribed(t *testing.T, r *Registry) *recorder {
	t.Helper()
	rec := &recorder{}
	require.NoError(t, subscribe(t, r, rec).Ready(soon(t)))
	return rec
}

// soon returns a context of a minute, virtual in a bubble.
func soon(t *testing.T) context.Context { return within(t, time.Minute) }

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// node is the path of a provider on a host.
func node(host string) string { return providersDir + "/" + name(host) }

func name(host string) string {
	return url.New("dubbo", host, 20880, iface, map[string]string{"interface": iface, "application": "orders"}).Encode()
}

func add(t *testing.T, s *zktest.Server, hosts ...string) {
	t.Helper()
	for _, h := range hosts {
		require.NoError(t, s.Create(node(h), ""))
	}
}

func remove(t *testing.T, s *zktest.Server, hosts ...string) {
	t.Helper()
	for _, h := range hosts {
		require.NoError(t, s.Delete(node(h)))
	}
}

// numbered returns host names a0, a1 …
func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("a%03d", i)
	}
	return out
}

// wait lets virtual time pass.
func wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// await waits until a condition holds; in a bubble without loss of real time.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	deadline := time.After(time.Minute)
	for !cond() {
		select {
		case <-ticks.C:
		case <-deadline:
			require.FailNow(t, "waited in vain: "+what)
		}
	}
}

func awaitHosts(t *testing.T, rec *recorder, want ...string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	await(t, "hosts "+strings.Join(want, " "), func() bool { return slices.Equal(rec.hosts(), want) })
}

func requireConnected(t *testing.T, r *Registry) {
	t.Helper()
	await(t, "connected", func() bool { return r.State().Connected })
}

// lastSession returns the session of the only client.
func lastSession(t *testing.T, s *zktest.Server) zktest.Session {
	t.Helper()
	all := s.Sessions()
	require.NotEmpty(t, all)
	return all[len(all)-1]
}

func assertHosts(t *testing.T, rec *recorder, want ...string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	assert.Equal(t, want, rec.hosts())
}
