package cluster_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// fleet is a reference whose time is virtual and whose attempts are told by hand: the
// ejection without a cluster around it, as a simulation drives it.
type fleet struct {
	t       testing.TB
	methods protocol.MethodTable
	list    *protocol.Candidates
	out     *cluster.Outliers
	logs    *observer.ObservedLogs
	now     time.Time
	slot    int
}

// epoch is far from the system's clock: it must not be read.
var epoch = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

func newFleet(t testing.TB, n int, parameters string) *fleet {
	core, logs := observer.New(zap.DebugLevel)
	f := &fleet{t: t, logs: logs, now: epoch}
	f.slot = f.methods.Slot("find")
	f.out = cluster.NewOutliers(func() *protocol.Candidates { return f.list }, zap.New(core))
	nodes := make([]*protocol.Node, n)
	for i := range nodes {
		nodes[i] = f.node(i, parameters)
	}
	f.publish(nodes...)
	return f
}

func (f *fleet) node(i int, parameters string) *protocol.Node {
	u := f.url(i, parameters)
	return protocol.NewNode(u.Address(), u, epoch, &f.methods, &endpoint{}, nil)
}

func (f *fleet) url(i int, parameters string) url.URL {
	u, err := url.Parse(fmt.Sprintf("dubbo://192.0.2.%d:20880/com.example.DemoService?timeout=1000&%s", 10+i, parameters))
	require.NoError(f.t, err)
	return u
}

func (f *fleet) publish(nodes ...*protocol.Node) { f.list = protocol.NewCandidates(nodes, f.list) }

func (f *fleet) at(i int) *protocol.Node { return f.list.Nodes()[i] }

// attempt is a call that has begun.
type attempt struct {
	f    *fleet
	inv  *protocol.Invocation
	life *protocol.Life
	of   pause // whose trial it is
}

// pause is one ejection, or what a failed trial made of it.
type pause struct {
	life  *protocol.Life
	since time.Time
}

func (f *fleet) begin(n *protocol.Node) *attempt {
	a := &attempt{f: f, inv: f.invocation()}
	a.start(n)
	return a
}

func (f *fleet) invocation() *protocol.Invocation {
	return &protocol.Invocation{Method: &protocol.Method{Name: "find", Slot: f.slot}}
}

func (a *attempt) start(n *protocol.Node) {
	a.inv.StartAttempt(n, a.f.now, a.f.now.Add(time.Second))
	a.life = n.Life()
	a.f.out.Begun(a.inv, a.life)
}

// end tells how it ended, after so much time.
func (a *attempt) end(after time.Duration, err error) {
	a.f.out.Ended(a.inv, protocol.Outcome{Life: a.life, Elapsed: after, Verdict: protocol.Judge(err), Err: err})
	a.inv.EndAttempt()
}

// calls makes calls at a node that end at once.
func (f *fleet) calls(n *protocol.Node, count int, err error) {
	for range count {
		f.begin(n).end(0, err)
	}
}

// trial asks for a trial, which is begun if there is one.
func (f *fleet) trial() *attempt {
	inv := f.invocation()
	n := f.out.Trial(f.list, inv, f.now, true)
	if n == nil {
		return nil
	}
	a := &attempt{f: f, inv: inv, of: pause{n.Life(), f.out.Ejection(n).Since}}
	a.start(n)
	return a
}

// ejected are the indices of the nodes that are out.
func (f *fleet) ejected() []int {
	var out []int
	for i, n := range f.list.Nodes() {
		if n.Ejected() {
			out = append(out, i)
		}
		assert.Equal(f.t, n.Ejected(), f.out.Ejection(n).Ejected)
	}
	return out
}

func (f *fleet) pass(d time.Duration) { f.now = f.now.Add(d) }

