package protocol_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/protocol"
)

// B096, B100: never more than the limit, and refused only if that many are active.
func TestStatusLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s protocol.Status
		active := 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if active > 0 && rapid.Bool().Draw(t, "end") {
				s.End(0, false)
				active--
			} else {
				limit := rapid.IntRange(-1, 5).Draw(t, "limit")
				want := limit <= 0 || active < limit
				require.Equal(t, want, s.Begin(limit))
				if want {
					active++
				}
			}
			require.Equal(t, active, s.Active())
		}
	})
}

// B096: 200 callers at once, five slots.
func TestStatusLimitConcurrently(t *testing.T) {
	const limit = 5
	var s protocol.Status
	var active, most, done atomic.Int64
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			for !s.Begin(limit) {
				assert.LessOrEqual(t, s.Active(), limit, "a refused call was counted")
			}
			n := active.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			active.Add(-1)
			s.End(1, false)
			done.Add(1)
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, most.Load(), int64(limit))
	assert.EqualValues(t, 200, done.Load())
	assert.Zero(t, s.Active())
}

func TestStatusCounters(t *testing.T) {
	var s protocol.Status
	assert.Zero(t, s.Counters())
	assert.Zero(t, s.Counters().AverageElapsed())
	for range 4 {
		require.True(t, s.Begin(0))
	}
	s.End(30*time.Millisecond, false)
	s.End(50*time.Millisecond, true)
	s.End(10*time.Millisecond, false)
	c := s.Counters()
	assert.Equal(t, protocol.Counters{
		Active: 1, Total: 3, Failed: 1,
		Elapsed: 90 * time.Millisecond, FailedElapsed: 50 * time.Millisecond, MaxElapsed: 50 * time.Millisecond, MaxAnswered: 30 * time.Millisecond,
	}, c)
	assert.Equal(t, 30*time.Millisecond, c.AverageElapsed())
}

// No count and no maximum is lost between goroutines.
func TestStatusCountersConcurrently(t *testing.T) {
	var s protocol.Status
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 1000 {
				s.Begin(0)
				s.End(time.Duration(g*1000+i), i%4 == 0)
			}
		})
	}
	wg.Wait()
	c := s.Counters()
	assert.Zero(t, c.Active)
	assert.EqualValues(t, 8000, c.Total)
	assert.EqualValues(t, 2000, c.Failed)
	assert.EqualValues(t, 7999, c.MaxElapsed)
	assert.EqualValues(t, 8000*7999/2, c.Elapsed)
}

// How long calls are under way is known exactly, whatever their number and age.
func TestUnderWay(t *testing.T) {
	var s protocol.Status
	now := time.Now()
	is := func(calls int, age time.Duration) {
		t.Helper()
		n, a := s.UnderWay(now)
		assert.Equal(t, calls, n)
		assert.InDelta(t, age, a, float64(time.Millisecond))
	}
	is(0, 0)
	const days = 24 * time.Hour
	begun := []time.Time{now.Add(-50 * days), now.Add(-30 * days), now, now.Add(400 * days)}
	for _, at := range begun[:2] {
		for range 1000 {
			s.Entered(at)
		}
	}
	is(2000, 40*days)
	for range 1000 {
		s.Left(begun[0])
		s.Entered(begun[2])
	}
	is(2000, 15*days)
	for range 1000 {
		s.Left(begun[1])
		s.Left(begun[2])
	}
	is(0, 0)
	s.Entered(begun[3])
	now = begun[3].Add(7 * time.Second)
	is(1, 7*time.Second)
}
