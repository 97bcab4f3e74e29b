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

// oracle sends every request to where it will be finished first. It is greedy, so
// not always the best for all; that is what jsq is beside it for.
type oracle struct {
	truth
	free [][]int64 // by server: when each of its workers is free, as far as is known
	life []int32   // for which that holds
	due  []float64 // by server that shares its cores: work on its way there
}

func newOracle(w *world, consumer int) (chooser, error) {
	if consumer > 0 {
		return w.choosers[0], nil
	}
	o := &oracle{truth: truth{w}, free: make([][]int64, len(w.servers)), life: make([]int32, len(w.servers))}
	for i, v := range w.servers {
		if v.cores == nil {
			o.free[i] = make([]int64, v.conf.Workers)
		}
	}
	return o, nil
}

func (o *oracle) choose(r *request) int32 {
	best, first := int32(-1), int64(math.MaxInt64)
	var worker int
	for _, v := range o.w.servers {
		at, free := o.finish(v, r)
		if at < first {
			best, first, worker = v.id, at, free
		}
	}
	if best >= 0 && first < never {
		if v := o.w.servers[best]; v.cores == nil {
			o.free[best][worker] = first
		}
	}
	return best
}

// never is when a request is finished that will fail: after everything else, the
// sooner the better.
const never = math.MaxInt64 / 2

// finish returns when a server would have finished a request, and the worker.
func (o *oracle) finish(v *server, r *request) (at int64, worker int) {
	there := o.w.now + travel(v.conf.Network, r.there)
	if !v.up {
		return math.MaxInt64, 0
	}
	if e := in(v.errors, there); e != nil && r.luck < e.size {
		return never + there, 0
	}
	if v.conf.Threads > 0 && v.inside >= v.conf.Threads {
		return never + there, 0
	}
	work := r.work
	if v.cache != nil && r.key >= 0 && !v.cache.has(r.key) {
		work *= v.conf.Cache.Miss
	}
	begin := there
	if v.cores == nil {
		worker, begin = o.worker(v, there)
	}
	slow, _ := v.pace(begin)
	work *= slow
	if v.cores != nil {
		work *= max(1, float64(len(v.cores.jobs)+v.coming+1)/float64(v.conf.Workers))
	}
	at = v.pauses.finish(begin, int64(work))
	if dies := v.dies(o.w.now); at > dies {
		return never + there, 0
	}
	return at + int64(v.conf.Network.Delay), worker
}

// worker returns which worker of a server is free first, and when.
func (o *oracle) worker(v *server, there int64) (int, int64) {
	free := o.free[v.id]
	if o.life[v.id] != v.life {
		o.life[v.id] = v.life
		for i := range free {
			free[i] = v.born
		}
	}
	first := 0
	for i, t := range free {
		if t < free[first] {
			first = i
		}
	}
	return first, max(there, free[first])
}

// dies returns when a server will lose what it has.
func (v *server) dies(now int64) int64 {
	first := int64(math.MaxInt64)
	for i := range v.conf.Faults {
		f := &v.conf.Faults[i]
		at := int64(f.At) + int64(v.member)*int64(f.Stagger)
		if f.Leave {
			at += int64(f.For)
		}
		if (f.Kill || f.Leave) && at >= now {
			first = min(first, at)
		}
	}
	return first
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
	e := in(v.errors, now)
	return (e == nil || e.size < 0.25) && in(v.pauses, now) == nil && (v.conf.Threads == 0 || v.inside < v.conf.Threads)
}

func (j *jsq) shortest(may func(v *server, now int64) bool) int32 {
	best, least, ties := int32(-1), math.Inf(1), 0
	for _, v := range j.w.servers {
		if !v.up || !may(v, j.w.now) {
			continue
		}
		slow, _ := v.pace(j.w.now)
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