// Errors of the kinds that matter.
var (
	errLost    = &protocol.Error{Code: protocol.ErrNetwork, Sent: true, Detail: "the connection is lost"}
	errLate    = &protocol.Error{Code: protocol.ErrTimeout, Sent: true}
	errLimit   = &protocol.Error{Code: protocol.ErrLimitExceeded, Retry: protocol.RetryAlways, Sent: true, Detail: "executes"}
	errCancel  = &protocol.Error{Code: protocol.ErrCanceled}
	errThrown  = &protocol.Error{Code: protocol.ErrBusiness, Cause: &protocol.RemoteError{Class: "com.example.Boom"}}
	errRefused = &protocol.Error{Code: protocol.ErrNetwork, Retry: protocol.RetryAlways,
		Cause: fmt.Errorf("dial: %w", &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)})}
)

func TestFailuresInARowEject(t *testing.T) {
	for _, c := range []struct {
		name    string
		errs    []error
		ejected bool
	}{
		{"four", []error{errLost, errLost, errLost, errLost}, false},
		{"five", []error{errLost, errLost, errLost, errLost, errLost}, true},
		{"a success between", []error{errLost, errLost, errLost, errLost, nil, errLost}, false},
		{"a business exception is a success", []error{errLost, errLost, errLost, errLost, errThrown, errLost}, false},
		{"a cancelled call is nothing", []error{errLost, errLost, errCancel, errLost, errLost, errLost}, true},
		{"only cancelled calls", slices.Repeat([]error{errCancel}, 20), false},
		{"an error of nobody's", slices.Repeat([]error{errors.New("odd")}, 5), true},
		{"refused, at once", []error{errRefused}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFleet(t, 3, "")
			for _, err := range c.errs {
				assert.Empty(t, f.ejected())
				f.calls(f.at(1), 1, err)
			}
			assert.Equal(t, c.ejected, f.at(1).Ejected())
			assert.Equal(t, c.ejected, f.out.Any())
		})
	}
}

// A timeout counts if the provider had the time that is its own.
func TestTimeoutsThatCount(t *testing.T) {
	for after, ejects := range map[time.Duration]bool{
		1000 * time.Millisecond: true,
		2000 * time.Millisecond: true,  // the caller was more patient
		950 * time.Millisecond:  true,  // the rest was lost on the way to the provider
		800 * time.Millisecond:  false, // it waited for a slot, or had a deadline
		10 * time.Millisecond:   false,
	} {
		f := newFleet(t, 2, "")
		for range 20 {
			f.begin(f.at(0)).end(after, errLate)
		}
		assert.Equal(t, ejects, f.at(0).Ejected(), "after %v", after)
	}
}

// Pauses double, up to 30 s; a failed trial begins the next one.
func TestPauses(t *testing.T) {
	f := newFleet(t, 3, "")
	n := f.at(0)
	f.calls(n, 5, errLost)
	for _, seconds := range []int{1, 2, 4, 8, 16, 30, 30, 30} {
		e := f.out.Ejection(n)
		pause := time.Duration(seconds) * time.Second
		assert.Equal(t, f.now, e.Since)
		assert.Equal(t, f.now.Add(pause), e.Until)
		f.pass(pause - time.Nanosecond)
		require.Nil(t, f.trial(), "before the end of %v", pause)
		f.pass(time.Nanosecond)
		a := f.trial()
		require.NotNil(t, a, "at the end of %v", pause)
		assert.Same(t, n, a.inv.Node)
		assert.True(t, f.out.Ejection(n).Trial)
		assert.Nil(t, f.trial(), "one at a time")
		f.pass(200 * time.Millisecond)
		a.end(200*time.Millisecond, errLost)
		assert.True(t, n.Ejected())
	}
	f.pass(time.Minute)
	f.trial().end(0, nil)
	assert.False(t, n.Ejected())
	assert.False(t, f.out.Any())
	assert.Equal(t, 9, f.out.Ejection(n).Trips)

	f.pass(59 * time.Second)
	f.calls(n, 5, errLost)
	assert.Equal(t, f.now.Add(30*time.Second), f.out.Ejection(n).Until, "it has not been well for long")
	f.pass(30 * time.Second)
	f.trial().end(0, nil)
	f.pass(time.Minute)
	f.calls(n, 5, errLost)
	assert.Equal(t, f.now.Add(time.Second), f.out.Ejection(n).Until, "a minute of service: forgotten")
	assert.Equal(t, 1, f.out.Ejection(n).Trips)
}

