package main

import (
	"bytes"
	"context"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// row is a line of the table: phase, provider, calls, share, failed, active peak, percentiles.
var row = regexp.MustCompile(`^  (steady|warming| {6,7}) +(\S.*?) +(\d+) +(\d+\.\d) % +(\d+) +(\d+) +(\d+\.\d+) ms +(\d+\.\d+) ms$`)

// sentences returns the sentences below the tables of an output.
func sentences(output string) (found []string) {
	for _, part := range strings.Split(output, "  → ")[1:] {
		text, _, _ := strings.Cut(part, "\n\n")
		found = append(found, strings.Join(strings.Fields(text), " "))
	}
	return found
}

// tables returns the rows of an output that belong to one provider, and those of all.
func tables(t *testing.T, output string) (providers, all [][]string) {
	t.Helper()
	for line := range strings.Lines(output) {
		if found := row.FindStringSubmatch(strings.TrimRight(line, "\n")); found != nil {
			if found[2] == "all" {
				all = append(all, found)
			} else {
				providers = append(providers, found)
			}
		}
	}
	return providers, all
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return n
}

func TestRestartUnderLoad(t *testing.T) {
	var out, steps bytes.Buffer
	cfg, err := parseFlags([]string{"-duration", "3s", "-callers", strconv.Itoa(crowd)}, nil)
	require.NoError(t, err)
	found, err := measure(t.Context(), cfg, &out, newProgress(&steps, cfg.duration))
	require.NoError(t, err, out.String())
	require.Len(t, found, 3)
	for _, o := range found {
		t.Run(o.strategy, func(t *testing.T) { checkRestart(t, o) })
	}

	assert.Regexp(t, `(?m)^service +com\.example\.OrderService:1\.0\.0$`, out.String())
	assert.Contains(t, out.String(), "registered 3 → enabled 3 → routed 3 → available 3")
	assert.Regexp(t, `call +describe\(42\) = "order 42, says [ABC]"`, out.String())
	assert.Regexp(t, `(?s)\nrandom\n.*\nroundrobin\n.*\nleastactive\n`, out.String())
	providers, all := tables(t, out.String())
	require.Len(t, providers, 3*2*3, "strategies, phases, providers:\n%s", out.String())
	require.Len(t, all, 3*2)
	for i, total := range all {
		var share, calls float64
		for _, one := range providers[3*i : 3*i+3] {
			calls += number(t, one[3])
			share += number(t, one[4])
			assert.LessOrEqual(t, number(t, one[7]), number(t, one[8]), "p50 and p99 of %s", one[2])
		}
		assert.Equal(t, number(t, total[3]), calls)
		assert.InDelta(t, 100, share, 0.16, "three rounded shares")
		assert.Equal(t, "0", total[5], "failed")
	}
	said := sentences(out.String())
	require.Len(t, said, 3)
	for i, o := range found {
		assert.Equal(t, o.sentence(), said[i])
	}
	assert.Equal(t, 1+3*2, strings.Count(steps.String(), "\n"), "a line per step:\n%s", steps.String())
	assert.NotContains(t, steps.String(), "\r", "no terminal")
}

// checkRestart asserts what must be true of every restart, whatever the machine.
func checkRestart(t *testing.T, o outcome) {
	require.NoError(t, o.first)
	require.NoError(t, o.failure())
	assert.Len(t, o.samples, o.calls, "without retries each call is one attempt")
	assert.Contains(t, o.sentence(), "none of "+strconv.Itoa(o.calls)+" calls failed.")
	assert.Less(t, o.stopped, o.back)

	fair := 1.0 / 3
	before, all := o.steady()
	assertWhole(t, before, all)
	for _, f := range before {
		if o.strategy == "roundrobin" {
			assert.InDelta(t, fair, f.share, 0.06, o.label(f.provider))
		} else {
			assert.InDelta(t, fair, f.share, max(0.15, chance(fair, all.calls)), o.label(f.provider))
		}
		assert.GreaterOrEqual(t, f.p50, usual/2, "no call is shorter than half the usual time")
	}

	after, all := o.warming()
	assertWhole(t, after, all)
	newcomer := after[2]
	require.Contains(t, o.label(newcomer.provider), "C 127.0.0.1:")
	assert.Equal(t, before[2].provider, newcomer.provider, "it came back at its address")
	assert.Positive(t, newcomer.calls, "it is used again")
	most := 0.7 * fair // with a linear ramp it is 0.57 times the fair share
	if o.strategy == "leastactive" {
		most = fair // slower, it would have less without warm-up, too
	}
	assert.Less(t, newcomer.share, most+chance(most, all.calls), "it is spared while it warms up")
	assert.Less(t, o.share(newcomer.provider, 0), o.share(newcomer.provider, 3)+chance(fair, all.calls/4), "and gets more by and by")
	if o.strategy == "leastactive" {
		assert.LessOrEqual(t, newcomer.peak, max(after[0].peak, after[1].peak)+1, "and is not flooded")
	}
}

// chance is how far a share of so many calls may be from what is expected: six standard
// deviations, which happens once in 10⁹ times. How many calls there are depends on the
// machine.
func chance(share float64, calls int) float64 {
	return 6 * math.Sqrt(share*(1-share)/float64(max(1, calls)))
}

func assertWhole(t *testing.T, each []figures, all figures) {
	t.Helper()
	require.Len(t, each, 3)
	share, calls, peak := 0.0, 0, 0
	for _, f := range each {
		share, calls, peak = share+f.share, calls+f.calls, max(peak, f.peak)
	}
	assert.InDelta(t, 1, share, 1e-9)
	assert.Equal(t, all.calls, calls)
	assert.Equal(t, all.peak, peak)
	assert.Zero(t, all.failed)
	assert.Positive(t, all.calls)
}

// trigger is a writer that does something when a text is written.
type trigger struct {
	text string
	act  func()
}

func (w trigger) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.text) {
		w.act()
	}
	return len(b), nil
}

