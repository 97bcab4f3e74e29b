package zookeeper

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// B015: credentials come before any read on each connection.
func TestCredentials(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		require.NoError(t, s.Protect(providersDir, "user:pa#ss@x"))
		log, logs := observer.New(zap.WarnLevel)
		r, err := New(parse(t, "zookeeper://user:pa%23ss%40x@"+s.Addr()), WithDialer(s.Dial), WithLogger(zap.New(log)))
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close()) }()
		rec := subscribed(t, r)
		assertHosts(t, rec, "a")
		for i, h := range []string{"b", "c"} {
			if i == 0 {
				away(s)
				wait(time.Second)
				back(s)
			} else {
				s.ExpireSession(lastSession(t, s).ID)
			}
			add(t, s, h)
			await(t, h, func() bool { return slices.Contains(rec.hosts(), h) })
		}
		assert.Zero(t, logs.FilterMessageSnippet("cannot read").Len())
		assert.Equal(t, 3, s.Requests(zktest.OpAuth, ""), "once a connection")
		require.NoError(t, r.State().LastError)
	})
}

// The answer to the credentials is lost: the next connection sends them again.
func TestCredentialsAreSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		require.NoError(t, s.Protect(providersDir, "u:p"))
		s.FailNext(zktest.OpAuth, "", zktest.CutBefore)
		s.FailNext(zktest.OpAuth, "", zktest.CutAfter)
		s.FailNext(zktest.OpAuth, "", zktest.AuthFailed)
		r, err := New(parse(t, "zookeeper://u:p@"+s.Addr()), WithDialer(s.Dial))
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close()) }()
		rec := subscribed(t, r)
		assertHosts(t, rec, "a")
	})
}

// Missing permission is a state of its own: named, tried again slowly, and no
// empty list.
func TestNoPermission(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		log, logs := observer.New(zap.WarnLevel)
		add(t, s, "a")
		require.NoError(t, s.Protect(providersDir, "other:one"))
		r := open(t, s, "", WithLogger(zap.New(log)))
		rec := &recorder{}
		sub := subscribe(t, r, rec)
		err := sub.Ready(within(t, 5*time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "no permission to read "+providersDir)
		require.ErrorContains(t, r.State().LastError, "no permission")
		assert.Zero(t, rec.count())
		wait(10 * time.Minute)
		assert.LessOrEqual(t, s.Requests(zktest.OpGetChildren2, providersDir), 50)
		assert.Equal(t, 1, logs.Len())
	})
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		add(t, s, "a")
		rec := subscribed(t, open(t, s, ""))
		require.NoError(t, s.Protect(providersDir, "other:one"))
		add(t, s, "b") // of which we are not told
		wait(15 * time.Minute)
		assertHosts(t, rec, "a")
		assert.True(t, rec.last().Stale)
	})
}