// Timeouts of one provider are its own fault; of more than a third of the list, the
// load's.
func TestPausesUnderOverload(t *testing.T) {
	for name, c := range map[string]struct {
		late, of int
		grows    bool
	}{
		"one of two": {1, 2, true}, "one of three": {1, 3, true}, "two of three": {2, 3, false},
		"three of nine": {3, 9, true}, "four of nine": {4, 9, false},
	} {
		f := newFleet(t, c.of, "")
		others := f.at(c.of - 1)
		for i := range c.late {
			for range 5 {
				f.begin(f.at(i)).end(time.Second, errLate)
				f.calls(others, 1, nil)
			}
		}
		f.pass(time.Second)
		require.Len(t, f.ejected(), c.late, name)
		n := f.at(c.late - 1)
		for pause := time.Second; pause < 20*time.Second; pause *= 2 {
			if c.grows {
				require.Equal(t, pause, f.out.Ejection(n).Until.Sub(f.out.Ejection(n).Since), name)
			} else {
				require.Equal(t, time.Second, f.out.Ejection(n).Until.Sub(f.out.Ejection(n).Since), name)
			}
			f.pass(40 * time.Second)
			for range c.late {
				a := f.trial()
				require.NotNil(t, a, name)
				f.calls(others, 1, nil)
				a.end(time.Second, errLate)
			}
			f.pass(time.Second)
		}
	}
}

// What ends a trial without an outcome frees it for another call.
func TestTrialWithoutAnOutcome(t *testing.T) {
	for name, lose := range map[string]func(f *fleet, a *attempt){
		"cancelled":     func(_ *fleet, a *attempt) { a.end(time.Millisecond, errCancel) },
		"given up soon": func(_ *fleet, a *attempt) { a.end(100*time.Millisecond, errLate) },
		"never begun":   func(f *fleet, a *attempt) { f.out.Abandon(a.inv, a.inv.Node) },
		"never ended": func(f *fleet, _ *attempt) { // its deadline is a second after its begin
			f.pass(2*time.Second - 1)
			assert.Nil(f.t, f.trial())
			f.pass(1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, 2, "")
			f.calls(f.at(1), 5, errLost)
			f.pass(time.Second)
			a := f.trial()
			require.NotNil(t, a)
			require.Nil(t, f.trial())
			lose(f, a)
			assert.Equal(t, []int{1}, f.ejected())
			b := f.trial()
			require.NotNil(t, b, "the next call is the trial")
			assert.Same(t, f.at(1), b.inv.Node)
			b.end(0, nil)
			assert.Empty(t, f.ejected())
		})
	}
}

// A trial without a deadline that never ends is given up, too.
func TestTrialWithoutADeadline(t *testing.T) {
	f := newFleet(t, 2, "")
	f.calls(f.at(1), 5, errLost)
	f.pass(time.Second)
	inv := f.invocation()
	require.NotNil(t, f.out.Trial(f.list, inv, f.now, true))
	inv.StartAttempt(f.at(1), f.now, time.Time{})
	f.out.Begun(inv, f.at(1).Life())
	f.pass(30*time.Second - 1)
	assert.Nil(t, f.trial())
	f.pass(1)
	assert.NotNil(t, f.trial())
	f.out.Ended(inv, protocol.Outcome{Life: f.at(1).Life(), Elapsed: time.Hour, Verdict: protocol.Succeeded})
	assert.Empty(t, f.ejected(), "late, but an answer")
}

