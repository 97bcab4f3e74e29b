package zookeeper

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

func TestSubscribeSeesProvidersComeAndGo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a", "b")
		r := open(t, s, "")
		rec := subscribed(t, r)
		assertHosts(t, rec, "a", "b")
		first := rec.last()
		assert.False(t, first.Stale)
		assert.Equal(t, "zookeeper://"+s.Addr(), first.Source)
		assert.Equal(t, providersDir, first.Path)
		assert.WithinDuration(t, time.Now(), first.Read, time.Second)
		assert.Equal(t, name("a"), first.Providers[0].Raw)

		add(t, s, "c")
		awaitHosts(t, rec, "a", "b", "c")
		assert.Same(t, first.Providers[0], rec.last().Providers[0], "unchanged entries are the same")
		remove(t, s, "a")
		awaitHosts(t, rec, "b", "c")
		assert.Same(t, first.Providers[1], rec.last().Providers[0])
	})
}

func TestRulesComeAsTheyAre(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		require.NoError(t, s.Create(ifaceDir+"/configurators/override%3A%2F%2F0.0.0.0", ""))
		rec := subscribed(t, open(t, s, ""))
		assert.Equal(t, 1, rec.count(), "one snapshot has providers and rules")
		assert.Equal(t, []string{"override%3A%2F%2F0.0.0.0"}, rec.last().Configurators)
		assert.Empty(t, rec.last().Routers)
		require.NoError(t, s.Create(ifaceDir+"/routers/condition%3A%2F%2Fx", ""))
		await(t, "router", func() bool { return len(rec.last().Routers) == 1 })
		require.NoError(t, s.Delete(ifaceDir+"/configurators"))
		await(t, "no configurator", func() bool { return len(rec.last().Configurators) == 0 })
		assertHosts(t, rec, "a")
	})
}

// The first snapshot waits for rules that are slow, but not for ever.
func TestFirstSnapshotWaitsForRules(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		require.NoError(t, s.Create(ifaceDir+"/routers/r", ""))
		require.NoError(t, s.Protect(ifaceDir+"/routers", "x:y"))
		begin := time.Now()
		rec := subscribed(t, open(t, s, ""))
		assert.InDelta(t, 3, time.Since(begin).Seconds(), 0.5)
		assertHosts(t, rec, "a")
		assert.Empty(t, rec.last().Routers)
	})
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		require.NoError(t, s.Create(ifaceDir+"/routers/r", ""))
		for range 3 {
			s.FailNext(zktest.OpGetChildren2, ifaceDir+"/routers", zktest.RuntimeInconsistency)
		}
		rec := subscribed(t, open(t, s, ""))
		assert.Equal(t, 1, rec.count())
		assert.Equal(t, []string{"r"}, rec.last().Routers)
	})
}

// The last subscription of an interface ends its watching; a new one begins anew.
func TestResubscribe(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		r := open(t, s, "")
		early := subscribe(t, r, &recorder{})
		early.Close()
		require.ErrorIs(t, early.Ready(t.Context()), ErrClosed)
		sub := subscribe(t, r, &recorder{})
		require.NoError(t, sub.Ready(soon(t)))
		sub.Close()
		assert.Empty(t, r.client.paths)
		assert.Empty(t, r.client.services)
		s.Delay(time.Second)
		sub = subscribe(t, r, &recorder{})
		wait(time.Millisecond) // reads are under way
		sub.Close()
		wait(time.Minute)
		assert.Empty(t, r.client.queue.jobs, "nothing left to do")
		s.Delay(0)
		add(t, s, "a") // a late event finds nothing
		wait(time.Second)
		assertHosts(t, subscribed(t, r), "a")
	})
}

// B020: the consumer is there before the first provider.
func TestStartBeforeFirstProvider(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		log, logs := observer.New(zap.WarnLevel)
		rec := subscribed(t, open(t, s, "", WithLogger(zap.New(log))))
		assertHosts(t, rec)
		for _, c := range categoryNames {
			n, there := s.Node(ifaceDir + "/" + c)
			require.True(t, there, c)
			assert.Zero(t, n.Stat.EphemeralOwner, "persistent")
		}
		wait(3 * time.Second)
		add(t, s, "a")
		begin := time.Now()
		awaitHosts(t, rec, "a")
		assert.Less(t, time.Since(begin), time.Second)
		assert.Empty(t, logs.All())
	})
}

// The same without permission to create anything: creation is awaited.
func TestStartBeforeFirstProviderWithoutPermission(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		require.NoError(t, s.Create("/dubbo", ""))
		require.NoError(t, s.Protect("/dubbo", "x:y"))
		rec := subscribed(t, open(t, s, ""))
		assertHosts(t, rec)
		_, there := s.Node(providersDir)
		require.False(t, there)
		wait(time.Minute)
		requests := s.Requests(zktest.OpExists, providersDir)
		assert.LessOrEqual(t, requests, 2, "one watch, no polling")
		add(t, s, "a")
		begin := time.Now()
		awaitHosts(t, rec, "a")
		assert.Less(t, time.Since(begin), time.Second)
	})
}

