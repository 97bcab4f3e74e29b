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
		protocol.EndedWithValue:     {Total: 1, Elapsed: took, MaxElapsed: took, MaxAnswered: took},
		protocol.EndedInFailure:     {Total: 1, Elapsed: took, MaxElapsed: took, Failed: 1, FailedElapsed: took},
		protocol.EndedOneWay:        {Total: 1, OneWay: 1},
		protocol.EndedWithException: {Total: 1, Elapsed: took, MaxElapsed: took, MaxAnswered: took, Exceptions: 1, ExceptionsElapsed: took},
		protocol.EndedUselessly:     {Total: 1, Elapsed: took, MaxElapsed: took, Failed: 1, FailedElapsed: took, Useless: 1, UselessElapsed: took},
		protocol.EndedRefused:       {Total: 1, Elapsed: took, MaxElapsed: took, Failed: 1, FailedElapsed: took, Refused: 1, RefusedElapsed: took},
		protocol.EndedGivenUp:       {Total: 1, Elapsed: took, MaxElapsed: took, Failed: 1, FailedElapsed: took, GivenUp: 1, GivenUpElapsed: took},
	} {
		var s protocol.Status
		require.True(t, s.Begin(0))
		s.EndWith(ending, time.Now(), took)
		assert.Equal(t, want, s.Counters(), "ending %d", ending)
	}
}

// Rows are ended by what says that the provider does otherwise, and by nothing else.
func TestStatusRows(t *testing.T) {
	var s protocol.Status
	start := time.Now()
	assert.Equal(t, protocol.Lately{Value: -1}, s.Lately(start))
	for i, c := range []struct {
		ending                protocol.Ending
		worthless, unanswered protocol.Row
		value                 time.Duration
	}{
		{protocol.EndedWithException, row(1, 0), row(0, 0), -1},
		{protocol.EndedUselessly, row(2, 1), row(0, 0), -1},
		{protocol.EndedRefused, row(2, 2), row(0, 0), -1},
		{protocol.EndedOneWay, row(2, 3), row(0, 0), -1},
		{protocol.EndedInFailure, row(2, 4), row(0, 0), -1},
		{protocol.EndedGivenUp, row(2, 5), row(1, 0), -1},
		{protocol.EndedGivenUp, row(2, 6), row(2, 1), -1},
		{protocol.EndedOneWay, row(2, 7), row(2, 2), -1},
		{protocol.EndedWithException, row(3, 8), row(0, 0), -1},
		{protocol.EndedGivenUp, row(3, 9), row(1, 0), -1},
		{protocol.EndedWithValue, row(0, 0), row(0, 0), 0},
		{protocol.EndedGivenUp, row(0, 0), row(1, 0), 1},
		{protocol.EndedWithException, row(1, 0), row(0, 0), 2},
	} {
		ended := start.Add(time.Duration(i) * 10 * time.Second)
		s.Begin(0)
		s.EndWith(c.ending, ended.Add(-time.Millisecond), time.Millisecond)
		got := s.Lately(ended)
		assert.Equal(t, c.worthless, roughly(got.Worthless), "worthless after %d", i)
		assert.Equal(t, c.unanswered, roughly(got.Unanswered), "unanswered after %d", i)
		if c.value < 0 {
			assert.Equal(t, time.Duration(-1), got.Value)
		} else {
			assert.InDelta(t, c.value*10*time.Second, got.Value, float64(time.Second))
		}
	}
}

func row(calls int64, tens time.Duration) protocol.Row {
	return protocol.Row{Calls: calls, For: tens * 10 * time.Second}
}

// roughly leaves out what a one-way call has taken.
func roughly(r protocol.Row) protocol.Row {
	r.For = r.For.Round(time.Second)
	return r
}

// No one-way call is in the mean: how long it took nobody knows.
func TestAverageElapsedWithoutOneWay(t *testing.T) {
	var s protocol.Status
	s.EndWith(protocol.EndedOneWay, time.Now(), time.Millisecond)
	assert.Zero(t, s.Counters().AverageElapsed())
	s.EndWith(protocol.EndedWithValue, time.Now(), 10*time.Millisecond)
	s.EndWith(protocol.EndedOneWay, time.Now(), time.Millisecond)
	assert.Equal(t, 10*time.Millisecond, s.Counters().AverageElapsed())
}

// The first of a kind may come from everywhere at once.
func TestStatusEndingsConcurrently(t *testing.T) {
	var s protocol.Status
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			s.Begin(0)
			s.EndWith(protocol.EndedWithException, time.Now(), time.Millisecond)
		})
	}
	wg.Wait()
	c := s.Counters()
	assert.EqualValues(t, 64, c.Exceptions)
	assert.Equal(t, 64*time.Millisecond, c.ExceptionsElapsed)
	assert.EqualValues(t, 64, s.Lately(time.Now()).Worthless.Calls)
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

// Values and exceptions are answers; failures and one-way calls are none.
func TestAnswers(t *testing.T) {
	c := protocol.Counters{Total: 10, Failed: 3, OneWay: 2, Elapsed: 8 * time.Second, FailedElapsed: 3 * time.Second}
	calls, mean := c.Answers()
	assert.EqualValues(t, 5, calls)
	assert.Equal(t, time.Second, mean)
	_, mean = protocol.Counters{Total: 3, Failed: 3, Elapsed: time.Second, FailedElapsed: time.Second}.Answers()
	assert.Zero(t, mean)
}

func TestCanceledLate(t *testing.T) {
	canceled := &protocol.Error{Code: protocol.ErrCanceled, Sent: true}
	for _, tt := range []struct {
		what    string
		verdict protocol.Verdict
		err     error
		took    time.Duration
		late    bool
	}{
		{"late", protocol.Neutral, canceled, 20 * time.Millisecond, true},
		{"soon", protocol.Neutral, canceled, 20*time.Millisecond - 1, false},
		{"not sent", protocol.Neutral, &protocol.Error{Code: protocol.ErrCanceled}, time.Second, false},
		{"another error", protocol.Neutral, &protocol.Error{Code: protocol.ErrExpired, Sent: true}, time.Second, false},
		{"panic", protocol.Neutral, nil, time.Second, false},
		{"answered", protocol.Succeeded, nil, time.Second, false},
	} {
		o := protocol.Outcome{Verdict: tt.verdict, Err: tt.err, Elapsed: tt.took}
		assert.Equal(t, tt.late, protocol.CanceledLate(o, 10*time.Millisecond), tt.what)
	}
}
