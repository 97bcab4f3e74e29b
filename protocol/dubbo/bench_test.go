package dubbo

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// listenRaw starts a provider that answers every call with its one string argument
// and allocates nothing, so that figures are the client's alone. Answers of one
// read are written at once.
func listenRaw(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = nc.Close() })
			go echoRaw(nc)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

// rawMethod's descriptor ends where its argument begins: that is how echoRaw finds it.
var rawMethod = &protocol.Method{Service: demo, Name: "echo", WireName: "echo", Descriptor: "L\x7f;", ID: 3}

func echoRaw(nc net.Conn) {
	in, out := make([]byte, 0, 1<<20), make([]byte, 0, 1<<20)
	for {
		n, err := nc.Read(in[len(in):cap(in)])
		if err != nil {
			return
		}
		in = in[:len(in)+n]
		rest := in
		out = out[:0]
		for {
			h, ok, err := frame.Parse(rest)
			if err != nil || !ok || len(rest) < frame.HeaderLen+h.Length {
				break
			}
			body := rest[frame.HeaderLen : frame.HeaderLen+h.Length]
			rest = rest[frame.HeaderLen+h.Length:]
			start := len(out)
			out = frame.Header{Serialization: frame.Hessian2, Status: frame.OK, ID: h.ID}.Append(out)
			out = append(append(out, 0x94), argument(body)...)
			out = append(out, "H\x05dubbo\x052.0.2Z"...)
			frame.Seal(out[start:], h.ID)
		}
		if _, err := nc.Write(out); err != nil {
			return
		}
		in = in[:copy(in[:cap(in)], rest)]
	}
}

// argument cuts the argument out of a request of rawMethod.
func argument(body []byte) []byte {
	for i := 1; i < len(body); i++ {
		if body[i] == ';' && body[i-1] == 0x7f {
			b := body[i+1:]
			for j := range b {
				if b[j] == 'H' && j+5 < len(b) && b[j+1] == 4 && b[j+2] == 'p' {
					return b[:j]
				}
			}
		}
	}
	return []byte{'N'}
}

func rawCall(target *string, args []any) *protocol.Invocation {
	inv := &protocol.Invocation{Method: rawMethod, Arguments: args}
	if target != nil {
		inv.Result.Target = target
	}
	return inv
}

// cpuTime is the processor time of the process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkEcho is a string echo of 100 bytes over loopback. CPU is that of client
// and provider together, who share the process. The budget is 0.2 writes a call at
// 10 callers.
func BenchmarkEcho(b *testing.B) {
	for _, callers := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			benchmarkEcho(b, callers, 100)
		})
	}
}

// BenchmarkEchoLarge is the same with bodies that do not fit the read buffer.
func BenchmarkEchoLarge(b *testing.B) {
	benchmarkEcho(b, 10, 64<<10)
}

func benchmarkEcho(b *testing.B, callers, size int) {
	d := newProtocol(b)
	e := refer(b, d, listenRaw(b))
	args := []any{strings.Repeat("x", size)}
	_, err := e.Invoke(b.Context(), rawCall(new(string), args))
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	before := d.Connections()[0]
	cpu := cpuTime(b)
	b.ReportAllocs()
	b.ResetTimer()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			var got string
			inv := rawCall(&got, args)
			for left.Add(-1) >= 0 {
				inv.Deadline = time.Now().Add(time.Second)
				if _, err := e.Invoke(ctx, inv); err != nil || len(got) != size {
					b.Error(len(got), err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	after := d.Connections()[0]
	n := float64(b.N)
	b.ReportMetric(float64(cpuTime(b)-cpu)/n, "cpu-ns/op")
	b.ReportMetric(float64(after.Writes-before.Writes)/n, "writes/op")
	b.ReportMetric(float64(after.Reads-before.Reads)/n, "reads/op")
}

// BenchmarkEncode is the caller's part before the connection.
func BenchmarkEncode(b *testing.B) {
	s := newService(providerURL(b, "10.0.0.1:20880", "version", "1.0.0", "group", "g1"), "")
	inv := invocation(strings.Repeat("x", 100))
	buf := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = s.appendRequest(buf[:0], inv, time.Second)
	}
}

// BenchmarkTick is what one tick costs with many calls in flight: the price of
// having no timer per call, paid about once per timeout.
func BenchmarkTick(b *testing.B) {
	for _, calls := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprintf("calls=%d", calls), func(b *testing.B) {
			var wg sync.WaitGroup
			c := newConn(discard{}, connConfig{queue: 1 << 20}, &wg, func(*conn) {})
			for range calls {
				c.register(c.take(), never-1, 0)
			}
			for b.Loop() {
				c.expire(c.now())
			}
		})
	}
}
