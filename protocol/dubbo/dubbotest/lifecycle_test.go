package dubbotest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// aMoment is when a test stops to wait for what must not come.
func aMoment() time.Time { return time.Now().Add(20 * time.Millisecond) }

// event reads a one-way event.
func (w *wire) event() frame.Event {
	w.t.Helper()
	got := w.next()
	require.True(w.t, got.Request && got.Event && !got.TwoWay, "%+v", got.Header)
	return frame.EventOf(got.Serialization, got.body)
}

func TestEvents(t *testing.T) {
	eachProfile(t, func(t *testing.T, profile dubbotest.Profile) {
		p := startHello(t, dubbotest.WithProfile(profile))
		a, b := dial(t, p), dial(t, p)
		a.heartbeat()
		b.heartbeat()
		p.ReadOnly()
		p.Writeable()
		p.ReadOnlyWithoutText()
		for _, w := range []*wire{a, b} {
			assert.Equal(t, frame.ReadOnly, w.event())
			assert.Equal(t, frame.Writable, w.event())
			assert.Equal(t, frame.Null, w.event())
		}
		assert.Equal(t, "hello x", a.call(hello).result(t).Value, "served still")
	})
}

func TestStopGracefully(t *testing.T) {
	eachProfile(t, func(t *testing.T, profile dubbotest.Profile) {
		p := startHello(t, dubbotest.WithProfile(profile))
		gate := make(chan struct{})
		require.NoError(t, p.Handle("slow()", func() string { <-gate; return "done" }))
		idle, busy := dial(t, p), dial(t, p)
		idle.heartbeat()
		busy.send(request{id: 1, method: "slow"}.bytes(t))
		require.NoError(t, p.Await(t.Context(), func(c dubbotest.Counters) bool { return c.InFlight == 1 && c.Connections == 2 }))
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			p.Stop(t.Context())
		}()
		events := 1
		if profile == dubbotest.Dubbo32 || profile == dubbotest.Dubbo33 {
			events = 2
		}
		for range events {
			assert.Equal(t, frame.ReadOnly, idle.event())
			assert.Equal(t, frame.ReadOnly, busy.event())
		}
		dial(t, p).ended()
		assert.Equal(t, "hello x", busy.call(hello.with(2)).result(t).Value, "a late call")
		close(gate)
		assert.Equal(t, "done", busy.next().result(t).Value)
		require.NoError(t, idle.Close())
		select {
		case <-stopped:
			assert.Fail(t, "stopped with a consumer connected")
		default:
		}
		require.NoError(t, busy.Close())
		<-stopped
		_, err := p.Dial(t.Context(), "", "")
		assert.ErrorIs(t, err, syscall.ECONNREFUSED)
		p.Stop(t.Context()) // nothing to do
	})
}

// Consumers that stay are disconnected in the end.
func TestStopWaitsTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startHello(t, dubbotest.InMemory())
		w := dial(t, p)
		w.heartbeat()
		begun := time.Now()
		go p.Stop(t.Context())
		assert.Equal(t, frame.ReadOnly, w.event())
		require.NoError(t, w.SetReadDeadline(time.Now().Add(time.Hour)))
		_, err := w.r.ReadByte()
		assert.Error(t, err)
		assert.Equal(t, 10*time.Second, time.Since(begun))

		require.NoError(t, p.Restart())
		w = dial(t, p)
		w.heartbeat()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		p.Stop(ctx)
		assert.LessOrEqual(t, time.Since(begun), 2*time.Second, "the second is for a consumer that does not read")
	})
}

func TestKillAndRestart(t *testing.T) {
	p := startHello(t)
	addr, started := p.Addr(), p.Started()
	w := dial(t, p)
	require.NoError(t, p.Answer("hello", dubbotest.Value("v").After(time.Hour)))
	w.send(hello.bytes(t))
	require.NoError(t, p.Await(t.Context(), func(c dubbotest.Counters) bool { return c.InFlight == 1 }))
	p.Kill()
	_, err := w.receive()
	assert.ErrorIs(t, err, syscall.ECONNRESET)
	assert.Zero(t, p.Counters().InFlight, "a dead process runs nothing")
	_, err = net.Dial("tcp", addr)
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	p.Kill()

	require.NoError(t, p.Restart())
	assert.Equal(t, addr, p.Addr())
	assert.True(t, p.Started().After(started))
	w = dial(t, p)
	assert.Equal(t, "hello x", w.call(hello).result(t).Value)
	assert.Equal(t, 2, p.Counters().Calls, "counters go on")
	require.NoError(t, p.Restart(), "while it runs")
	w.ended()
	p.Close()
	p.Close()
}

func TestFreeze(t *testing.T) {
	p := startHello(t)
	w := dial(t, p)
	w.heartbeat()
	done := make(chan struct{})
	require.NoError(t, p.Handle("hello(java.lang.String)", func(s string) string { <-done; return s }))
	w.send(hello.with(1).bytes(t))
	require.NoError(t, p.Await(t.Context(), func(c dubbotest.Counters) bool { return c.InFlight == 1 }))
	p.Freeze()
	p.Freeze()
	close(done) // what is answered now stays where it is
	w.send(hello.with(2).bytes(t))
	late := dial(t, p) // connects
	late.send(frame.AppendHeartbeat(nil, 9))
	require.NoError(t, w.SetReadDeadline(aMoment()))
	_, err := w.r.Peek(1)
	var timeout net.Error
	require.True(t, errors.As(err, &timeout) && timeout.Timeout(), "%v", err)
	assert.Equal(t, 1, p.Counters().Calls)
	p.Resume()
	p.Resume()
	assert.EqualValues(t, 1, w.next().ID)
	assert.EqualValues(t, 2, w.next().ID)
	assert.EqualValues(t, 9, late.next().ID)

	p.Freeze()
	w.send(hello.with(3).bytes(t))
	p.Close() // does not hang
	w.ended()
}

