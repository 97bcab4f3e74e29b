package dubbo

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// sized answers a call with a text of the length it asks for.
func sized(c *peerConn, f received) {
	if f.isCall(c) {
		n, _ := f.call(c.p.t).args[0].(int32)
		c.send(answer(f.head.ID, hessian2.AppendString([]byte{0x91}, strings.Repeat("x", int(n)))))
	}
}

var sizeMethod = &protocol.Method{Service: demo, Name: "text", WireName: "text", Descriptor: "I", Parameters: []string{"int"}, ID: 1}

func askFor(n int) *protocol.Invocation {
	inv := invocation(int32(n))
	inv.Method = sizeMethod
	return inv
}

// B116: medium sizes pass with default settings, both ways.
func TestB116MediumSizesPassByDefault(t *testing.T) {
	p := listen(t, echo)
	e := refer(t, newProtocol(t), p.address)
	for _, n := range []int{525_511, 900_000, 2_000_000} {
		s := strings.Repeat("x", n)
		v, err := invoke(t.Context(), e, invocation(s))
		require.NoError(t, err)
		assert.True(t, v == s)
	}
}

// B109: the limit is the called service's, not that of the service that was
// referred first at the address.
func TestB109PayloadLimitIsTheCalledServices(t *testing.T) {
	bubble(t, sized, func(t *testing.T, p *peer, d *Protocol) {
		first := refer(t, d, p.address)
		large := services(t, d, p, 1, "payload", "33554432")[0]
		small := services(t, d, p, 1, "payload", "4000")[0]
		unlimited := services(t, d, p, 1, "payload", "0")[0]
		const ten = 10 << 20
		for _, e := range []protocol.Endpoint{large, unlimited} {
			_, err := invoke(t.Context(), e, askFor(ten))
			assert.NoError(t, err)
		}
		for _, c := range []struct {
			e protocol.Endpoint
			n int
			s string
		}{{first, ten, "8388608"}, {small, 4000, "4000"}} {
			_, err := invoke(t.Context(), c.e, askFor(c.n))
			f := failure(t, err)
			assert.ErrorIs(t, err, protocol.ErrSerialization)
			assert.Equal(t, protocol.RetryNever, f.Retry)
			assert.True(t, f.Sent)
			assert.Contains(t, f.Detail, "more than the payload limit of "+c.s)
			assert.NotContains(t, f.Detail, "skipped", "it has hardly begun to come")
		}
		// The bodies were skipped: the connection is in step.
		_, err := invoke(t.Context(), small, askFor(100))
		assert.NoError(t, err)
		assert.EqualValues(t, 1, p.accepted.Load())
	})
}

// A request over the limit is refused before a byte is written: 2.6 and 2.7 would
// answer nothing, and nothing ever after.
func TestRequestOverTheLimitIsNotSent(t *testing.T) {
	bubble(t, echo, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address, "payload", "4000")
		_, err := invoke(t.Context(), e, invocation(strings.Repeat("x", 4000)))
		f := failure(t, err)
		assert.ErrorIs(t, err, protocol.ErrSerialization)
		assert.False(t, f.Sent)
		assert.Equal(t, protocol.RetryNever, f.Retry)
		assert.Contains(t, f.Detail, "payload limit of 4000")
		assert.Zero(t, only(t, d).Writes)
		assert.Zero(t, only(t, d).InFlight)

		// Exactly at the limit it passes.
		fixed := len(mustRequest(t, e, "")) - frame.HeaderLen
		s := strings.Repeat("x", 4000-fixed-2) // two more bytes of length
		_, err = invoke(t.Context(), e, invocation(s))
		require.NoError(t, err)
		_, err = invoke(t.Context(), e, invocation(s+"x"))
		assert.ErrorIs(t, err, protocol.ErrSerialization)
	})
}

// mustRequest encodes a call of echo as the endpoint does.
func mustRequest(t *testing.T, e protocol.Endpoint, arg string) []byte {
	b, err := e.(*endpoint).service.Load().appendRequest(nil, invocation(arg), time.Minute)
	require.NoError(t, err)
	return b
}

// A provider that stops reading: the queue is bounded, what is refused was not
// sent, and nobody is held beyond the deadline.
func TestProviderThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ends []net.Conn
		d := New(WithDialer(func(context.Context, string, string) (net.Conn, error) {
			a, b := net.Pipe()
			ends = append(ends, b)
			return a, nil
		}), func(o *options) { o.queue = 1 << 20 })
		e := refer(t, d, "10.0.0.1:20880")
		big := strings.Repeat("x", 100<<10)
		var mu sync.Mutex
		outcomes := map[string]int{}
		var wg sync.WaitGroup
		took := elapsed(func() {
			for range 100 {
				synctest.Wait() // the first frame is being written before the others queue
				wg.Go(func() {
					_, err := invoke(t.Context(), e, within(300*time.Millisecond, big))
					f := failure(t, err)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case f.Code == protocol.ErrTimeout && f.Sent:
						outcomes["sent"]++
						assert.Equal(t, protocol.RetryPolicy, f.Retry)
					case f.Code == protocol.ErrTimeout:
						outcomes["waiting"]++
						assert.Equal(t, protocol.RetryAlways, f.Retry)
						assert.Contains(t, f.Detail, "does not read")
					default:
						outcomes["busy"]++
						assert.ErrorIs(t, err, errBusy)
						assert.False(t, f.Sent)
						assert.Equal(t, protocol.RetryAlways, f.Retry)
					}
				})
			}
			wg.Wait()
		})
		assert.Equal(t, 300*time.Millisecond, took)
		assert.Equal(t, 100, outcomes["sent"]+outcomes["waiting"]+outcomes["busy"])
		assert.NotZero(t, outcomes["sent"])
		assert.NotZero(t, outcomes["waiting"])
		assert.Greater(t, outcomes["busy"], 70)
		c := only(t, d)
		assert.Zero(t, c.InFlight)
		assert.LessOrEqual(t, c.Queued, int64(1<<20))
		assert.Zero(t, elapsed(func() { assert.NoError(t, d.Close()) }), "the blocked write does not hold Close")
		for _, nc := range ends {
			_ = nc.Close()
		}
	})
}

// faulty fails writes after some bytes.
type faulty struct {
	net.Conn
	left int
}

func (f *faulty) Write(b []byte) (int, error) {
	if len(b) <= f.left {
		f.left -= len(b)
		return len(b), nil
	}
	n := f.left
	f.left = 0
	return n, errRefused
}

// Sent is exact: of the frames of a write that failed half way, those behind the
// last byte that was given were not sent, and the calls may go elsewhere.
func TestSentIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		var wg sync.WaitGroup
		c := newConn(&faulty{a, 250}, connConfig{queue: 1 << 20}, &wg, func(*conn) {})
		var sent [5]bool
		var calls sync.WaitGroup
		for i := range sent { // 100 bytes each, in order, before anything is written
			k := c.take()
			k.out = append(k.out[:0], make([]byte, 100)...)
			calls.Go(func() {
				var err error
				sent[i], err = c.roundTrip(t.Context(), k, int64(time.Hour), 100)
				assert.ErrorIs(t, err, errRefused)
				c.release(k)
			})
			synctest.Wait()
		}
		c.start()
		calls.Wait()
		assert.Equal(t, [5]bool{true, true, true, false, false}, sent)
		wg.Wait()
		assert.Zero(t, c.inFlight())
		_ = b.Close()
	})
}
