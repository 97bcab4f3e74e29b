//go:build !race

// Minutes of traffic that brings no value, at one provider or here and there.
// The race detector looks at the same calls in TestDiagnoseSickTraffic, and would make
// these take minutes.

package gofer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// One of three providers brings no value, by answers or without, from the beginning or
// after a long time in which it was well: it is found under every strategy, with the
// figures of its peers. If all are like that nothing is.
func TestDiagnoseAnswersWithoutValue(t *testing.T) {
	for name, c := range map[string]struct {
		call   func(context.Context, *gofer.Reference) error
		answer dubbotest.Answer
		kind   gofer.FindingKind
		text   string
		remedy string
	}{
		"exceptions": {calling("wait()"), noDatabase, gofer.FindingExceptions, "answers were an exception, after 1ms on average", "such as its database; take it out with disabled=true"},
		"useless":    {calling("wait()"), unreadable, gofer.FindingExceptions, "answers were an error about the call (unreadable, no such method), after 1ms on average", "Compare its version"},
		"unanswered": {impatient, dubbotest.Never(), gofer.FindingUnanswered, "calls gave up without an answer, after 300ms on average", "let the method's timeout, 1s, be what callers wait"},
	} {
		for _, balance := range []string{"random", "leastload"} {
			for _, before := range []time.Duration{0, 12 * time.Second} {
				t.Run(fmt.Sprint(name, " ", balance, " ", before), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := newPatient(t, 3, "actives=1000&outlier=false&loadbalance="+balance)
						w.load(10, before, c.call)
						w.answers(1, c.answer)
						for range 30 { // of which leastload leaves few there: it may take minutes
							w.load(12, 10*time.Second, c.call)
							if len(w.reference.Diagnose()) > 0 {
								break
							}
						}
						w.load(12, 4*time.Second, c.call)
						found := w.about(c.kind)
						assert.Equal(t, "wait", found.Method)
						assert.Equal(t, []string{address(1)}, found.Providers)
						assert.Contains(t, found.Text, c.text)
						assert.Contains(t, found.Text, "in a row, for ")
						assert.Contains(t, found.Remedy, c.remedy)
						if c.kind == gofer.FindingExceptions {
							assert.NotContains(t, found.String(), "leave outlier ejection on", "that does not help")
						}
						for i := range w.providers {
							w.answers(i, c.answer)
						}
						w.load(12, 5*time.Second, c.call)
						for _, f := range w.reference.Diagnose() {
							assert.NotEqual(t, c.kind, f.Kind, "all are alike: %s", f)
						}
					})
				})
			}
		}
	}
}

// about returns the finding of that kind; what the same fault leads to besides is not
// looked at.
func (w *patient) about(kind gofer.FindingKind) (one gofer.Finding) {
	w.t.Helper()
	all := w.reference.Diagnose()
	for _, f := range all {
		if f.Kind == kind {
			require.Empty(w.t, one.Kind, "twice: %v", all)
			one = f
		} else {
			assert.Contains(w.t, []gofer.FindingKind{gofer.FindingOverShare}, f.Kind, "%s", f)
		}
	}
	require.Equal(w.t, kind, one.Kind, "%v", all)
	return one
}

// A method that throws now and then, as many do, or for some arguments, is well.
func TestDiagnoseUsualExceptions(t *testing.T) {
	for _, share := range []float64{0.05, 0.4, 0.9} {
		for _, balance := range []string{"random", "leastload", "leastactive"} {
			synctest.Test(t, func(t *testing.T) {
				w := newPatient(t, 3, "actives=1000&loadbalance="+balance)
				for i := range w.providers {
					require.NoError(t, w.providers[i].Handle("find()", func() error {
						if rand.Float64() < share {
							return &gofer.RemoteError{Class: "com.example.NotFoundException", Message: "no such order"}
						}
						return nil
					}))
				}
				for range 5 {
					w.load(6, 2*time.Second, calling("find()"))
					assert.Empty(t, w.reference.Diagnose())
				}
			})
		}
	}
}

// Everything throws from one moment on, and all calls are of one provider (sticky): it
// is not told to be worse than those that nobody asks.
func TestDiagnoseExceptionsWithoutPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPatient(t, 3, "sticky=true")
		for i := range w.providers { // in turn, so that each has been well
			w.providers[i].Freeze()
			w.load(1, 15*time.Second, func(ctx context.Context, r *gofer.Reference) error { _ = calling("wait()")(ctx, r); return nil })
			w.providers[i].Resume()
			time.Sleep(5 * time.Second)
		}
		w.load(6, 20*time.Second, calling("wait()"))
		for i := range w.providers {
			w.answers(i, noDatabase)
		}
		w.load(6, 20*time.Second, calling("wait()"))
		assert.Empty(t, w.reference.Diagnose())
	})
}
