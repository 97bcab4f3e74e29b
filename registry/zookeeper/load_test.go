package zookeeper

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/registry"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

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
