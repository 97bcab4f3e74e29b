package dubbo

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// cutter answers calls in groups of three, the answers of one group in one stream
// that is cut into pieces.
type cutter struct {
	mu    sync.Mutex
	group []received
	cut   func(rest int) int
}

func (c *cutter) handle(pc *peerConn, f received) {
	if !f.isCall(pc) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.group = append(c.group, f); len(c.group) < 3 {
		return
	}
	var stream []byte
	for _, f := range c.group {
		stream = append(stream, answer(f.head.ID, value(f.call(pc.p.t).args[0]))...)
	}
	c.group = nil
	for len(stream) > 0 {
		n := min(max(c.cut(len(stream)), 1), len(stream))
		pc.send(stream[:n])
		stream = stream[n:]
	}
}

// B113: three answers of 20, 9000 and 200,000 bytes, delivered in every kind of
// piece. A pipe hands each piece over as one read, so each cutting is what it says.
func TestB113EveryCutting(t *testing.T) {
	texts := []string{"short", strings.Repeat("m", 9000), strings.Repeat("l", 200_000)}
	cuts := map[string]func(int) int{
		"whole":  func(rest int) int { return rest },
		"random": func(int) int { return 1 + rand.IntN(5000) },
		"sparse": func(int) int { return 1 + rand.IntN(40) },
	}
	for _, n := range []int{7, 15, 16, 17, 4096, readBuffer - 1, readBuffer, readBuffer + 1} {
		cuts[fmt.Sprint(n)] = func(int) int { return n }
	}
	for name, cut := range cuts {
		t.Run(name, func(t *testing.T) {
			bubble(t, (&cutter{cut: cut}).handle, func(t *testing.T, p *peer, d *Protocol) {
				e := refer(t, d, p.address)
				for range 2 {
					var wg sync.WaitGroup
					for _, s := range texts {
						wg.Go(func() {
							v, err := invoke(t.Context(), e, invocation(s))
							assert.NoError(t, err)
							assert.True(t, v == s)
						})
					}
					wg.Wait()
				}
				assert.EqualValues(t, 1, p.accepted.Load())
			})
		})
	}
}

// The same byte by byte, with smaller answers around the size of the buffer.
func TestB113ByteByByte(t *testing.T) {
	for _, size := range []int{0, 1, 100, readBuffer - 40, readBuffer} {
		bubble(t, (&cutter{cut: func(int) int { return 1 }}).handle, func(t *testing.T, p *peer, d *Protocol) {
			e := refer(t, d, p.address)
			var wg sync.WaitGroup
			for i := range 3 {
				s := strings.Repeat("x", size+i)
				wg.Go(func() {
					v, err := invoke(t.Context(), e, invocation(s))
					assert.NoError(t, err)
					assert.True(t, v == s)
				})
			}
			wg.Wait()
		})
	}
}

// B117, B192: bytes that are no frame end the connection and its calls at once,
// without any allocation for what they announce.
func TestB117GarbageEndsTheConnection(t *testing.T) {
	for name, garbage := range map[string][]byte{
		"text with a line end": []byte("hello\n"),
		"text without one":     []byte("h"),
		"telnet banner":        []byte("dubbo>"),
		"half a magic":         {0xda, 0xdb},
		"length -1":            header(0x02, 20, 1<<32, 0xffffffff),
		"smallest length":      header(0x02, 20, 1<<32, 0x80000000),
		"largest length":       header(0x02, 20, 1<<32, 0x7fffffff),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, echo, func(t *testing.T, p *peer, d *Protocol) {
				e := refer(t, d, p.address)
				p.handle = func(c *peerConn, f received) {
					if c.number == 1 {
						c.send(garbage)
						return
					}
					echo(c, f)
				}
				took := elapsed(func() {
					_, err := invoke(t.Context(), e, invocation("x"))
					f := failure(t, err)
					assert.ErrorIs(t, err, protocol.ErrNetwork)
					assert.ErrorIs(t, err, frame.ErrMalformed)
					assert.True(t, f.Sent)
				})
				assert.Zero(t, took)
				v, err := invoke(t.Context(), e, invocation("next"))
				assert.NoError(t, err)
				assert.Equal(t, "next", v)
				assert.EqualValues(t, 2, p.accepted.Load())
			})
		})
	}
}

// A magic that is cut between two reads is a magic.
func TestB117MagicOverTwoReads(t *testing.T) {
	bubble(t, func(c *peerConn, f received) {
		a := answer(f.head.ID, value("right"))
		c.send(a[:1], a[1:])
	}, func(t *testing.T, p *peer, d *Protocol) {
		v, err := invoke(t.Context(), refer(t, d, p.address), invocation("x"))
		require.NoError(t, err)
		assert.Equal(t, "right", v)
	})
}

