package cluster

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
)

const (
	maxPause   = 30 * time.Second       // longest time without a trial
	maxTrips   = 20                     // doublings that are counted
	forget     = time.Minute            // of service, after which earlier ejections do not count
	trialGrace = 500 * time.Millisecond // for which a trial waits for a call that can be retried
	trialPoll  = 10 * time.Millisecond  // how often calls look for a trial that none could take
	trialSlack = time.Second            // after its deadline a trial without an end is given up
	trialLimit = 30 * time.Second       // and after this time, however late its deadline is
)

// Outliers takes providers that keep failing out of the choice, whichever load
// balancer chooses. There is one for each reference.
//
// A provider is ejected after "outlier.failures" failures in a row, or at once when
// its connection is refused. It stays out for "outlier.pause", for twice as long
// each time in a row, up to half a minute; a minute of service makes that forgotten.
// After the pause exactly one call is tried there: if it succeeds the provider is
// back, if it fails the next pause begins, and if it tells nothing another call is
// the trial. So it is when a trial has not ended after half a minute, and calls that
// may take longer are not preferred for it: a job of an hour keeps nobody out. An
// answer that is of no use ([protocol.Useless]) brings the provider back, for it is
// alive; but it ends no row of failures, and begins none. A restarted provider begins
// without a history. A one-way call that was sent shows that the connection works, and
// that is all: it ends no row of timeouts, and is the trial of a provider that did not
// answer only if there was no other call for half a minute.
//
// Never is more than half of the list (rounded up) ejected, nor the only provider.
// Where an ejection leaves a call nobody, it is ignored: see relax.
//
// What is a failure says [protocol.Judge], with two exceptions. A call that gave up
// before the provider's own timeout was over tells nothing by itself; but ten such
// calls in a row eject if the provider has answered nothing at all for as long as its
// timeout, while others have answered the same method. In a trial one is enough. A call
// that was cancelled is one of these if it waited for twice as long as answers take. And
// refusals for a limit of the provider, "executes" or its thread pool, eject only if
// it answered nothing else for as long as a pause, and their pause does not grow: a
// provider that works at its limit refuses many calls in a row, and to take it out
// would only load the others more. For the same reason pauses do not grow by timeouts
// while more than a third of the list, and more than one provider, is ejected; timeouts
// with a method that nobody answers eject nobody; and ejections for timeouts end when the
// others lose calls for it: see overload.
//
// It never reads the clock nor starts a timer: pauses end when a call looks. So it
// may be driven in virtual time: it needs the list of the reference, to be told of
// attempts as any [protocol.Observer], and to be asked for a trial before each choice.
type Outliers struct {
	list func() *protocol.Candidates
	log  *zap.Logger

	out      atomic.Int32 // how many are ejected: all that calls look at while nobody is
	answers  answers
	overload overload
	seen     atomic.Pointer[reviewed] // the list that they were last compared with
	due      atomic.Int64             // when one of them may have a trial, by the clock that begins at zero

	mu      sync.Mutex
	zero    time.Time
	ejected []*record
	late    map[int]*lateness // by method
	round   int               // of reviews
	news    []news
	logged  budget
}

// reviewed is a list at one moment.
type reviewed struct {
	list    *protocol.Candidates
	version uint64
}

// record is what one life of a provider has behind it. There is none until it fails.
type record struct {
	node     *protocol.Node
	life     *protocol.Life
	failures atomic.Int32 // in a row
	mute     atomic.Bool  // all of the row were calls that nobody answered
	out      atomic.Bool  // ejected
	silence  silence

	// The rest is guarded by Outliers.mu.
	first    time.Time            // failure of the row
	limits   bool                 // all of the row were refusals for a limit
	slow     bool                 // or timeouts
	last     error                // failure
	since    time.Time            // of the latest ejection, or pause
	until    time.Time            // end of the pause
	returned time.Time            // to service
	trips    int                  // ejections in a row
	trial    *protocol.Invocation // the call that is tried there
	lost     time.Time            // when it is given up
	round    int                  // of the latest review that has found it
}

// NewOutliers returns the outlier ejection of one reference. list returns the
// providers in force, log nil is silent. It has to observe the reference's calls, see
// [protocol.MethodTable.Observe].
func NewOutliers(list func() *protocol.Candidates, log *zap.Logger) *Outliers {
	if log == nil {
		log = zap.NewNop()
	}
	return &Outliers{list: list, log: log}
}

