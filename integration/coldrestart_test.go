//go:build integration

package integration

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/loadbalance"
)

var coldAll = flag.Bool("cold.all", false, "restart a provider of every Dubbo version cold, not of the newest only")

const (
	coldBefore = 4 * time.Second         // of load, all providers warm
	coldSettle = 1500 * time.Millisecond // of it that is not counted: JVMs compile, strategies learn
	coldWarmup = 10 * time.Second
	coldAfter  = 3 * time.Second // of load, when it has warmed up

	// A call takes 20 ms, and at the restarted provider six times that in its first
	// second, as if its caches were empty; then less and less.
	coldDelay  = "20"
	coldCurve  = "0:100,1000:100,7000:0"
	coldStory  = "calls take 20 ms; there 120 ms in its first second, 20 ms after 7 s"
	coldPhases = 4 // of the warm-up
)

// TestColdRestart restarts one of three Java providers cold under the load of every
// load balancer, and prints its share, and how long calls take, while it warms up.
//
// All load balancers are measured at once, with a client each. What makes the provider
// slow is that it sleeps, and it has a thread for every call, so they do not disturb
// each other.
func TestColdRestart(t *testing.T) {
	versions := env.Versions()
	if !*coldAll {
		versions = versions[len(versions)-1:]
	}
	for _, v := range versions {
		t.Run(v, func(t *testing.T) {
			r := restartCold(t, v)
			text := r.table()
			t.Log("\n" + text)
			publishCold(t, text)
			for _, l := range r.loads {
				r.check(t, l)
			}
		})
	}
}

// coldRestart is what happened.
type coldRestart struct {
	dubbo  string
	cold   string // address of the provider that was restarted
	loads  []*coldLoad
	away   time.Duration
	phases []phase // before, those of the warm-up, after
}

func restartCold(t *testing.T, v string) *coldRestart {
	group := "cold-" + v
	flags := []string{"--group", group, "--delay", coldDelay, "--shutdown-wait", "2000"}
	first := threeProviders(t, v, append(flags, "--warmup", "1"))[0]
	r := &coldRestart{dubbo: v, cold: fmt.Sprintf("localhost.:%d", first.Port)}
	for _, name := range slices.Sorted(maps.Keys(loadbalance.Builtin())) {
		r.loads = append(r.loads, startColdLoad(t, group, name))
	}
	began := time.Now().Add(coldSettle)
	<-time.After(coldBefore)

	stopped := time.Now()
	require.NoError(t, first.Stop())
	env.StartProvider(t, v, append(flags, "--name", first.Name, "--port", strconv.Itoa(first.Port),
		"--warmup", strconv.FormatInt(coldWarmup.Milliseconds(), 10), "--cold-start", coldCurve)...)
	started := r.awaitBack(t, stopped)
	warmed := started.Add(coldWarmup)
	<-time.After(time.Until(warmed) + coldAfter)
	for _, l := range r.loads {
		l.end()
	}
	back := r.firstCall(started)
	r.away = back.Sub(stopped)
	r.phases = coldTimes(began, stopped, started, back)
	// What is left of the warm-up is what there is to see.
	require.Less(t, r.phases[1].weight, 50.0, "%v passed between the provider's start and its first call", back.Sub(started))
	return r
}

// coldTimes are the phases of a test that began, stopped a provider, which started
// again and was called from a moment on.
func coldTimes(began, stopped, started, back time.Time) []phase {
	weight := func(at time.Time) float64 { return 100 * at.Sub(started).Seconds() / coldWarmup.Seconds() }
	warmed := started.Add(coldWarmup)
	phases := []phase{{name: "before", begin: began, end: stopped, weight: 100}}
	for i := range time.Duration(coldPhases) {
		p := phase{begin: back.Add(i * warmed.Sub(back) / coldPhases), end: back.Add((i + 1) * warmed.Sub(back) / coldPhases)}
		p.weight = (weight(p.begin) + weight(p.end)) / 2
		p.name = fmt.Sprintf("weight %.0f–%.0f", weight(p.begin), weight(p.end))
		phases = append(phases, p)
	}
	return append(phases, phase{name: "after", begin: warmed, end: warmed.Add(coldAfter), weight: 100})
}

