package dubbo

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// B177: from the readonly event on the endpoint takes no new calls of its own
// accord; running ones end, new ones are served as a last resort; after the close
// it comes back. Providers send the event in their own serialization, and
// sometimes without its text.
func TestB177ReadOnly(t *testing.T) {
	for name, ev := range map[string][]byte{
		"R":                       event(frame.Hessian2, "\x01R"),
		"null":                    event(frame.Hessian2, "N"),
		"R in fastjson2":          event(frame.Fastjson2, "\x00\x00\x00\x02\x4aR"),
		"null in fastjson2":       event(frame.Fastjson2, "\x00\x00\x00\x01\xaf"),
		"R in some other dialect": event(4, "\x01R"),
	} {
		t.Run(name, func(t *testing.T) {
			switched(t, func(c *peerConn, f received) {
				if f.head.Event {
					f.isCall(c)
					return
				}
				time.AfterFunc(2*time.Second, func() { echo(c, f) })
			}, func(t *testing.T, s *switchboard, d *Protocol) {
				e := refer(t, d, s.p.address)
				result := make(chan error)
				go func() { _, err := invoke(t.Context(), e, invocation("running")); result <- err }()
				synctest.Wait()
				s.p.conn(1).send(ev)
				synctest.Wait()
				assert.Equal(t, protocol.ReadOnly, e.State())
				assert.ErrorIs(t, e.StateReason(), errReadOnly)

				_, err := invoke(t.Context(), e, invocation("last resort"))
				assert.NoError(t, err)
				assert.NoError(t, <-result)

				closed := time.Now()
				s.p.closeAll()
				synctest.Wait()
				assert.Equal(t, protocol.Down, e.State())
				pass(5 * time.Second)
				assert.Equal(t, protocol.Ready, e.State())
				dials := s.dials.since(closed)
				assert.InDelta(t, 0.8, dials[1], 0.001, "not at once: it is shutting down")
			})
		})
	}
}

// W takes the mark back (Dubbo 3).
func TestWritableTakesReadOnlyBack(t *testing.T) {
	bubble(t, echo, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address)
		synctest.Wait()
		for _, w := range []string{"\x01W", "\x00\x00\x00\x02\x4aW"} {
			p.conn(1).send(event(frame.Hessian2, "\x01R"))
			synctest.Wait()
			require.Equal(t, protocol.ReadOnly, e.State())
			serialization := frame.Hessian2
			if len(w) > 2 {
				serialization = frame.Fastjson2
			}
			p.conn(1).send(event(serialization, w))
			synctest.Wait()
			assert.Equal(t, protocol.Ready, e.State())
			assert.NoError(t, e.StateReason())
		}
	})
}

// The time of being ready begins anew after each break.
func TestReadySince(t *testing.T) {
	bubble(t, echo, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address).(protocol.Enduring)
		synctest.Wait()
		first := time.Now()
		assert.Equal(t, first, e.ReadySince())
		pass(time.Minute)
		assert.Equal(t, first, e.ReadySince())
		p.conn(1).send(event(frame.Hessian2, "\x01R"))
		synctest.Wait()
		assert.Zero(t, e.ReadySince())
		pass(time.Minute)
		p.conn(1).send(event(frame.Hessian2, "\x01W"))
		synctest.Wait()
		again := time.Now()
		pass(time.Second)
		assert.Equal(t, again, e.ReadySince())
	})
}

// What is not known is no reason for anything, and two-way events other than
// heartbeats get no answer.
func TestOtherEventsAreIgnored(t *testing.T) {
	var got times
	bubble(t, func(*peerConn, received) { got.note() }, func(t *testing.T, p *peer, d *Protocol) {
		begun := time.Now()
		e := refer(t, d, p.address)
		synctest.Wait()
		twoWay := frame.Header{Request: true, TwoWay: true, Event: true, Serialization: frame.Hessian2, ID: 9, Length: 2}
		p.conn(1).send(event(frame.Hessian2, "\x01X"), event(frame.Hessian2, ""), event(3, "\xac\xed\x00\x05"),
			append(twoWay.Append(nil), "\x01R"...))
		synctest.Wait()
		assert.Equal(t, protocol.Ready, e.State())
		assert.Empty(t, got.since(begun))
	})
}

// A provider that shuts down accepts connections and closes them: that must not
// become a loop, nor may any call be sent into such a connection.
func TestAcceptThenCloseIsNoLoop(t *testing.T) {
	var calls times
	switched(t, func(c *peerConn, f received) {
		if f.isCall(c) {
			calls.note()
			echo(c, f)
		}
	}, func(t *testing.T, s *switchboard, d *Protocol) {
		e := refer(t, d, s.p.address)
		_, err := invoke(t.Context(), e, invocation("x"))
		require.NoError(t, err)
		s.p.hangUp.Store(true)
		s.p.conn(1).send(event(frame.Hessian2, "\x01R"))
		s.p.closeAll()
		synctest.Wait()

		begun := time.Now()
		for time.Since(begun) < 20*time.Second {
			_, err := invoke(t.Context(), e, within(time.Second, "x"))
			f := failure(t, err)
			assert.False(t, f.Sent)
			assert.Equal(t, protocol.RetryAlways, f.Retry)
			assert.Equal(t, protocol.Down, e.State())
			pass(100 * time.Millisecond)
		}
		assert.LessOrEqual(t, len(s.dials.since(begun)), 2+int(20*time.Second/demandGap))
		assert.Len(t, calls.since(begun), 1)
		assert.ErrorIs(t, e.StateReason(), errNoAnswer)

		s.p.hangUp.Store(false)
		pass(2 * lastRetry)
		assert.Equal(t, protocol.Ready, e.State())
		_, err = invoke(t.Context(), e, invocation("x"))
		assert.NoError(t, err)
	})
}

// The same from the very first connection: accepts=N is used up.
func TestAcceptsUsedUp(t *testing.T) {
	switched(t, echo, func(t *testing.T, s *switchboard, d *Protocol) {
		s.p.hangUp.Store(true)
		e := refer(t, d, s.p.address)
		pass(time.Minute)
		assert.Equal(t, protocol.Down, e.State())
		assert.ErrorIs(t, e.StateReason(), errNoAnswer)
		assert.LessOrEqual(t, len(s.dials.since(time.Time{})), 20, "in a minute")
	})
}