// Any reports whether a provider is ejected at the moment. It is one atomic load.
func (o *Outliers) Any() bool { return o.out.Load() > 0 }

// Trial returns the ejected provider that the call is to be tried at, instead of
// the load balancer's choice; nil in most cases. left is what the call may choose
// from, now the time of the choice; spare tells that the call can be retried if it
// fails: such calls are preferred. A trial that does not become an attempt has to
// be given back with [Outliers.Abandon].
func (o *Outliers) Trial(left *protocol.Candidates, inv *protocol.Invocation, now time.Time, spare bool) *protocol.Node {
	if !o.Any() {
		return nil
	}
	list := o.list()
	seen := o.seen.Load()
	changed := seen == nil || seen.list != list || seen.version != list.Version()
	switch {
	case changed:
		o.mu.Lock()
		o.review(list, now)
	case now.Sub(o.zero) < time.Duration(o.due.Load()) || !o.mu.TryLock():
		return nil // nothing to do yet, or somebody else does it
	}
	n := o.claim(list, left, inv, now, spare)
	o.unlock()
	return n
}

// claim makes the call the trial of a provider whose pause is over.
func (o *Outliers) claim(list, left *protocol.Candidates, inv *protocol.Invocation, now time.Time, spare bool) *protocol.Node {
	for _, r := range o.ejected {
		if left != list && !slices.Contains(left.Nodes(), r.node) || !r.tries(r.node, inv, now, spare) {
			continue
		}
		r.trial, r.lost = inv, now.Add(trialLimit)
		o.answers.watch(inv.Method.Slot)
		o.schedule()
		return r.node
	}
	o.schedule()
	if passed := now.Sub(o.zero); len(o.ejected) > 0 && o.due.Load() <= int64(passed) {
		o.due.Store(int64(passed + trialPoll))
	}
	return nil
}

