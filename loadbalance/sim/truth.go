package sim

import (
	"math"
	"math/rand/v2"
)

// truth is what a chooser that knows everything needs: it looks at the servers
// themselves. There is one for all consumers.
type truth struct {
	w *world
}

func (truth) place(*request)         {}
func (truth) begun(*request)         {}
func (truth) ended(*request, answer) {}
func (truth) learn(*server, int32)   {}

// oracle sends every request to where it costs the least time, its own and what it holds
// up those who are there, if nobody comes after it. Where requests wait for a worker it
// holds up nobody who is there, so that is where it will be finished first. It is greedy:
// it does not mind who comes after, so it is not the best for all; that is what jsq is
// beside it for.
type oracle struct {
	truth
	waits  []forecast     // by server, while requests wait there
	then   forecast       // of the server looked at
	shared sharedForecast // and where requests share cores
}

func newOracle(w *world, consumer int) (chooser, error) {
	if consumer > 0 {
		return w.choosers[0], nil
	}
	return &oracle{truth: truth{w}, waits: make([]forecast, len(w.servers))}, nil
}

func (o *oracle) choose(r *request) int32 {
	best, least := int32(-1), int64(math.MaxInt64)
	for _, v := range o.w.servers {
		if at, others := o.finish(v, r); at+others < least {
			best, least = v.id, at+others
		}
	}
	return best
}

// never is when a request is finished that will fail: after everything else, the
// sooner the better.
const never = math.MaxInt64 / 2

// finish returns when the answer of a server to a request would be back, and by how much
// it would hold up the others there, in all.
func (o *oracle) finish(v *server, r *request) (at, others int64) {
	there := o.w.now + travel(v.conf.Network, r.there)
	if !v.there() {
		return math.MaxInt64, 0
	}
	if e := v.failing(there); e != nil && r.luck < e.size {
		return never + there, 0
	}
	if v.full(v.coming) {
		return never + there, 0
	}
	work := r.work
	if v.cache != nil && r.key >= 0 && !v.cache.has(r.key) {
		work *= v.conf.Cache.Miss
	}
	if v.cores != nil {
		at, others = o.share(v, there, work)
	} else {
		begin := max(there, o.begin(v))
		slow, _ := v.pace(begin, v.served+v.queue.n+v.coming)
		at = v.pauses.finish(begin, ns(work*slow))
	}
	if dies := v.dies(o.w.now); at+int64(r.wait) > dies {
		return never + there, 0
	}
	return at + travel(v.conf.Network, r.back), others
}

// share is finish, without the way back, of a request that shares the cores from some
// time on.
func (o *oracle) share(v *server, there int64, work float64) (at, others int64) {
	slow, _ := v.pace(there, v.served+v.coming)
	took, delays := work*slow, 0.0
	if len(v.cores.jobs)+v.coming >= v.conf.Workers {
		after := there - o.w.now - (v.pauses.before(there) - v.pauses.before(o.w.now))
		o.shared.start(o.w, v, slow)
		took, delays = o.shared.takes(took, float64(after), v.conf.Workers)
	}
	return v.pauses.finish(there, ns(took)), ns(delays)
}

// mostComing is how many requests on their way are looked at one by one.
const mostComing = 1024

// begin returns when a server will have worked off what waits there and what is on
// its way, so far that a worker is free.
func (o *oracle) begin(v *server) int64 {
	if v.queue.n == 0 && len(v.works)+v.coming < v.conf.Workers {
		return o.w.now
	}
	if v.queue.n == 0 {
		o.then.start(o.w, v)
	} else {
		waits := &o.waits[v.id]
		if waits.wait(o.w, v); v.coming == 0 {
			return waits.free[0]
		}
		o.then.free = append(o.then.free[:0], waits.free...)
	}
	n := min(v.coming, max(mostComing, v.conf.Workers))
	for i := range n {
		o.then.add(o.w, v, v.onWay/float64(n), v.served+v.queue.n+i)
	}
	return o.then.free[0]
}

// dies returns when a server will lose what it has.
func (v *server) dies(now int64) int64 {
	for i := range v.outages {
		if at := v.outages[i].dies; at >= now {
			return at
		}
	}
	return math.MaxInt64
}

// jsq sends every request to the provider with the shortest queue for its speed:
// it does not know sizes.
type jsq struct {
	truth
	rng *rand.Rand
}

func newJSQ(w *world, consumer int) (chooser, error) {
	if consumer > 0 {
		return w.choosers[0], nil
	}
	return &jsq{truth{w}, stream(w.seed, forPolicies, 0)}, nil
}

func (j *jsq) choose(*request) int32 {
	if best := j.shortest((*server).well); best >= 0 {
		return best
	}
	return j.shortest(func(*server, int64) bool { return true })
}

// well reports whether a server is at work and does not fail.
func (v *server) well(now int64) bool {
	e := v.failing(now)
	return (e == nil || e.size < 0.25) && !v.pauses.holds(now) && !v.full(0)
}

func (j *jsq) shortest(may func(v *server, now int64) bool) int32 {
	best, least, ties := int32(-1), math.Inf(1), 0
	for _, v := range j.w.servers {
		if !v.there() || !may(v, j.w.now) {
			continue
		}
		slow, _ := v.pace(j.w.now, v.served)
		load := float64(v.coming+v.inside+1) * slow / float64(v.conf.Workers)
		switch {
		case load < least:
			best, least, ties = v.id, load, 1
		case load == least:
			if ties++; j.rng.IntN(ties) == 0 {
				best = v.id
			}
		}
	}
	return best
}
