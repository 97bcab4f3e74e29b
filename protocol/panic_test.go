package protocol

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func recovering(value any) (e *Error) {
	defer func() { e = Recovered(recover()) }()
	panic(value)
}

func TestRecovered(t *testing.T) {
	e := recovering(io.ErrUnexpectedEOF)
	assert.ErrorIs(t, e, ErrUnknown)
	assert.ErrorIs(t, e, io.ErrUnexpectedEOF)
	assert.Equal(t, RetryNever, e.Retry)
	var p *PanicError
	require.ErrorAs(t, e, &p)
	assert.Contains(t, string(p.Stack), "recovering", "the stack of the panic")
	assert.NotContains(t, e.Error(), "goroutine", "the stack is for the log")
	assert.Contains(t, e.Error(), "panic: unexpected EOF")

	var m map[string]int
	e = func() (e *Error) {
		defer func() { e = Recovered(recover()) }()
		m["a"] = 1
		return nil
	}()
	assert.Contains(t, e.Error(), "nil map")
}

// B150: a value that refers to itself cannot be printed without end.
func TestPanicWithACyclicValue(t *testing.T) {
	cycle := []any{nil}
	cycle[0] = cycle
	assert.Contains(t, recovering(cycle).Error(), "a value of type []interface {}")
	assert.Less(t, len(recovering(strings.Repeat("x", 1<<20)).Error()), 700)
	assert.NoError(t, errors.Unwrap(recovering(1).Cause))
}
