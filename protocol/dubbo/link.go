package dubbo

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// Waiting times between attempts to connect. The first attempt after a loss comes
// at once, the later ones twice as late each time, all with jitter so that the
// consumers of a restarted provider do not come together.
const (
	quickRetry = 50 * time.Millisecond // at most
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
	// demandGap is the longest wait while calls or the registry ask for the provider.
	demandGap = 500 * time.Millisecond
	// afterReadOnly is the number of failures that a connection counts for which
	// ended after its readonly event: whoever shuts down accepts connections only to
	// close them.
	afterReadOnly = 4
)

// link is one of an exchange's connections: the one that is open, or the goroutine
// that makes the next one. There is no dead end: as long as a listed provider is
// referred to, a link that was started has one of the two (B128). The fields apart
// from ready are guarded by the exchange's lock.
type link struct {
	x     *exchange
	ready atomic.Pointer[conn] // takes calls; nil: nothing does
	poke  chan struct{}        // ends a wait early

	started  bool
	resting  bool  // started, but no listed provider wants another connection
	conn     *conn // live; on trial when it is not ready
	local    string
	failures int   // connections and attempts in a row that led to nothing: the backoff
	hopeless bool  // an attempt since the last connection has failed: calls do not wait
	suspect  bool  // the next connection has to answer a heartbeat before it takes calls
	garbled  int   // connections in a row that soon ended by what is no frame
	last     error // why the last connection or attempt ended
	tally    tally
}

// tally counts over the connections of a link.
type tally struct {
	connects, writes, reads, late int64
}

func (l *link) state() protocol.State {
	switch c := l.ready.Load(); {
	case c != nil && !c.welcome():
		return protocol.ReadOnly
	case c != nil, !l.started: // a lazy one connects when it is called
		return protocol.Ready
	}
	return protocol.Down
}

// restart starts the goroutine that connects. The exchange's lock is held.
func (l *link) restart(wait time.Duration) {
	if l.x.closed == nil {
		l.x.p.wg.Add(1)
		go l.run(wait)
	}
}

// run makes one connection, however many attempts it takes.
func (l *link) run(wait time.Duration) {
	defer l.x.p.wg.Done()
	for l.sleep(wait) && l.due() {
		nc, err := l.x.dial()
		if err == nil {
			l.adopt(nc)
			return
		}
		wait = l.failed(err)
	}
}

// sleep waits before an attempt; false: the exchange has ended. Every demandGap it
// looks whether the provider was asked for meanwhile: then it has waited enough.
func (l *link) sleep(wait time.Duration) bool {
	begun := time.Now()
	timer := time.NewTimer(min(wait, demandGap))
	defer timer.Stop()
	for {
		select {
		case <-l.x.ctx.Done():
			return false
		case <-timer.C:
			waited := time.Since(begun)
			if waited >= wait || l.x.wanted(begun) {
				return l.x.ctx.Err() == nil
			}
			timer.Reset(min(wait-waited, demandGap))
		case <-l.poke:
			waited := time.Since(begun)
			if d := max(demandGap, waited); d < wait {
				wait = d
				timer.Reset(wait - waited)
			}
		}
	}
}

// due reports whether an attempt is wanted still. Without a listed provider the link
// rests until there is one again.
func (l *link) due() bool {
	l.x.mu.Lock()
	defer l.x.mu.Unlock()
	if l.x.closed != nil {
		return false
	}
	l.resting = !l.x.listed()
	return !l.resting
}

// backoff returns the wait before the next attempt. The exchange's lock is held.
func (l *link) backoff() time.Duration {
	r := l.x.p.opt.random()
	if l.failures == 0 {
		return time.Duration(r * float64(quickRetry))
	}
	d := lastRetry
	if n := l.failures - 1; n < 10 {
		d = min(firstRetry<<n, lastRetry)
	}
	return time.Duration((0.8 + 0.4*r) * float64(d))
}

