package dubbotest_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
	"github.com/gofer-rpc/gofer/url"
)

func startZooKeeper(t *testing.T) *zktest.Server {
	t.Helper()
	zk, err := zktest.Start()
	require.NoError(t, err)
	t.Cleanup(zk.Close)
	return zk
}

// entries are the URLs registered for the service.
func entries(t *testing.T, zk *zktest.Server, service string) []url.URL {
	t.Helper()
	n, _ := zk.Node("/dubbo/" + service + "/providers")
	var all []url.URL
	for _, name := range n.Children {
		u, err := url.ParseEncoded(name)
		require.NoError(t, err)
		all = append(all, u)
	}
	return all
}

func TestRegister(t *testing.T) {
	zk := startZooKeeper(t)
	eachProfile(t, func(t *testing.T, profile dubbotest.Profile) {
		p := dubbotest.Start(t, orders+"?version=1.0.0&group=g1&token=s3cret&timeout=700&threads=9", dubbotest.WithProfile(profile))
		require.NoError(t, p.Handle("find(long)", func(id int64) int64 { return id }))
		require.NoError(t, p.AnswerAlways("all()", dubbotest.Value([]any{})))
		require.NoError(t, p.Register("zookeeper://"+zk.Addr(), "weight=50", "warmup=1000&find.timeout=300"))

		all := entries(t, zk, orders)
		require.Len(t, all, 1)
		u := all[0]
		assert.Equal(t, "dubbo://"+p.Addr()+"/"+orders, u.Protocol()+"://"+u.Address()+"/"+u.Path())
		for key, want := range map[string]string{
			"version": "1.0.0", "group": "g1", "token": "s3cret", "timeout": "700", "weight": "50", "warmup": "1000",
			"find.timeout": "300", "methods": "all,find", "side": "provider", "interface": orders, "dubbo": "2.0.2",
			"timestamp": strconv.FormatInt(p.Started().UnixMilli(), 10), "application": "dubbotest",
		} {
			assert.Equal(t, want, u.Param(key), key)
		}
		modern := profile == dubbotest.Dubbo32 || profile == dubbotest.Dubbo33
		assert.Equal(t, modern, u.Param("pid") == "")
		assert.Equal(t, modern, u.Param("threads") == "")
		assert.Equal(t, modern, u.Param("prefer.serialization") != "")
		assert.Equal(t, profile == dubbotest.Dubbo26, u.Param("release") == "")

		c := newClient(t, gofer.WithRegistry("zookeeper://"+zk.Addr()))
		r, err := c.Refer(t.Context(), orders+"?version=1.0.0&group=g1")
		require.NoError(t, err)
		got, err := gofer.Call[int64](t.Context(), r, "find(long)", int64(4))
		require.NoError(t, err)
		assert.Equal(t, int64(4), got)

		p.Unregister()
		assert.Empty(t, entries(t, zk, orders))
		p.Unregister()
		got, err = gofer.Call[int64](t.Context(), r, "find(long)", int64(5))
		require.NoError(t, err, "serves as long as somebody knows it")
		assert.Equal(t, int64(5), got)
	})
}

func TestRegisterMistakes(t *testing.T) {
	p, err := dubbotest.New(orders)
	require.NoError(t, err)
	defer p.Close()
	assert.ErrorContains(t, p.Register("nacos://h:1"), "nacos")
	assert.ErrorContains(t, p.Register("zookeeper://h:21x81"), "21x81")
	require.NoError(t, p.Restart(), "what was not registered is not again")
}

// Reregister and Restart give the entry a new start; a graceful stop takes it out, a
// kill leaves it to its session.
func TestRegistrationOverLives(t *testing.T) {
	zk := startZooKeeper(t)
	p := dubbotest.Start(t, orders)
	require.NoError(t, p.Register("zookeeper://"+zk.Addr()+"?session=4000", "weight=7"))
	stamps := func() (all []string) {
		for _, u := range entries(t, zk, orders) {
			assert.Equal(t, "7", u.Param("weight"))
			all = append(all, u.Param("timestamp"))
		}
		return all
	}
	first := stamps()
	require.Len(t, first, 1)
	require.NoError(t, p.Reregister())
	second := stamps()
	require.Len(t, second, 1)
	assert.NotEqual(t, first, second)

	require.NoError(t, p.Register("zookeeper://"+zk.Addr()+"?session=4000", "weight=7"), "once more, the same")
	assert.Equal(t, second, stamps())

	p.Stop(t.Context())
	assert.Empty(t, stamps())
	require.NoError(t, p.Restart())
	third := stamps()
	require.Len(t, third, 1)
	assert.NotEqual(t, second, third)

	p.Kill()
	assert.Equal(t, third, stamps(), "the session lives on")
	require.NoError(t, p.Restart())
	assert.Len(t, stamps(), 2, "both entries, as after a quick restart")
	require.Eventually(t, func() bool { return len(stamps()) == 1 }, patience, 10*time.Millisecond)
	assert.NotEqual(t, third, stamps())
	p.Close()
	assert.Empty(t, stamps())
	assert.Empty(t, zk.Sessions())
}

// The readonly event comes in the order of the release line: before or after the
// entry has gone.
func TestStopOrder(t *testing.T) {
	zk := startZooKeeper(t)
	eachProfile(t, func(t *testing.T, profile dubbotest.Profile) {
		p := dubbotest.Start(t, orders, dubbotest.WithProfile(profile))
		require.NoError(t, p.Register("zookeeper://"+zk.Addr()))
		w := dial(t, p)
		w.heartbeat()
		zk.Freeze(true) // nothing leaves the registry
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			p.Stop(t.Context())
		}()
		modern := profile == dubbotest.Dubbo32 || profile == dubbotest.Dubbo33
		if modern {
			w.event()
			assert.Len(t, entries(t, zk, orders), 1)
			fresh := dial(t, p)
			fresh.event() // greets new connections
			require.NoError(t, fresh.Close())
		}
		zk.Freeze(false)
		w.event()
		require.Eventually(t, func() bool { return len(entries(t, zk, orders)) == 0 }, patience, time.Millisecond)
		require.NoError(t, w.Close())
		<-stopped
	})
}

func TestURL(t *testing.T) {
	p := dubbotest.Start(t, orders+"?version=1.0.0&group=g1&token=t0&weight=5", dubbotest.WithAddr("127.0.0.1:0"))
	assert.Equal(t, "dubbo://"+p.Addr()+"/"+orders+"?a=1&b=2&group=g1&timeout=800&token=t0&version=1.0.0", p.URL("timeout=800", "a=1&b=2"))
	six := dubbotest.Start(t, orders, dubbotest.InMemory(), dubbotest.WithAddr("[2001:db8::1]:20880"))
	assert.True(t, strings.HasPrefix(six.URL(), "dubbo://[2001:db8::1]:20880/"), six.URL())
}
