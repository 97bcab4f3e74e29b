package dubbotest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

func TestRecords(t *testing.T) {
	p := startHello(t, dubbotest.WithRecords(3))
	before := time.Now()
	assert.Equal(t, dubbotest.Call{}, p.LastCall())
	w := dial(t, p)
	for i := range 5 {
		r := hello.with(uint64(10 + i))
		r.args = []any{fmt.Sprint(i)}
		r.attachments = map[string]any{"trace": "abc", "number": int64(i)}
		w.call(r)
	}
	calls := p.Calls()
	require.Len(t, calls, 3, "the latest")
	for i, c := range calls {
		n := i + 2
		assert.EqualValues(t, 10+n, c.ID)
		assert.Equal(t, []any{fmt.Sprint(n)}, c.Arguments)
		assert.Equal(t, map[string]any{"path": greet, "version": "1.0.0", "group": "g1", "trace": "abc", "number": int64(n)}, c.Attachments)
		assert.Equal(t, "abc", c.Attachment("trace"))
		assert.Empty(t, c.Attachment("number"), "no string")
		assert.WithinRange(t, c.Arrived, before, time.Now())
	}
	last := p.LastCall()
	assert.Equal(t, "2.0.2", last.Dubbo)
	assert.Equal(t, greet, last.Path)
	assert.Equal(t, "1.0.0", last.Version)
	assert.Equal(t, "hello", last.Method)
	assert.Equal(t, "Ljava/lang/String;", last.Descriptor)
	assert.Equal(t, "hello(java.lang.String)", last.Signature)
	assert.Equal(t, "hello", last.Name())
	assert.Equal(t, byte(0xc2), last.Flags)
	assert.Equal(t, 1, last.Connection)
	assert.False(t, last.OneWay || last.Generic())
	assert.Equal(t, 5, p.Counters().Calls)

	dial(t, p).call(hello)
	assert.Equal(t, 2, p.LastCall().Connection)
	p.Forget()
	assert.Empty(t, p.Calls())
	assert.Equal(t, dubbotest.Counters{Connections: 2, Accepted: 2}, p.Counters())

	none := startHello(t, dubbotest.WithRecords(0))
	dial(t, none).call(hello)
	assert.Empty(t, none.Calls())
	assert.Equal(t, 1, none.Counters().Calls)
}

func TestPeakAndAwait(t *testing.T) {
	p := dubbotest.Start(t, orders)
	gate := make(chan struct{})
	require.NoError(t, p.Handle("slow()", func() { <-gate }))
	r := refer(t, p, "timeout=60000")
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			_, err := gofer.Call[any](t.Context(), r, "slow()")
			assert.NoError(t, err)
		})
	}
	require.NoError(t, p.Await(t.Context(), func(c dubbotest.Counters) bool { return c.InFlight == 5 }))
	close(gate)
	wg.Wait()
	c := p.Counters()
	assert.Zero(t, c.InFlight)
	assert.Equal(t, 5, c.Peak)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, p.Await(ctx, func(dubbotest.Counters) bool { return false }), context.Canceled)
}

// Start reports mistakes to the test.
func TestStartEndsTheTest(t *testing.T) {
	f := &fakeTB{}
	p := dubbotest.Start(f, orders)
	assert.Empty(t, f.failures)
	_ = p.Handle("find(Long)", nil)
	_ = p.Answer("find", dubbotest.HangUpUnread())
	_ = p.Register("nacos://h:1")
	_ = p.SetAttachment("k", make(chan int))
	assert.Len(t, f.failures, 4)
	f.end()
	assert.ErrorContains(t, p.Restart(), "closed")
	assert.Panics(t, func() { dubbotest.Start(&fakeTB{fatal: true}, "") })
}

// fakeTB stands for a test.
type fakeTB struct {
	fatal    bool
	failures []string
	cleanups []func()
}

func (f *fakeTB) Helper()          {}
func (f *fakeTB) Cleanup(c func()) { f.cleanups = append(f.cleanups, c) }
func (f *fakeTB) Fatalf(format string, args ...any) {
	f.failures = append(f.failures, fmt.Sprintf(format, args...))
	if f.fatal {
		panic("ended")
	}
}

func (f *fakeTB) end() {
	for _, c := range f.cleanups {
		c()
	}
}
