package sim

import (
	"math"
	"time"
)

// server is one provider, over all its lives.
type server struct {
	id     int32
	conf   *Provider
	member int // of its group

	up     bool
	left   bool    // it has taken leave in this life: it only works off what it has
	born   int64   // when the present life began
	life   int32   // number of the present life
	cold   bool    // the life began during the scenario
	served int     // requests begun in this life
	coming int     // requests on their way here
	onWay  float64 // their work
	inside int     // requests between coming in and having been worked on
	held   int     // threads of requests that have been worked on and wait for something else

	busy  int         // workers
	works []int32     // the requests that they work on, in no order
	queue ring[int32] // requests that wait for one
	cores *sharing    // instead of both
	cache *cache

	outages []outage
	turn    int32 // how often it has come or gone
	pauses  pauses
	slows   []window
	errors  []window

	average float64 // of the requests inside, as a load average of one minute
	counted int64   // until when it has been averaged
}

// longAgo is when the providers began that are up from before the beginning.
const longAgo = -int64(time.Hour)

func newServer(id int32, conf *Provider, member int, s *Scenario, seed uint64) *server {
	v := &server{id: id, conf: conf, member: member, up: conf.Joins == nil, born: longAgo}
	if conf.Sharing {
		v.cores = new(sharing)
	}
	v.fresh()
	v.plan(s, stream(seed, forFaults, uint64(id)))
	return v
}

// fresh makes everything new that ends with a process.
func (v *server) fresh() {
	v.served, v.average = 0, 0
	if c := v.conf.Cache; c != nil {
		v.cache = newCache(c.Keys)
	}
}

// start begins a new life.
func (v *server) start(now int64) {
	v.up, v.left, v.cold, v.born, v.counted = true, false, true, now, now
	v.life++
	v.fresh()
}

// there reports whether it is to have requests.
func (v *server) there() bool { return v.up && !v.left }

// full reports whether the threads are exhausted, with so many requests more.
func (v *server) full(more int) bool {
	return v.conf.Threads > 0 && v.inside+v.held+more >= v.conf.Threads
}

// stop ends a life and returns the requests that are lost with it and that no event
// will come back to.
func (v *server) stop() (lost []int32) {
	v.up = false
	v.life++
	for v.queue.n > 0 {
		lost = append(lost, v.queue.pop())
	}
	if v.cores != nil {
		lost = append(lost, v.cores.clear()...)
	}
	v.busy, v.inside, v.held, v.works = 0, 0, 0, v.works[:0]
	return lost
}

// pace returns how many times as long as at speed 1 a request takes that begins
// now, after so many in this life, and how much of the CPU that takes.
func (v *server) pace(now int64, served int) (slow, cpu float64) {
	slow = 1 / v.conf.Speed
	cpu = slow
	for i := range v.slows {
		if w := &v.slows[i]; w.holds(now) {
			slow *= w.size
			cpu = slow
		}
	}
	if k := v.conf.Cold; k != nil && v.cold {
		age := time.Duration(now - v.born)
		slow, cpu = slow*k.slow(age, served), cpu*k.cpu(age, served)
	}
	return slow, cpu
}

// minute is the time constant of a system's load average.
const minute = float64(time.Minute)

// loadAverage returns the load average in percent of the cores, as a Java provider
// reports it.
func (v *server) loadAverage(now int64) float64 {
	v.count(now)
	return v.average * 100 / float64(v.conf.Workers)
}

// count brings the load average up to date; before every change of inside.
func (v *server) count(now int64) {
	if now > v.counted {
		v.average += (float64(v.inside) - v.average) * -math.Expm1(-float64(now-v.counted)/minute)
		v.counted = now
	}
}
