package gofer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// impatient gives a call 300 ms, of the second that it may take.
func impatient(ctx context.Context, r *gofer.Reference) error {
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	return calling("wait()")(ctx, r)
}

func (w *patient) answers(i int, a dubbotest.Answer) {
	w.takes(i, time.Millisecond)
	require.NoError(w.t, w.providers[i].AnswerAlways("wait", a))
}

var (
	noDatabase = dubbotest.Throw("java.sql.SQLException", "no connection")
	unreadable = dubbotest.Status(50, "Fail to encode response")
)

// Snapshots show what Diagnose goes by.
func TestSnapshotEndings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPatient(t, 1, "long.return=false")
		_ = calling("wait()")(t.Context(), w.reference)
		_ = calling("long()")(t.Context(), w.reference)
		for _, a := range []dubbotest.Answer{noDatabase, unreadable, dubbotest.Status(100, "Thread pool is EXHAUSTED"), dubbotest.Never()} {
			w.answers(0, a)
			_ = impatient(t.Context(), w.reference)
		}
		methods := w.reference.Snapshot().Providers[0].Methods
		wait, long := methods[0].Counters, methods[1].Counters
		assert.EqualValues(t, 5, wait.Total)
		assert.EqualValues(t, 3, wait.Failed)
		assert.Equal(t, [4]int64{1, 1, 1, 1}, [4]int64{wait.Exceptions, wait.Useless, wait.Refused, wait.GivenUp})
		assert.Equal(t, 300*time.Millisecond, wait.GivenUpElapsed)
		assert.EqualValues(t, 1, long.OneWay)
		assert.Zero(t, long.Elapsed)
	})
}

// A provider at its limit is not called a broken one, by whatever strategy.
func TestDiagnoseRefusals(t *testing.T) {
	for _, balance := range []string{"random", "consistenthash"} {
		synctest.Test(t, func(t *testing.T) {
			w := &patient{t: t}
			text := ""
			for i, executes := range []string{"executes=1", "", ""} {
				p := startDemo(t, executes, dubbotest.InMemory(), dubbotest.WithAddr(address(i)))
				w.providers = append(w.providers, p)
				w.takes(i, 50*time.Millisecond)
				text += p.URL("retries=0", "loadbalance="+balance) + ";"
			}
			w.reference = refer(t, newClient(t, gofer.WithDialer(dubbotest.Dialer(w.providers...))), strings.TrimSuffix(text, ";"))
			synctest.Wait()
			assert.Zero(t, w.load(20, 12*time.Second, func(ctx context.Context, r *gofer.Reference) error {
				_, err := gofer.Call[string](ctx, r, "echo(java.lang.String)", fmt.Sprint(rand.IntN(10_000)))
				return err
			}))
			counters := w.reference.Snapshot().Providers[0].Methods[0].Counters
			found := w.find(gofer.FindingRefusals, fmt.Sprintf("refuses %d of %d calls for a limit of its own", counters.Refused, counters.Total))
			assert.Equal(t, []string{address(0)}, found.Providers)
			assert.Equal(t, "echo", found.Method)
			assert.Contains(t, found.Remedy, "Raise its executes or threads, give it a smaller weight, or set actives")
		})
	}
}