// failed notes an attempt that led to nothing.
func (l *link) failed(err error) (wait time.Duration) {
	x := l.x
	x.mu.Lock()
	first := !l.hopeless && x.closed == nil
	l.failures++
	l.hopeless = true
	l.last = err
	x.update()
	wait = l.backoff()
	x.mu.Unlock()
	if first { // once per outage
		l.log().Warn("provider not reachable", zap.Error(err))
	}
	return wait
}

// adopt makes the new network connection the link's.
func (l *link) adopt(nc net.Conn) {
	x := l.x
	c := newConn(nc, x.settings.conn, &x.p.wg, l.changed)
	local := nc.LocalAddr().String()
	x.mu.Lock()
	if x.closed != nil {
		x.mu.Unlock()
		_ = nc.Close()
		return
	}
	l.conn, l.local = c, local
	l.tally.connects++
	if l.suspect {
		c.probe()
	} else {
		l.open()
	}
	c.start()
	x.mu.Unlock()
	l.log().Debug("connected", zap.String("local", local))
}

// open lets calls use the connection. The exchange's lock is held.
func (l *link) open() {
	l.failures, l.hopeless = 0, false
	l.ready.Store(l.conn)
	l.x.update()
}

// changed is what the connection calls when something happened to it.
func (l *link) changed(c *conn) {
	x := l.x
	err := c.cause()
	x.mu.Lock()
	if l.conn != c {
		x.mu.Unlock()
		return // it has ended before
	}
	wasOpen := l.ready.Load() == c
	switch {
	case err != nil:
		l.ended(c, err)
	case !wasOpen && c.answered.Load():
		l.suspect = false
		l.open()
	}
	x.update()
	lost := x.lose()
	ended := x.closed != nil
	x.mu.Unlock()
	if len(lost) > 0 && ended {
		x.end(errReleased, x.p.opt.drain)
	}
	for _, f := range lost {
		f()
	}
	switch {
	case err != nil:
		if wasOpen {
			l.log().Info("connection ended", zap.Error(err))
		}
		x.p.forget(x)
	case c.doubtful.Load():
		l.log().Debug("provider does not answer, calls go elsewhere")
	case c.readonly.Load():
		l.log().Info("provider wants no new calls")
	}
}

func (l *link) log() *zap.Logger {
	return l.x.p.opt.logger.With(zap.String("address", l.x.settings.address))
}

// ended draws the conclusions from the end of a connection. A connection that has
// never answered anything, said that it wants no calls, or fell silent does not
// make the next one trustworthy: that one is tried before calls use it. So a
// provider that accepts connections only to close them, because it shuts down or
// its "accepts" are used up, costs no calls, nor does one that is frozen, whose
// operating system goes on accepting. One that answers heartbeats and talks nonsense
// otherwise passes the trial and costs calls each time: it is dialled ever later.
// The exchange's lock is held.
func (l *link) ended(c *conn, err error) {
	onTrial, silent := l.ready.Swap(nil) == nil, errors.Is(err, errNoBeat) || errors.Is(err, errSilent)
	l.conn, l.local = nil, ""
	l.tally.writes += c.writes.Load()
	l.tally.reads += c.reads.Load()
	l.tally.late += c.late.Load()
	if l.x.closed != nil {
		return
	}
	garbled := errors.Is(err, frame.ErrMalformed)
	if !garbled || time.Since(c.base) > lastRetry {
		l.garbled = 0
	}
	if garbled {
		l.garbled++
	}
	switch {
	case l.garbled > 1 && c.answered.Load():
		l.failures, l.suspect, l.hopeless = l.garbled-1, true, true
	case c.readonly.Load():
		l.failures, l.suspect, l.hopeless = max(l.failures+1, afterReadOnly), true, true
	case c.answered.Load():
		l.failures, l.suspect = 0, silent
	default:
		l.failures, l.suspect, l.hopeless = l.failures+1, true, onTrial
		err = fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	l.last = err
	wait := l.backoff()
	if silent { // it has waited already, and who waits for an answer notices the thaw
		wait = min(wait, demandGap)
	}
	l.restart(wait)
}

var errNoAnswer = errors.New("the connection ended before the provider answered anything (it may be shutting down, allow no more connections, or speak another protocol)")
