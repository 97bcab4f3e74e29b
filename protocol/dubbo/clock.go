package dubbo

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

const (
	never = math.MaxInt64
	// probeAfter is the number of timeouts in a row, without progress meanwhile,
	// after which the connection must show that it is alive (B118).
	probeAfter = 3
)

// clock is the one timer of a connection: deadlines of all calls, heartbeat,
// probe, drain time. Its times are of [conn.now].
type clock struct {
	due      atomic.Int64 // when the timer fires; never: it does not
	drainEnd atomic.Int64 // 0: not draining
	probed   atomic.Int64 // when the probe under way was sent; 0: none
	mute     atomic.Int32 // timeouts since the last progress
	lastBeat atomic.Int64 // when the last heartbeat was sent

	clockMu sync.Mutex
	timer   *time.Timer
	stopped bool
}

// arm makes the timer fire at the given time or earlier. Times are rounded up to a
// millisecond so that neighbours share a tick. Calls do this only when theirs is
// the earliest deadline: with equal timeouts once per timeout, not once per call.
func (c *conn) arm(at int64) {
	const ms = int64(time.Millisecond)
	if at > never-ms {
		return
	}
	at = (at + ms - 1) / ms * ms
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	if c.stopped || at >= c.due.Load() {
		return
	}
	c.due.Store(at)
	if !c.timer.Reset(time.Duration(max(at-c.now(), 0))) {
		c.wg.Add(1) // a new tick; a timer that was running still is one tick
	}
}

// stopClock ends the ticking for ever; a tick that runs goes on to its end.
func (c *conn) stopClock() {
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	c.stopped = true
	if c.timer.Stop() {
		c.wg.Done()
	}
}

// tick expires calls and looks after the connection. It forgets the due time
// before it scans: a call that registers behind the scan's back arms again.
func (c *conn) tick() {
	defer c.wg.Done()
	c.due.Store(never)
	now := c.now()
	if c.cause() != nil {
		return
	}
	next := c.expire(now)
	drain, err1 := c.checkDrain(now)
	probe, err2 := c.checkProbe(now)
	silence, err3 := c.checkSilence(now)
	if err := cmp.Or(err1, err2, err3); err != nil {
		c.fail(err)
		return
	}
	c.arm(min(next, drain, probe, silence))
}

// expire ends the calls whose deadline has passed and returns the next deadline.
func (c *conn) expire(now int64) (next int64) {
	next = never
	var expired int32
	for _, k := range *c.slots.Load() {
		id, d := k.state.Load(), k.deadline.Load()
		switch {
		case id == 0:
		case d > now:
			next = min(next, d)
		case k.finish(id, errTimeout):
			expired++
		}
	}
	c.timedOut(expired)
	return next
}

// timedOut counts timeouts. Several in a row without a complete frame between them
// may mean that nobody is there any more, that the provider is frozen, or that the
// stream is out of step, long before the heartbeats would tell: then a probe is
// sent, which every provider answers at once, however slow its methods are. Until
// there is progress the connection is doubtful: calls go elsewhere if they can.
func (c *conn) timedOut(n int32) {
	if n == 0 || c.mute.Add(n) < probeAfter {
		return
	}
	first := !c.doubtful.Swap(true) // before the probe, whose answer ends it
	c.probe()
	if first {
		c.changed(c)
	}
}

// probe sends a heartbeat that must be answered in time; nothing if one is under way.
func (c *conn) probe() {
	last, now := c.probed.Load(), max(c.now(), 1)
	underWay := last != 0 && c.lastRead.Load() < last
	if underWay || !c.probed.CompareAndSwap(last, now) {
		return
	}
	c.sendHeartbeat()
	c.arm(now + int64(c.cfg.patience))
}

func (c *conn) sendHeartbeat() {
	_, _ = c.enqueue(frame.AppendHeartbeat(nil, c.spareID()), written{})
}

func (c *conn) checkDrain(now int64) (next int64, err error) {
	switch at := c.drainEnd.Load(); {
	case at == 0:
		return never, nil
	case at <= now:
		return 0, errDrainTime
	default:
		return at, nil
	}
}

var errNoBeat = errors.New("a heartbeat got no answer")

func (c *conn) checkProbe(now int64) (next int64, err error) {
	sent := c.probed.Load()
	switch end := sent + int64(c.cfg.patience); {
	case sent == 0:
		return never, nil
	case c.lastRead.Load() >= sent:
		c.probed.Store(0)
		return never, nil
	case end <= now:
		return 0, lost("probe", fmt.Errorf("%w within %v", errNoBeat, c.cfg.patience))
	default:
		return end, nil
	}
}

var errSilent = errors.New("the provider is silent")

func (c *conn) checkSilence(now int64) (next int64, err error) {
	if c.cfg.heartbeat <= 0 {
		return never, nil
	}
	read, beat := c.lastRead.Load(), int64(c.cfg.heartbeat)
	quiet := now - read
	if quiet >= int64(c.cfg.silence) {
		return 0, lost("heartbeat", fmt.Errorf("%w: no complete frame read for %v", errSilent, time.Duration(quiet)))
	}
	last := c.lastBeat.Load()
	if quiet >= beat && now-last >= beat && c.lastBeat.CompareAndSwap(last, now) {
		c.sendHeartbeat()
		last = now
	}
	return min(max(read, last)+beat, read+int64(c.cfg.silence)), nil
}
