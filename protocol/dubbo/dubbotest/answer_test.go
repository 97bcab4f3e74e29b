package dubbotest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

var hello = request{method: "hello", desc: "Ljava/lang/String;", args: []any{"x"}}

func (r request) with(id uint64) request {
	r.id = id
	return r
}

// startHello starts a provider of hello(String).
func startHello(t *testing.T, opts ...dubbotest.Option) *dubbotest.Provider {
	p := dubbotest.Start(t, greet+"?group=g1&version=1.0.0", opts...)
	require.NoError(t, p.Handle("hello(java.lang.String)", func(s string) string { return "hello " + s }))
	return p
}

func TestAnswersInTurn(t *testing.T) {
	p := startHello(t)
	w := dial(t, p)
	require.NoError(t, p.Answer("hello", dubbotest.Value(int64(1)), dubbotest.Handler(), dubbotest.Value(nil)))
	require.NoError(t, p.Answer("hello", dubbotest.Value("later")))
	assert.Equal(t, int64(1), w.call(hello.with(1)).result(t).Value)
	assert.Equal(t, "hello x", w.call(hello.with(2)).result(t).Value)
	assert.True(t, w.call(hello.with(3)).result(t).Null)
	assert.Equal(t, "later", w.call(hello.with(4)).result(t).Value)
	assert.Equal(t, "hello x", w.call(hello.with(5)).result(t).Value)
}

// The more exactly scripted goes first; what is scripted once goes before what is
// scripted always.
func TestScriptsByPrecision(t *testing.T) {
	p := startHello(t)
	w := dial(t, p)
	require.NoError(t, p.AnswerAlways("", dubbotest.Value("always, all")))
	require.NoError(t, p.AnswerAlways("hello", dubbotest.Value("always, name")))
	require.NoError(t, p.Answer("", dubbotest.Value("once, all")))
	require.NoError(t, p.Answer("hello( java.lang.String )", dubbotest.Value("once, signature")))
	require.NoError(t, p.Answer("hello", dubbotest.Value("once, name")))
	for i, want := range []string{"once, signature", "once, name", "once, all", "always, name", "always, name"} {
		assert.Equal(t, want, w.call(hello.with(uint64(i+1))).result(t).Value)
	}
	p.Unscript("hello")
	assert.Equal(t, "always, all", w.call(hello.with(7)).result(t).Value)
	other := request{method: "unheard", desc: "I", args: []any{int32(1)}}
	assert.Equal(t, "always, all", w.call(other.with(8)).result(t).Value, "what is scripted exists")
	p.Unscript("")
	assert.Equal(t, "hello x", w.call(hello.with(9)).result(t).Value)
	assert.EqualValues(t, 40, w.call(other.with(10)).Status)
}

func TestScriptMistakes(t *testing.T) {
	p, err := dubbotest.New(orders)
	require.NoError(t, err)
	defer p.Close()
	assert.ErrorContains(t, p.Answer("find(Long)", dubbotest.Never()), "java.lang.Long")
	assert.ErrorContains(t, p.AnswerAlways("find", dubbotest.HangUpUnread()), `script it for ""`)
}

