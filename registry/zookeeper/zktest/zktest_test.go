package zktest_test

import (
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	patience = 10 * time.Second
	interval = 2 * time.Millisecond
)

var world = zk.WorldACL(zk.PermAll)

func start(t *testing.T, opts ...zktest.Option) *zktest.Server {
	t.Helper()
	s, err := zktest.Start(opts...)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// client is the library's connection with its session events.
type client struct {
	*zk.Conn
	states chan zk.State
}

func dial(t *testing.T, s *zktest.Server, timeout time.Duration) *client {
	t.Helper()
	c := &client{states: make(chan zk.State, 1000)}
	conn, events, err := zk.Connect([]string{s.Addr()}, timeout, zk.WithLogger(silent{}), zk.WithLogInfo(false),
		zk.WithEventCallback(func(e zk.Event) {
			if e.Type == zk.EventSession {
				c.states <- e.State
			}
		}))
	require.NoError(t, err)
	c.Conn = conn
	t.Cleanup(func() {
		conn.Close()
		for range events { // until the library's goroutine ends
		}
	})
	c.await(t, zk.StateHasSession)
	return c
}

func (c *client) await(t *testing.T, want zk.State) {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case st := <-c.states:
			if st == want {
				return
			}
		case <-timeout:
			require.FailNow(t, "no session event", "%s", want)
		}
	}
}

func awaitEvent(t *testing.T, ch <-chan zk.Event, want zk.EventType) {
	t.Helper()
	select {
	case e := <-ch:
		require.Equal(t, want, e.Type, "%+v", e)
	case <-time.After(patience):
		require.FailNow(t, "no event", "%s", want)
	}
}

func TestNodesAndWatches(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := dial(t, s, 4*time.Second)

	_, err := c.Create("/a", []byte("x"), 0, world)
	require.NoError(t, err)
	_, err = c.Create("/a", nil, 0, world)
	require.ErrorIs(t, err, zk.ErrNodeExists)
	_, err = c.Create("/no/kid", nil, 0, world)
	require.ErrorIs(t, err, zk.ErrNoNode)

	_, _, children, err := c.ChildrenW("/a")
	require.NoError(t, err)
	_, _, data, err := c.GetW("/a")
	require.NoError(t, err)
	there, _, missing, err := c.ExistsW("/b")
	require.NoError(t, err)
	require.False(t, there)

	p, err := c.Create("/a/s-", nil, zk.FlagEphemeralSequential, world)
	require.NoError(t, err)
	assert.Equal(t, "/a/s-0000000000", p)
	awaitEvent(t, children, zk.EventNodeChildrenChanged)
	_, err = c.Create(p+"/x", nil, 0, world)
	require.ErrorIs(t, err, zk.ErrNoChildrenForEphemerals)

	st, err := c.Set("/a", []byte("yy"), 0)
	require.NoError(t, err)
	assert.Equal(t, []int32{1, 2, 1}, []int32{st.Version, st.DataLength, st.NumChildren})
	awaitEvent(t, data, zk.EventNodeDataChanged)
	_, err = c.Set("/a", nil, 0)
	require.ErrorIs(t, err, zk.ErrBadVersion)
	require.ErrorIs(t, c.Delete("/a", -1), zk.ErrNotEmpty)

	_, err = c.CreateContainer("/b", nil, zk.FlagContainer, world)
	require.NoError(t, err)
	awaitEvent(t, missing, zk.EventNodeCreated)
	got, err := c.Sync("/a")
	require.NoError(t, err)
	assert.Equal(t, "/a", got)

	_, _, children, err = c.ChildrenW("/a")
	require.NoError(t, err)
	require.NoError(t, c.Delete(p, -1))
	awaitEvent(t, children, zk.EventNodeChildrenChanged)
	_, _, children, err = c.ChildrenW("/a")
	require.NoError(t, err)
	require.NoError(t, c.Delete("/a", -1))
	awaitEvent(t, children, zk.EventNodeDeleted)
}