// Next returns what [Outliers.Trial] would return, and leaves the trial to another call.
func (o *Outliers) Next(left *protocol.Candidates, inv *protocol.Invocation, now time.Time, spare bool) *protocol.Node {
	if !o.Any() {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var next *protocol.Node
	first := len(o.ejected)
	for _, n := range left.Nodes() {
		if !n.Ejected() {
			continue
		}
		r := o.record(n.Life())
		if i := slices.Index(o.ejected[:first], r); i >= 0 && r.tries(n, inv, now, spare) {
			next, first = n, i
		}
	}
	return next
}

// tries reports whether the call may be the provider's trial.
func (r *record) tries(n *protocol.Node, inv *protocol.Invocation, now time.Time, spare bool) bool {
	at := r.next()
	switch {
	case inv.OneWay && r.hangs():
		at = at.Add(maxPause)
	case !spare && r.trial == nil, long(inv, n):
		at = at.Add(trialGrace)
	}
	return !now.Before(at) && mayTry(inv, n)
}

// long reports whether a call may take longer than a trial is waited for.
func long(inv *protocol.Invocation, n *protocol.Node) bool {
	if inv.Timeout > 0 {
		return inv.Timeout > trialLimit
	}
	return n.Method(inv.Method.Slot).Timeout > trialLimit
}

// mayTry reports whether the call may go to an ejected provider but for that.
func mayTry(inv *protocol.Invocation, n *protocol.Node) bool {
	before := inv.Relaxed()
	defer inv.SetRelax(before)
	inv.SetRelax(protocol.RelaxEjected)
	return inv.Allows(n)
}

// Abandon gives the trial at n back that the call has not begun.
func (o *Outliers) Abandon(inv *protocol.Invocation, n *protocol.Node) {
	r := o.record(n.Life())
	if r == nil || !r.out.Load() {
		return
	}
	o.mu.Lock()
	if r.trial == inv {
		r.trial = nil
		o.schedule()
	}
	o.unlock()
}

// Begun notes until when a trial has to end, if that is sooner than any trial has to.
func (o *Outliers) Begun(inv *protocol.Invocation, life *protocol.Life) {
	if !o.Any() || inv.Deadline.IsZero() {
		return
	}
	r := o.record(life)
	if r == nil || !r.out.Load() {
		return
	}
	o.mu.Lock()
	if end := inv.Deadline.Add(trialSlack); r.trial == inv && end.Before(r.lost) {
		r.lost = end
		o.schedule()
	}
	o.unlock()
}

// Ended judges the provider by the end of an attempt.
func (o *Outliers) Ended(inv *protocol.Invocation, end protocol.Outcome) {
	r := o.record(end.Life)
	if !bad(end.Verdict) && (r == nil || !r.out.Load()) && !canceledLate(inv, end) { // most calls
		o.answered(r, inv, end.Verdict)
		return
	}
	if r == nil {
		node, life := inv.Node, end.Life
		r = life.State(o, func() any { return &record{node: node, life: life} }).(*record)
	}
	o.mu.Lock()
	o.judge(r, inv, end)
	o.unlock()
}

// canceledLate reports whether a caller that cancelled tells that an answer is late.
func canceledLate(inv *protocol.Invocation, end protocol.Outcome) bool {
	return end.Verdict == protocol.Neutral && protocol.CanceledLate(end, answerTime(end.Life, inv.Method.Slot))
}

func bad(v protocol.Verdict) bool { return v == protocol.Failed || v == protocol.TimedOut }

// answered is the end of an attempt at a provider in service that has not failed.
func (o *Outliers) answered(r *record, inv *protocol.Invocation, verdict protocol.Verdict) {
	switch {
	case verdict == protocol.Neutral:
		return
	case r == nil:
	case verdict == protocol.Succeeded && r.failures.Load() != 0 && !(inv.OneWay && r.hangs()):
		r.failures.Store(0)
	}
	if inv.OneWay { // nobody has said anything
		return
	}
	if r != nil {
		r.silence.broken()
	}
	if verdict == protocol.Succeeded {
		o.answers.note(inv.Method.Slot)
		o.overload.answered()
	}
}

// judge is the end of an attempt at a provider that fails or is ejected. What began
// before the latest ejection says nothing about the time since.
func (o *Outliers) judge(r *record, inv *protocol.Invocation, end protocol.Outcome) {
	trial := r.trial == inv
	if trial {
		r.trial = nil
		defer o.schedule()
	}
	if end.Verdict == protocol.Neutral && !canceledLate(inv, end) || inv.Begun.Before(r.since) {
		return
	}
	at, set, out := inv.Begun.Add(end.Elapsed), settingsOf(r.node), r.out.Load()
	if !out && set.on && lost(inv.Method.Slot, end) && !inv.Begun.Before(r.returned) {
		o.lost(inv.Method.Slot, at, set)
	}
	switch {
	case inv.OneWay && end.Verdict == protocol.Succeeded && r.hangs() && !trial: // that it was sent says nothing
	case protocol.EndingOf(inv, end) == protocol.EndedGivenUp && set.on:
		if err := o.givenUp(r, inv, end, set); err != nil {
			end.Verdict, end.Err = protocol.TimedOut, err
			o.failed(r, inv, end, trial, set)
		}
	case !bad(end.Verdict) && !out: // it has come back just now
		o.answered(r, inv, end.Verdict)
	case !bad(end.Verdict):
		o.readmit(r, at, "")
	case !set.on && out:
		o.readmit(r, at, "outlier=false")
	case !set.on:
	default:
		o.failed(r, inv, end, trial, set)
	}
}

// failed is a failure that counts.
func (o *Outliers) failed(r *record, inv *protocol.Invocation, end protocol.Outcome, trial bool, set settings) {
	at := inv.Begun.Add(end.Elapsed)
	r.fail(at, end.Verdict, end.Err)
	alike := o.alike(r, inv, end, set)
	switch out := r.out.Load(); {
	case out && trial && !alike:
		o.pause(r, at, set)
	case !out && r.enough(at, set) && !(r.hangs() && (alike || o.overload.tolerates(at))):
		o.eject(r, at, set)
	}
}

// record returns what is known of a life, nil for nothing.
func (o *Outliers) record(life *protocol.Life) *record {
	r, _ := life.Known(o).(*record)
	return r
}

// unlock ends a change, and tells of it.
func (o *Outliers) unlock() {
	all := o.news
	o.news = nil
	o.mu.Unlock()
	for _, n := range all {
		n.write(o.log)
	}
}
