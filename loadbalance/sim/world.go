package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// world is one run of a scenario.
type world struct {
	s        *Scenario // filled in
	seed     uint64
	rate     float64 // requests per second
	now      int64   // ns since the beginning of the measured time
	end      int64   // of the measured time
	servers  []*server
	choosers []chooser // the strategies of the consumers
	reports  bool      // somebody reads the providers' load averages

	events    events
	arrivals  *arrivals
	deadlines ring[deadline]
	requests  requests
	open      open
	waiting   int // measured requests without an answer yet
	notices   *rand.Rand
	longs     *rand.Rand
	keys      keys
	figures   *figures
	broken    error  // why it cannot go on
	watch     func() // before each event; nil: nobody
}

// deadline is the end of the time that a request has.
type deadline struct {
	at   int64
	ref  int32
	turn int32
}

// epoch is what the beginning of the measured time is called. Any would do that is
// not near the zero time.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// clock returns a moment of virtual time.
func clock(t int64) time.Time { return epoch.Add(time.Duration(t)) }

// newWorld builds the cluster as it is at the beginning. The scenario is filled in.
func newWorld(s *Scenario, seed uint64, detail bool) *world {
	w := &world{
		s: s, seed: seed, rate: s.rate(), now: -settling * int64(s.Settle), end: int64(s.Duration),
		notices: stream(seed, forNotices, 0), longs: stream(seed, forLong, 0),
	}
	for i := range s.Providers {
		for j := range s.Providers[i].Count {
			v := newServer(int32(len(w.servers)), &s.Providers[i], j, s, seed)
			v.counted = w.now
			w.servers = append(w.servers, v)
			w.planLives(v)
		}
	}
	w.arrivals = newArrivals(s, w.rate, seed, w.now)
	w.open = newOpen(s.Consumers, len(w.servers))
	w.figures = newFigures(s, len(w.servers), detail)
	return w
}

// run lets time pass until every measured request has its answer. Of what comes at
// the same moment events go first, then deadlines, then new requests.
func (w *world) run(ctx context.Context) error {
	w.beginLong()
	// An event can take as much as there are providers: to make a list of them, a ring.
	often := max(1, 1024/len(w.servers))
	for {
		if w.figures.events%often == 0 {
			if err := w.goesOn(ctx); err != nil {
				return err
			}
		}
		next, first := w.arrivals.next.at, w.arrive
		if next >= w.end && w.waiting == 0 {
			return nil
		}
		if w.deadlines.n > 0 && w.deadlines.first().at <= next {
			next, first = w.deadlines.first().at, w.expire
		}
		if h := w.events.heap; len(h) > 0 && h[0].at <= next {
			next, first = h[0].at, w.happen
		}
		w.now = next
		if w.watch != nil {
			w.watch()
		}
		w.figures.events++
		if first(); w.broken != nil {
			return w.broken
		}
	}
}

// goesOn returns why a run does not: it is stopped, or it has become larger than
// anybody can know before.
func (w *world) goesOn(ctx context.Context) error {
	if err := stopped(ctx); err != nil {
		return fmt.Errorf("%w, after %v of %v", err, time.Duration(w.now).Round(time.Millisecond), w.s.Duration)
	}
	if n := len(w.requests.all); n > maxUnderWay {
		return fmt.Errorf("after %v of %v more than %d requests are under way: of %.0f a second the cluster answers too few with this policy; with threads they are refused",
			time.Duration(w.now).Round(time.Millisecond), w.s.Duration, maxUnderWay, w.rate)
	}
	if w.arrivals.n > 2*maxRequests {
		return fmt.Errorf("%d requests have come, and %d of the measured time still wait for their deadline of %v: a shorter one is needed", w.arrivals.n, w.waiting, w.s.Deadline)
	}
	return nil
}

// happen runs the next event.
func (w *world) happen() {
	e := w.events.next()
	switch e.kind {
	case reaches:
		w.reach(w.servers[e.who], w.requests.all[e.ref])
	case finished:
		w.finish(w.servers[e.who], w.requests.all[e.ref], e.mark)
	case shared:
		w.finishShared(w.servers[e.who], e.mark)
	case waited:
		w.release(w.servers[e.who], w.requests.all[e.ref], e.mark)
	case answered:
		w.answer(w.requests.all[e.ref])
	case ended:
		w.endLong(w.requests.all[e.ref], e.mark)
	case begins:
		w.sendLong(e.who)
	case changes:
		w.change(w.servers[e.who], e.mark)
	case learns:
		w.learn(e.who, w.servers[e.ref], e.mark)
	}
}