func TestInterrupted(t *testing.T) {
	for _, moment := range []string{"starting", "random: steady load", "random: C is back", "leastactive: C is back"} {
		t.Run(moment, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var errs bytes.Buffer
			stderr := trigger{moment, cancel}
			code := run(ctx, []string{"-duration", "1s"}, &bytes.Buffer{}, writers{stderr, &errs})
			assert.Equal(t, 130, code)
			assert.True(t, strings.HasSuffix(errs.String(), "quickstart: interrupted; everything is closed\n"), errs.String())
			goleak.VerifyNone(t)
		})
	}
}

// writers writes to both.
type writers [2]interface{ Write([]byte) (int, error) }

func (w writers) Write(b []byte) (int, error) {
	_, _ = w[0].Write(b)
	return w[1].Write(b)
}

// other is a registry with providers that are not the quickstart's own.
func other(t *testing.T, count int) (registry string, providers []*dubbotest.Provider) {
	t.Helper()
	zk, err := zktest.Start()
	require.NoError(t, err)
	t.Cleanup(zk.Close)
	registry = "zookeeper://" + zk.Addr()
	for range count {
		p := dubbotest.Start(t, "com.example.Greeter?version=2.0.0&group=eu")
		require.NoError(t, p.Handle("greet(java.lang.String,int)", func(name string, times int32) string { return strings.Repeat(name, int(times)) }))
		require.NoError(t, p.Register(registry))
		providers = append(providers, p)
	}
	return registry, providers
}

func TestOtherRegistry(t *testing.T) {
	registry, servers := other(t, 2)
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"-registry", registry, "-service", "com.example.Greeter?group=eu&version=2.0.0",
		"-method", "greet(java.lang.String,int)", "-arg", "Ada", "-arg", "2", "-duration", "1s", "-callers", "2"}, &out, &errs)
	require.Zero(t, code, errs.String())

	assert.Regexp(t, `(?m)^service +eu/com\.example\.Greeter:2\.0\.0$`, out.String())
	assert.Contains(t, out.String(), "registered 2 → enabled 2 → routed 2 → available 2; from "+registry)
	assert.Contains(t, out.String(), `greet("Ada", 2) = "AdaAda"`)
	assert.NotContains(t, out.String(), "warming")
	providers, all := tables(t, out.String())
	require.Len(t, providers, 3*2, out.String())
	require.Len(t, all, 3)
	var calls float64
	for i, total := range all {
		calls += number(t, total[3])
		assert.InDelta(t, 100, number(t, providers[2*i][4])+number(t, providers[2*i+1][4]), 0.11)
	}
	for _, s := range sentences(out.String()) {
		assert.Regexp(t, `^of 2 providers 127\.0\.0\.1:\d+ \(weight \d+\) got the most calls, .* none of \d+ calls failed\.$`, s)
	}

	served := 0
	for _, p := range servers {
		served += p.Counters().Calls
		assert.Contains(t, out.String(), p.Addr())
		assert.Equal(t, []any{"Ada", int32(2)}, p.LastCall().Arguments[2], "as a generic call")
	}
	assert.EqualValues(t, served, calls+3, "the table has all calls that the providers got, but the first of each strategy")
}

