//go:build integration

package integration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/integration/rolling/drill"
)

const (
	frozenCallers = 4
	// frozenCost is how many calls a frozen provider costs at most: one of each caller,
	// and one more of those who timed out before the third timeout made it suspect.
	frozenCost = frozenCallers + 2
	// frozenTimeout is the timeout of a call: a busy machine may take its time, too.
	frozenTimeout = 800 * time.Millisecond
	// thawed is how soon it serves again.
	thawed = 2 * time.Second
)

// TestFrozenProvider freezes one of two providers (SIGSTOP), for less time than its
// session: it costs a few calls, not one in two, and serves as soon as it goes on.
func TestFrozenProvider(t *testing.T) {
	eachPair(t, env.ZooKeeper.Addr(), "frozen", "&timeout=800", frozen)
}

func frozen(t *testing.T, pair *drill.Pair, r *gofer.Reference) {
	for _, long := range []time.Duration{2 * time.Second, 5 * time.Second} { // the probe waits 3 s
		load := drill.Start(r, frozenCallers)
		require.NoError(t, load.Await(t.Context(), pair.A, 50)) // a JVM has to warm up
		frost, err := drill.Freeze(t.Context(), load, pair.A, long)
		report := load.End()
		require.NoError(t, err)
		t.Logf("frozen for %v: calls=%d failed=%d, the last after %v; serves %v after the thaw",
			long, report.Calls, len(frost.Failures), frost.Late.Round(time.Millisecond), frost.Back.Round(time.Millisecond))
		assert.LessOrEqual(t, len(frost.Failures), frozenCost)
		assert.Less(t, frost.Late, 4*frozenTimeout)
		assert.LessOrEqual(t, frost.Back, thawed)
		for _, f := range frost.Failures {
			assert.ErrorIs(t, f.Err, gofer.ErrTimeout)
		}
	}
}

// TestFrozenBeyondItsSession: the registry drops the provider meanwhile. When it goes
// on and has found that out, it registers again, and is used at once.
func TestFrozenBeyondItsSession(t *testing.T) {
	z := env.StartZooKeeper(t, harness.ZooKeeperConfig{MaxSession: 4 * time.Second})
	conn := connect(t, z.Addr())
	eachPair(t, z.Addr(), "ice", "&timeout=800", func(t *testing.T, pair *drill.Pair, r *gofer.Reference) {
		listed := func(n int) func() bool {
			return func() bool { return entries(conn, "ice-"+version(t)) == n }
		}
		t.Parallel() // it is mostly waiting
		load := drill.Start(r, frozenCallers)
		require.NoError(t, load.Await(t.Context(), pair.A, 50))
		require.NoError(t, pair.A.Freeze())
		eventually(t, 20*time.Second, "the entry expires", listed(1))
		require.NoError(t, pair.A.Thaw())
		thaw := time.Now()
		eventually(t, time.Minute, "the provider is registered again", listed(2))
		back := time.Now()
		require.NoError(t, load.Await(t.Context(), pair.A, 1))
		used := time.Now()
		report := load.End()
		t.Logf("calls=%d failed=%d; registered again %v after the thaw, and used %v after that", report.Calls, len(report.Failures),
			back.Sub(thaw).Round(time.Millisecond), used.Sub(back).Round(time.Millisecond))
		assert.LessOrEqual(t, len(report.Failures), frozenCost)
		assert.LessOrEqual(t, used.Sub(back), thawed)
	}, "--delay", "20")
}
