package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// server is one provider, over all its lives.
type server struct {
	id     int32
	conf   *Provider
	member int // of its group

	up     bool
	born   int64   // when the present life began
	life   int32   // number of the present life
	cold   bool    // the life began during the scenario
	served int     // requests begun in this life
	coming int     // requests on their way here
	onWay  float64 // their work
	inside int     // requests between coming in and having been worked on

	busy  int         // workers
	ends  []int64     // when they will be free
	queue ring[int32] // requests that wait for one
	cores *sharing    // instead of both
	cache *cache

	pauses pauses
	slows  []window
	errors []window

	average float64 // of the requests inside, as a load average of one minute
	counted int64   // until when it has been averaged
}

// window is a time in which a fault holds, and its size.
type window struct {
	begin, end int64
	size       float64
	delay      int64
}

// in returns the window that holds at t, nil for none.
func in(windows []window, t int64) *window {
	for i := range windows {
		if w := &windows[i]; t >= w.begin && t < w.end {
			return w
		}
	}
	return nil
}

// pauses are the times in which a provider does nothing, in order.
type pauses []window

// finish returns when work that takes so long without pauses is finished.
func (p pauses) finish(t, work int64) int64 {
	for i := range p {
		w := &p[i]
		if w.end <= t {
			continue
		}
		if t < w.begin {
			if t+work <= w.begin {
				break
			}
			work -= w.begin - t
		}
		t = w.end
	}
	return t + work
}

// before returns how much of the time before t was paused.
func (p pauses) before(t int64) int64 {
	sum := int64(0)
	for i := range p {
		if p[i].begin >= t {
			break
		}
		sum += min(p[i].end, t) - p[i].begin
	}
	return sum
}

// longAgo is when the providers began that are up from before the beginning.
const longAgo = -int64(time.Hour)

func newServer(id int32, conf *Provider, member int, s *Scenario, seed uint64) *server {
	v := &server{id: id, conf: conf, member: member, up: conf.Joins == nil, born: longAgo}
	if conf.Sharing {
		v.cores = new(sharing)
	}
	v.fresh()
	rng := stream(seed, forFaults, uint64(id))
	for i := range conf.Faults {
		v.plan(&conf.Faults[i], s, rng)
	}
	return v
}

// plan works out when a fault will hold. Lives are events of their own.
func (v *server) plan(f *Fault, s *Scenario, rng *rand.Rand) {
	begin := int64(f.At) + int64(v.member)*int64(f.Stagger)
	w := window{begin: begin, end: begin + int64(f.For)}
	switch {
	case f.Error > 0:
		w.size, w.delay = f.Error, int64(f.In)
		v.errors = append(v.errors, w)
	case f.Slow > 0:
		w.size = f.Slow
		v.slows = append(v.slows, w)
	case f.Pause && f.Every == 0:
		v.pauses = append(v.pauses, w)
	case f.Pause:
		for t := int64(f.At); t < int64(s.Duration); t += int64(f.Every) {
			lasts := int64(float64(f.For) * (0.5 + rng.Float64()))
			begin := t + int64(rng.Float64()*float64(int64(f.Every)-lasts))
			v.pauses = append(v.pauses, window{begin: begin, end: begin + lasts})
		}
	}
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
	v.up, v.cold, v.born, v.counted = true, true, now, now
	v.life++
	v.fresh()
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
	v.busy, v.inside, v.ends = 0, 0, v.ends[:0]
	return lost
}

// pace returns how many times as long as at speed 1 a request takes that begins
// now, and how much of the CPU that takes.
func (v *server) pace(now int64) (slow, cpu float64) {
	slow = 1 / v.conf.Speed
	cpu = slow
	if w := in(v.slows, now); w != nil {
		slow *= w.size
		cpu = slow
	}
	if k := v.conf.Cold; k != nil && v.cold {
		age := time.Duration(now - v.born)
		slow, cpu = slow*k.slow(age, v.served), cpu*k.cpu(age, v.served)
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