func TestIdleProvidersAndOneStrategy(t *testing.T) {
	registry, servers := other(t, 2)
	servers[0].Unregister()
	require.NoError(t, servers[0].Register(registry, "weight=0"))
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"-registry", registry, "-service", "com.example.Greeter?group=eu&version=2.0.0&loadbalance=roundrobin",
		"-method", "greet(java.lang.String,int)", "-arg", "Ada", "-arg", "2", "-duration", "1s", "-callers", "2"}, &out, &errs)
	require.Zero(t, code, errs.String())
	providers, all := tables(t, out.String())
	require.Len(t, all, 1, "roundrobin alone:\n%s", out.String())
	require.Len(t, providers, 2)
	for _, one := range providers {
		if one[2] == servers[0].Addr() {
			assert.Equal(t, "0", one[3], "no call with weight 0, and it is in the table")
		} else {
			assert.Equal(t, all[0][3], one[3])
		}
	}
}

func TestFailures(t *testing.T) {
	registry, servers := other(t, 1)
	service := []string{"-registry", registry, "-service", "com.example.Greeter?group=eu&version=2.0.0&retries=0",
		"-method", "greet(java.lang.String,int)", "-arg", "Ada", "-arg", "2", "-duration", "1s", "-callers", "2"}

	t.Run("the first call", func(t *testing.T) {
		require.NoError(t, servers[0].Answer("greet", dubbotest.Throw("com.example.Rude", "go away")))
		var out, errs bytes.Buffer
		assert.Equal(t, 1, run(t.Context(), service, &out, &errs))
		assert.Regexp(t, `quickstart: the first call: .*com\.example\.Rude.*go away`, errs.String())
	})
	t.Run("under load", func(t *testing.T) {
		require.NoError(t, servers[0].Answer("greet", dubbotest.Handler(), dubbotest.Handler(), dubbotest.Status(80, "out of memory")))
		var out, errs bytes.Buffer
		assert.Equal(t, 1, run(t.Context(), service, &out, &errs))
		_, all := tables(t, out.String())
		require.Len(t, all, 1, "it ends with the strategy that failed:\n%s", out.String())
		assert.Equal(t, "1", all[0][5], "failed")
		assert.Regexp(t, `random: 1 of \d+ calls failed, the first one: .*out of memory`, errs.String())
		assert.Regexp(t, `1 of \d+ calls failed\.$`, sentences(out.String())[0])
	})
	t.Run("no provider", func(t *testing.T) {
		var out, errs bytes.Buffer
		assert.Equal(t, 1, run(t.Context(), append(service, "-registry", registry+"?timeout=200", "-service", "com.example.Greeter?group=us"), &out, &errs))
		assert.Contains(t, errs.String(), `registered 1 → enabled 0`)
	})
	t.Run("no registry", func(t *testing.T) {
		var out, errs bytes.Buffer
		assert.Equal(t, 1, run(t.Context(), append(service, "-registry", "zookeeper://u:secret@127.0.0.1:1?timeout=200"), &out, &errs))
		assert.Contains(t, errs.String(), "127.0.0.1:1: connect: connection refused")
		assert.NotContains(t, errs.String(), "secret")
	})
}

func TestProgressOnATerminal(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, 15*time.Second)
	p.terminal = true
	require.NoError(t, p.during(t.Context(), 10*time.Millisecond, "random: steady load", newMeter()))
	p.clear()
	assert.Regexp(t, `^(\r\[ 0\.\d of about 15 s\] random: steady load, 0 calls\x1b\[K){2}\r\x1b\[K$`, out.String())

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, p.during(ctx, time.Hour, "random: steady load", newMeter()), context.Canceled)
}