func TestMulti(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t), 4*time.Second)
	_, before, err := c.Children("/")
	require.NoError(t, err)

	r, err := c.Multi(&zk.CreateRequest{Path: "/m", Acl: world}, &zk.SetDataRequest{Path: "/m", Data: []byte("1")},
		&zk.CheckVersionRequest{Path: "/m", Version: 1}, &zk.DeleteRequest{Path: "/m", Version: -1})
	require.NoError(t, err)
	require.Len(t, r, 4)
	assert.Equal(t, "/m", r[0].String)

	_, err = c.Multi(&zk.CreateRequest{Path: "/m", Acl: world}, &zk.CreateRequest{Path: "/m/kid", Acl: world},
		&zk.DeleteRequest{Path: "/none", Version: -1}, &zk.CreateRequest{Path: "/n", Acl: world})
	require.ErrorIs(t, err, zk.ErrNoNode)
	for _, p := range []string{"/m", "/m/kid", "/n"} {
		there, _, err := c.Exists(p)
		require.NoError(t, err)
		assert.False(t, there, p)
	}
	_, after, err := c.Children("/")
	require.NoError(t, err)
	assert.Equal(t, before.NumChildren, after.NumChildren)
	assert.Equal(t, before.Cversion+2, after.Cversion, "the create and delete that went through")
}

// A watch survives a cut, and what happened meanwhile is reported.
func TestCutKeepsSessionAndWatches(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := dial(t, s, 10*time.Second)
	require.NoError(t, s.Create("/d/x", ""))
	id := c.SessionID()
	_, err := c.Create("/d/mine", nil, zk.FlagEphemeral, world)
	require.NoError(t, err)
	_, _, quiet, err := c.ChildrenW("/d")
	require.NoError(t, err)
	_, _, busy, err := c.ChildrenW("/d/x")
	require.NoError(t, err)

	s.Refuse(true)
	s.Cut()
	c.await(t, zk.StateDisconnected)
	require.NoError(t, s.Create("/d/x/new", ""))
	s.Refuse(false)
	awaitEvent(t, busy, zk.EventNodeChildrenChanged)
	assert.Equal(t, id, c.SessionID())
	require.NoError(t, s.Delete("/d/mine"))
	awaitEvent(t, quiet, zk.EventNodeChildrenChanged)
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := dial(t, s, 10*time.Second)
	require.NoError(t, s.Create("/d", ""))
	_, err := c.Create("/d/mine", nil, zk.FlagEphemeral, world)
	require.NoError(t, err)
	_, _, ch, err := c.ChildrenW("/d")
	require.NoError(t, err)
	id := c.SessionID()
	require.Equal(t, []string{"/d/mine"}, s.Sessions()[0].Ephemerals)

	require.True(t, s.ExpireSession(id))
	require.False(t, s.ExpireSession(id))
	awaitEvent(t, ch, zk.EventNotWatching)
	c.await(t, zk.StateExpired)
	c.await(t, zk.StateHasSession)
	assert.NotEqual(t, id, c.SessionID())
	_, there := s.Node("/d/mine")
	assert.False(t, there)
}

// A silent client loses its session by its timeout.
func TestSessionTimeout(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := dial(t, s, 300*time.Millisecond)
	id := c.SessionID()
	s.Refuse(true)
	s.Cut()
	require.Eventually(t, func() bool { return len(s.Sessions()) == 0 }, patience, interval)
	s.Refuse(false)
	c.await(t, zk.StateExpired)
	c.await(t, zk.StateHasSession)
	assert.NotEqual(t, id, c.SessionID())
}

func TestStopAndResumeKeepSession(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := dial(t, s, 10*time.Second)
	_, err := c.Create("/mine", nil, zk.FlagEphemeral, world)
	require.NoError(t, err)
	id, addr := c.SessionID(), s.Addr()
	s.Stop()
	_, err = net.Dial("tcp", addr)
	require.Error(t, err)
	require.NoError(t, s.Resume())
	require.Equal(t, addr, s.Addr())
	c.await(t, zk.StateDisconnected)
	c.await(t, zk.StateHasSession)
	assert.Equal(t, id, c.SessionID())
	_, there := s.Node("/mine")
	assert.True(t, there)
}

// A client that knew the data of before is refused, a new one is not.
func TestWipe(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := dial(t, s, 10*time.Second)
	_, err := c.Create("/a", nil, 0, world)
	require.NoError(t, err)
	s.Wipe()
	for range 2 {
		c.await(t, zk.StateConnected)
		c.await(t, zk.StateDisconnected)
	}
	assert.NotEqual(t, zk.StateHasSession, c.State())
	fresh := dial(t, s, 10*time.Second)
	there, _, err := fresh.Exists("/a")
	require.NoError(t, err)
	assert.False(t, there)
}

func TestFreeze(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := dial(t, s, 600*time.Millisecond)
	s.Freeze(true)
	c.await(t, zk.StateDisconnected) // no answer to pings
	s.Freeze(false)
	c.await(t, zk.StateHasSession)
	_, _, err := c.Children("/")
	require.NoError(t, err)
}

