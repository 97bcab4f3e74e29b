package zookeeper

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// A connection that was cut just before Close is made again, so that what was
// registered is taken out rather than left to the session's end.
func TestCloseAfterACut(t *testing.T) {
	for name, held := range map[string]time.Duration{"young session": 100 * time.Millisecond, "old session": time.Minute} {
		for _, noticed := range []time.Duration{0, time.Millisecond, 200 * time.Millisecond} {
			t.Run(name+" "+noticed.String(), func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *zktest.Server) {
					r := open(t, s, "", WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
						time.Sleep(50 * time.Millisecond)
						return s.Dial(ctx, network, address)
					}))
					subscribed(t, r)
					u := parse(t, "consumer://h/"+iface+"?category=consumers")
					require.NoError(t, r.Register(u))
					await(t, "registered", func() bool { return len(lastSession(t, s).Ephemerals) == 1 })
					wait(held)
					s.Cut()
					wait(noticed)
					require.NoError(t, r.Unregister(u))
					begin := time.Now()
					require.NoError(t, r.Close())
					assert.LessOrEqual(t, time.Since(begin), 2*time.Second)
					node, there := s.Node("/dubbo/" + iface + "/consumers")
					require.True(t, there)
					assert.Empty(t, node.Children)
				})
			})
		}
	}
}
