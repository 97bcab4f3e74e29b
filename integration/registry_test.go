//go:build integration

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/url"
)

// tree writes to a ZooKeeper as providers do.
type tree struct {
	t    *testing.T
	conn *zk.Conn
	root string
	acl  []zk.ACL
}

// quiet drops the ZooKeeper library's log lines.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

func newTree(t *testing.T, address string) *tree {
	t.Helper()
	conn, _, err := zk.Connect([]string{address}, 10*time.Second, zk.WithLogger(quiet{}))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return &tree{t: t, conn: conn, root: "/dubbo", acl: zk.WorldACL(zk.PermAll)}
}

func (w *tree) create(path string) {
	w.t.Helper()
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			w.node(path[:i])
		}
	}
	w.node(path)
}

func (w *tree) node(path string) {
	w.t.Helper()
	if _, err := w.conn.Create(path, nil, 0, w.acl); err != nil && err != zk.ErrNodeExists {
		require.NoError(w.t, err, path)
	}
}

func (w *tree) category(iface, category string) string {
	return w.root + "/" + iface + "/" + category
}

// add registers a provider at a port where nobody needs to listen.
func (w *tree) add(iface string, port int, params ...string) string {
	w.t.Helper()
	u := url.New("dubbo", "127.0.0.1", port, iface, map[string]string{"interface": iface, "side": "provider", "dubbo": "2.0.2"}).With(params...)
	path := w.category(iface, "providers") + "/" + u.Encode()
	w.create(path)
	return path
}

func (w *tree) remove(path string) {
	w.t.Helper()
	require.NoError(w.t, w.conn.Delete(path, -1))
}

func (w *tree) children(path string) []string {
	names, _, err := w.conn.Children(path)
	if err != nil {
		return nil
	}
	return names
}

func ports(r *gofer.Reference) []string {
	var out []string
	for _, p := range r.Snapshot().Providers {
		out = append(out, p.Address[strings.LastIndexByte(p.Address, ':')+1:])
	}
	slices.Sort(out)
	return out
}

func sees(t *testing.T, r *gofer.Reference, want ...string) {
	t.Helper()
	eventually(t, 20*time.Second, fmt.Sprintf("providers %v, have %v", want, ports(r)), func() bool { return slices.Equal(ports(r), want) })
}

// outage is a ZooKeeper of the test's own behind a relay, and a client of it.
type outage struct {
	zk    *harness.ZooKeeper
	relay *harness.Relay
	tree  *tree
	ref   *gofer.Reference
	live  *harness.Provider // a real provider
	fake  string            // the znode of one at port 1
}

const demo = "com.example.DemoService"

func newOutage(t *testing.T) *outage {
	o := &outage{zk: env.StartZooKeeper(t, harness.ZooKeeperConfig{})}
	var err error
	o.relay, err = harness.NewRelay(o.zk.Addr())
	require.NoError(t, err)
	t.Cleanup(o.relay.Close)
	o.tree = newTree(t, o.zk.Addr())
	o.live = env.StartProvider(t, "2.7.23", "--zk", o.zk.Addr())
	o.tree.add(demo, 1)
	o.fake = o.tree.add(demo, 2)
	c := newClient(t, o.relay.Addr()+"?session=2000")
	o.ref = refer(t, c, demo+"?check=false")
	sees(t, o.ref, "1", "2")
	live := refer(t, c, o.live.Reference("timeout=3000"))
	o.calls(t, live)
	return o
}

// calls checks in the background of the test that the live provider stays reachable.
func (o *outage) calls(t *testing.T, live *gofer.Reference) {
	stop, done := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-done })
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				assert.Greater(t, i, 10, "calls made meanwhile")
				return
			case <-time.After(20 * time.Millisecond):
			}
			if _, err := gofer.Call[string](context.Background(), live, "hello(java.lang.String)", "Ada"); !assert.NoError(t, err, "a call fails while the registry is away") {
				return
			}
		}
	}()
}

// change is made while the client cannot see it, and once more afterwards.
func (o *outage) change(t *testing.T, heal func()) {
	o.tree.add(demo, 3)
	o.tree.remove(o.fake)
	assert.Equal(t, []string{"1", "2"}, ports(o.ref), "nothing is lost or learned while the registry is away")
	heal()
	sees(t, o.ref, "1", "3")
	o.tree.add(demo, 4)
	sees(t, o.ref, "1", "3", "4")
}

func TestRegistryConnectionCut(t *testing.T) {
	o := newOutage(t)
	o.relay.Refuse()
	eventually(t, 10*time.Second, "the snapshot says the list is stale", func() bool { return o.ref.Snapshot().Stale })
	o.change(t, func() { require.NoError(t, o.relay.Resume()) })
	eventually(t, 10*time.Second, "the list is fresh again", func() bool { return !o.ref.Snapshot().Stale })
	for range 5 { // short cuts, changes between them
		o.relay.Cut()
		path := o.tree.add(demo, 5)
		sees(t, o.ref, "1", "3", "4", "5")
		o.relay.Cut()
		o.tree.remove(path)
		sees(t, o.ref, "1", "3", "4")
	}
}

func TestRegistrySessionExpired(t *testing.T) {
	o := newOutage(t)
	consumers := o.tree.category(demo, "consumers")
	eventually(t, 10*time.Second, "the consumer is registered", func() bool { return len(o.tree.children(consumers)) == 1 })
	o.relay.Freeze()
	eventually(t, 20*time.Second, "the session expires", func() bool { return len(o.tree.children(consumers)) == 0 })
	o.change(t, func() { require.NoError(t, o.relay.Resume()) })
	eventually(t, 20*time.Second, "the consumer is registered again", func() bool { return len(o.tree.children(consumers)) == 1 })
}