func TestScriptedFailures(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := dial(t, s, 10*time.Second)
	require.NoError(t, s.Create("/a", ""))
	s.FailNext(zktest.OpGetChildren2, "/a", zktest.NoAuth)
	s.FailNext(zktest.OpGetChildren2, "", zktest.NoNode)
	_, _, err := c.Children("/")
	require.ErrorIs(t, err, zk.ErrNoNode)
	_, _, err = c.Children("/a")
	require.ErrorIs(t, err, zk.ErrNoAuth)
	_, _, err = c.Children("/a")
	require.NoError(t, err)
	assert.Equal(t, 2, s.Requests(zktest.OpGetChildren2, "/a"))
	assert.Equal(t, 3, s.Requests(zktest.OpGetChildren2, ""))

	s.FailNext(zktest.OpCreate, "/after", zktest.CutAfter)
	_, err = c.Create("/after", nil, 0, world)
	require.ErrorIs(t, err, zk.ErrConnectionClosed)
	c.await(t, zk.StateDisconnected)
	c.await(t, zk.StateHasSession)
	s.FailNext(zktest.OpCreate, "/before", zktest.CutBefore)
	_, err = c.Create("/before", nil, 0, world)
	require.ErrorIs(t, err, zk.ErrConnectionClosed)
	_, after := s.Node("/after")
	_, before := s.Node("/before")
	assert.True(t, after, "executed, answer lost")
	assert.False(t, before)
}

func TestDropEvents(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := dial(t, s, 10*time.Second)
	require.NoError(t, s.Create("/a", ""))
	_, _, lost, err := c.ChildrenW("/a")
	require.NoError(t, err)
	require.Equal(t, 1, s.Watched("/a"))
	s.DropEvents(1)
	require.NoError(t, s.Create("/a/1", ""))
	require.Equal(t, 0, s.Watched("/a"), "spent")
	_, _, ch, err := c.ChildrenW("/a")
	require.NoError(t, err)
	require.NoError(t, s.Create("/a/2", ""))
	awaitEvent(t, ch, zk.EventNodeChildrenChanged)
	awaitEvent(t, lost, zk.EventNodeChildrenChanged) // the library fires both for the second change
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner, other := dial(t, s, 10*time.Second), dial(t, s, 10*time.Second)
	_, err := owner.Create("/sec", nil, 0, zk.AuthACL(zk.PermAll))
	require.ErrorIs(t, err, zk.ErrInvalidACL)
	require.NoError(t, owner.AddAuth("digest", []byte("u:p")))
	_, err = owner.Create("/sec", nil, 0, zk.AuthACL(zk.PermAll))
	require.NoError(t, err)
	acl, _, err := owner.GetACL("/sec")
	require.NoError(t, err)
	assert.Equal(t, zk.DigestACL(zk.PermAll, "u", "p"), acl)

	_, _, err = other.Children("/sec")
	require.ErrorIs(t, err, zk.ErrNoAuth)
	_, err = other.Create("/sec/x", nil, 0, world)
	require.ErrorIs(t, err, zk.ErrNoAuth)
	there, _, err := other.Exists("/sec")
	require.NoError(t, err, "needs no permission")
	assert.True(t, there)

	_, _, mine, err := owner.ChildrenW("/sec")
	require.NoError(t, err)
	_, err = owner.Create("/sec/x", nil, 0, world)
	require.NoError(t, err)
	awaitEvent(t, mine, zk.EventNodeChildrenChanged)
	_, _, foreign, err := other.ExistsW("/sec")
	require.NoError(t, err)
	_, err = owner.Set("/sec", nil, -1)
	require.NoError(t, err)
	_, err = other.Sync("/") // its answer would come after the event
	require.NoError(t, err)
	assert.Empty(t, foreign, "who may not read is not told")

	s.Cut() // the library repeats the credentials
	owner.await(t, zk.StateDisconnected)
	owner.await(t, zk.StateHasSession)
	_, _, err = owner.Children("/sec")
	require.NoError(t, err)

	_, err = owner.SetACL("/sec", world, -1)
	require.NoError(t, err)
	require.NoError(t, s.Protect("/sec", "x:y"))
	_, _, err = owner.Children("/sec")
	require.ErrorIs(t, err, zk.ErrNoAuth)
	require.ErrorIs(t, other.AddAuth("none", nil), zk.ErrAuthFailed)
}
