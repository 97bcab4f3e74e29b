package zookeeper

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// away makes the server unreachable, back ends that.
func away(s *zktest.Server) { s.Refuse(true); s.Cut() }
func back(s *zktest.Server) { s.Refuse(false) }

// B012: an outage shorter or longer than the session changes no list; what changed
// meanwhile is seen after it, at once and as one difference.
func TestOutage(t *testing.T) {
	for _, outage := range []time.Duration{time.Second, 10 * time.Second, 5 * time.Minute} {
		t.Run(outage.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				add(t, s, "a", "b")
				r := open(t, s, "")
				rec := subscribed(t, r)
				away(s)
				wait(outage / 2)
				remove(t, s, "a")
				add(t, s, "c")
				wait(outage / 2)
				st := r.State()
				assert.False(t, st.Connected)
				assert.Error(t, st.LastError)
				assertHosts(t, rec, "a", "b")
				assert.Equal(t, outage > 2*time.Second, rec.last().Stale)
				notified := rec.count()
				back(s)
				awaitHosts(t, rec, "b", "c")
				assert.Equal(t, notified+1, rec.count())
				assert.False(t, rec.last().Stale)
				sessions := 1
				if outage > 30*time.Second {
					sessions = 2
				}
				assert.Equal(t, sessions, r.State().Sessions)
				add(t, s, "d") // the watch is there again
				awaitHosts(t, rec, "b", "c", "d")
			})
		})
	}
}

// Until when the list before held: the event, or the time before the outage.
func TestHeld(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		rec := subscribed(t, open(t, s, "?session=10000"))
		assert.Zero(t, rec.last().Held)
		wait(time.Hour)
		add(t, s, "a")
		changed := time.Now()
		awaitHosts(t, rec, "a")
		assert.Equal(t, changed, rec.last().Held)
		assert.True(t, rec.last().Read.After(changed))

		wait(time.Hour)
		s.Delay(100 * time.Millisecond)
		s.FailNext(zktest.OpGetChildren2, providersDir, zktest.RuntimeInconsistency)
		add(t, s, "b")
		changed = time.Now()
		awaitHosts(t, rec, "a", "b")
		assert.Equal(t, changed, rec.last().Held, "a failed read changes nothing")

		wait(time.Hour)
		lost := time.Now()
		away(s)
		wait(time.Minute)
		add(t, s, "c")
		back(s)
		awaitHosts(t, rec, "a", "b", "c")
		assert.Equal(t, lost.Add(-10*time.Second), rec.last().Held)
	})
}

// An outage without changes costs two notifications: stale, and fresh again.
func TestStaleFlag(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		rec := subscribed(t, open(t, s, ""))
		away(s)
		wait(10 * time.Second)
		assert.True(t, rec.last().Stale)
		back(s)
		await(t, "fresh", func() bool { return !rec.last().Stale })
		assert.Equal(t, 3, rec.count())
		away(s)
		wait(100 * time.Millisecond)
		back(s)
		wait(10 * time.Second)
		assert.Equal(t, 3, rec.count(), "a short cut is not worth a notification")
	})
}

func TestExpiry(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		r := open(t, s, "")
		rec := subscribed(t, r)
		for i := range 3 {
			require.True(t, s.ExpireSession(lastSession(t, s).ID))
			h := fmt.Sprintf("b%d", i)
			add(t, s, h)
			begin := time.Now()
			await(t, h, func() bool { return slices.Contains(rec.hosts(), h) })
			assert.Less(t, time.Since(begin), 2*time.Second)
			assert.Equal(t, i+2, r.State().Sessions)
		}
	})
}

// A server that is stopped and comes back with its data.
func TestServerRestart(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		r := open(t, s, "")
		rec := subscribed(t, r)
		s.Stop()
		wait(time.Minute)
		assertHosts(t, rec, "a")
		require.NoError(t, s.Resume())
		add(t, s, "b")
		awaitHosts(t, rec, "a", "b")
		assert.Equal(t, 1, r.State().Sessions)
	})
}

// A server that lost its data refuses the client for ever; the watchdog replaces
// the connection. Nothing is emptied before the confirmation.
func TestWipedServer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		log, logs := observer.New(zap.WarnLevel)
		add(t, s, "a", "b")
		r := open(t, s, "", WithLogger(zap.New(log)))
		require.NoError(t, r.Register(parse(t, "consumer://h/"+iface+"?category=consumers")))
		rec := subscribed(t, r)
		s.Wipe()
		wait(50 * time.Second)
		assert.ErrorContains(t, r.State().LastError, "lost its data")
		assertHosts(t, rec, "a", "b")
		begin := time.Now()
		requireConnected(t, r)
		assert.Less(t, time.Since(begin), 30*time.Second)
		require.Equal(t, 1, logs.FilterMessageSnippet("grant no session").Len())
		wait(time.Second)
		assertHosts(t, rec, "a", "b")
		assert.False(t, rec.last().Stale, "read, but in doubt")
		add(t, s, "c")
		await(t, "the new one", func() bool { return slices.Contains(rec.hosts(), "c") })
		awaitHosts(t, rec, "c")
		await(t, "registered anew", func() bool { return len(lastSession(t, s).Ephemerals) == 1 })
	})
}

