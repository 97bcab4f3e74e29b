package dubbo

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// conn is one connection. A caller encodes its frame into the buffer of a [call],
// appends it to the connection's output and waits; the flush goroutine writes what
// has gathered; the reader copies the answer's body into the call and wakes the
// caller, which decodes it. Nobody but the flush goroutine writes: it may block,
// a caller has a deadline and the reader must go on.
//
// A conn is open from the beginning and ends once: by an error, or by its owner.
// Locks are leaves: nothing is called and nothing is awaited under one.
type conn struct {
	nc      net.Conn
	cfg     connConfig
	base    time.Time // zero of all int64 times here
	changed func(*conn)
	wg      *sync.WaitGroup // of the protocol: reader, flusher, running ticks

	output
	table
	clock

	lastRead atomic.Int64 // when there was progress: see reader.progress
	answered atomic.Bool  // the provider has answered something
	readonly atomic.Bool  // the provider wants no new calls
	doubtful atomic.Bool  // calls time out and no frame is complete: a probe tells
	draining atomic.Bool  // nor does the owner
	ending   atomic.Bool
	beats    atomic.Uint32

	reads, late atomic.Int64
}

// connConfig is what connections of one address share.
type connConfig struct {
	queue     int           // bytes that may wait for the socket
	heartbeat time.Duration // without progress until a heartbeat is sent; 0: no heartbeats
	silence   time.Duration // without progress until the connection is given up
	patience  time.Duration // with a probe that follows several timeouts
}

// Why a connection or a call on it ended, apart from what the network says.
var (
	errTimeout   = errors.New("no answer in time")
	errBusy      = errors.New("the output queue is full: the provider does not read")
	errTooBig    = errors.New("payload limit")
	errClosed    = errors.New("closed by this client")
	errDrainTime = errors.New("closed by this client: the calls under way did not end within the drain time")
)

// newConn takes over an established network connection. changed is called without
// any lock after the provider's first answer, a readonly or writable event, when
// doubts come or go, and at the end. The connection lives from [conn.start] on.
func newConn(nc net.Conn, cfg connConfig, wg *sync.WaitGroup, changed func(*conn)) *conn {
	c := &conn{nc: nc, cfg: cfg, base: time.Now(), changed: changed, wg: wg}
	c.kick = make(chan struct{}, 1)
	c.slots.Store(new([]*call))
	c.due.Store(never)
	c.timer = time.AfterFunc(time.Hour, c.tick)
	c.timer.Stop()
	return c
}

// start starts the goroutines.
func (c *conn) start() {
	c.wg.Add(2)
	go c.read()
	go c.flusher()
	if c.cfg.heartbeat > 0 {
		c.arm(int64(c.cfg.heartbeat))
	}
}

// welcome reports whether new calls should come here: elsewhere they go only when
// no other connection is any better.
func (c *conn) welcome() bool { return !c.readonly.Load() && !c.doubtful.Load() }

// now is the time since the connection began: what deadlines are compared with.
func (c *conn) now() int64 { return int64(time.Since(c.base)) }

// cause returns why the connection ended, nil while it lives.
func (c *conn) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// fail ends the connection and every call on it. A call that registers before err
// is set is found by the scan, one that registers later finds err in send.
func (c *conn) fail(err error) {
	if c.ending.Swap(true) {
		return
	}
	c.stopClock() // first: no tick may start when the goroutines have gone
	c.mu.Lock()
	c.err = err
	c.out, c.segments, c.awaiting = nil, nil, nil
	c.mu.Unlock()
	c.hangUp()
	c.wake()
	c.changed(c) // before its callers wake: their next calls must not find it again
	for _, k := range *c.slots.Load() {
		if id := k.state.Load(); id != 0 {
			k.finish(id, err)
		}
	}
}

// hangUp frees the flusher from Write and the reader from Read. TLS would first
// try to say goodbye, for up to five seconds: there is nobody to hear it.
func (c *conn) hangUp() {
	if t, ok := c.nc.(*tls.Conn); ok {
		_ = t.NetConn().Close()
		return
	}
	_ = c.nc.Close()
}

// drain ends the connection as soon as no call is under way and everything has
// been written, after the given time in any case. It does not block.
func (c *conn) drain(limit time.Duration) {
	at := c.now() + int64(limit)
	c.drainEnd.Store(at)
	c.draining.Store(true)
	c.arm(at)
	c.endIfDrained()
}

// endIfDrained is called whenever a draining connection may have become idle.
func (c *conn) endIfDrained() {
	if c.inFlight() == 0 && c.idle() {
		c.fail(errClosed)
	}
}

// roundTrip sends the frame in k.out and waits for the answer in k.body. sent
// tells after an error whether any byte of the frame was given to the socket.
func (c *conn) roundTrip(ctx context.Context, k *call, deadline int64, limit int) (sent bool, err error) {
	id := c.register(k, deadline, limit)
	frame.Seal(k.out, id)
	start, err := c.send(k, 0)
	if err != nil && k.state.CompareAndSwap(id, 0) {
		return false, err
	}
	err = c.await(ctx, k, id)
	if err == nil {
		return true, nil
	}
	return c.given(start), err
}

// oneWay sends the frame in k.out, to which no answer comes. It returns when the
// frame is in the queue, or, with awaitWrite, when it has been written.
func (c *conn) oneWay(ctx context.Context, k *call, deadline int64, awaitWrite bool) (sent bool, err error) {
	if !awaitWrite {
		frame.Seal(k.out, c.spareID())
		_, err := c.send(k, 0)
		return false, err
	}
	id := c.register(k, deadline, 0)
	frame.Seal(k.out, id)
	start, err := c.send(k, id)
	if err != nil && k.state.CompareAndSwap(id, 0) {
		return false, err
	}
	if err = c.await(ctx, k, id); err == nil {
		return true, nil
	}
	return c.given(start), err
}

// await waits until somebody finishes the call. A context that cannot end costs a
// plain receive, any other one a select.
func (c *conn) await(ctx context.Context, k *call, id uint64) error {
	done := ctx.Done()
	if done == nil {
		<-k.done
		return k.err
	}
	select {
	case <-k.done:
		return k.err
	case <-done:
	}
	if !k.state.CompareAndSwap(id, 0) {
		<-k.done // somebody finished it just now, and has the right to
		return k.err
	}
	if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	c.timedOut(1)
	return errTimeout
}

// spareID returns an id for a frame that no slot waits for.
func (c *conn) spareID() uint64 { return uint64(c.beats.Add(1))<<32 | noSlot }

// lost says in words that the other side or the network ended the connection.
func lost(what string, err error) error { return fmt.Errorf("connection lost: %s: %w", what, err) }
