package zookeeper

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/registry"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

const (
	chaosServices = 5
	chaosSteps    = 150
)

// chaos does random things to the server and its providers. In each interface the
// provider "always" stays.
type chaos struct {
	*rand.Rand
	t *testing.T
	s *zktest.Server
}

func chaosDir(i int) string {
	return fmt.Sprintf("/dubbo/com.example.S%d/providers", i)
}

func (c *chaos) step() {
	s := c.s
	switch n := c.IntN(100); {
	case n < 50:
		p := chaosDir(c.IntN(chaosServices)) + "/" + name(fmt.Sprintf("h%d", c.IntN(10)))
		if s.Delete(p) != nil {
			require.NoError(c.t, s.Create(p, ""))
		}
	case n < 58:
		s.Cut()
	case n < 64:
		away(s)
		wait(time.Duration(c.IntN(60)) * time.Second)
		back(s)
	case n < 72:
		for _, session := range s.Sessions() {
			s.ExpireSession(session.ID)
		}
	case n < 76:
		s.Freeze(true)
		wait(time.Duration(c.IntN(40)) * time.Second)
		s.Freeze(false)
	case n < 80:
		s.Stop()
		wait(time.Duration(c.IntN(10)) * time.Second)
		require.NoError(c.t, s.Resume())
	case n < 84:
		s.DropEvents(1 + c.IntN(3))
	case n < 88:
		s.Delay(time.Duration(c.IntN(300)) * time.Millisecond)
	default:
		ops := []zktest.Op{zktest.OpGetChildren2, zktest.OpCreate, zktest.OpExists, zktest.OpSetWatches, zktest.OpDelete}
		codes := []zktest.Code{zktest.CutBefore, zktest.CutAfter, zktest.RuntimeInconsistency}
		s.FailNext(ops[c.IntN(len(ops))], "", codes[c.IntN(len(codes))])
	}
	wait(time.Duration(c.IntN(2000)) * time.Millisecond)
}

// Whatever happens, no snapshot is without the provider that was always there,
// none is older than one before, and in the end all agree with the server.
func TestChaos(t *testing.T) {
	seeds := 10
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *zktest.Server) { runChaos(t, s, uint64(seed)) })
		})
	}
}

func runChaos(t *testing.T, s *zktest.Server, seed uint64) {
	r := open(t, s, "")
	recs := make([]*recorder, chaosServices)
	for i := range recs {
		require.NoError(t, s.Create(chaosDir(i)+"/"+name("always"), ""))
		recs[i] = &recorder{}
		_, err := r.Subscribe(parse(t, fmt.Sprintf("consumer://h/com.example.S%d", i)), recs[i])
		require.NoError(t, err)
	}
	require.NoError(t, r.Register(consumerURL(t)))
	c := &chaos{rand.New(rand.NewPCG(seed, 1)), t, s}
	for range chaosSteps {
		c.step()
	}
	s.Heal()
	wait(25 * time.Minute) // two audits, and the longest retries
	requireConnected(t, r)
	assert.True(t, registered(t, s))
	require.Len(t, s.Sessions(), 1)
	for i, rec := range recs {
		n, _ := s.Node(chaosDir(i))
		var want []string
		for _, p := range n.Children {
			want = append(want, hostOf(p))
		}
		slices.Sort(want)
		assertHosts(t, rec, want...)
		var read time.Time
		for _, snap := range rec.all {
			require.True(t, slices.ContainsFunc(snap.Providers, isAlways))
			require.False(t, snap.Read.Before(read))
			read = snap.Read
		}
		assert.False(t, rec.last().Stale)
	}
}

func isAlways(e *registry.Entry) bool { return e.URL.Host() == "always" }

func hostOf(name string) string {
	_, rest, _ := strings.Cut(name, "%3A%2F%2F")
	host, _, _ := strings.Cut(rest, "%3A")
	return host
}
