//go:build integration

package integration

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/integration/rolling/drill"
	"github.com/gofer-rpc/gofer/url"
)

// usedAgain is how soon a provider that has crashed is used after it listens again
// (Java 3.2.16 and 3.3.6 find no provider for 45 s).
const usedAgain = 2 * time.Second

// TestCrashAndReturn kills both providers of a service and starts them again before
// their sessions have expired: at first the registry lists dead processes, then each
// provider twice, then the old entries go. None of that matters.
func TestCrashAndReturn(t *testing.T) {
	const session = 30 * time.Second // a JVM has to start meanwhile
	z := env.StartZooKeeper(t, harness.ZooKeeperConfig{MaxSession: session})
	conn := connect(t, z.Addr())
	eachPair(t, z.Addr(), "crash", drill.Patient+"&loadbalance=roundrobin", func(t *testing.T, pair *drill.Pair, r *gofer.Reference) {
		load := drill.Start(r, 4)
		killed := time.Now()
		require.NoError(t, pair.A.Kill())
		require.NoError(t, pair.B.Kill())
		dead := time.Now()
		var returns sync.WaitGroup
		for _, m := range []drill.Member{pair.A, pair.B} {
			returns.Go(func() { assert.NoError(t, m.Start(t.Context())) })
			returns.Go(func() { usedSoon(t, load, m) })
		}
		returns.Wait()
		require.Less(t, time.Since(killed), session, "the machine is too slow for this test")
		for _, f := range load.Report().Failures {
			assert.Less(t, f.Ended.Sub(f.Began), drill.AtOnce, "%v after the kill: %v", f.Began.Sub(dead), f.Err)
		}

		before := len(load.Report().Failures)
		t.Parallel() // calls go on while the other versions take their turn
		eventually(t, session+10*time.Second, "the old entries are gone", func() bool { return entries(conn, "crash-"+version(t)) == 2 })
		require.NoError(t, load.Await(t.Context(), pair.A, 100))
		require.NoError(t, load.Await(t.Context(), pair.B, 100))
		report := load.End()
		assert.Empty(t, report.Failures[before:], "since both are back")
		t.Logf("calls=%d failed=%d while both were away, the slowest failure took %v", report.Calls, before, slowest(report.Failures))
	}, "--delay", "20")
}

// usedSoon waits until somebody listens at the member's port, and then for its first
// answer.
func usedSoon(t *testing.T, load *drill.Load, m drill.Member) {
	_, port, err := net.SplitHostPort(m.Addr)
	assert.NoError(t, err)
	for nc := net.Conn(nil); nc == nil; <-time.After(5 * time.Millisecond) {
		if nc, err = net.Dial("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			_ = nc.Close()
		} else {
			nc = nil
		}
		if t.Context().Err() != nil {
			return
		}
	}
	listening := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	assert.NoError(t, load.Await(ctx, m, 1))
	took := time.Since(listening)
	assert.LessOrEqual(t, took, usedAgain, "%s at %s", m.Name, m.Addr)
	t.Logf("%s is used %v after it listens", m.Name, took.Round(time.Millisecond))
}

func slowest(fs []drill.Failure) (d time.Duration) {
	for _, f := range fs {
		d = max(d, f.Ended.Sub(f.Began))
	}
	return d.Round(time.Millisecond)
}

// version is the Dubbo version that a subtest is about.
func version(t *testing.T) string { return t.Name()[strings.LastIndexByte(t.Name(), '/')+1:] }

// entries counts the providers of a group in the registry.
func entries(conn *zk.Conn, group string) (n int) {
	names, _, err := conn.Children(providers)
	if err != nil {
		return -1
	}
	for _, name := range names {
		if u, err := url.ParseEncoded(name); err == nil && u.Param("group") == group {
			n++
		}
	}
	return n
}