// B192: what a header announces costs memory only as it arrives, and a body that
// comes slowly holds nobody beyond the deadline.
func TestB192AnnouncedLengthIsNotTrusted(t *testing.T) {
	const length = 8 << 20
	bubble(t, func(c *peerConn, f received) {
		if f.call(c.p.t).args[0] == "slow" {
			c.send(header(0x02, 20, f.head.ID, length), []byte{0x94, 'S'})
			return
		}
		echo(c, f)
	}, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		took := elapsed(func() {
			_, err := invoke(t.Context(), e, within(time.Second, "slow"))
			assert.ErrorIs(t, err, protocol.ErrTimeout)
		})
		assert.Equal(t, time.Second, took)
		runtime.ReadMemStats(&after)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))

		// The rest comes after all and is skipped; the connection is in step.
		rest := make([]byte, length-2)
		runtime.ReadMemStats(&before)
		p.conn(1).send(rest)
		v, err := invoke(t.Context(), e, invocation("next"))
		assert.NoError(t, err)
		assert.Equal(t, "next", v)
		runtime.ReadMemStats(&after)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
		assert.EqualValues(t, 1, p.accepted.Load())
	})
}

// A provider that once sends half a header, or one that announces a body that never
// comes, and goes on normally: its good answers arrive inside of that. The connection
// ends as soon as that is certain, after three timeouts and a probe at the latest.
func TestOutOfStepConnectionIsReplaced(t *testing.T) {
	const gigabyte = 1<<30 - 1
	for name, c := range map[string]struct {
		bad  func(id uint64) []byte
		want error // of the connection
	}{
		"half a header":                 {func(id uint64) []byte { return header(0x02, 20, id, 0)[:9] }, frame.ErrMalformed},
		"a gigabyte for the call":       {func(id uint64) []byte { return header(0x02, 20, id, gigabyte) }, frame.ErrMalformed},
		"a gigabyte for nobody":         {func(uint64) []byte { return header(0x02, 20, 1<<40|99, gigabyte) }, frame.ErrMalformed},
		"a megabyte for nobody":         {func(uint64) []byte { return header(0x02, 20, 1<<40|99, 1<<20) }, frame.ErrMalformed},
		"a gigabyte of event":           {func(uint64) []byte { return header(0x22, 20, 7, gigabyte) }, frame.ErrMalformed},
		"a megabyte of event":           {func(uint64) []byte { return header(0x22, 20, 7, 1<<20) }, errNoBeat},
		"ten megabytes for the call":    {func(id uint64) []byte { return header(0x02, 20, id, 10<<20) }, errNoBeat},
		"eight megabytes for the call":  {func(id uint64) []byte { return header(0x02, 20, id, 8<<20) }, errNoBeat},
		"a megabyte for a call of once": {func(id uint64) []byte { return header(0x02, 20, id-1<<32, 1<<20) }, errNoBeat},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
				p.handle = func(pc *peerConn, f received) {
					if f.head.Request && !f.head.Event && f.call(t).args[0] == "bad" {
						pc.send(c.bad(f.head.ID))
						return
					}
					echo(pc, f)
				}
				e := refer(t, d, p.address)
				_, err := invoke(t.Context(), e, invocation("good"))
				require.NoError(t, err)
				_, err = invoke(t.Context(), e, within(200*time.Millisecond, "bad"))
				require.Error(t, err)
				recovered := elapsed(func() {
					for range 100 { // heals although calls never cease
						if _, err = invoke(t.Context(), e, within(200*time.Millisecond, "good")); err == nil {
							return
						}
						pass(time.Millisecond)
					}
				})
				require.NoError(t, err)
				assert.LessOrEqual(t, recovered, (probeAfter+2)*200*time.Millisecond+defaultConnectTimeout+quickRetry)
				assert.EqualValues(t, 2, p.accepted.Load())
				assert.Contains(t, only(t, d).LastError, c.want.Error())
			})
		})
	}
}

