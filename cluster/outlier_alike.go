package cluster

import (
	"errors"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// lateness is which providers a method has timed out at, the two latest of them. A
// method that nobody answers in its time says nothing about one of them: its timeout is
// too short, or what all of them need for it is away.
type lateness struct {
	since  time.Time
	moment uint64 // of the answers, then
	who    [2]*record
	at     [2]time.Time
	row    int // of timeouts at the latest
}

// alike notes a timeout, and reports whether another provider has timed out with the
// method in the row, too, and nobody has answered it since. If all that follows are timeouts
// at the one, nobody asks the other any more, and it excuses nothing.
func (o *Outliers) alike(r *record, inv *protocol.Invocation, end protocol.Outcome, set settings) bool {
	if end.Verdict != protocol.TimedOut || errors.As(end.Err, new(*silentError)) {
		return false
	}
	slot, at := inv.Method.Slot, inv.Begun.Add(end.Elapsed)
	l := o.late[slot]
	if l == nil || o.answers.since(slot, l.moment) {
		o.answers.watch(slot)
		l = &lateness{since: at, moment: o.answers.begin()}
		if o.late == nil {
			o.late = map[int]*lateness{}
		}
		o.late[slot] = l
	}
	l.note(r, at)
	since := r.first
	if r.out.Load() { // it is the trial that says something
		since = inv.Begun
	}
	return l.who[1] != nil && l.row < 2*set.failures && !l.at[1].Before(since.Add(-r.node.Method(slot).Timeout))
}

// unanswered reports whether a method has only timed out for some seconds.
func (o *Outliers) unanswered(slot int, at time.Time) bool {
	l := o.late[slot]
	return l != nil && at.Sub(l.since) >= calm && !o.answers.since(slot, l.moment)
}

// note makes a provider the latest.
func (l *lateness) note(r *record, at time.Time) {
	if l.who[0] != r {
		l.who[1], l.at[1], l.row = l.who[0], l.at[0], 0
	}
	l.who[0], l.at[0] = r, at
	l.row++
}
