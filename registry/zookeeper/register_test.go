package zookeeper

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
	"github.com/gofer-rpc/gofer/url"
)

func consumerURL(t *testing.T) url.URL {
	return parse(t, "consumer://10.0.0.9/"+iface+"?application=shop-web&category=consumers&check=false&dubbo=2.0.2&interface="+iface+"&side=consumer&timestamp=1795980000000")
}

func consumerPath(t *testing.T) string {
	return ifaceDir + "/consumers/" + consumerURL(t).Encode()
}

func registered(t *testing.T, s *zktest.Server) bool {
	n, there := s.Node(consumerPath(t))
	return there && n.Stat.EphemeralOwner == lastSession(t, s).ID
}

func awaitRegistered(t *testing.T, s *zktest.Server) {
	t.Helper()
	await(t, "registered by the last session", func() bool { return registered(t, s) })
}

func TestRegister(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		r := open(t, s, "")
		require.NoError(t, r.Register(consumerURL(t)))
		require.NoError(t, r.Register(consumerURL(t)), "twice is once")
		awaitRegistered(t, s)
		n, _ := s.Node(consumerPath(t))
		assert.Equal(t, []zktest.ACL{{Perms: 31, Scheme: "world", ID: "anyone"}}, n.ACL)
		for _, p := range parents(consumerPath(t)) {
			dir, there := s.Node(p)
			require.True(t, there)
			assert.Zero(t, dir.Stat.EphemeralOwner, "%s is persistent", p)
		}
		require.NoError(t, r.Unregister(consumerURL(t)))
		await(t, "gone", func() bool { return !registered(t, s) })
		await(t, "forgotten", func() bool {
			r.client.mu.Lock()
			defer r.client.mu.Unlock()
			return len(r.client.registrations) == 0
		})
		require.ErrorContains(t, r.Unregister(consumerURL(t)), "not registered")
		require.NoError(t, r.Register(consumerURL(t)))
		awaitRegistered(t, s)
	})
}

// In again before it was out.
func TestRegisterWhileUnregistering(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		r := open(t, s, "")
		require.NoError(t, r.Register(consumerURL(t)))
		awaitRegistered(t, s)
		s.Delay(100 * time.Millisecond)
		require.NoError(t, r.Unregister(consumerURL(t)))
		wait(50 * time.Millisecond)
		require.NoError(t, r.Register(consumerURL(t)))
		wait(time.Minute)
		assert.True(t, registered(t, s))
	})
}

// A session that comes while the node is being taken out has every registration
// looked at again, this one after it has ended.
func TestUnregisterWhileASessionComes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		r := open(t, s, "")
		require.NoError(t, r.Register(consumerURL(t)))
		awaitRegistered(t, s)
		s.Delay(100 * time.Millisecond)
		require.NoError(t, r.Unregister(consumerURL(t)))
		wait(150 * time.Millisecond)
		r.client.sessionUp()
		wait(time.Minute)
		assert.False(t, registered(t, s))
		require.NoError(t, r.Register(consumerURL(t)))
		awaitRegistered(t, s)
	})
}

func TestRegistrationSurvives(t *testing.T) {
	for name, fault := range map[string]func(*testing.T, *zktest.Server){
		"expiry":   func(t *testing.T, s *zktest.Server) { s.ExpireSession(lastSession(t, s).ID) },
		"outage":   func(t *testing.T, s *zktest.Server) { away(s); wait(5 * time.Minute); back(s) },
		"deletion": func(t *testing.T, s *zktest.Server) { require.NoError(t, s.Delete("/dubbo")); s.Cut() },
		"deletion, unseen": func(t *testing.T, s *zktest.Server) {
			require.NoError(t, s.Delete(consumerPath(t)))
			wait(15 * time.Minute)
		},
		"wipe": func(_ *testing.T, s *zktest.Server) { s.Wipe(); wait(2 * time.Minute) },
		"failures and expiry": func(t *testing.T, s *zktest.Server) {
			for range 5 {
				s.FailNext(zktest.OpCreate, consumerPath(t), zktest.RuntimeInconsistency)
			}
			s.ExpireSession(lastSession(t, s).ID)
		},
		"lost answer": func(t *testing.T, s *zktest.Server) {
			s.FailNext(zktest.OpCreate, consumerPath(t), zktest.CutAfter)
			s.ExpireSession(lastSession(t, s).ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				r := open(t, s, "")
				require.NoError(t, r.Register(consumerURL(t)))
				awaitRegistered(t, s)
				fault(t, s)
				await(t, "a session", func() bool { return len(s.Sessions()) > 0 })
				awaitRegistered(t, s)
				await(t, "no trouble", func() bool { return r.State().Connected && r.State().LastError == nil })
			})
		})
	}
}