// Bytes of a body that a call waits for are progress, so a long answer over a slow
// line is not interrupted, whatever times out meanwhile.
func TestSlowLargeAnswerIsProgress(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
		text := strings.Repeat("x", 1<<20)
		p.handle = func(c *peerConn, f received) {
			if !f.isCall(c) || f.call(t).args[0] != "large" {
				return
			}
			a := answer(f.head.ID, value(text))
			c.p.wg.Go(func() {
				for ; len(a) > 0; a = a[min(len(a), 10_000):] {
					c.send(a[:min(len(a), 10_000)])
					<-time.After(100 * time.Millisecond)
				}
			})
		}
		e := refer(t, d, p.address)
		var wg sync.WaitGroup
		wg.Go(func() {
			v, err := invoke(t.Context(), e, invocation("large"))
			assert.NoError(t, err)
			assert.True(t, v == text)
		})
		for range 40 {
			_, err := invoke(t.Context(), e, within(200*time.Millisecond, "never"))
			assert.ErrorIs(t, err, protocol.ErrTimeout)
		}
		wg.Wait()
		assert.EqualValues(t, 1, p.accepted.Load())
	})
}

// B184: 20,000 answers in one burst, half of them for calls that have timed out.
// They are dropped where they lie.
func TestB184BurstOfLateAnswers(t *testing.T) {
	const half = 10_000
	bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
		var ids []uint64
		p.handle = func(c *peerConn, f received) {
			if f.isCall(c) {
				ids = append(ids, f.head.ID)
			}
		}
		e := refer(t, d, p.address)
		var wg sync.WaitGroup
		call := func(limit time.Duration, want error) {
			wg.Go(func() {
				inv := within(limit, "x")
				if _, err := e.Invoke(t.Context(), inv); want == nil {
					assert.NoError(t, err)
				} else {
					assert.ErrorIs(t, err, want)
				}
			})
		}
		for range half {
			call(100*time.Millisecond, protocol.ErrTimeout)
		}
		wg.Wait()
		for range half {
			call(time.Minute, nil)
		}
		synctest.Wait()
		require.Len(t, ids, 2*half)
		var burst bytes.Buffer
		for _, id := range ids {
			burst.Write(answer(id, value("a result of some length")))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p.conn(1).send(burst.Bytes())
		wg.Wait()
		runtime.ReadMemStats(&after)
		c := only(t, d)
		assert.EqualValues(t, half, c.Late)
		assert.Zero(t, c.InFlight)
		t.Logf("%.1f times the burst", float64(after.TotalAlloc-before.TotalAlloc)/float64(burst.Len()))
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2*burst.Len()))
	})
}

// A provider that calls its consumer is refused, whatever it asks for.
func TestCallsFromTheProviderAreRefused(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
		answers := make(chan received, 10)
		p.handle = func(c *peerConn, f received) {
			if f.head.Request {
				echo(c, f)
			} else {
				answers <- f
			}
		}
		e := refer(t, d, p.address)
		synctest.Wait()
		for _, size := range []int{10, 3 * readBuffer} {
			p.conn(1).send(append(header(0xc2, 0, 99, uint32(size)), make([]byte, size)...))
			f := <-answers
			assert.EqualValues(t, 99, f.head.ID)
			assert.Equal(t, frame.ServiceError, f.head.Status)
			assert.Contains(t, string(f.body), "no callbacks")
			p.conn(1).send(append(header(0x82, 0, 98, uint32(size)), make([]byte, size)...)) // one-way
		}
		v, err := invoke(t.Context(), e, invocation("x"))
		assert.NoError(t, err)
		assert.Equal(t, "x", v)
		assert.Empty(t, answers)
	})
}

// Any bytes after a good answer: the reader comes to an end, and never takes
// memory that the bytes do not pay for.
func FuzzReader(f *testing.F) {
	f.Add(answer(1<<32, value("x")), 3)
	f.Add(event(frame.Hessian2, "\x01R"), 1)
	f.Add(header(0x02, 20, 1<<32, 0x00ffffff), 7)
	f.Add([]byte("hello\n"), 2)
	f.Add(append(header(0xc2, 0, 5, 3), "abcdabb"...), 16)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		if cut < 1 {
			return
		}
		var wg sync.WaitGroup
		c := newConn(discard{}, connConfig{queue: 1 << 20}, &wg, func(*conn) {})
		k := c.take()
		id := c.register(k, never, 8<<20)
		r := reader{c: c, buf: make([]byte, readBuffer)}
		for len(b) > 0 {
			n := copy(r.room()[:], b[:min(cut, len(b))])
			b = b[n:]
			if err := r.feed(n); err != nil {
				return
			}
			if l := r.large; l != nil && cap(l.body) > firstBody+2*len(l.body) {
				t.Fatalf("%d bytes of memory for %d that came", cap(l.body), len(l.body))
			}
		}
		if len(k.done) == 1 && k.state.Load() == id {
			t.Fatal("finished and pending")
		}
	})
}