func TestAnswerKinds(t *testing.T) {
	p := dubbotest.Start(t, greet+"?group=g1&version=1.0.0&payload=50000")
	require.NoError(t, p.Handle("hello(java.lang.String)", func(s string) string { return s }))
	next := func(a dubbotest.Answer) reply {
		t.Helper()
		require.NoError(t, p.Answer("hello", a))
		w := dial(t, p)
		w.send(hello.with(5).bytes(t))
		return w.next()
	}
	t.Run("status", func(t *testing.T) {
		got := next(dubbotest.Status(80, "no dispatcher"))
		assert.EqualValues(t, 80, got.Status)
		assert.Equal(t, "no dispatcher", got.text(t))
		assert.EqualValues(t, 5, got.ID)
	})
	t.Run("exception", func(t *testing.T) {
		got := next(dubbotest.Throw("com.example.X", "no").With("k", "v"))
		var r protocol.Result
		r.WantAttachments = true
		remote, err := hessian2.DecodeResult(got.body, &r)
		require.NoError(t, err)
		assert.Equal(t, "com.example.X: no", remote.Error())
		assert.Equal(t, map[string]any{"dubbo": "2.0.2", "k": "v"}, r.Attachments)
	})
	t.Run("attachments", func(t *testing.T) {
		with := dubbotest.Value("v").With("a", "1")
		_ = with.With("b", "2") // another answer
		assert.Equal(t, map[string]any{"dubbo": "2.0.2", "a": "1"}, next(with).result(t).Attachments)
	})
	t.Run("large", func(t *testing.T) {
		assert.Len(t, next(dubbotest.Large(100_000)).result(t).Value, 100_000)
	})
	t.Run("wrong id", func(t *testing.T) {
		assert.NotEqualValues(t, 5, next(dubbotest.Value("v").WrongID()).ID)
	})
	t.Run("serialization", func(t *testing.T) {
		got := next(dubbotest.Value("v").InSerialization(11))
		assert.EqualValues(t, 11, got.Serialization)
		assert.False(t, got.Event)
	})
	t.Run("unencodable", func(t *testing.T) {
		got := next(dubbotest.Value(make(chan int)))
		assert.EqualValues(t, 50, got.Status)
		assert.Contains(t, got.text(t), "Failed to send response: Response [id=5, version=2.0.2, status=20, event=false, error=null, result=AppResponse [value=chan int, exception=null]], cause: java.io.IOException: ")
	})
	t.Run("unencodable exception", func(t *testing.T) {
		got := next(dubbotest.Exception(&protocol.RemoteError{Class: "com.example.X", Message: "m", Fields: map[string]any{"f": make(chan int)}}))
		assert.EqualValues(t, 50, got.Status)
		assert.Contains(t, got.text(t), "exception=com.example.X: m]], cause: ")
	})
	t.Run("raw", func(t *testing.T) {
		got := next(dubbotest.Raw(func(c *dubbotest.Call) []byte {
			f := frame.Header{Serialization: frame.Hessian2, Status: frame.OK}.Append(nil)
			f = append(f, 0x92)
			frame.Seal(f, c.ID)
			return f
		}))
		assert.True(t, got.result(t).Null)
	})
}

func TestTwice(t *testing.T) {
	p := startHello(t)
	w := dial(t, p)
	require.NoError(t, p.Answer("hello", dubbotest.Value("v").Twice()))
	first := w.call(hello.with(3))
	assert.Equal(t, first, w.next())
}

func TestHangingUp(t *testing.T) {
	p := startHello(t)
	for name, answer := range map[string]dubbotest.Answer{
		"hang up": dubbotest.HangUp(), "later": dubbotest.HangUp().After(time.Millisecond),
		"unread": dubbotest.HangUpUnread(), "garbage": dubbotest.Garbage(),
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, p.Answer("", answer))
			w := dial(t, p)
			w.send(hello.bytes(t))
			w.ended()
		})
	}
	require.NoError(t, p.Answer("hello", dubbotest.Value("last").ThenHangUp()))
	w := dial(t, p)
	assert.Equal(t, "last", w.call(hello).result(t).Value)
	w.ended()
	require.NoError(t, p.AnswerAlways("", dubbotest.HangUpUnread()))
	for range 2 {
		w := dial(t, p)
		w.send(hello.bytes(t))
		w.ended()
	}
	assert.Len(t, p.Calls(), 4, "unread calls are not known")
}

func TestDelayAndNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startHello(t, dubbotest.InMemory(), dubbotest.WithDelay(dubbotest.ColdStart(10*time.Millisecond, 3, time.Second)))
		w := dial(t, p)
		took := func(id uint64) time.Duration {
			begun := time.Now()
			w.call(hello.with(id))
			return time.Since(begun)
		}
		assert.Equal(t, 30*time.Millisecond, took(1), "cold")
		time.Sleep(470 * time.Millisecond) // of the bubble: half warm
		assert.Equal(t, 20*time.Millisecond, took(2))
		time.Sleep(time.Second)
		assert.Equal(t, 10*time.Millisecond, took(3), "warm")

		require.NoError(t, p.Answer("hello", dubbotest.Value("v").After(time.Minute), dubbotest.Never()))
		p.SetDelay(nil)
		w.send(hello.with(4).bytes(t))
		w.send(hello.with(5).bytes(t))
		synctest.Wait()
		assert.Equal(t, 1, p.Counters().InFlight, "the one that never ends does not count")
		w.t = t
		require.NoError(t, w.SetReadDeadline(time.Now().Add(time.Hour)))
		begun := time.Now()
		require.NoError(t, p.Await(t.Context(), func(c dubbotest.Counters) bool { return c.InFlight == 0 }))
		assert.Equal(t, time.Minute, time.Since(begun))
		p.Close()
	})
}
