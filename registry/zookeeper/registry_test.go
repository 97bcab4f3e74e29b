package zookeeper

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gofer-rpc/gofer/registry"
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

// A second subscription of the interface shares what was read; so do other groups
// and versions.
func TestSubscriptionsShareReads(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		r := open(t, s, "")
		first := subscribed(t, r)
		reads := s.Requests(zktest.OpGetChildren2, "")
		second := &recorder{}
		sub, err := r.Subscribe(parse(t, "consumer://h/"+iface+"?group=g&version=2"), second)
		require.NoError(t, err)
		require.NoError(t, sub.Ready(t.Context()))
		assert.Same(t, first.last().Providers[0], second.last().Providers[0])
		assert.Equal(t, reads, s.Requests(zktest.OpGetChildren2, ""))

		sub.Close()
		sub.Close()
		add(t, s, "b")
		awaitHosts(t, first, "a", "b")
		assertHosts(t, second, "a")
	})
}

// The last subscription of an interface ends its watching; a new one begins anew.
func TestResubscribe(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		r := open(t, s, "")
		sub := subscribe(t, r, &recorder{})
		require.NoError(t, sub.Ready(soon(t)))
		sub.Close()
		assert.Empty(t, r.client.paths)
		assert.Empty(t, r.client.services)
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

func TestSubscribeRefusesWhatCannotWork(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		r := open(t, s, "")
		_, err := r.Subscribe(parse(t, "consumer://h"), &recorder{})
		require.ErrorContains(t, err, "names no interface")
		_, err = r.Subscribe(parse(t, "consumer://h/*"), &recorder{})
		require.ErrorContains(t, err, "names no interface")
		_, err = r.Subscribe(parse(t, "consumer://h/"+iface), nil)
		require.ErrorContains(t, err, "no listener")
		require.NoError(t, r.Close())
		require.NoError(t, r.Close())
		_, err = r.Subscribe(parse(t, "consumer://h/"+iface), &recorder{})
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, r.Register(parse(t, "consumer://h/"+iface)), ErrClosed)
		require.ErrorContains(t, r.Unregister(parse(t, "consumer://h/"+iface)), "not registered")
	})
}

// After Close no listener is called, and nothing is left.
func TestCloseWaitsForListeners(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		r, err := New(parse(t, "zookeeper://"+s.Addr()), WithDialer(s.Dial))
		require.NoError(t, err)
		rec := &recorder{block: make(chan struct{})}
		sub := subscribe(t, r, rec)
		require.NoError(t, r.Register(parse(t, "consumer://h/"+iface+"?category=consumers")))
		await(t, "notified", func() bool { return rec.count() == 1 })
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			assert.NoError(t, r.Close())
		}()
		wait(time.Minute)
		select {
		case <-closed:
			require.FailNow(t, "Close did not wait")
		default:
		}
		close(rec.block)
		<-closed
		sub.Close()
		add(t, s, "b")
		wait(time.Minute)
		assert.Equal(t, 1, rec.count())
		assert.Empty(t, s.Sessions())
		err = sub.Ready(t.Context())
		require.NoError(t, err, "it was ready")
	})
}

func TestCloseWithoutServerIsQuick(t *testing.T) {
	for name, fault := range map[string]func(*zktest.Server){
		"stopped": func(s *zktest.Server) { s.Stop() },
		"frozen":  func(s *zktest.Server) { s.Freeze(true) },
		"refused": func(s *zktest.Server) { s.Refuse(true); s.Cut() },
	} {
		for _, lost := range []time.Duration{0, time.Minute} {
			t.Run(fmt.Sprint(name, " for ", lost), func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *zktest.Server) {
					r := open(t, s, "")
					subscribed(t, r)
					require.NoError(t, r.Register(parse(t, "consumer://h/"+iface+"?category=consumers")))
					await(t, "registered", func() bool { return len(lastSession(t, s).Ephemerals) == 1 })
					fault(s)
					wait(lost)
					begin := time.Now()
					require.NoError(t, r.Close())
					assert.LessOrEqual(t, time.Since(begin), 4*time.Second)
				})
			})
		}
	}
}

// B194: no password in errors, logs or states.
func TestNoSecretsInTexts(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		log, logs := observer.New(zap.DebugLevel)
		require.NoError(t, s.Create(providersDir, ""))
		require.NoError(t, s.Protect(providersDir, "other:one"))
		u := parse(t, "zookeeper://user:secret@"+s.Addr()+"?password=secret")
		r, err := New(u, WithDialer(s.Dial), WithLogger(zap.New(log)))
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close()) }()
		sub := subscribe(t, r, &recorder{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		texts := []string{sub.Ready(ctx).Error()}
		s.Stop()
		wait(time.Minute)
		texts = append(texts, sub.Ready(ctx).Error(), fmt.Sprint(r.State()))
		texts = append(texts, r.Register(parse(t, "consumer://u:secret@h?token=secret")).Error())
		_, err = New(parse(t, "zookeeper://user:secret@h:99999"))
		texts = append(texts, err.Error())
		for _, e := range logs.All() {
			texts = append(texts, e.Message+fmt.Sprint(e.ContextMap()))
		}
		require.Greater(t, len(texts), 8)
		for _, text := range texts {
			assert.NotContains(t, text, "secret")
		}
	})
}