// Numbers of a new history may be equal to those of the old one, and smaller: they
// say nothing about which list is older.
func TestWipedServerWithSameNumbers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		s.Wipe() // numbers from 1
		add(t, s, "a", "b")
		r := open(t, s, "", WithWatchdog(5*time.Second), WithConfirmation(0))
		rec := subscribed(t, r)
		s.Wipe()
		add(t, s, "c")
		wait(time.Second)
		requireConnected(t, r)
		begin := time.Now()
		awaitHosts(t, rec, "c")
		assert.Less(t, time.Since(begin), time.Second)
	})
}

// A server that accepts and says nothing does not hold up the ensemble.
func TestFrozenServer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		frozen, err := zktest.Start(zktest.InMemory())
		require.NoError(t, err)
		t.Cleanup(frozen.Close)
		frozen.Freeze(true)
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == "frozen:2181" {
				return frozen.Dial(ctx, network, address)
			}
			return s.Dial(ctx, network, address)
		}
		add(t, s, "a")
		for range 5 { // the library shuffles the servers
			r, err := New(parse(t, "zookeeper://frozen:2181,good:2181"), WithDialer(dial))
			require.NoError(t, err)
			begin := time.Now()
			rec := subscribed(t, r)
			assert.LessOrEqual(t, time.Since(begin), 2500*time.Millisecond)
			assertHosts(t, rec, "a")
			require.NoError(t, r.Close())
		}
		r, err := New(parse(t, "zookeeper://frozen:2181"), WithDialer(dial))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err = subscribe(t, r, &recorder{}).Ready(ctx)
		assert.ErrorContains(t, err, "frozen:2181 accepts connections but grants no session (is it a ZooKeeper server?): no answer within")
		require.NoError(t, r.Close())
	})
}

// A connected server that stops answering is left after two thirds of the session
// timeout, and the list stays.
func TestServerFreezes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		r := open(t, s, "?session=6000")
		rec := subscribed(t, r)
		s.Freeze(true)
		begin := time.Now()
		await(t, "loss", func() bool { return !r.State().Connected })
		assert.LessOrEqual(t, time.Since(begin), 6*time.Second)
		assert.ErrorContains(t, r.State().LastError, "stopped answering")
		wait(30 * time.Second)
		s.Freeze(false)
		add(t, s, "b")
		awaitHosts(t, rec, "a", "b")
	})
}

// More reconnects than the library may be burdened with channels for.
func TestManyReconnects(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		r := open(t, s, "")
		rec := subscribed(t, r)
		for i := range maxArms + 20 {
			s.Cut()
			wait(3 * time.Second)
			require.True(t, r.State().Connected, "cut %d", i)
		}
		r.client.mu.Lock()
		arms := r.client.paths[providersDir].arms
		r.client.mu.Unlock()
		assert.Equal(t, maxArms, arms)
		add(t, s, "a")
		begin := time.Now()
		awaitHosts(t, rec, "a")
		assert.Less(t, time.Since(begin), time.Second)
		r.client.mu.Lock()
		defer r.client.mu.Unlock()
		assert.Equal(t, 1, r.client.paths[providersDir].arms, "the event spent the others")
	})
}

// The library leaves the socket of an expired session open; we do not.
func TestOldSocketsAreClosed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var open []*countedConn
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			nc, err := s.Dial(ctx, network, address)
			if err == nil {
				open = append(open, &countedConn{Conn: nc})
				nc = open[len(open)-1]
			}
			return nc, err
		}
		r, err := New(parse(t, "zookeeper://"+s.Addr()), WithDialer(dial))
		require.NoError(t, err)
		subscribed(t, r)
		for range 5 {
			s.ExpireSession(lastSession(t, s).ID)
			wait(5 * time.Second)
		}
		require.Len(t, open, 11, "two for each expiry")
		for i, c := range open {
			assert.Equal(t, i < 10, c.closed.Load(), "socket %d", i)
		}
		require.NoError(t, r.Close())
		assert.True(t, open[10].closed.Load())
	})
}

type countedConn struct {
	net.Conn
	closed atomic.Bool
}

func (c *countedConn) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}
