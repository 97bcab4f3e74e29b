//go:build integration

package integration

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
)

// The load of each strategy. Calls arrive at random, not one after another: a slow
// provider does not slow the load, as with the many users of a real one.
const (
	coldCallEvery = 7 * time.Millisecond // on average
	coldKeys      = 300                  // in turn
)

// timed is a call and where it went.
type timed struct {
	begun    time.Time
	took     time.Duration
	key      int
	provider string // address
}

// coldLoad is one strategy's client and its calls. Each has a client of its own: those
// of one client would share counters and connections.
type coldLoad struct {
	strategy string
	r        *gofer.Reference
	stop     chan struct{}
	ended    sync.WaitGroup

	mu     sync.Mutex
	calls  []timed
	failed []error
}

// startColdLoad begins to call the group's providers.
func startColdLoad(t *testing.T, group, strategy string) *coldLoad {
	l := &coldLoad{strategy: strategy, stop: make(chan struct{})}
	l.r = refer(t, newClient(t, env.ZooKeeper.Addr()),
		harness.Interface+"?retries=0&timeout=5000&group="+group+"&loadbalance="+strategy)
	l.ended.Go(func() { l.arrive(t.Context()) })
	t.Cleanup(l.end)
	return l
}

// arrive makes calls until the load is ended.
func (l *coldLoad) arrive(ctx context.Context) {
	next := time.Now()
	for n := 0; ; n++ {
		next = next.Add(time.Duration(rand.ExpFloat64() * float64(coldCallEvery)))
		select {
		case <-l.stop:
			return
		case <-time.After(time.Until(next)):
			l.ended.Go(func() { l.call(ctx, n%coldKeys) })
		}
	}
}

func (l *coldLoad) call(ctx context.Context, key int) {
	ctx, reply := gofer.WithReply(ctx)
	c := timed{begun: time.Now(), key: key}
	_, err := gofer.Call[string](ctx, l.r, hello, "user-"+strconv.Itoa(key))
	c.took, c.provider = time.Since(c.begun), reply.Provider()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, c)
	if err != nil {
		l.failed = append(l.failed, err)
	}
}

// end waits for the calls under way.
func (l *coldLoad) end() {
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	l.ended.Wait()
}

// start returns when a provider that this consumer calls was started; zero while it
// cannot be called.
func (l *coldLoad) start(address string) time.Time {
	for _, p := range l.r.Snapshot().Providers {
		if p.Address == address && p.State == "ready" {
			return p.Start
		}
	}
	return time.Time{}
}

// phase is a part of the test, and the weights that the cold provider has in it.
type phase struct {
	name       string
	begin, end time.Time
	weight     float64 // mean
}

func (p phase) has(c timed) bool { return !c.begun.Before(p.begin) && c.begun.Before(p.end) }

// phaseFigures are what a strategy's callers saw in a phase.
type phaseFigures struct {
	calls, cold int             // of all, and at the cold provider
	all, atCold []time.Duration // sorted
}

func (l *coldLoad) figures(p phase, cold string) (f phaseFigures) {
	for _, c := range l.calls {
		if !p.has(c) {
			continue
		}
		f.all = append(f.all, c.took)
		if c.provider == cold {
			f.atCold = append(f.atCold, c.took)
		}
	}
	slices.Sort(f.all)
	slices.Sort(f.atCold)
	f.calls, f.cold = len(f.all), len(f.atCold)
	return f
}

// share is that of the cold provider, in percent.
func (f phaseFigures) share() float64 { return 100 * float64(f.cold) / float64(max(f.calls, 1)) }

// times are the 50th and the 99th percentile (nearest rank).
func times(sorted []time.Duration) string {
	if len(sorted) == 0 {
		return "-"
	}
	at := func(p float64) int64 {
		return sorted[int(math.Ceil(p*float64(len(sorted))))-1].Milliseconds()
	}
	return fmt.Sprintf("%d / %d", at(0.5), at(0.99))
}

// coldTable writes what each strategy did with the cold provider, phase by phase.
func coldTable(loads []*coldLoad, phases []phase, cold string) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t")) }
	head := []string{"loadbalance", "calls", "failed", ""}
	for _, p := range phases {
		head = append(head, p.name)
	}
	row(head...)
	for _, l := range loads {
		share := []string{l.strategy, strconv.Itoa(len(l.calls)), strconv.Itoa(len(l.failed)), "share of the cold one"}
		all := []string{"", "", "", "p50 / p99 of all, ms"}
		atCold := []string{"", "", "", "p50 / p99 there, ms"}
		for _, p := range phases {
			f := l.figures(p, cold)
			share = append(share, fmt.Sprintf("%.1f %%", f.share()))
			all = append(all, times(f.all))
			atCold = append(atCold, times(f.atCold))
		}
		row(share...)
		row(all...)
		row(atCold...)
	}
	_ = w.Flush() // to a strings.Builder
	return text.String()
}
