package zookeeper

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// B013: a registry at rest does nothing but ping, whatever happened before.
func TestNoHotLoop(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		log, logs := observer.New(zap.DebugLevel)
		r := open(t, s, "", WithLogger(zap.New(log)), WithAudit(0))
		rec := subscribed(t, r)
		add(t, s, "b")
		awaitHosts(t, rec, "a", "b")
		s.ExpireSession(lastSession(t, s).ID)
		wait(10 * time.Second)
		requireConnected(t, r)
		before := requests(s)
		lines := logs.Len()
		wait(time.Hour)
		after := requests(s)
		assert.Equal(t, before, after)
		assert.Equal(t, lines, logs.Len())

		s.Stop()
		lines = logs.Len()
		wait(time.Minute)
		assert.LessOrEqual(t, logs.FilterLevelExact(zap.WarnLevel).Len(), 2, "one line an outage")
		assert.LessOrEqual(t, logs.Len()-lines, 100)
		require.NoError(t, s.Resume())
		requireConnected(t, r)
	})
}

// requests counts all requests but pings.
func requests(s *zktest.Server) int {
	n := 0
	for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpDelete, zktest.OpExists, zktest.OpGetData, zktest.OpGetChildren2, zktest.OpAuth, zktest.OpSetWatches} {
		n += s.Requests(op, "")
	}
	return n
}

// B017: whatever arrives while the first list is under way is not lost, and not
// overwritten by it.
func TestChangeDuringRead(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		require.NoError(t, s.Create(providersDir, ""))
		r := open(t, s, "")
		requireConnected(t, r)
		s.Delay(200 * time.Millisecond)
		rec := &recorder{}
		subscribe(t, r, rec)
		wait(100 * time.Millisecond)
		add(t, s, "a")
		wait(150 * time.Millisecond)
		add(t, s, "b")
		awaitHosts(t, rec, "a", "b")
		wait(time.Minute)
		assertHosts(t, rec, "a", "b")
	})
}

// A list from a server that lags behind is not news; a new node of the name is.
func TestDigestOrdersByVersion(t *testing.T) {
	c := &client{s: newSettings([]Option{WithConfirmation(0)}), log: zap.NewNop()}
	w := newWatched(&service{client: c, dir: ifaceDir}, providers)
	now := time.Now()
	read := func(v version, names ...string) (string, bool) {
		again, news := w.digest(names, v, now, time.Time{})
		return fmt.Sprint(w.listed, news != nil), !again.IsZero()
	}
	for i, step := range []struct {
		v     version
		names []string
		want  string
		again bool
	}{
		{version{1, 5}, []string{"b", "a"}, "[a b] true", false},
		{version{1, 4}, []string{"a"}, "[a b] false", true}, // older
		{version{1, 5}, []string{"a", "b"}, "[a b] true", false},
		{version{1, 7}, []string{"c"}, "[c] true", false},
		{version{3, 3}, []string{"d"}, "[d] true", false}, // re-created
		{version{2, 2}, []string{"e"}, "[e] true", false}, // restored from a backup
		{version{}, nil, "[] true", false},                // gone
	} {
		got, again := read(step.v, step.names...)
		assert.Equal(t, step.want, got, "step %d", i)
		assert.Equal(t, step.again, again, "step %d", i)
	}
	read(version{9, 9}, "x")
	for range maxLags {
		got, again := read(version{9, 8}, "y")
		require.Equal(t, "[x] false", got)
		require.True(t, again)
	}
	got, _ := read(version{9, 8}, "y")
	assert.Equal(t, "[y] true", got, "it insists: that is how it is now")
}

// B019: failures, however many, do not stop it, and a new session starts anew.
func TestFailedReadsAreRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		r := open(t, s, "")
		rec := &recorder{}
		for range 12 {
			s.FailNext(zktest.OpGetChildren2, providersDir, zktest.RuntimeInconsistency)
			s.FailNext(zktest.OpCreate, "", zktest.RuntimeInconsistency)
		}
		sub := subscribe(t, r, rec)
		consumer := parse(t, "consumer://h/"+iface+"?category=consumers")
		require.NoError(t, r.Register(consumer))
		await(t, "trouble", func() bool { return r.State().LastError != nil })
		s.ExpireSession(lastSession(t, s).ID)
		require.NoError(t, sub.Ready(within(t, 10*time.Minute)))
		assertHosts(t, rec, "a")
		await(t, "registered", func() bool { return len(lastSession(t, s).Ephemerals) == 1 })
		require.NoError(t, r.State().LastError)
	})
}

// The read that sets the watch again fails.
func TestWatchReArmFails(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		rec := subscribed(t, open(t, s, ""))
		s.FailNext(zktest.OpGetChildren2, providersDir, zktest.RuntimeInconsistency)
		add(t, s, "a")
		awaitHosts(t, rec, "a")
		require.Equal(t, 1, s.Watched(providersDir))
		s.FailNext(zktest.OpGetChildren2, providersDir, zktest.CutBefore)
		add(t, s, "b")
		awaitHosts(t, rec, "a", "b")
		s.FailNext(zktest.OpGetChildren2, providersDir, zktest.CutAfter)
		add(t, s, "c")
		awaitHosts(t, rec, "a", "b", "c")
		require.Equal(t, 1, s.Watched(providersDir))
	})
}

