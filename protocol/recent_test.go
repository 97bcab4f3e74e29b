package protocol_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/protocol"
)

// What is recent is what has ended since the time that is told, whenever the calls come
// and whenever one looks.
func TestStatusRecent(t *testing.T) {
	type call struct {
		at     time.Time
		ending protocol.Ending
		took   time.Duration
	}
	rapid.Check(t, func(t *rapid.T) {
		var s protocol.Status
		var all []call
		now := time.Now().AddDate(rapid.SampledFrom([]int{0, -30}).Draw(t, "years"), 0, 0) // as virtual time is
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 20, 60, 100, 230, 240, 250, 490, 1000}).Draw(t, "pause")) * time.Second)
			if rapid.Bool().Draw(t, "look") {
				got, since := s.Recent(now)
				require.GreaterOrEqual(t, now.Sub(since), protocol.RecentPeriod)
				require.LessOrEqual(t, now.Sub(since), 2*protocol.RecentPeriod)
				var want protocol.Status
				for _, c := range all {
					if !c.at.Before(since) {
						want.Begin(0)
						want.EndWith(c.ending, c.at.Add(-c.took), c.took)
					}
				}
				require.Equal(t, want.Counters(), got)
				continue
			}
			c := call{at: now, ending: protocol.Ending(rapid.IntRange(0, 6).Draw(t, "ending")), took: time.Duration(rapid.IntRange(1, 9).Draw(t, "took")) * time.Second}
			if c.ending == protocol.EndedOneWay {
				c.took = 0
			}
			s.Begin(0)
			s.EndWith(c.ending, now.Add(-c.took), c.took)
			all = append(all, c)
		}
		var want protocol.Status
		for _, c := range all {
			want.Begin(0)
			want.EndWith(c.ending, c.at.Add(-c.took), c.took)
		}
		require.Equal(t, want.Counters(), s.Counters(), "the figures of the life are not touched")
	})
}

// Without the times of calls everything counts.
func TestStatusRecentWithoutTimes(t *testing.T) {
	var s protocol.Status
	s.Begin(0)
	s.End(time.Second, false)
	c, _ := s.Recent(time.Now().Add(time.Hour))
	assert.Equal(t, s.Counters(), c)
}

// A call that is under way is, whenever it began.
func TestStatusRecentActive(t *testing.T) {
	var s protocol.Status
	now := time.Now()
	s.EndWith(protocol.EndedWithValue, now, time.Second)
	s.Begin(0)
	s.Begin(0)
	c, _ := s.Recent(now.Add(time.Hour))
	assert.Equal(t, protocol.Counters{Active: 1}, c) // one has ended without having begun
}

// Whoever turns the page: no call is lost, nor counted twice.
func TestStatusRecentConcurrently(t *testing.T) {
	var s protocol.Status
	start := time.Now()
	const periods, callers, calls = 5, 8, 500
	for period := range periods {
		var wg sync.WaitGroup
		at := start.Add(time.Duration(period) * protocol.RecentPeriod)
		for range callers {
			wg.Go(func() {
				for range calls {
					s.Begin(0)
					s.EndWith(protocol.EndedWithException, at, 0)
					_, _ = s.Recent(at)
				}
			})
		}
		wg.Wait()
		c, _ := s.Recent(at)
		want := min(period+1, 2) * callers * calls
		assert.InDelta(t, want, c.Total, callers, "those that end as the page is turned may be on either") // and are gone with it
		assert.InDelta(t, want, c.Exceptions, callers)
		assert.EqualValues(t, (period+1)*callers*calls, s.Counters().Total)
	}
}

// How often the last slot was taken tells that others were kept away.
func TestStatusFull(t *testing.T) {
	var s protocol.Status
	for range 3 {
		require.True(t, s.Begin(2))
		require.True(t, s.Begin(2))
		require.False(t, s.Begin(2))
		s.End(1, false)
		s.End(1, false)
	}
	require.True(t, s.Begin(0))
	assert.EqualValues(t, 3, s.Counters().Full)
}

// Failures in a row take the time up to the latest of them.
func TestStatusFailing(t *testing.T) {
	for _, ending := range []protocol.Ending{protocol.EndedWithValue, protocol.EndedWithException, protocol.EndedUselessly, protocol.EndedRefused} {
		var s protocol.Status
		start := time.Now()
		for i := range 3 {
			s.EndWith(protocol.EndedInFailure, start.Add(time.Duration(i)*time.Second), 0)
		}
		s.EndWith(protocol.EndedGivenUp, start.Add(5*time.Second), 0)
		s.EndWith(protocol.EndedOneWay, start.Add(6*time.Second), 0)
		assert.Equal(t, protocol.Row{Calls: 3, For: 2 * time.Second}, s.Lately(start.Add(time.Minute)).Failing)
		s.EndWith(ending, start.Add(7*time.Second), 0)
		assert.Zero(t, s.Lately(start.Add(time.Minute)).Failing, ending)
	}
}

// Refusals in a row are ended by an answer of another kind, and by nothing else.
func TestStatusRefusing(t *testing.T) {
	for ending, ends := range map[protocol.Ending]bool{
		protocol.EndedWithValue: true, protocol.EndedWithException: true, protocol.EndedUselessly: true,
		protocol.EndedGivenUp: false, protocol.EndedInFailure: false, protocol.EndedOneWay: false,
	} {
		var s protocol.Status
		start := time.Now()
		s.EndWith(protocol.EndedRefused, start, 0)
		s.EndWith(protocol.EndedRefused, start.Add(time.Second), 0)
		s.EndWith(ending, start.Add(2*time.Second), 0)
		want := protocol.Row{Calls: 2, For: 3 * time.Second}
		if ends {
			want = protocol.Row{}
		}
		assert.Equal(t, want, s.Lately(start.Add(3*time.Second)).Refusing, ending)
	}
}

func TestStatusEndAllocatesNothing(t *testing.T) {
	var s protocol.Status
	begun := time.Now()
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		s.Begin(0)
		s.EndWith(protocol.EndedWithValue, begun, time.Millisecond)
	}))
}