// A call that cannot be retried is the trial only if no other comes.
func TestTrialPrefersCallsThatCanBeRetried(t *testing.T) {
	f := newFleet(t, 2, "")
	f.calls(f.at(1), 5, errLost)
	f.pass(time.Second)
	ask := func(spare bool) bool { return f.out.Trial(f.list, f.invocation(), f.now, spare) != nil }
	assert.False(t, ask(false))
	f.pass(499 * time.Millisecond)
	assert.False(t, ask(false))
	f.pass(10 * time.Millisecond)
	assert.True(t, ask(false))
	assert.False(t, ask(true))

	f = newFleet(t, 2, "")
	f.calls(f.at(1), 5, errLost)
	f.pass(time.Second)
	assert.False(t, ask(false))
	f.pass(10 * time.Millisecond)
	assert.True(t, ask(true))
}

// A trial is offered only to a call that may go there.
func TestTrialOnlyWhereAllowed(t *testing.T) {
	f := newFleet(t, 3, "actives=1")
	n := f.at(1)
	f.calls(n, 5, errLost)
	f.pass(time.Second)
	e := n.Endpoint().(*endpoint)
	none := func(why string) {
		t.Helper()
		assert.Nil(t, f.trial(), why)
		f.pass(10 * time.Millisecond) // calls do not look all the time
	}
	e.set(protocol.Down)
	none("down")
	e.set(protocol.ReadOnly)
	none("read-only")
	e.set(protocol.Ready)
	n.Status(f.slot).Begin(1)
	none("saturated")
	n.Status(f.slot).End(0, false)

	inv := f.invocation()
	inv.MarkTried(n)
	assert.Nil(t, f.out.Trial(f.list, inv, f.now, true), "tried by this call")
	f.pass(10 * time.Millisecond)
	routed := protocol.NewCandidates([]*protocol.Node{f.at(0), f.at(2)}, nil)
	assert.Nil(t, f.out.Trial(routed, f.invocation(), f.now, true), "another route")
	f.pass(10 * time.Millisecond)
	routed = protocol.NewCandidates([]*protocol.Node{n}, nil)
	inv = f.invocation()
	inv.SetRelax(protocol.RelaxState)
	assert.Same(t, n, f.out.Trial(routed, inv, f.now, true))
	assert.Equal(t, protocol.RelaxState, inv.Relaxed(), "as it was")
}

// What began before the ejection tells nothing about the time since.
func TestLateOutcomesOfEarlierCalls(t *testing.T) {
	f := newFleet(t, 3, "")
	n := f.at(0)
	var old []*attempt
	for range 20 {
		old = append(old, f.begin(n))
	}
	f.pass(time.Millisecond)
	f.calls(n, 5, errLost)
	old[0].end(10*time.Millisecond, nil)
	assert.True(t, n.Ejected(), "an old success")
	f.pass(time.Second)
	f.trial().end(0, nil)
	require.False(t, n.Ejected())
	for _, a := range old[1:] {
		a.end(1001*time.Millisecond, errLate)
	}
	assert.False(t, n.Ejected(), "old timeouts")
}

// Where ejection was ignored, a success is as good as a trial's; a failure is
// nothing new.
func TestCallsThatIgnoreTheEjection(t *testing.T) {
	f := newFleet(t, 2, "")
	n := f.at(0)
	f.calls(n, 5, errLost)
	until := f.out.Ejection(n).Until
	f.pass(10 * time.Millisecond)
	f.calls(n, 3, errLost)
	assert.Equal(t, until, f.out.Ejection(n).Until)
	f.calls(n, 1, nil)
	assert.False(t, n.Ejected())
}

func TestNeverMoreThanHalf(t *testing.T) {
	for n, most := range map[int]int{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 10: 5} {
		f := newFleet(t, n, "")
		for i := range n {
			f.calls(f.at(i), 20, errLost)
		}
		assert.Len(t, f.ejected(), most, "of %d", n)
	}
}

