package zookeeper

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// The session expires at any moment of a read, or of the write of our own entry: what
// was read counts or is read again, and both are right in the next session.
func TestExpiredDuringRead(t *testing.T) {
	for at := time.Duration(0); at <= 300*time.Millisecond; at += 20 * time.Millisecond {
		t.Run(fmt.Sprint("after ", at), func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				add(t, s, "a")
				r := open(t, s, "")
				rec := subscribed(t, r)
				s.Delay(100 * time.Millisecond)
				require.NoError(t, r.Register(consumerURL(t)))
				add(t, s, "b")
				wait(at)
				id := lastSession(t, s).ID
				require.True(t, s.ExpireSession(id))
				remove(t, s, "a")
				add(t, s, "c")
				awaitHosts(t, rec, "b", "c")
				awaitRegistered(t, s)
				for _, snap := range rec.all {
					assert.NotEmpty(t, snap.Providers)
				}
				assert.NotEqual(t, id, lastSession(t, s).ID)
				assert.Len(t, s.Sessions(), 1)
			})
		})
	}
}

// A server of an ensemble says that the session has moved to another one, or ends the
// connection, as real ones do: the request is repeated there, in the same session.
func TestSessionMoved(t *testing.T) {
	const moved zktest.Code = -118
	for _, answer := range []zktest.Code{moved, zktest.CutBefore} {
		inBubble(t, func(t *testing.T, s *zktest.Server) {
			add(t, s, "a")
			r := open(t, s, "")
			rec := subscribed(t, r)
			for range 3 {
				s.FailNext(zktest.OpGetChildren2, providersDir, answer)
				s.FailNext(zktest.OpCreate, consumerPath(t), answer)
			}
			require.NoError(t, r.Register(consumerURL(t)))
			add(t, s, "b")
			awaitHosts(t, rec, "a", "b")
			awaitRegistered(t, s)
			assert.Equal(t, 1, r.State().Sessions)
			await(t, "no trouble", func() bool { return r.State().LastError == nil })
			add(t, s, "c") // the watch is where the session is
			awaitHosts(t, rec, "a", "b", "c")
		})
	}
}