func TestServerComesLater(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		s.Stop()
		r := open(t, s, "")
		rec := &recorder{}
		sub := subscribe(t, r, rec)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		err := sub.Ready(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "no list of "+providersDir+" yet: not connected to zookeeper://"+s.Addr()+" since 3s: ")
		assert.ErrorContains(t, err, "connection refused")
		st := r.State()
		assert.False(t, st.Connected)
		assert.ErrorContains(t, st.LastError, "connection refused")
		assert.Zero(t, rec.count())

		require.NoError(t, s.Resume())
		require.NoError(t, sub.Ready(soon(t)))
		assertHosts(t, rec, "a")
		st = r.State()
		assert.True(t, st.Connected)
		require.NoError(t, st.LastError)
		assert.Equal(t, 1, st.Sessions)
	})
}

// B022: registries share the connection, not the root.
func TestPoolSharesConnectionsNotRoots(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		pool := NewPool(WithDialer(s.Dial))
		open := func(query string) *Registry {
			r, err := pool.Open(parse(t, "zookeeper://"+s.Addr()+query))
			require.NoError(t, err)
			return r
		}
		for root, host := range map[string]string{"/dubbo-a": "a", "/dubbo-b": "b", "": "top"} {
			require.NoError(t, s.Create(root+"/"+iface+"/providers/"+name(host), ""))
		}
		a, b, top := open("?group=dubbo-a"), open("?group=/dubbo-b"), open("?group=/")
		recA, recB, recTop := subscribed(t, a), subscribed(t, b), subscribed(t, top)
		assertHosts(t, recA, "a")
		assertHosts(t, recB, "b")
		assertHosts(t, recTop, "top")
		assert.Equal(t, "/"+iface+"/providers", recTop.last().Path)
		require.Len(t, s.Sessions(), 1)

		consumer := parse(t, "consumer://h/"+iface+"?category=consumers")
		require.NoError(t, a.Register(consumer))
		require.NoError(t, b.Register(consumer))
		await(t, "registered", func() bool { return len(lastSession(t, s).Ephemerals) == 2 })
		require.NoError(t, a.Close())
		assert.Equal(t, []string{"/dubbo-b/" + iface + "/consumers/" + consumer.Encode()}, lastSession(t, s).Ephemerals)
		require.NoError(t, s.Create("/dubbo-b/"+iface+"/providers/"+name("b2"), ""))
		awaitHosts(t, recB, "b", "b2")

		other, err := pool.Open(parse(t, "zookeeper://u:p@"+s.Addr()))
		require.NoError(t, err)
		requireConnected(t, other)
		assert.Len(t, s.Sessions(), 2, "other credentials, other session")
		for _, r := range []*Registry{b, top, other} {
			require.NoError(t, r.Close())
		}
		assert.Empty(t, s.Sessions())
		assert.Empty(t, pool.clients)
		requireConnected(t, open("")) // the pool goes on
		for _, c := range pool.clients {
			c.close()
		}
	})
}

// The first server that answers is taken; the others of the ensemble may be away.
func TestEnsemble(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			if address != "zk3:2183" {
				return nil, fmt.Errorf("%s is away", address)
			}
			return s.Dial(ctx, network, address)
		}
		r, err := New(parse(t, "zookeeper://zk1:2181,zk2:2182?backup=zk3:2183"), WithDialer(dial))
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close()) }()
		begin := time.Now()
		rec := subscribed(t, r)
		assert.Less(t, time.Since(begin), time.Second)
		assertHosts(t, rec, "a")
		assert.Equal(t, "zookeeper://zk1:2181,zk2:2182,zk3:2183", r.State().Address)
	})
}

// One malformed child is skipped with one warning, the rest serve.
func TestMalformedChildren(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		log, logs := observer.New(zap.WarnLevel)
		add(t, s, "a")
		require.NoError(t, s.Create(providersDir+"/dubbo%3A%2F%2Fh%3A1%2Fx%3Ftoken%3Dabc%zz", ""))
		rec := subscribed(t, open(t, s, "", WithLogger(zap.New(log))))
		add(t, s, "b")
		awaitHosts(t, rec, "a", "b")
		snap := rec.last()
		assert.Equal(t, 1, snap.RejectedCount)
		require.Len(t, snap.Rejected, 1)
		assert.NotContains(t, snap.Rejected[0].Raw, "abc")
		assert.NotEmpty(t, snap.Rejected[0].Reason)
		require.Equal(t, 1, logs.Len())
		assert.NotContains(t, fmt.Sprint(logs.All()[0].ContextMap()), "abc")
	})
}
