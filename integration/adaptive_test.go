//go:build integration

package integration

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// seen is a strategy whose explanations and answers are looked at.
type seen struct {
	adaptive
	reports sync.Map // by node: the latest as the wire brought it

	mu   sync.Mutex
	last loadbalance.Explanation
}

type adaptive interface {
	loadbalance.LoadBalance
	loadbalance.Explainer
	protocol.Observer
}

func (s *seen) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	x := s.Explain(c, inv)
	s.mu.Lock()
	s.last = x
	s.mu.Unlock()
	return s.adaptive.Select(c, inv)
}

func (s *seen) Ended(inv *protocol.Invocation, o protocol.Outcome) {
	report, _ := inv.Result.Attachments["lb_adaptive"].(string)
	s.reports.Store(inv.Node, report)
	s.adaptive.Ended(inv, o)
}

// seeing returns a client of the environment's registry that has the strategy "seen".
func seeing(t *testing.T) (*gofer.Client, *seen) {
	s := new(seen)
	return newClient(t, env.ZooKeeper.Addr(), gofer.WithLoadBalance("seen", func(cfg loadbalance.Config) (loadbalance.LoadBalance, error) {
		lb, err := loadbalance.NewAdaptive(cfg)
		require.NoError(t, err)
		s.adaptive = lb.(adaptive)
		return s, nil
	})), s
}

// call calls from a few goroutines at once, so that every provider is called; nobody
// sees a report.
func (s *seen) call(t *testing.T, r *gofer.Reference) {
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			ctx, reply := gofer.WithReply(t.Context())
			for range 50 {
				_, err := gofer.Call[string](ctx, r, hello, "Ada")
				assert.NoError(t, err)
				assert.Contains(t, reply.Attachments(), "dubbo")
				assert.NotContains(t, reply.Attachments(), "lb_adaptive")
			}
		})
	}
	callers.Wait()
	_, err := gofer.Call[string](t.Context(), r, hello, "Ada") // explained when nothing is under way
	require.NoError(t, err)
}

var cpuOf = regexp.MustCompile(`cpu (\d+\.\d) % as reported|cpu not reported, (\d+\.\d) % assumed`)

// cpus returns the load of each provider's processors by its port as the latest pick saw
// it, reported or not; it is part of the score.
func (s *seen) cpus(t *testing.T) (percent map[int]float64, reported map[int]bool) {
	percent, reported = map[int]float64{}, map[int]bool{}
	require.Len(t, s.last.Candidates, 2)
	for _, c := range s.last.Candidates {
		t.Logf("%s: %s", c.Node.Address(), c.Reason)
		m := cpuOf.FindStringSubmatch(c.Reason)
		require.NotNil(t, m, c.Reason)
		cpu, err := strconv.ParseFloat(m[1]+m[2], 64)
		require.NoError(t, err)
		port := c.Node.URL().Port()
		percent[port], reported[port] = cpu, m[1] != ""
		assert.Zero(t, c.Active)
		assert.Positive(t, c.Latency)
		latency := float64(c.Latency.Nanoseconds()) / 1e6
		assert.InEpsilon(t, cpu*(math.Sqrt(latency)+1)/(float64(c.Weight)+1), c.Score, 0.06, "all calls were answered")

		report, _ := s.reports.Load(c.Node)
		if reported[port] {
			assert.Regexp(t, `^curTime:\d{13},load:-?\d+\.\d+(E-?\d+)?$`, report)
		} else {
			assert.Empty(t, report)
		}
	}
	return percent, reported
}

// TestAdaptiveAgainstJava: providers of Dubbo 3.2 and later report their processors'
// load, which becomes part of the score; those before report nothing, and are scored
// by what is seen of them.
func TestAdaptiveAgainstJava(t *testing.T) {
	for _, v := range env.Versions() {
		t.Run(v, func(t *testing.T) {
			client, s := seeing(t)
			// On the same machine, with four times the processors: a quarter of the load.
			group := []string{"--group", "adaptive-" + v, "--warmup", "1"}
			busy := env.StartProvider(t, v, append(group, "-J-XX:ActiveProcessorCount=1")...)
			calm := env.StartProvider(t, v, append(group, "-J-XX:ActiveProcessorCount=4")...)
			s.call(t, refer(t, client, busy.Reference("timeout=5000&retries=0&loadbalance=seen")))

			cpu, reported := s.cpus(t)
			modern := v >= "3.2"
			assert.Equal(t, map[int]bool{busy.Port: modern, calm.Port: modern}, reported)
			cell := "not reported"
			if modern {
				assert.Greater(t, cpu[busy.Port], 2*cpu[calm.Port])
				cell = fmt.Sprintf("%.0f %% and %.0f %% reported", cpu[busy.Port], cpu[calm.Port])
			} else {
				assert.Equal(t, cpu[busy.Port], cpu[calm.Port])
			}
			env.Table.Record("adaptive: processors", v, cell)
		})
	}
}

// TestAdaptiveMixedFleet: a provider that reports nothing counts as those that do.
func TestAdaptiveMixedFleet(t *testing.T) {
	versions := env.Built() // of both kinds, whichever versions the tests run against
	require.NotEmpty(t, versions)
	oldest, newest := versions[0], versions[len(versions)-1]
	require.True(t, oldest < "3.2" && newest >= "3.2", "needs a provider before Dubbo 3.2 and one since; integration/java builds %v", versions)
	client, s := seeing(t)
	silent := env.StartProvider(t, oldest, "--group", "adaptive-mixed", "--warmup", "1")
	speaks := env.StartProvider(t, newest, "--group", "adaptive-mixed", "--warmup", "1")
	s.call(t, refer(t, client, speaks.Reference("timeout=5000&retries=0&loadbalance=seen")))
	cpu, reported := s.cpus(t)
	assert.Equal(t, map[int]bool{silent.Port: false, speaks.Port: true}, reported)
	assert.InEpsilon(t, cpu[speaks.Port], cpu[silent.Port], 0.2)
}