// Answers that wait for the thaw do not stop the time of a bubble.
func TestFreezeInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startHello(t, dubbotest.InMemory())
		w := dial(t, p)
		require.NoError(t, p.Answer("hello", dubbotest.Value("v").After(time.Second), dubbotest.Value("v").After(time.Second)))
		w.send(hello.with(1).bytes(t))
		w.send(hello.with(2).bytes(t))
		require.NoError(t, p.Await(t.Context(), func(c dubbotest.Counters) bool { return c.InFlight == 2 }))
		p.Freeze()
		time.AfterFunc(2*time.Second, p.Resume)
		begun := time.Now()
		w.next()
		w.next()
		assert.Equal(t, 2*time.Second, time.Since(begun))
	})
}

func TestDisconnect(t *testing.T) {
	p := startHello(t)
	w := dial(t, p)
	w.heartbeat()
	p.Disconnect()
	w.ended()
	assert.Equal(t, "hello x", dial(t, p).call(hello).result(t).Value)
}

// A consumer that does not read holds up nobody but itself.
func TestStalledConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startHello(t, dubbotest.InMemory())
		stalled, w := dial(t, p), dial(t, p)
		stalled.send(hello.with(1).bytes(t))
		w.heartbeat()
		go p.ReadOnly()
		assert.Equal(t, frame.ReadOnly, w.event())
		assert.Equal(t, "hello x", w.call(hello.with(2)).result(t).Value)
	})
}

func TestHeartbeats(t *testing.T) {
	const period = time.Minute
	start := func(t *testing.T, opts ...dubbotest.Option) *wire {
		return dial(t, startHello(t, append(opts, dubbotest.InMemory())...))
	}
	// silent reads heartbeats without answering until the connection ends, and
	// returns when that was.
	silent := func(t *testing.T, w *wire) (beats int, after time.Duration) {
		begun := time.Now()
		for {
			require.NoError(t, w.SetReadDeadline(time.Now().Add(10*period)))
			raw := make([]byte, 17)
			if _, err := w.r.Read(raw); err != nil {
				return beats, time.Since(begun)
			}
			h, ok, err := frame.Parse(raw)
			require.True(t, ok && err == nil && h.TwoWay && h.Event)
			beats++
		}
	}
	for _, c := range []struct {
		name  string
		opts  []dubbotest.Option
		beats int
		after time.Duration
	}{
		{"2.6 sends", []dubbotest.Option{dubbotest.WithProfile(dubbotest.Dubbo26)}, 2, 3 * period},
		{"2.7 waits", nil, 0, 3 * period},
		{"3.3 waits", []dubbotest.Option{dubbotest.WithProfile(dubbotest.Dubbo33)}, 0, 3 * period},
		{"policy", []dubbotest.Option{dubbotest.WithHeartbeats(dubbotest.HeartbeatsSent)}, 2, 3 * period},
		{"ignored", []dubbotest.Option{dubbotest.WithHeartbeats(dubbotest.HeartbeatsIgnored)}, 0, 10 * period},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				beats, after := silent(t, start(t, c.opts...))
				assert.Equal(t, c.beats, beats)
				assert.Equal(t, c.after, after)
			})
		})
	}
	t.Run("answers keep the connection", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := startHello(t, dubbotest.InMemory(), dubbotest.WithProfile(dubbotest.Dubbo26))
			w := dial(t, p)
			for range 5 {
				require.NoError(t, w.SetReadDeadline(time.Now().Add(10*period)))
				raw := make([]byte, 17)
				_, err := w.r.Read(raw)
				require.NoError(t, err)
				h, _, err := frame.Parse(raw)
				require.NoError(t, err)
				w.send(frame.AppendHeartbeatAnswer(nil, h))
			}
			synctest.Wait()
			assert.Equal(t, 5, p.Counters().HeartbeatAnswers)
		})
	})
	t.Run("writing keeps the connection, too", func(t *testing.T) {
		for profile, keeps := range map[dubbotest.Profile]bool{dubbotest.Dubbo27: true, dubbotest.Dubbo26: false} {
			synctest.Test(t, func(t *testing.T) {
				p := startHello(t, dubbotest.InMemory(), dubbotest.WithProfile(profile))
				w := dial(t, p)
				go func() { _, _ = io.Copy(io.Discard, w) }()
				for range 5 {
					p.Writeable()
					time.Sleep(period) // of the bubble
				}
				assert.Equal(t, keeps, p.Counters().Connections == 1, profile)
			})
		}
	})
	t.Run("ignored are not answered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := startHello(t, dubbotest.InMemory(), dubbotest.WithHeartbeats(dubbotest.HeartbeatsIgnored))
			w := dial(t, p)
			w.send(frame.AppendHeartbeat(nil, 3))
			assert.EqualValues(t, 4, w.call(hello.with(4)).ID, "the first frame")
			assert.Equal(t, 1, p.Counters().Heartbeats)
		})
	})
}

func TestClosedProvider(t *testing.T) {
	p, err := dubbotest.New(orders)
	require.NoError(t, err)
	p.Close()
	assert.ErrorContains(t, p.Restart(), "closed")
	assert.ErrorContains(t, p.Handle("find()", nil), "no function")
	_, err = dubbotest.New(orders, dubbotest.WithAddr("256.0.0.1:1"))
	assert.ErrorContains(t, err, "dubbotest: ")
}

func TestPortInUse(t *testing.T) {
	p := startHello(t)
	_, err := dubbotest.New(orders, dubbotest.WithAddr(p.Addr()))
	assert.ErrorIs(t, err, syscall.EADDRINUSE)
}
