//go:build unix

package drill

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/gofer-rpc/gofer"
)

// Load is callers that call hello of the interop service, each one call after another.
type Load struct {
	callers int
	stop    context.CancelFunc
	wg      sync.WaitGroup

	mu     sync.Mutex
	report Report
}

// Report is what a load has seen so far.
type Report struct {
	Calls    int            // answered or failed
	Failures []Failure      // in the order of their ends
	Served   map[string]int // answers by the name of the provider
	Slowest  time.Duration  // of the answered ones
}

// Failure is a call that got no answer.
type Failure struct {
	Began, Ended time.Time
	Err          error
}

func (f Failure) String() string {
	return fmt.Sprintf("after %v: %v", f.Ended.Sub(f.Began).Round(time.Millisecond), f.Err)
}

// rest is what a caller does after a failure: with nobody there it would spin.
const rest = time.Millisecond

// Start starts the callers. End them.
func Start(r *gofer.Reference, callers int) *Load {
	ctx, stop := context.WithCancel(context.Background())
	l := &Load{callers: callers, stop: stop, report: Report{Served: map[string]int{}}}
	for range callers {
		l.wg.Go(func() {
			for ctx.Err() == nil {
				l.call(r)
			}
		})
	}
	return l
}

// call makes one call. It is not cut short by the end of the load: that would be a
// failure.
func (l *Load) call(r *gofer.Reference) {
	began := time.Now()
	s, err := gofer.Call[string](context.Background(), r, "hello(java.lang.String)", "Ada")
	ended := time.Now()
	_, name, _ := strings.Cut(s, " from ")
	l.mu.Lock()
	l.report.Calls++
	if err != nil {
		l.report.Failures = append(l.report.Failures, Failure{began, ended, err})
	} else {
		l.report.Served[name]++
		l.report.Slowest = max(l.report.Slowest, ended.Sub(began))
	}
	l.mu.Unlock()
	if err != nil {
		<-time.After(rest)
	}
}

// Callers returns how many calls are under way at any time.
func (l *Load) Callers() int { return l.callers }

// Report returns what was seen so far.
func (l *Load) Report() Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.report
	r.Failures = r.Failures[:len(r.Failures):len(r.Failures)]
	r.Served = maps.Clone(r.Served)
	return r
}

// End waits for the callers.
func (l *Load) End() Report {
	l.stop()
	l.wg.Wait()
	return l.Report()
}

// Await waits until the member has served n calls more.
func (l *Load) Await(ctx context.Context, m Member, n int) error {
	want := l.Report().Served[m.Name] + n
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for {
		r := l.Report()
		if r.Served[m.Name] >= want {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("provider %s at %s served %d calls of the %d waited for (of all calls %d failed, last one: %v): %w",
				m.Name, m.Addr, r.Served[m.Name]-want+n, n, len(r.Failures), last(r.Failures), context.Cause(ctx))
		}
	}
}

func last(fs []Failure) error {
	if len(fs) == 0 {
		return nil
	}
	return fs[len(fs)-1].Err
}
