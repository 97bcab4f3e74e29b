//go:build !race

// Faults that begin after a long good time, and end: half hours of traffic.
// The race detector looks at the same calls in TestDiagnoseSickTraffic, and would make
// these take minutes.

package gofer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

type calls func(ctx context.Context, r *gofer.Reference) error

// quietly calls with a longer pause.
func quietly(call calls) calls {
	return func(ctx context.Context, r *gofer.Reference) error {
		time.Sleep(80 * time.Millisecond)
		return call(ctx, r)
	}
}

func kinds(all []gofer.Finding) (kinds []gofer.FindingKind) {
	for _, f := range all {
		kinds = append(kinds, f.Kind)
	}
	return kinds
}

// What begins after a quarter of an hour in which all was well is found within five
// minutes, and not told any more ten minutes after it is over.
func TestDiagnoseRecent(t *testing.T) {
	wait := calling("wait()")
	for name, c := range map[string]struct {
		params string
		call   calls
		spoil  func(*patient)
		heal   func(*patient)
		within time.Duration
		kinds  []gofer.FindingKind
	}{
		"slow": {"loadbalance=roundrobin", wait,
			func(w *patient) { w.takes(1, 100*time.Millisecond) },
			func(w *patient) { w.takes(1, 10*time.Millisecond) },
			5 * time.Minute, []gofer.FindingKind{gofer.FindingSlowProvider}},
		"fails fast": {"loadbalance=leastactive&actives=1000&outlier=false", wait,
			func(w *patient) { w.answers(1, dubbotest.Status(70, "it is broken")) },
			func(w *patient) { w.providers[1].Unscript("wait"); w.takes(1, 10*time.Millisecond) },
			time.Minute, []gofer.FindingKind{gofer.FindingFailsFast, gofer.FindingFails}},
		"throws often": {"loadbalance=roundrobin&outlier=false", calling("find()"),
			func(w *patient) { w.finds(func() error { return throwsOften() }) },
			func(w *patient) { w.finds(func() error { return nil }) },
			5 * time.Minute, []gofer.FindingKind{gofer.FindingExceptions}},
		"never answers": {"loadbalance=random&outlier=false&timeout=200", wait,
			func(w *patient) { require.NoError(w.t, w.providers[1].AnswerAlways("wait", dubbotest.Never())) },
			func(w *patient) { w.providers[1].Unscript("wait") },
			time.Minute, []gofer.FindingKind{gofer.FindingFails}},
		"is ejected": {"loadbalance=leastload", wait,
			func(w *patient) { w.answers(1, dubbotest.Status(70, "it is broken")) },
			func(w *patient) { w.providers[1].Unscript("wait"); w.takes(1, 10*time.Millisecond) },
			2 * time.Minute, []gofer.FindingKind{gofer.FindingEjected, gofer.FindingFails}},
		"refuses": {"loadbalance=leastload", wait,
			func(w *patient) {
				w.answers(1, dubbotest.Status(100, "The service using threads greater than <dubbo:service executes=\"1\" /> limited."))
			},
			func(w *patient) { w.providers[1].Unscript("wait"); w.takes(1, 10*time.Millisecond) },
			5 * time.Minute, []gofer.FindingKind{gofer.FindingRefusals, gofer.FindingEjected}},
		"a hot key": {"loadbalance=consistenthash", func(ctx context.Context, r *gofer.Reference) error {
			key := "hot"
			if rand.IntN(10) == 0 || !hot.Load() {
				key = fmt.Sprint(rand.IntN(10_000))
			}
			_, err := gofer.Call[any](ctx, r, "key(java.lang.String)", key)
			return err
		}, func(*patient) { hot.Store(true) }, func(*patient) { hot.Store(false) },
			5 * time.Minute, []gofer.FindingKind{gofer.FindingOverShare}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPatient(t, 3, c.params)
				w.finds(func() error { return nil })
				w.load(3, 15*time.Minute, quietly(c.call))
				require.Empty(t, w.reference.Diagnose())
				c.spoil(w)
				begun := time.Now()
				for len(w.reference.Diagnose()) == 0 && time.Since(begun) < 10*time.Minute {
					w.load(3, 10*time.Second, quietly(c.call))
				}
				assert.LessOrEqual(t, time.Since(begun), c.within+time.Second)
				found := w.reference.Diagnose()
				require.NotEmpty(t, found)
				assert.Contains(t, c.kinds, found[0].Kind)
				w.load(3, 5*time.Minute, quietly(c.call))
				assert.NotEmpty(t, w.reference.Diagnose())
				c.heal(w)
				begun = time.Now()
				for len(w.reference.Diagnose()) > 0 && time.Since(begun) < 20*time.Minute {
					w.load(3, 10*time.Second, quietly(c.call))
				}
				assert.LessOrEqual(t, time.Since(begun), 10*time.Minute, "%v", kinds(w.reference.Diagnose()))
			})
		})
	}
}

var hot atomic.Bool

func throwsOften() error {
	if rand.IntN(10) == 0 {
		return nil
	}
	return &gofer.RemoteError{Class: "java.sql.SQLException", Message: "no connection"}
}

// finds sets what the second provider does when it is asked to find something.
func (w *patient) finds(f func() error) {
	for i, p := range w.providers {
		if i == 1 {
			require.NoError(w.t, p.Handle("find()", f))
		} else {
			require.NoError(w.t, p.Handle("find()", func() error { return nil }))
		}
	}
}
