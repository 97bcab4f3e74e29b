package dubbo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// B182: 50,000 calls that end in every way there is, on connections that break,
// leave nothing pending, and every answer is its own call's.
func TestB182NothingStaysPending(t *testing.T) {
	const callers, rounds = 50, 1000
	switched(t, nil, func(t *testing.T, s *switchboard, d *Protocol) {
		var late sync.Map // connection → answers that are held back
		s.p.handle = func(c *peerConn, f received) {
			if !f.isCall(c) {
				return
			}
			id, arg := f.head.ID, f.call(t).args[0]
			held, _ := late.Load(c)
			answers, _ := held.([][]byte)
			if len(answers) > 10 {
				c.send(answers...)
				answers = nil
			}
			defer func() { late.Store(c, answers) }()
			switch r := rand.IntN(1000); {
			case r < 2:
				_ = c.Close()
			case r < 4:
				c.send([]byte("garbage\n"))
			case r < 6:
				c.send(event(frame.Hessian2, "\x01R"))
			case r < 200: // with later ones, or never
				answers = append(answers, answer(id, value(arg)))
			case r < 220:
				c.send(statusAnswer(id, frame.PoolExhausted, "exhausted"))
			case r < 240:
				c.send(answer(id, []byte{0x91, 0x65}))
			default:
				c.send(answer(id, value(arg)))
			}
		}
		es := append(services(t, d, s.p, 3), services(t, d, s.p, 1, "connections", "2")...)
		var mu sync.Mutex
		outcomes := map[error]int{}
		var wg sync.WaitGroup
		for caller := range callers {
			wg.Go(func() {
				for round := range rounds {
					ctx, cancel := context.WithCancel(t.Context())
					arg := fmt.Sprint(caller, " ", round)
					inv := within(time.Duration(1+rand.IntN(15))*time.Millisecond, arg)
					switch rand.IntN(10) {
					case 0:
						inv.OneWay = true
					case 1:
						go cancel()
					case 2:
						cancel()
					}
					r, err := es[rand.IntN(len(es))].Invoke(ctx, inv)
					cancel()
					var code error
					if err == nil && !inv.OneWay {
						assert.Equal(t, arg, r.Value)
					} else if err != nil {
						code = failure(t, err).Code
					}
					mu.Lock()
					outcomes[code]++
					mu.Unlock()
					if errors.Is(err, protocol.ErrNetwork) {
						<-time.After(time.Millisecond)
					}
				}
			})
		}
		wg.Wait()
		pass(time.Second)
		for _, c := range d.Connections() {
			assert.Zero(t, c.InFlight)
			assert.Zero(t, c.Queued)
		}
		for _, code := range []error{nil, protocol.ErrNetwork, protocol.ErrTimeout, protocol.ErrCanceled, protocol.ErrSerialization, protocol.ErrLimitExceeded} {
			assert.NotZero(t, outcomes[code], "%v", code)
		}
	})
}

// Idle connections have two goroutines each, endpoints none.
func TestIdleGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const addresses, references = 10, 100
		p := inMemory(t, echo)
		d := New(WithDialer(p.dial))
		before := runtime.NumGoroutine()
		for a := range addresses {
			p.address = fmt.Sprintf("10.0.0.%d:20880", a+1)
			services(t, d, p, references)
		}
		synctest.Wait()
		assert.EqualValues(t, addresses, p.accepted.Load())
		const peers = addresses
		assert.LessOrEqual(t, runtime.NumGoroutine()-before, 2*addresses+peers)
		require.NoError(t, d.Close())
		p.stop()
	})
}

// A provider that flaps leaves nothing behind (B180, the wire's part): neither
// goroutines nor memory nor connections.
func TestFlappingProviderLeavesNothing(t *testing.T) {
	bubble(t, echo, func(t *testing.T, p *peer, d *Protocol) {
		flap := func(n int) {
			for range n {
				e := refer(t, d, p.address)
				_, err := invoke(t.Context(), e, invocation("x"))
				require.NoError(t, err)
				e.Close()
			}
			synctest.Wait()
			p.mu.Lock()
			p.conns = nil
			p.mu.Unlock()
		}
		heap := func() uint64 {
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		flap(100)
		goroutines, before := runtime.NumGoroutine(), heap()
		flap(1900)
		// A connection left behind would have two goroutines and 16 KiB.
		assert.Less(t, runtime.NumGoroutine(), goroutines+50)
		assert.Less(t, heap(), before+8<<20)
		assert.Empty(t, d.Connections())
		assert.Empty(t, d.exchanges)
		assert.Empty(t, d.shared)
	})
}
