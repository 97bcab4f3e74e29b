package loadbalance

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

const (
	latencyMemory = 3 * time.Second  // of what a provider takes
	methodMemory  = 10 * time.Second // of what a method takes
	memoryMeans   = 10               // calls of mean length, if that is longer than either
	remembered    = 50               // samples at most
	quickest      = 1e-6             // ms that a call took at least
	slowestAnswer = 8                // an answer counts as so many means of all providers at most
	failurePrice  = 50               // a failure counts as so many at least
	worstFailure  = 1e5              // and as so many usual calls at most
	agedAfter     = time.Second      // a call is aged when it has been under way for longer than this
	agedMeans     = 20               // and than so many means
	agedDiscount  = 0.9              // by which an aged call counts less than another
)

// learner learns from all attempts of a reference what its providers take. It is
// the observing half of a strategy; each strategy has its own.
//
// Methods differ in cost, so what a call took is divided by what its method takes at
// all providers: 1 is as usual. Failures are not fast (F4). Each counts as what it took
// at least, and
//   - one of the connection or the provider, a timeout too, as 50 times what is usual,
//   - an answer of no use as 8 times that,
//   - an exception, which is an answer, as what is usual,
//   - a call that its caller gave up before the provider's timeout as what it took and
//     what is usual there.
//
// Those that took less than is usual are [haste], too. An answer counts as 8 times what is
// usual at most, so one slow call does not put a provider beside those that fail. Of
// one-way calls, which nobody answers, nothing is learned but haste.
type learner struct {
	clock   func(*protocol.Invocation, protocol.Outcome) time.Duration // when an attempt ended
	zero    time.Time
	usual   average         // of the answers of all providers, relative
	methods bySlot[average] // what a method takes, in ms
	make    func() any      // a record
	hurry   hurry
}

func newLearner(zero time.Time, clock func(*protocol.Invocation, protocol.Outcome) time.Duration) *learner {
	l := &learner{zero: zero, clock: clock}
	l.usual.seed(1)
	l.make = func() any { return new(record) }
	return l
}

// record is what is known of one life of a provider. What every attempt writes
// comes first and fills whole cache lines.
type record struct {
	active    atomic.Int64
	answered  atomic.Int64 // when the latest answer came, on the book's clock
	due       atomic.Int64 // when the tallies are worked in
	good, bad tally
	haste     haste
	begun     [32]atomic.Int64 // when calls under way began, of as many as there is place for; 0: free

	folding atomic.Bool // held by who works in the tallies, or looks at what follows
	samples faded
	learned atomic.Uint64 // sum and count of the samples, as bits of a float32 each
	old     atomic.Int64  // aged calls under way
	_       [64]byte
}

// relative returns what is published of a provider's latency, 1 for the usual, and of
// how many samples that is: it is the mean of these and one more, the usual.
func (l *learner) relative(r *record) (latency, samples float64) {
	both := r.learned.Load()
	sum := float64(math.Float32frombits(uint32(both >> 32)))
	samples = float64(math.Float32frombits(uint32(both)))
	return (l.usual.value() + sum) / (1 + samples), samples
}

func (r *record) publish() {
	sum, count := math.Float32bits(float32(r.samples.sum)), math.Float32bits(float32(r.samples.count))
	r.learned.Store(uint64(sum)<<32 | uint64(count))
}

// of returns the record of a life.
func (l *learner) of(life *protocol.Life) *record { return life.State(l, l.make).(*record) }

// Begun implements [protocol.Observer].
func (l *learner) Begun(inv *protocol.Invocation, life *protocol.Life) {
	r := l.of(life)
	r.active.Add(1)
	r.note(l.stamp(inv))
}

// Ended implements [protocol.Observer].
func (l *learner) Ended(inv *protocol.Invocation, o protocol.Outcome) {
	r := l.of(o.Life)
	r.active.Add(-1)
	r.erase(l.stamp(inv))
	method := l.methods.at(inv.Method.Slot)
	if o.Verdict == protocol.Neutral {
		there, _ := l.relative(r)
		if per := method.value(); per == 0 || !protocol.CanceledLate(o, inMs(there*per)) {
			return
		}
	}
	now := l.clock(inv, o)
	took := max(quickest, millis(o.Elapsed))
	if hasty(inv, o, inMs(method.value())) {
		l.hurry.add(&r.haste, now, l.takes())
	}
	if inv.OneWay && o.Verdict == protocol.Succeeded {
		return
	}
	if o.Verdict == protocol.Succeeded {
		r.answered.Store(int64(now))
		method.seed(took)
	}
	if o.Verdict == protocol.Succeeded && o.Err == nil {
		took = max(quickest, min(took, slowestAnswer*l.usual.value()*method.value()))
		method.add(took)
		method.foldFew(now, max(methodMemory, memoryMeans*inMs(method.value())))
		r.good.add(took / method.value())
	} else {
		r.bad.add(l.charge(r, inv, o, took, method.value()))
	}
	if int64(now) >= r.due.Load() {
		l.fold(r, now)
		l.usual.fold(now, l.memory())
	}
}

