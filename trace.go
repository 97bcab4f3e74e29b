package gofer

import (
	"errors"
	"fmt"

	"github.com/gofer-rpc/gofer/cluster"
)

// Trace is one call with the decisions behind it: plain data. See [WithTrace].
type Trace = cluster.Trace

// TracedAttempt is one attempt of a call in a [Trace].
type TracedAttempt = cluster.TracedAttempt

// WithTrace explains real calls: one of so many, drawn at random, 1 for all. f is told how each attempt was decided, at the moment when it was,
// where it went and how it ended. It is called when the call has ended, on the
// caller's goroutine and concurrently; a panic there is logged. A traced call allocates
// some hundred bytes per provider; others pay for a random number, and without
// this option nobody does.
func WithTrace(every int, f func(Trace)) Option {
	return func(c *options) {
		switch {
		case f == nil:
			c.problems = append(c.problems, errors.New("WithTrace is given no function: give it one, or leave the option out"))
		case every < 1:
			c.problems = append(c.problems, fmt.Errorf("WithTrace traces one of every %d calls: write 1 for all, 100 for one of a hundred", every))
		}
		c.trace, c.traceEvery = f, every
	}
}
