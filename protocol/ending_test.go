package protocol_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// Each ending has a counter of its own; those that count as failures are among Failed.
func TestStatusEndings(t *testing.T) {
	const took = 7 * time.Millisecond
	for ending, want := range map[protocol.Ending]protocol.Counters{
		protocol.EndedWithValue:     {Total: 1, Elapsed: took, MaxElapsed: took},
		protocol.EndedInFailure:     {Total: 1, Elapsed: took, MaxElapsed: took, Failed: 1, FailedElapsed: took},
		protocol.EndedOneWay:        {Total: 1, OneWay: 1},
		protocol.EndedWithException: {Total: 1, Elapsed: took, MaxElapsed: took, Exceptions: 1, ExceptionsElapsed: took, Worthless: 1},
		protocol.EndedUselessly:     {Total: 1, Elapsed: took, MaxElapsed: took, Failed: 1, FailedElapsed: took, Useless: 1, UselessElapsed: took, Worthless: 1},
		protocol.EndedRefused:       {Total: 1, Elapsed: took, MaxElapsed: took, Failed: 1, FailedElapsed: took, Refused: 1, RefusedElapsed: took},
		protocol.EndedGivenUp:       {Total: 1, Elapsed: took, MaxElapsed: took, Failed: 1, FailedElapsed: took, GivenUp: 1, GivenUpElapsed: took, Unanswered: 1},
	} {
		var s protocol.Status
		require.True(t, s.Begin(0))
		s.EndWith(ending, took)
		assert.Equal(t, want, s.Counters(), "ending %d", ending)
	}
}

// Rows are ended by what says that the provider does otherwise, and by nothing else.
func TestStatusRows(t *testing.T) {
	var s protocol.Status
	for _, c := range []struct {
		ending                protocol.Ending
		worthless, unanswered int64
	}{
		{protocol.EndedWithException, 1, 0},
		{protocol.EndedUselessly, 2, 0},
		{protocol.EndedRefused, 2, 0},
		{protocol.EndedOneWay, 2, 0},
		{protocol.EndedInFailure, 2, 0},
		{protocol.EndedGivenUp, 2, 1},
		{protocol.EndedGivenUp, 2, 2},
		{protocol.EndedOneWay, 2, 2},
		{protocol.EndedWithException, 3, 0},
		{protocol.EndedGivenUp, 3, 1},
		{protocol.EndedWithValue, 0, 0},
		{protocol.EndedGivenUp, 0, 1},
	} {
		s.Begin(0)
		s.EndWith(c.ending, time.Millisecond)
		got := s.Counters()
		assert.Equal(t, [2]int64{c.worthless, c.unanswered}, [2]int64{got.Worthless, got.Unanswered}, "after ending %d", c.ending)
	}
}

// No one-way call is in the mean: how long it took nobody knows.
func TestAverageElapsedWithoutOneWay(t *testing.T) {
	var s protocol.Status
	s.EndWith(protocol.EndedOneWay, time.Millisecond)
	assert.Zero(t, s.Counters().AverageElapsed())
	s.EndWith(protocol.EndedWithValue, 10*time.Millisecond)
	s.EndWith(protocol.EndedOneWay, time.Millisecond)
	assert.Equal(t, 10*time.Millisecond, s.Counters().AverageElapsed())
}

// The first of a kind may come from everywhere at once.
func TestStatusEndingsConcurrently(t *testing.T) {
	var s protocol.Status
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			s.Begin(0)
			s.EndWith(protocol.EndedWithException, time.Millisecond)
		})
	}
	wg.Wait()
	c := s.Counters()
	assert.EqualValues(t, 64, c.Exceptions)
	assert.Equal(t, 64*time.Millisecond, c.ExceptionsElapsed)
	assert.EqualValues(t, 64, c.Worthless)
	assert.Zero(t, c.Active)
}

func TestEndingOf(t *testing.T) {
	var methods protocol.MethodTable
	slot := methods.Slot("find")
	n := newNode(1, &methods, map[string]string{"timeout": "1000", "find.timeout": "2000"})
	remote := &protocol.RemoteError{Class: "java.sql.SQLException"}
	for _, c := range []struct {
		err     error
		elapsed time.Duration
		oneWay  bool
		want    protocol.Ending
	}{
		{nil, 0, false, protocol.EndedWithValue},
		{nil, 0, true, protocol.EndedOneWay},
		{&protocol.Error{Code: protocol.ErrBusiness, Cause: remote}, 0, false, protocol.EndedWithException},
		{remote, 0, false, protocol.EndedWithException},
		{&protocol.Error{Code: protocol.ErrSerialization, Sent: true, Retry: protocol.RetryNever}, 0, false, protocol.EndedUselessly},
		{&protocol.Error{Code: protocol.ErrLimitExceeded, Sent: true, Retry: protocol.RetryAlways}, 0, false, protocol.EndedRefused},
		{&protocol.Error{Code: protocol.ErrTimeout}, 1700 * time.Millisecond, false, protocol.EndedGivenUp},
		{&protocol.Error{Code: protocol.ErrTimeout}, 1900 * time.Millisecond, false, protocol.EndedInFailure},
		{&protocol.Error{Code: protocol.ErrCanceled}, time.Millisecond, false, protocol.EndedGivenUp},
		{context.Canceled, time.Millisecond, false, protocol.EndedGivenUp},
		{&protocol.Error{Code: protocol.ErrExpired}, 0, false, protocol.EndedInFailure},
		{&protocol.Error{Code: protocol.ErrBadArgument}, 0, false, protocol.EndedInFailure},
		{&protocol.Error{Code: protocol.ErrNetwork}, 0, false, protocol.EndedInFailure},
		{&protocol.Error{Code: protocol.ErrNetwork}, 0, true, protocol.EndedInFailure},
		{errors.New("odd"), 0, false, protocol.EndedInFailure},
	} {
		inv := &protocol.Invocation{Method: &protocol.Method{Slot: slot}, Node: n, OneWay: c.oneWay}
		o := protocol.Outcome{Verdict: protocol.Judge(c.err), Err: c.err, Elapsed: c.elapsed}
		assert.Equal(t, c.want, protocol.EndingOf(inv, o), "%v after %s", c.err, c.elapsed)
	}
	inv := &protocol.Invocation{Method: &protocol.Method{Slot: slot}, Node: n}
	assert.Equal(t, protocol.EndedInFailure, protocol.EndingOf(inv, protocol.Outcome{Verdict: protocol.Neutral}), "a panic")
}