// When the list shrinks, those whose pause ends first come back.
func TestListShrinks(t *testing.T) {
	f := newFleet(t, 6, "")
	for _, i := range []int{4, 1, 2} {
		f.calls(f.at(i), 5, errLost)
		f.pass(10 * time.Millisecond)
	}
	require.Equal(t, []int{1, 2, 4}, f.ejected())
	all := f.list.Nodes()
	f.publish(all[1], all[2], all[4])
	assert.Nil(t, f.trial())
	assert.Equal(t, []int{0, 1}, f.ejected(), "the first one is back")
	f.publish(all[0], all[1])
	assert.Nil(t, f.trial())
	assert.Equal(t, []int{1}, f.ejected())
	assert.False(t, all[2].Ejected(), "it is gone, and clean should it come back")
	f.publish(all[1])
	assert.Nil(t, f.trial())
	assert.Empty(t, f.ejected())
	assert.False(t, f.out.Any())
}

// Who is gone leaves room for another.
func TestRoomForAnother(t *testing.T) {
	f := newFleet(t, 4, "")
	all := f.list.Nodes()
	f.calls(all[0], 5, errLost)
	f.calls(all[1], 5, errLost)
	f.calls(all[2], 5, errLost)
	require.Equal(t, []int{0, 1}, f.ejected())
	f.publish(all[1:]...)
	f.calls(all[2], 1, errLost)
	assert.Equal(t, []int{0, 1}, f.ejected())
	all[1].Update(f.url(1, ""), epoch.Add(time.Hour)) // restarted
	f.calls(all[3], 5, errLost)
	assert.Equal(t, []int{1, 2}, f.ejected())
}

// A restarted provider begins without a history, whatever its earlier life's calls
// still say.
func TestANewLifeStartsClean(t *testing.T) {
	f := newFleet(t, 3, "")
	n := f.at(0)
	late := f.begin(n)
	f.calls(n, 5, errLost)
	f.pass(time.Second)
	trial := f.trial()
	require.NotNil(t, trial)
	n.Update(f.url(0, ""), epoch.Add(time.Hour))
	assert.False(t, n.Ejected())
	assert.Equal(t, cluster.Ejection{}, f.out.Ejection(n))
	f.calls(n, 4, errLost)
	late.end(time.Second, errLost)
	trial.end(0, errLost)
	assert.False(t, n.Ejected())
	assert.Equal(t, 4, f.out.Ejection(n).Failures)
	f.calls(n, 1, errLost)
	assert.True(t, n.Ejected())
	assert.Equal(t, 1, f.out.Ejection(n).Trips)

	n.Update(f.url(0, "weight=7"), epoch.Add(time.Hour)) // the same life
	assert.Nil(t, f.trial())
	assert.True(t, n.Ejected())
}

// Refusals for a limit: a provider that works at its limit stays, one that answers
// nothing else goes, and does not stay out longer each time.
func TestLimitsOfTheProvider(t *testing.T) {
	f := newFleet(t, 3, "")
	n := f.at(0)
	for range 100 { // a success each 900 ms
		for range 9 {
			f.pass(100 * time.Millisecond)
			f.calls(n, 3, errLimit)
		}
		f.calls(n, 1, nil)
	}
	require.False(t, n.Ejected())
	f.calls(n, 4, errLimit)
	f.calls(n, 1, errLost)
	require.True(t, n.Ejected(), "a failure of another kind among them")
	f.pass(time.Minute)
	f.trial().end(0, nil)
	f.pass(time.Minute)

	f.calls(n, 10, errLimit)
	require.False(t, n.Ejected())
	f.pass(time.Second)
	f.calls(n, 1, errLimit)
	for range 4 {
		require.True(t, n.Ejected())
		assert.Equal(t, f.now.Add(time.Second), f.out.Ejection(n).Until)
		f.pass(time.Second)
		f.trial().end(0, errLimit)
	}
	entries := f.logs.FilterMessageSnippet("refuses all calls for a limit").All()
	assert.NotEmpty(t, entries)
}