// Registered before there is a server.
func TestRegisterEarly(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		s.Stop()
		r := open(t, s, "")
		require.NoError(t, r.Register(consumerURL(t)))
		wait(time.Minute)
		require.NoError(t, s.Resume())
		await(t, "a session", func() bool { return len(s.Sessions()) > 0 })
		awaitRegistered(t, s)
	})
}

// A node of the same name that belongs to another session is replaced: it would go
// with that session. It happens after a restart of the process.
func TestNodeOfAnotherSessionIsReplaced(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		old, err := New(parse(t, "zookeeper://"+s.Addr()), WithDialer(s.Dial))
		require.NoError(t, err)
		require.NoError(t, old.Register(consumerURL(t)))
		awaitRegistered(t, s)
		r := open(t, s, "")
		requireConnected(t, r)
		require.NoError(t, r.Register(consumerURL(t)))
		awaitRegistered(t, s)
		require.NoError(t, old.Close())
		wait(time.Second)
		assert.True(t, registered(t, s), "the other did not take ours out")
	})
}

// B029: with credentials what is created belongs to the user; parents that were
// there stay as they are.
func TestACL(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		require.NoError(t, s.Create("/dubbo", ""))
		r, err := New(parse(t, "zookeeper://u:p@"+s.Addr()), WithDialer(s.Dial))
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close()) }()
		require.NoError(t, r.Register(consumerURL(t)))
		awaitRegistered(t, s)
		mine := []zktest.ACL{{Perms: 31, Scheme: "digest", ID: zk.DigestACL(31, "u", "p")[0].ID}}
		for _, p := range []string{consumerPath(t), ifaceDir, ifaceDir + "/consumers"} {
			n, _ := s.Node(p)
			assert.Equal(t, mine, n.ACL, p)
		}
		n, _ := s.Node("/dubbo")
		assert.Equal(t, "world", n.ACL[0].Scheme)
	})
}

func TestRegisterWithoutPermission(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		require.NoError(t, s.Create(ifaceDir+"/consumers", ""))
		require.NoError(t, s.Protect(ifaceDir+"/consumers", "other:one"))
		r := open(t, s, "")
		require.NoError(t, r.Register(consumerURL(t)))
		wait(time.Second)
		require.ErrorContains(t, r.State().LastError, "register "+consumerPath(t))
		require.ErrorIs(t, r.State().LastError, zk.ErrNoAuth)
		wait(10 * time.Minute)
		assert.LessOrEqual(t, s.Requests(zktest.OpCreate, ""), 50, "tried again slowly")
		require.ErrorContains(t, r.Register(parse(t, "consumer://h")), "names no interface")
	})
}

// Many nodes are gone when Close returns, while another registry keeps the session.
func TestCloseTakesNodesOut(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		pool := NewPool(WithDialer(s.Dial))
		keep, err := pool.Open(parse(t, "zookeeper://"+s.Addr()))
		require.NoError(t, err)
		r, err := pool.Open(parse(t, "zookeeper://"+s.Addr()))
		require.NoError(t, err)
		require.NoError(t, keep.Register(consumerURL(t)))
		for i := range 50 {
			require.NoError(t, r.Register(consumerURL(t).With("i", fmt.Sprint(i))))
		}
		require.NoError(t, r.Register(consumerURL(t)), "both registered it")
		await(t, "all", func() bool { return len(s.Sessions()) == 1 && len(s.Sessions()[0].Ephemerals) == 51 })
		require.NoError(t, r.Close())
		assert.Equal(t, []string{consumerPath(t)}, s.Sessions()[0].Ephemerals)
		require.NoError(t, keep.Close())
		assert.Empty(t, s.Sessions())
	})
}

// The connection is lost just before Close: the node goes all the same.
func TestCloseAfterCut(t *testing.T) {
	for _, after := range []time.Duration{0, 10 * time.Millisecond, 110 * time.Millisecond} {
		inBubble(t, func(t *testing.T, s *zktest.Server) {
			slow := func(ctx context.Context, network, address string) (net.Conn, error) {
				<-time.After(100 * time.Millisecond)
				return s.Dial(ctx, network, address)
			}
			r := open(t, s, "", WithDialer(slow))
			require.NoError(t, r.Register(consumerURL(t)))
			await(t, "a session", func() bool { return len(s.Sessions()) == 1 })
			awaitRegistered(t, s)
			wait(10 * time.Second)
			s.Cut()
			wait(after)
			require.NoError(t, r.Close())
			assert.Empty(t, s.Sessions(), "after %s", after)
		})
	}
}