// threeProviders starts them at once: a JVM with Dubbo 3 takes seconds.
func threeProviders(t *testing.T, v string, flags []string) []*harness.Provider {
	providers, errs := make([]*harness.Provider, 3), make([]error, 3)
	var wg sync.WaitGroup
	for i := range providers {
		wg.Go(func() { providers[i], errs[i] = env.LaunchProvider(t.Context(), v, flags...) })
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	t.Cleanup(func() {
		for _, p := range providers {
			_ = p.Kill()
		}
	})
	return providers
}

// awaitBack waits until all consumers can call the provider that was stopped, and
// returns when it was started again.
func (r *coldRestart) awaitBack(t *testing.T, stopped time.Time) (started time.Time) {
	eventually(t, 10*time.Second, "all consumers can call the provider that was restarted", func() bool {
		for _, l := range r.loads {
			if started = l.start(r.cold); !started.After(stopped) {
				return false
			}
		}
		return true
	})
	return started
}

// firstCall returns when a consumer first called the cold provider.
func (r *coldRestart) firstCall(started time.Time) time.Time {
	back := started.Add(coldWarmup)
	for _, l := range r.loads {
		for _, c := range l.calls {
			if c.provider == r.cold && c.begun.After(started) && c.begun.Before(back) {
				back = c.begun
			}
		}
	}
	return back
}

func (r *coldRestart) table() string {
	return fmt.Sprintf("one of three providers of Dubbo %s restarted cold under load, away for %.1f s, warm-up %v, fair share 33.3 %%;\n%s\n\n%s",
		r.dubbo, r.away.Seconds(), coldWarmup, coldStory, coldTable(r.loads, r.phases, r.cold))
}

// publishCold writes the table to cold.txt beside the interop table.
func publishCold(t *testing.T, text string) {
	interop := os.Getenv("GOFER_INTEROP_TABLE")
	if interop == "" {
		return
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(interop), "cold.txt"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	_, err = f.WriteString(text + "\n")
	require.NoError(t, errors.Join(err, f.Close()))
}

// check asserts what must hold on a busy machine, too.
func (r *coldRestart) check(t *testing.T, l *coldLoad) {
	assert.Empty(t, l.failed, "%s: no call fails, without retries", l.strategy)
	shares, warming := make([]float64, len(r.phases)), 0
	for i, p := range r.phases {
		f := l.figures(p, r.cold)
		require.NotZero(t, f.calls, "%s: %s", l.strategy, p.name)
		shares[i] = f.share()
		if 0 < i && i <= coldPhases {
			warming += f.cold
		}
	}
	after := shares[coldPhases+1]
	assert.Positive(t, warming, "%s: a provider that warms up is not starved", l.strategy)
	if l.strategy == "consistenthash" { // a key's provider is its home, warm or not
		r.checkHomes(t, l)
		return
	}

	// Against the two others, which weigh 100 each.
	fair := func(i int) float64 { return 100 * r.phases[i].weight / (200 + r.phases[i].weight) }
	assert.Less(t, shares[1], fair(1)+10, "%s: a cold provider is not flooded", l.strategy)
	switch l.strategy {
	case "random", "roundrobin":
		for i, share := range shares { // drawn at random it is 15 off once in 10⁹ times
			assert.InDelta(t, fair(i), share, 15, "%s: %s: the share follows the weight", l.strategy, r.phases[i].name)
		}
	case "leastactive":
		assert.InDelta(t, 33.3, after, 15, "%s: a provider that has warmed up gets its share", l.strategy)
	case "leastload": // for a tenth of a millisecond it prefers one of three equal ones, so there is no upper bound
		assert.Greater(t, after, 33.3/2, "%s: a provider that has warmed up is used", l.strategy)
	}
}

// checkHomes asserts that the keys of a provider that was restarted go elsewhere only
// while it is away.
func (r *coldRestart) checkHomes(t *testing.T, l *coldLoad) {
	before, back := r.phases[0], r.phases[1]
	homes := map[int]string{}
	again := time.Now() // this consumer has been answered by the one that was away
	for _, c := range l.calls {
		switch end := c.begun.Add(c.took); {
		case before.has(c):
			if _, known := homes[c.key]; !known {
				homes[c.key] = c.provider
			}
		case c.provider == r.cold && !c.begun.Before(back.begin) && end.Before(again):
			again = end
		}
	}
	require.Greater(t, len(homes), coldKeys/2, "keys called before")
	home, elsewhere := 0, 0
	for _, c := range l.calls {
		if homes[c.key] != r.cold || c.begun.Before(before.end) {
			continue
		}
		if c.provider == r.cold {
			home++
			continue
		}
		elsewhere++
		assert.False(t, c.begun.After(again), "key %d went to %s, %v after its home was back", c.key, c.provider, c.begun.Sub(again))
	}
	assert.Positive(t, home, "calls at home")
	assert.Positive(t, elsewhere, "calls elsewhere, while the home was away")
}