// The parameters are read when something fails, so that an override acts at once.
func TestOutlierParameters(t *testing.T) {
	f := newFleet(t, 2, "outlier.failures=2&outlier.pause=100")
	f.calls(f.at(0), 1, errLost)
	assert.Empty(t, f.ejected())
	f.calls(f.at(0), 1, errLost)
	assert.Equal(t, []int{0}, f.ejected())
	assert.Equal(t, f.now.Add(100*time.Millisecond), f.out.Ejection(f.at(0)).Until)

	f.at(0).Update(f.url(0, "outlier=false"), epoch)
	assert.Nil(t, f.trial())
	assert.Empty(t, f.ejected(), "switched off")
	f.calls(f.at(0), 20, errLost)
	f.calls(f.at(0), 1, errRefused)
	assert.Empty(t, f.ejected())

	f = newFleet(t, 2, "outlier.pause=60000")
	f.calls(f.at(0), 5, errLost)
	for range 3 {
		assert.Equal(t, f.now.Add(time.Minute), f.out.Ejection(f.at(0)).Until, "longer than the longest by itself")
		f.pass(time.Minute)
		f.trial().end(0, errLost)
	}
}

// Each ejection and each return is logged, as many as a person can read.
func TestEjectionsAreLogged(t *testing.T) {
	f := newFleet(t, 200, "")
	f.calls(f.at(0), 5, errLost)
	f.pass(time.Second)
	f.trial().end(0, nil)
	all := f.logs.TakeAll()
	require.Len(t, all, 2)
	assert.Equal(t, "a provider is ejected: it fails", all[0].Message)
	assert.Equal(t, zap.WarnLevel, all[0].Level)
	assert.Equal(t, map[string]any{"provider": "192.0.2.10:20880", "failures": int64(5), "pause": time.Second,
		"ejections": int64(1), "last": "network error: the connection is lost"}, all[0].ContextMap())
	assert.Equal(t, "a provider that was ejected is back", all[1].Message)
	assert.Equal(t, zap.InfoLevel, all[1].Level)

	f.pass(time.Minute)
	for i := range 200 {
		f.calls(f.at(i), 5, errLost)
	}
	assert.Equal(t, 20, f.logs.Len())
	f.logs.TakeAll()
	f.pass(10 * time.Second)
	f.trial().end(0, nil)
	require.Equal(t, 1, f.logs.Len())
	assert.Equal(t, int64(80), f.logs.All()[0].ContextMap()["notLogged"])
}

// Of many calls at the end of a pause exactly one is the trial.
func TestRaceForTheTrial(t *testing.T) {
	f := newFleet(t, 3, "")
	f.calls(f.at(0), 5, errLost)
	f.pass(time.Second)
	for round := range 20 {
		var got atomic.Int32
		var winner atomic.Pointer[protocol.Invocation]
		var wg sync.WaitGroup
		start := make(chan struct{})
		for range 64 {
			wg.Go(func() {
				<-start
				for range 20 {
					inv := f.invocation()
					if f.out.Trial(f.list, inv, f.now, true) != nil {
						got.Add(1)
						winner.Store(inv)
					}
				}
			})
		}
		close(start)
		wg.Wait()
		require.EqualValues(t, 1, got.Load(), "round %d", round)
		f.out.Abandon(winner.Load(), f.at(0))
	}
}

// Nothing goes wrong when everything happens at once.
func TestOutliersUnderRace(t *testing.T) {
	f := newFleet(t, 6, "outlier.failures=2&outlier.pause=1")
	all := f.list.Nodes()
	var list atomic.Pointer[protocol.Candidates]
	list.Store(f.list)
	out := cluster.NewOutliers(list.Load, nil)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			now := epoch
			for i := range 2000 {
				now = now.Add(100 * time.Microsecond)
				inv := f.invocation()
				n := out.Trial(list.Load(), inv, now, i%3 > 0)
				trial := n != nil
				if n == nil {
					n = all[(g+i)%len(all)]
				}
				inv.StartAttempt(n, now, now.Add(time.Second))
				life := n.Life()
				if !trial || i%5 > 0 {
					out.Begun(inv, life)
					err := []error{nil, errLost, errRefused, errCancel, errLimit, errLate, errUseless}[(g*5+i)%7]
					out.Ended(inv, protocol.Outcome{Life: life, Elapsed: time.Millisecond, Verdict: protocol.Judge(err), Err: err})
				}
				if trial {
					out.Abandon(inv, n)
				}
				out.Ejection(n)
			}
		})
	}
	wg.Go(func() {
		for i := range 500 {
			list.Store(protocol.NewCandidates(all[i%3:3+i%4], list.Load()))
			all[i%6].Update(f.url(i%6, "outlier.failures=2&outlier.pause=1"), epoch.Add(time.Duration(i%7/5)*time.Hour))
		}
	})
	wg.Wait()
	// Whatever happened, no trial is stuck: every node comes back.
	list.Store(protocol.NewCandidates(all, nil))
	f.list, f.out, f.now = list.Load(), out, epoch.Add(time.Hour)
	for range 2 * len(all) {
		if a := f.trial(); a != nil {
			a.end(0, nil)
		}
		f.pass(10 * time.Millisecond)
	}
	assert.Empty(t, f.ejected())
	assert.False(t, out.Any())
}