// charge returns what an attempt that brought no value counts as, of a method that takes
// so many ms; 0: not known.
func (l *learner) charge(r *record, inv *protocol.Invocation, o protocol.Outcome, took, per float64) float64 {
	x, usual := 0.0, l.usual.value()
	if per > 0 {
		x = took / per
	}
	switch {
	case o.Verdict == protocol.Succeeded: // an exception
		return max(usual, min(x, slowestAnswer*usual))
	case o.Verdict == protocol.Useless:
		x = max(x, slowestAnswer*usual)
	case per > 0 && (gaveUp(inv, o) || o.Verdict == protocol.Neutral):
		there, _ := l.relative(r)
		x += there
	default:
		x = max(x, failurePrice*usual)
	}
	return min(x, worstFailure)
}

// fold works in what was counted at a provider, unless somebody else is doing so.
func (l *learner) fold(r *record, now time.Duration) {
	if !r.folding.CompareAndSwap(false, true) {
		return
	}
	defer r.folding.Store(false)
	r.due.Store(int64(now + foldEvery))
	r.samples = r.samples.fade(now, l.memory())
	sum, count := r.good.take()
	if sum > 0 || count > 0 { // either may come first
		l.usual.sum.Add(int64(sum * tallyUnit))
		l.usual.count.Add(int64(count))
	}
	r.samples.add(sum, count)
	r.samples.add(r.bad.take())
	r.settle()
	r.publish()
	r.old.Store(int64(l.aged(r, now)))
}

// settle bounds what is remembered: of thousands of failures, which everybody may have had
// at once, little would be left after few calls that are well.
func (r *record) settle() {
	if n := r.samples.count; n > remembered {
		r.samples.sum *= remembered / n
		r.samples.count = remembered
	}
}

// memory returns for how long latencies are remembered.
func (l *learner) memory() time.Duration { return max(latencyMemory, memoryMeans*l.takes()) }

// age returns after how long a call under way is aged.
func (l *learner) age() time.Duration { return max(agedAfter, agedMeans*l.takes()) }

// takes returns how long a call takes on average, 0 when nothing is known.
func (l *learner) takes() time.Duration {
	var sum, count float64
	if made := l.methods.made.Load(); made != nil {
		for _, m := range *made {
			if m != nil {
				n := m.weight()
				sum += n * m.value()
				count += n
			}
		}
	}
	if count == 0 {
		return 0
	}
	return inMs(sum / count)
}

// aged counts the aged calls under way, none where no answer came for as long: a
// provider that has stopped answering is no better for it.
func (l *learner) aged(r *record, now time.Duration) int {
	if r.active.Load() <= 0 {
		return 0
	}
	age, n := l.age(), 0
	if now-time.Duration(r.answered.Load()) > age {
		return 0
	}
	for i := range r.begun {
		if t := r.begun[i].Load(); t != 0 && now-time.Duration(t) > age {
			n++
		}
	}
	return n
}

// stamp returns when an attempt began, never 0, and the same each time for one
// attempt.
func (l *learner) stamp(inv *protocol.Invocation) int64 { return int64(inv.Begun.Sub(l.zero)) | 1 }

// places is how many places a call under way looks at for a free one. Where it has
// found none it is not known to be aged.
const places = 8

// place returns the first of the places for a call.
func place(stamp int64) int { return int(uint64(stamp) * 0x9e3779b97f4a7c15 >> 59) }

// note writes down when a call began.
func (r *record) note(stamp int64) {
	for i := range places {
		p := &r.begun[(place(stamp)+i)%len(r.begun)]
		if p.Load() == 0 && p.CompareAndSwap(0, stamp) {
			return
		}
	}
}

// erase takes back a note: its own, or that of a call that began at the same
// moment, which is as good.
func (r *record) erase(stamp int64) {
	for i := range places {
		p := &r.begun[(place(stamp)+i)%len(r.begun)]
		if p.Load() == stamp && p.CompareAndSwap(stamp, 0) {
			return
		}
	}
}