// B030: changes of other versions keep the entries, and cost a few notifications.
func TestFlappingNeighbours(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		versioned := func(version, host int) string {
			return providersDir + "/" + parse(t, fmt.Sprintf("dubbo://h%02d:20880/%s?interface=%s&version=%d.0.0", host, iface, iface, version)).Encode()
		}
		for v := range 60 {
			for h := range 20 {
				require.NoError(t, s.Create(versioned(v, h), ""))
			}
		}
		rec := subscribed(t, open(t, s, ""))
		mine := func(s registry.Snapshot) []*registry.Entry {
			return slices.DeleteFunc(slices.Clone(s.Providers), func(e *registry.Entry) bool { return e.URL.Param("version") != "2.0.0" })
		}
		before := mine(rec.last())
		require.Len(t, before, 20)
		begin := time.Now()
		for i := range 50 {
			require.NoError(t, s.Delete(versioned(1, i%20)))
			wait(20 * time.Millisecond)
			require.NoError(t, s.Create(versioned(1, i%20), ""))
			wait(20 * time.Millisecond)
		}
		wait(time.Second)
		require.Len(t, rec.last().Providers, 1200)
		for i, e := range mine(rec.last()) {
			require.Same(t, before[i], e)
		}
		assert.LessOrEqual(t, float64(rec.count()-1), 10*time.Since(begin).Seconds())
	})
}

// B187: a rolling restart of 200 providers in 5 s, 50 references.
func TestRollingRestartIsCoalesced(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		old := numbered(200)
		add(t, s, old...)
		r := open(t, s, "")
		recs := make([]*recorder, 50)
		for i := range recs {
			recs[i] = subscribed(t, r)
		}
		reads, notified := s.Requests(zktest.OpGetChildren2, providersDir), recs[7].count()
		var fresh []string
		for _, h := range old {
			remove(t, s, h)
			wait(12 * time.Millisecond)
			fresh = append(fresh, "b"+h[1:])
			add(t, s, fresh[len(fresh)-1])
			wait(13 * time.Millisecond)
		}
		wait(time.Second)
		for _, rec := range recs {
			assertHosts(t, rec, fresh...)
		}
		assert.LessOrEqual(t, s.Requests(zktest.OpGetChildren2, providersDir)-reads, 40)
		assert.LessOrEqual(t, recs[7].count()-notified, 40)
	})
}

// B025: 100 listeners that take a second each do not delay the new session.
func TestSlowListenersDelayNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		r := open(t, s, "")
		consumer := parse(t, "consumer://h/"+iface+"?category=consumers")
		require.NoError(t, r.Register(consumer))
		for i := range 100 {
			_, err := r.Subscribe(parse(t, fmt.Sprintf("consumer://h/com.example.S%02d", i)), registry.ListenerFunc(func(registry.Snapshot) { <-time.After(time.Second) }))
			require.NoError(t, err)
		}
		path := ifaceDir + "/consumers/" + consumer.Encode()
		await(t, "registered", func() bool { _, there := s.Node(path); return there })
		wait(5 * time.Second)
		for i := range 100 {
			require.NoError(t, s.Create(fmt.Sprintf("/dubbo/com.example.S%02d/providers/%s", i, name("a")), ""))
		}
		wait(100 * time.Millisecond) // the listeners are busy
		old := lastSession(t, s)
		require.True(t, s.ExpireSession(old.ID))
		begin := time.Now()
		await(t, "new session", func() bool { return len(s.Sessions()) == 1 })
		got := time.Now()
		await(t, "registered again", func() bool { _, there := s.Node(path); return there })
		assert.Less(t, got.Sub(begin), 2*time.Second)
		assert.Less(t, time.Since(got), time.Second)
	})
}

// A listener gets the newest snapshot, not all of them.
func TestMailboxKeepsTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{block: make(chan struct{})}
		m := newMailbox(rec)
		for i := range 10 {
			m.put(&registry.Snapshot{Path: strings.Repeat("x", i)})
			synctest.Wait()
		}
		assert.Equal(t, 1, rec.count())
		close(rec.block)
		synctest.Wait()
		assert.Equal(t, 2, rec.count())
		assert.Equal(t, "xxxxxxxxx", rec.last().Path)
		m.close()
		m.put(&registry.Snapshot{})
		synctest.Wait()
		assert.Equal(t, 2, rec.count())
		m.close()
	})
}