// A model of what is promised, against any order of events.
func TestOutliersProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFleet(t, rapid.IntRange(1, 7).Draw(rt, "providers"), "")
		all := f.list.Nodes()
		var trials []*attempt
		for range rapid.IntRange(1, 120).Draw(rt, "events") {
			f.pass(time.Duration(rapid.IntRange(0, 3000).Draw(rt, "ms")) * time.Millisecond)
			if a := f.trial(); a != nil {
				for _, other := range trials {
					if other.of == a.of && f.now.Before(other.inv.Deadline.Add(time.Second)) {
						rt.Fatal("two trials of one pause at a time")
					}
				}
				if !a.inv.Node.Ejected() {
					rt.Fatal("a trial at a provider in service")
				}
				trials = append(trials, a)
			}
			switch rapid.IntRange(0, 5).Draw(rt, "event") {
			case 0, 1:
				n := all[rapid.IntRange(0, len(all)-1).Draw(rt, "node")]
				f.calls(n, rapid.IntRange(1, 6).Draw(rt, "calls"), errLost)
			case 2:
				f.calls(all[rapid.IntRange(0, len(all)-1).Draw(rt, "node")], 1, nil)
			case 3:
				if len(trials) > 0 {
					err := rapid.SampledFrom([]error{nil, errLost, errCancel}).Draw(rt, "end")
					trials[0].end(f.now.Sub(trials[0].inv.Begun), err)
					trials = trials[1:]
				}
			case 4:
				from := rapid.IntRange(0, len(all)-1).Draw(rt, "from")
				f.publish(all[from:]...)
				f.out.Trial(f.list, f.invocation(), f.now.Add(-time.Hour), true) // a selection, before any pause is over
			case 5:
				i := rapid.IntRange(0, len(all)-1).Draw(rt, "restarted")
				before := all[i].Life()
				all[i].Update(f.url(i, ""), f.now)
				if all[i].Life() != before && all[i].Ejected() {
					rt.Fatal("ejected in a new life")
				}
			}
			n, out := f.list.Len(), len(f.ejected())
			if out > (n+1)/2 || n == 1 && out > 0 {
				rt.Fatalf("%d of %d are ejected", out, n)
			}
		}
	})
}

// A healthy fleet pays nothing, nor does one with an ejected provider.
func TestOutliersAllocateNothing(t *testing.T) {
	f := newFleet(t, 3, "")
	inv := f.invocation()
	inv.StartAttempt(f.at(0), f.now, f.now.Add(time.Second))
	life := f.at(0).Life()
	once := func() {
		f.out.Trial(f.list, inv, f.now, true)
		f.out.Begun(inv, life)
		f.out.Ended(inv, protocol.Outcome{Life: life, Verdict: protocol.Succeeded})
	}
	assert.Zero(t, testing.AllocsPerRun(100, once))
	f.calls(f.at(1), 5, errLost)
	once() // the first one compares the lists
	assert.Zero(t, testing.AllocsPerRun(100, once))
	f.giveUp(f.at(2))
	assert.Zero(t, testing.AllocsPerRun(100, once), "while somebody wants to know who answers")
}
