package cluster

import (
	"cmp"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// settings are the parameters of ejection, as a provider's merged URL has them: an
// override may change them while calls go on.
type settings struct {
	on       bool
	failures int
	pause    time.Duration
}

func settingsOf(n *protocol.Node) settings {
	r := url.NewReader(n.URL())
	return settings{r.Bool("outlier"), r.Int("outlier.failures"), r.Duration("outlier.pause")}
}

// most is how many providers of a list may be ejected at a time: half of them, but
// never the only one.
func most(providers int) int {
	if providers < 2 {
		return 0
	}
	return (providers + 1) / 2
}

// fail adds a failure to the row.
func (r *record) fail(at time.Time, verdict protocol.Verdict, err error) {
	if r.failures.Add(1) == 1 {
		r.first, r.limits, r.slow = at, true, true
	}
	limit := errors.Is(err, protocol.ErrLimitExceeded)
	r.limits = r.limits && limit
	r.slow = r.slow && (limit || verdict == protocol.TimedOut)
	r.mute.Store(r.slow && !r.limits)
	r.last = err
	if limit {
		r.silence.broken() // it has answered that
	}
}

// enough reports whether the row of failures is reason to eject.
func (r *record) enough(at time.Time, set settings) bool {
	switch {
	case errors.Is(r.last, syscall.ECONNREFUSED):
		return true
	case int(r.failures.Load()) < set.failures:
		return false
	}
	return !r.limits || at.Sub(r.first) >= set.pause
}

// next is when the provider may have its next trial.
func (r *record) next() time.Time {
	if r.trial != nil {
		return r.lost
	}
	return r.until
}

// eject takes a provider out of the choice, if not too many are out already.
func (o *Outliers) eject(r *record, at time.Time, set settings) {
	list := o.list()
	if seen := o.seen.Load(); seen == nil || seen.list != list || seen.version != list.Version() {
		o.review(list, at)
	}
	if len(o.ejected) >= most(list.Len()) || !slices.Contains(list.Nodes(), r.node) || !r.node.Eject(r.life) {
		return
	}
	if len(o.ejected) == 0 && o.zero.IsZero() {
		o.zero = at
	}
	if !r.returned.IsZero() && at.Sub(r.returned) >= forget {
		r.trips = 0
	}
	r.out.Store(true)
	o.ejected = append(o.ejected, r)
	o.pause(r, at, set)
	o.out.Store(int32(len(o.ejected)))
}

// pause begins the time without a trial.
func (o *Outliers) pause(r *record, at time.Time, set settings) {
	d := set.pause
	if !r.limits && !(r.slow && o.many()) {
		for range min(r.trips, maxTrips) {
			d = min(2*d, max(maxPause, set.pause))
		}
		r.trips++
	}
	r.since, r.until = at, at.Add(d)
	r.silence.broken()
	r.silence.moment = o.answers.begin()
	o.tell(r, at, "")
	o.schedule()
}

// many reports whether more than a third of the list is ejected, and more than one
// provider.
// If they time out it is the load that is to blame, and long pauses would leave idle
// what could carry it.
func (o *Outliers) many() bool { return len(o.ejected) > max(1, o.list().Len()/3) }

// readmit puts a provider back into the choice.
func (o *Outliers) readmit(r *record, at time.Time, why string) {
	r.reset(at)
	if i := slices.Index(o.ejected, r); i >= 0 {
		o.ejected = slices.Delete(o.ejected, i, i+1)
	}
	r.node.Readmit(r.life)
	o.tell(r, at, why)
	o.settle()
}

// reset makes the record one of a provider in service.
func (r *record) reset(at time.Time) {
	r.out.Store(false)
	r.failures.Store(0)
	r.trial, r.returned = nil, at
}

// review compares the ejections with a list: those of providers that are gone or
// have begun a new life are dropped, and of the rest those that end first if they
// are more than half of what the list has become, or not wanted any more.
func (o *Outliers) review(list *protocol.Candidates, now time.Time) {
	o.seen.Store(&reviewed{list, list.Version()})
	o.round++
	var in []*record
	for _, n := range list.Nodes() {
		if !n.Ejected() {
			continue
		}
		if r := o.record(n.Life()); r != nil && r.out.Load() {
			r.round = o.round
			in = append(in, r)
		}
	}
	for _, r := range o.ejected {
		if r.round != o.round {
			r.reset(now)
			r.node.Readmit(r.life)
		}
	}
	slices.SortStableFunc(in, func(a, b *record) int { return cmp.Compare(a.until.Sub(o.zero), b.until.Sub(o.zero)) })
	excess := len(in) - most(list.Len())
	o.ejected = in
	for _, r := range slices.Clone(in) {
		switch {
		case !settingsOf(r.node).on:
			o.readmit(r, now, "outlier=false")
		case excess > 0:
			o.readmit(r, now, "too few providers are left")
		default:
			continue
		}
		excess--
	}
	o.settle()
}

// settle publishes how many are ejected, and when the next trial is due.
func (o *Outliers) settle() {
	o.out.Store(int32(len(o.ejected)))
	if len(o.ejected) == 0 {
		o.ejected = nil
		o.seen.Store(nil) // do not hold a list for nothing
		return
	}
	o.schedule()
}

// schedule notes when the next trial is due.
func (o *Outliers) schedule() {
	if len(o.ejected) == 0 {
		return
	}
	next := o.ejected[0].next()
	for _, r := range o.ejected[1:] {
		if at := r.next(); at.Before(next) {
			next = at
		}
	}
	o.due.Store(int64(next.Sub(o.zero)))
}

// Ejection is what is known about the failures of a provider since it was started.
type Ejection struct {
	Ejected     bool      // out of the choice
	Since       time.Time // the latest ejection, or failed trial; zero for none
	Until       time.Time // the end of the pause
	Trial       bool      // a call is being tried there
	Trips       int       // ejections in a row
	Failures    int       // in a row
	LastFailure error     // nil for none
}

// Ejection returns what is known about a provider.
func (o *Outliers) Ejection(n *protocol.Node) Ejection {
	r := o.record(n.Life())
	if r == nil {
		return Ejection{}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return Ejection{
		Ejected: r.out.Load(), Since: r.since, Until: r.until, Trial: r.trial != nil,
		Trips: r.trips, Failures: int(r.failures.Load()), LastFailure: r.last,
	}
}
