package loadbalance

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// vitals are what adaptive knows of one life of a provider.
type vitals struct {
	report  real // percent; 0: none
	at      atomic.Int64
	methods bySlot[pace]
}

func newVitals() any { return new(vitals) }

// tell notes a report.
func (v *vitals) tell(percent float64, now time.Duration) {
	v.at.Store(int64(now))
	v.report.store(percent)
}

// cpu returns the load of the provider's processors in percent, and whether it has
// told it.
func (v *vitals) cpu(u usually) (percent float64, reported bool) {
	percent = v.report.load()
	reported = percent > 0
	if reported {
		percent = toward(u.report, percent, u.now-time.Duration(v.at.Load()), reportMemory)
	} else {
		percent = u.report
	}
	return max(percent, leastReport, float64(leastOfUsual*u.report)), reported
}

// toward returns a figure of some age as far as it has not given way to what is
// usual: half of the difference is left after a half-life.
func toward(usual, figure float64, age, halfLife time.Duration) float64 {
	if age <= 0 {
		return figure
	}
	return usual + float64((figure-usual)*remains(age, halfLife))
}

// remains returns what is left of 1 at an age.
func remains(age, halfLife time.Duration) float64 {
	if age <= 0 {
		return 1
	}
	return math.Exp2(-float64(age) / float64(halfLife))
}

const (
	lookAgain = 20 * time.Second // a part of this for which a provider was left alone is the part of the calls
	mostAlone = 4 * time.Second  // that it gets again, up to here: one in five
)

// pace is how one method does in one life of a provider. Reading it changes nothing
// and takes no lock; a reader may see a sample in part.
type pace struct {
	active atomic.Int64 // attempts that have begun and not ended
	since  atomic.Int64 // when the latest of them ended, or the first after none began
	haste  haste

	mu       sync.Mutex // held by who adds a sample
	at       atomic.Int64
	latency  real // ms; 0: none
	answered real // how many of
	ended    real // these, with time counting less
}

// begin counts an attempt.
func (p *pace) begin(now time.Duration) {
	if p.active.Load() == 0 {
		p.since.Store(int64(now))
	}
	p.active.Add(1)
}

// end counts the end of an attempt.
func (p *pace) end(now time.Duration) {
	p.active.Add(-1)
	p.since.Store(int64(now))
}

// sample adds what an attempt took: it weighs as much as all before it, as in Dubbo.
// Whether one that ended early would have been answered is not known.
func (p *pace) sample(u usually, tookMs float64, answered, early bool, halfLife time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if before := p.took(u, halfLife); before > 0 {
		tookMs = float64(0.5*before) + float64(0.5*tookMs)
	}
	left := remains(u.now-time.Duration(p.at.Load()), halfLife)
	yes, all := float64(p.answered.load()*left), float64(p.ended.load()*left)
	if answered {
		yes++
	}
	if !early {
		all++
	}
	p.answered.store(yes)
	p.ended.store(all)
	p.latency.store(max(tookMs, math.SmallestNonzeroFloat64))
	p.at.Store(max(p.at.Load(), int64(u.now)))
}

// took returns the smoothed latency in ms: what is usual when nothing is known.
func (p *pace) took(u usually, halfLife time.Duration) float64 {
	latency := p.latency.load()
	if latency == 0 || u.tookMs == 0 { // no sample, or none to compare it with
		return max(latency, u.tookMs)
	}
	return toward(u.tookMs, latency, u.now-time.Duration(p.at.Load()), halfLife)
}

// paced is a reading of a pace.
type paced struct {
	tookMs          float64
	active          int64
	hasty           float64 // as if they were active
	answered, ended float64
	again           float64 // the part of the calls that it gets when it is drawn, whatever its load
}

// read returns the figures at a moment. While an answer is owed the latency is the
// time since the latest one at least, up to twice the timeout: one of those under way
// is as old as that.
func (p *pace) read(u usually, timeout time.Duration) paced {
	left := remains(u.now-time.Duration(p.at.Load()), timeout)
	q := paced{
		tookMs:   p.took(u, timeout),
		active:   max(0, p.active.Load()),
		hasty:    float64(p.haste.count(u.glance)),
		answered: float64(p.answered.load() * left),
		ended:    float64(p.ended.load() * left),
	}
	alone := max(0, u.now-time.Duration(p.since.Load()))
	if q.active > 0 {
		silent := min(alone, 2*timeout)
		q.tookMs = max(q.tookMs, millis(silent))
	} else {
		q.again = float64(min(alone, mostAlone)) / float64(lookAgain)
	}
	return q
}
