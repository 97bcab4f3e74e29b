package zookeeper

import (
	"fmt"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// The same over sockets and in real time: the server comes late, is killed, comes
// back, cuts and expires.
func TestOverSockets(t *testing.T) {
	s, err := zktest.Start()
	require.NoError(t, err)
	defer s.Close()
	s.Stop()
	_, port, err := net.SplitHostPort(s.Addr())
	require.NoError(t, err)
	r, err := New(parse(t, "zookeeper://zk.localhost:"+port+"?session=10000"))
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	require.NoError(t, r.Register(consumerURL(t)))
	rec := &recorder{}
	sub := subscribe(t, r, rec)
	await(t, "refused", func() bool { return r.State().LastError != nil })
	require.NoError(t, s.Resume())
	require.NoError(t, sub.Ready(soon(t)))
	assertHosts(t, rec)
	awaitRegistered(t, s)

	add(t, s, "a")
	awaitHosts(t, rec, "a")
	s.Stop()
	await(t, "loss", func() bool { return !r.State().Connected })
	add(t, s, "b")
	require.NoError(t, s.Resume())
	awaitHosts(t, rec, "a", "b")
	s.Cut()
	add(t, s, "c")
	awaitHosts(t, rec, "a", "b", "c")
	require.True(t, s.ExpireSession(lastSession(t, s).ID))
	add(t, s, "d")
	awaitHosts(t, rec, "a", "b", "c", "d")
	awaitRegistered(t, s)
	require.NoError(t, r.Close())
	assert.Empty(t, s.Sessions())
}

// Close ends everything at once when there is nobody to say goodbye to.
func TestCloseOverSockets(t *testing.T) {
	s, err := zktest.Start()
	require.NoError(t, err)
	defer s.Close()
	r, err := New(parse(t, "zookeeper://"+s.Addr()))
	require.NoError(t, err)
	subscribed(t, r)
	s.Freeze(true)
	begin := time.Now()
	require.NoError(t, r.Close())
	assert.Less(t, time.Since(begin), 10*time.Second)
}

// No goroutine per interface, provider or listener.
func TestIdleGoroutines(t *testing.T) {
	s, err := zktest.Start()
	require.NoError(t, err)
	defer s.Close()
	before := runtime.NumGoroutine()
	r, err := New(parse(t, "zookeeper://"+s.Addr()))
	require.NoError(t, err)
	recs := make([]*recorder, 100)
	for i := range recs {
		dir := fmt.Sprintf("/dubbo/com.example.S%02d", i)
		for _, h := range numbered(10) {
			require.NoError(t, s.Create(dir+"/providers/"+name(h), ""))
		}
		recs[i] = &recorder{}
		_, err := r.Subscribe(parse(t, fmt.Sprintf("consumer://h/com.example.S%02d", i)), recs[i])
		require.NoError(t, err)
	}
	for _, rec := range recs {
		awaitHosts(t, rec, numbered(10)...)
	}
	const client, server = 4, 2
	await(t, "rest", func() bool { return runtime.NumGoroutine() <= before+client+server })
	require.NoError(t, r.Close())
}