func TestRegistryKilledAndRestarted(t *testing.T) {
	o := newOutage(t)
	require.NoError(t, o.zk.Kill())
	eventually(t, 10*time.Second, "the snapshot says the list is stale", func() bool { return o.ref.Snapshot().Stale })
	assert.Equal(t, []string{"1", "2"}, ports(o.ref))
	require.NoError(t, o.zk.Start(t.Context()))
	o.tree.add(demo, 3)
	sees(t, o.ref, "1", "2", "3")
	o.tree.remove(o.fake)
	sees(t, o.ref, "1", "3")
}

func TestConsumerNode(t *testing.T) {
	w := newTree(t, env.ZooKeeper.Addr())
	const iface = "com.example.Registered"
	c, err := gofer.New(gofer.WithApplication("shop"), gofer.WithRegistry("zookeeper://"+env.ZooKeeper.Addr()+"?file-cache=false"))
	require.NoError(t, err)
	_, err = c.Refer(t.Context(), iface+"?check=false&version=1.0.0&group=g1")
	require.NoError(t, err)
	consumers := w.category(iface, "consumers")
	eventually(t, 10*time.Second, "the consumer is registered", func() bool { return len(w.children(consumers)) == 1 })
	u, err := url.ParseEncoded(w.children(consumers)[0])
	require.NoError(t, err)
	assert.Equal(t, "consumer", u.Protocol())
	for key, want := range map[string]string{
		"application": "shop", "category": "consumers", "check": "false", "side": "consumer",
		"interface": iface, "version": "1.0.0", "group": "g1", "dubbo": "2.0.2",
	} {
		assert.Equal(t, want, u.Param(key), key)
	}
	require.NoError(t, c.Close())
	assert.Empty(t, w.children(consumers), "gone after Close")
}

func TestStartBeforeTheFirstProvider(t *testing.T) {
	for _, v := range env.Versions() {
		t.Run(v, func(t *testing.T) {
			c := newClient(t, env.ZooKeeper.Addr())
			early := harness.Interface + "?timeout=20000&group=early-" + v
			_, err := c.Refer(t.Context(), early)
			require.ErrorIs(t, err, gofer.ErrNoProvider, "check=true")
			assert.Contains(t, err.Error(), "check=false", "the remedy")

			r := refer(t, c, early+"&check=false")
			_, err = gofer.Call[string](t.Context(), r, "hello(java.lang.String)", "Ada")
			require.ErrorIs(t, err, gofer.ErrNoProvider)
			var none *gofer.NoProviderError
			require.ErrorAs(t, err, &none)
			assert.Positive(t, none.Funnel.Registered, "other groups are seen")
			assert.Zero(t, none.Funnel.Enabled)
			assert.Contains(t, err.Error(), "group", "why they are refused")

			p := env.StartProvider(t, v, "--group", "early-"+v)
			eventually(t, 10*time.Second, "the new provider is used", func() bool {
				s, err := gofer.Call[string](t.Context(), r, "hello(java.lang.String)", "Ada")
				return err == nil && s == "hello Ada from "+p.Name
			})
		})
	}
}

func TestRegistryRootAndCredentials(t *testing.T) {
	z := env.StartZooKeeper(t, harness.ZooKeeperConfig{})
	p := env.StartProvider(t, "3.3.6", "--zk", z.Addr(), "--registry-root", "prod", "--registry-user", "ada:s3cret")
	c := newClient(t, z.Addr()+"?group=prod")
	_, err := c.Refer(t.Context(), p.Reference("timeout=3000"))
	require.ErrorIs(t, err, gofer.ErrNoProvider)
	assert.Contains(t, strings.ToLower(err.Error()), "auth", "the registry denies access and the error says so")

	c = newClient(t, "ada:s3cret@"+z.Addr()+"?group=prod")
	r := refer(t, c, p.Reference("timeout=3000"))
	s, err := gofer.Call[string](t.Context(), r, "hello(java.lang.String)", "Ada")
	require.NoError(t, err)
	assert.Equal(t, "hello Ada from "+p.Name, s)

	other := newClient(t, "ada:s3cret@"+z.Addr())
	_, err = other.Refer(t.Context(), p.Reference())
	require.ErrorIs(t, err, gofer.ErrNoProvider)
	assert.Contains(t, err.Error(), "/dubbo/", "where it looked")
}

func TestMalformedChildren(t *testing.T) {
	w := newTree(t, env.ZooKeeper.Addr())
	const iface = "com.example.Malformed"
	w.add(iface, 1)
	for _, bad := range []string{"%zz", "dubbo%3A%2F%2Fhost%3Anoport%2Fx", "nonsense", "dubbo%3A%2F%2F%C3%28%3A1%2Fx"} {
		w.create(w.category(iface, "providers") + "/" + bad)
	}
	c := newClient(t, env.ZooKeeper.Addr())
	r := refer(t, c, iface+"?check=false")
	sees(t, r, "1")
	f := r.Snapshot().Funnel
	assert.Equal(t, 5, f.Registered)
	assert.Equal(t, 1, f.Enabled)
	w.add(iface, 2)
	sees(t, r, "1", "2")
}
