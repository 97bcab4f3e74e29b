package dubbotest_test

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// silent is an error whose text cannot be had.
type silent struct{}

func (silent) Error() string { panic("no text") }

// What a test's author gets wrong is told by the call, and does not end the tests.
func TestMistakesInFunctionsAreExceptions(t *testing.T) {
	own := &protocol.RemoteError{Class: "com.example.E", Message: "round"}
	own.Cause = own
	for name, c := range map[string]struct {
		function any
		want     string
	}{
		"nil path error":   {func() (string, error) { var e *os.PathError; return "x", e }, "nil *fs.PathError as its error"},
		"nil remote error": {func() error { var e *protocol.RemoteError; return e }, "nil *protocol.RemoteError as its error"},
		"no text":          {func() error { return silent{} }, "panic: no text"},
		"own cause":        {func() error { return own }, "com.example.E: round"},
		"nil exception":    {func() dubbotest.Answer { return dubbotest.Exception(nil) }, "Exception(nil)"},
		"nil raw":          {func() dubbotest.Answer { return dubbotest.Raw(nil) }, "Raw(nil)"},
		"no status":        {func() dubbotest.Answer { return dubbotest.Status(999, "") }, "Status(999)"},
		"raw panics": {func() dubbotest.Answer {
			return dubbotest.Raw(func(*dubbotest.Call) []byte { panic("too raw") })
		}, "function given to Raw: panic: too raw"},
	} {
		t.Run(name, func(t *testing.T) {
			p := dubbotest.Start(t, orders)
			require.NoError(t, p.Handle("f()", c.function))
			r := refer(t, p, "retries=0")
			_, err := gofer.Call[any](t.Context(), r, "f()")
			require.ErrorIs(t, err, gofer.ErrBusiness)
			assert.ErrorContains(t, err, c.want)
			_, err = r.Generic(t.Context(), "f()")
			assert.ErrorContains(t, err, c.want)
			assert.Zero(t, p.Counters().InFlight)
		})
	}
}

func TestMistakesInScriptsAreExceptions(t *testing.T) {
	p := dubbotest.Start(t, orders)
	require.NoError(t, p.Answer("f", dubbotest.Raw(func(*dubbotest.Call) []byte { panic("too raw") }),
		dubbotest.Raw(func(*dubbotest.Call) []byte { runtime.Goexit(); return nil })))
	r := refer(t, p, "retries=0")
	_, err := gofer.Call[any](t.Context(), r, "f()")
	assert.ErrorContains(t, err, "panic: too raw")
	_, err = gofer.Call[any](t.Context(), r, "f()")
	assert.ErrorContains(t, err, "did not return: runtime.Goexit")
	p.SetDelay(func(*dubbotest.Call, time.Duration) time.Duration { panic("never") })
	require.NoError(t, p.Handle("f()", func() {}))
	_, err = gofer.Call[any](t.Context(), r, "f()")
	require.ErrorIs(t, err, gofer.ErrBusiness)
	assert.ErrorContains(t, err, "the delay function: panic: never")
}

func TestAnswersThatAreNone(t *testing.T) {
	p, err := dubbotest.New(orders, nil)
	require.NoError(t, err)
	defer p.Close()
	for want, a := range map[string]dubbotest.Answer{
		"Exception(nil)": dubbotest.Exception(nil), "Raw(nil)": dubbotest.Raw(nil),
		"Status(999)": dubbotest.Status(999, ""), "Status(-1)": dubbotest.Status(-1, ""),
	} {
		assert.ErrorContains(t, p.Answer("f", dubbotest.Value(1), a), want)
		assert.ErrorContains(t, p.AnswerAlways("", a), want)
	}
	assert.ErrorContains(t, p.Await(t.Context(), nil), "Await(nil)")
	assert.ErrorContains(t, p.Handle("b(long[])", func(int64) {}), "does not take a Java long[]")
	require.NoError(t, p.Handle("b(long[])", func([]int64) {}))
	require.NoError(t, p.Handle("c(byte[],char[])", func([]byte, string) {}))
}

// A result that has itself in it arrives, generic or not.
func TestCyclicResults(t *testing.T) {
	p := dubbotest.Start(t, orders)
	require.NoError(t, p.Handle("map()", func() any { m := map[string]any{}; m["me"] = m; return m }))
	require.NoError(t, p.Handle("list()", func() any { l := []any{nil}; l[0] = l; return l }))
	require.NoError(t, p.Handle("pointer()", func() any { var v any; v = &v; return v }))
	r := refer(t, p, "retries=0")
	for _, signature := range []string{"map()", "list()", "pointer()"} {
		for _, call := range []func() (any, error){
			func() (any, error) { return r.Generic(t.Context(), signature) },
			func() (any, error) { return gofer.Call[any](t.Context(), r, signature) },
		} {
			if _, err := call(); err != nil {
				var e *gofer.Error
				require.True(t, errors.As(err, &e))
				assert.NotErrorIs(t, err, gofer.ErrTimeout, signature)
				assert.NotErrorIs(t, err, gofer.ErrNetwork, signature)
				assert.NotEqual(t, "map()", signature, "%v", err)
			}
		}
	}
}