// An event that got lost is made up for by the audit, which reads no list.
func TestAuditFindsLostEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		rec := subscribed(t, open(t, s, ""))
		s.DropEvents(1)
		add(t, s, "a")
		wait(2 * time.Minute)
		assertHosts(t, rec)
		wait(10 * time.Minute)
		assertHosts(t, rec, "a")
		lists := s.Requests(zktest.OpGetChildren2, "")
		wait(time.Hour)
		assert.Equal(t, lists, s.Requests(zktest.OpGetChildren2, ""))
		assert.Greater(t, s.Requests(zktest.OpExists, providersDir), 4)

		require.NoError(t, s.Delete(providersDir)) // the audit finds that too
		awaitHosts(t, rec)
	})
}

// The providers disappear for a moment, as when they register anew (Dubbo 3
// deletes and creates): nobody notices.
func TestSuddenlyEmptyIsDoubted(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		log, logs := observer.New(zap.WarnLevel)
		add(t, s, "a", "b")
		rec := subscribed(t, open(t, s, "", WithLogger(zap.New(log))))
		remove(t, s, "a", "b")
		wait(time.Second)
		add(t, s, "a", "b")
		wait(time.Minute)
		assertHosts(t, rec, "a", "b")
		for _, snap := range rec.all {
			assert.Len(t, snap.Providers, 2)
		}
		assert.Nil(t, rec.last().Doubt)

		remove(t, s, "a", "b")
		begin := time.Now()
		await(t, "doubt", func() bool { return rec.last().Doubt != nil })
		assertHosts(t, rec, "a", "b")
		doubt := rec.last().Doubt
		assert.Equal(t, []int{0, 2}, []int{doubt.Listed, doubt.Known})
		assert.WithinDuration(t, begin, doubt.Since, time.Second)
		awaitHosts(t, rec)
		assert.Nil(t, rec.last().Doubt)
		assert.InDelta(t, 1.5, time.Since(begin).Seconds(), 0.2)
		assert.Equal(t, 2, logs.FilterMessageSnippet("shrank").Len())
	})
}

// A directory that is deleted counts as empty after the confirmation; created
// again it serves.
func TestDirectoryDeletedAndCreated(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		rec := subscribed(t, open(t, s, ""))
		require.NoError(t, s.Delete("/dubbo"))
		wait(time.Second)
		assertHosts(t, rec, "a")
		awaitHosts(t, rec)
		require.NoError(t, s.Delete("/dubbo"))
		add(t, s, "b")
		awaitHosts(t, rec, "b")
	})
}

// While in doubt an outage proves nothing; a new session starts the wait anew.
func TestDoubtOutlivesOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		rec := subscribed(t, open(t, s, ""))
		remove(t, s, "a")
		wait(time.Second)
		away(s)
		wait(time.Minute)
		back(s)
		await(t, "fresh", func() bool { return !rec.last().Stale })
		wait(time.Second)
		assertHosts(t, rec, "a")
		add(t, s, "a")
		wait(10 * time.Second)
		for _, snap := range rec.all {
			assert.Len(t, snap.Providers, 1)
		}
	})
}

func TestConfirmationCanBeTurnedOff(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		rec := subscribed(t, open(t, s, "", WithConfirmation(0)))
		remove(t, s, "a")
		wait(100 * time.Millisecond)
		assertHosts(t, rec)
	})
}

// A list that cannot be received ends the connection each time it is read: it is
// named, and the others are not held up.
func TestListThatEndsTheConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		for range 1000 {
			s.FailNext(zktest.OpGetChildren2, providersDir, zktest.CutBefore)
		}
		r := open(t, s, "")
		subscribe(t, r, &recorder{})
		other := &recorder{}
		_, err := r.Subscribe(parse(t, "consumer://h/com.example.Other"), other)
		require.NoError(t, err)
		wait(time.Minute)
		require.ErrorContains(t, r.State().LastError, "perhaps the list is larger than 64 MiB")
		before := s.Requests(zktest.OpGetChildren2, providersDir)
		wait(10 * time.Minute)
		assert.LessOrEqual(t, s.Requests(zktest.OpGetChildren2, providersDir)-before, 50)
		require.NoError(t, s.Create("/dubbo/com.example.Other/providers/"+name("x"), ""))
		awaitHosts(t, other, "x")
	})
}

// Several interfaces, more than there are workers, with a mass re-read.
func TestManyInterfaces(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		const n = 300
		r := open(t, s, "")
		recs := make([]*recorder, n)
		dir := func(i int) string { return fmt.Sprintf("/dubbo/com.example.S%03d/providers/", i) }
		for i := range recs {
			require.NoError(t, s.Create(dir(i)+name("a"), ""))
			recs[i] = &recorder{}
			_, err := r.Subscribe(parse(t, fmt.Sprintf("consumer://h/com.example.S%03d", i)), recs[i])
			require.NoError(t, err)
		}
		for _, rec := range recs {
			awaitHosts(t, rec, "a")
		}
		away(s)
		wait(time.Second)
		for i := range recs {
			require.NoError(t, s.Create(dir(i)+name("b"), ""))
		}
		back(s)
		for _, rec := range recs {
			awaitHosts(t, rec, "a", "b")
		}
	})
}
