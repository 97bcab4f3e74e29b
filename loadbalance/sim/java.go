package sim

import (
	"math/rand/v2"
	"slices"

	"github.com/gofer-rpc/gofer/url"
)

// java is a consumer of Dubbo for Java, as far as its choice goes: what the rules
// see of the providers, and their counters.
type java struct {
	w     *world
	rng   *rand.Rand
	rule  javaRule
	list  []int32       // of servers, in order
	known []javaInvoker // by server
	seen  int           // how often the list has changed
}

// javaRule is a load balancer of Dubbo for Java.
type javaRule interface {
	// choose returns the position in j.list, which has two or more; -1 where Java
	// throws an exception.
	choose(j *java, r *request) int
}

// javaObserver is a rule with a filter of its own.
type javaObserver interface {
	begun(j *java, r *request)
	ended(j *java, r *request, a answer)
}

// javaInvoker is what the rules see of one provider.
type javaInvoker struct {
	address  string
	weight   int  // parameter
	weighted bool // there is the parameter
	warmup   int64
	nodes    int   // hash.nodes
	hashed   int   // how often hash.arguments has the only argument
	start    int64 // timestamp in ms, of the life that the consumer knows
	status   javaStatus
}

// javaStatus is Dubbo's RpcStatus: by address and method, so a restarted provider
// inherits it.
type javaStatus struct {
	active           int32
	total, failed    int64
	elapsed, failing int64 // ms; of all, and of those that failed
}

func (s *javaStatus) succeeded() int64        { return s.total - s.failed }
func (s *javaStatus) succeededElapsed() int64 { return s.elapsed - s.failing }

func javaMaker(rule func(w *world) javaRule) func(w *world, consumer int) (chooser, error) {
	return func(w *world, consumer int) (chooser, error) {
		j := &java{w: w, rng: stream(w.seed, forPolicies, uint64(consumer)), rule: rule(w)}
		j.known = make([]javaInvoker, len(w.servers))
		for i, v := range w.servers {
			m, _ := url.CompileMethod(v.url(w.s), methodName)
			k := &j.known[i]
			k.address = v.url(w.s).Address()
			k.weight, k.warmup = m.Weight, m.Warmup.Milliseconds()
			k.nodes = m.HashNodes
			for _, argument := range m.HashArguments {
				if argument == 0 {
					k.hashed++
				}
			}
			k.weighted = v.url(w.s).Param("weight") != ""
			k.start = clock(v.born).UnixMilli()
			k.status.active = int32(v.conf.Leaked)
			w.figures.leaked(consumer, i, v.conf.Leaked)
			if v.up {
				j.list = append(j.list, v.id)
			}
		}
		return j, nil
	}
}

// ms is the time as Java reads it.
func (j *java) ms() int64 { return clock(j.w.now).UnixMilli() }

func (j *java) at(i int) *javaInvoker { return &j.known[j.list[i]] }

func (j *java) choose(r *request) int32 {
	switch len(j.list) {
	case 0:
		return -1
	case 1: // without asking the rule
		return j.list[0]
	}
	if i := j.rule.choose(j, r); i >= 0 {
		return j.list[i]
	}
	return -1
}

func (j *java) place(*request) {}

// begun and ended are the ActiveLimitFilter, which is there because the reference
// has "actives".
func (j *java) begun(r *request) {
	j.known[r.server].status.active++
	if o, ok := j.rule.(javaObserver); ok && !r.long {
		o.begun(j, r)
	}
}

func (j *java) ended(r *request, a answer) {
	s := &j.known[r.server].status
	took := j.ms() - clock(r.at).UnixMilli()
	s.active--
	s.total++
	s.elapsed += took
	if a != served {
		s.failed++
		s.failing += took
	}
	if o, ok := j.rule.(javaObserver); ok && !r.long {
		o.ended(j, r, a)
	}
}

func (j *java) learn(v *server, how int32) {
	i, listed := slices.BinarySearch(j.list, v.id)
	switch {
	case how == starts:
		j.known[v.id].start = clock(v.born).UnixMilli()
		if !listed {
			j.list = slices.Insert(j.list, i, v.id)
		}
	case listed: // it has left, or is not available
		j.list = slices.Delete(j.list, i, i+1)
	}
	j.seen++
}
