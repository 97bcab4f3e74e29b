package cluster

import (
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
)

// The log of panics is bounded: code that panics may do so in every call.
const (
	panicPeriod = 10 * time.Second // in which the same panic is logged once
	maxPanics   = 20               // that are told apart; further ones share one
)

// panics logs panics of others' code. The first of each kind is logged with its stack,
// and then one line in a time with how many were not.
type panics struct {
	log *zap.Logger

	mu    sync.Mutex
	known map[string]*repeated
}

type repeated struct {
	logged time.Time
	missed int
}

// add logs a panic that was made an error with [protocol.Recovered].
func (p *panics) add(message string, recovered *protocol.Error, fields ...zap.Field) {
	e := recovered.Cause.(*protocol.PanicError)
	first, missed, ok := p.admit(message + e.Error())
	if !ok {
		return
	}
	fields = append(fields, zap.Error(e))
	if missed > 0 {
		fields = append(fields, zap.Int("notLogged", missed))
	}
	if first {
		fields = append(fields, zap.ByteString("stack", e.Stack))
	}
	p.log.Error(message, fields...)
}

// admit reports whether a kind of panic is to be logged now, whether it is the first of
// its kind, and how many were not logged since the last one.
func (p *panics) admit(kind string) (first bool, missed int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.known[kind]
	if r == nil && len(p.known) >= maxPanics {
		kind = ""
		r = p.known[kind]
	}
	now := time.Now()
	switch {
	case r == nil:
		if p.known == nil {
			p.known = map[string]*repeated{}
		}
		r, first = new(repeated), true
		p.known[kind] = r
	case now.Sub(r.logged) < panicPeriod:
		r.missed++
		return false, 0, false
	}
	missed = r.missed
	*r = repeated{logged: now}
	return first, missed, true
}

// made calls a factory of the application's, whose panic becomes an error. The stack is
// logged.
func made[T any](p *panics, what string, factory func() (T, error)) (out T, err error) {
	defer func() {
		if v := recover(); v != nil {
			e := protocol.Recovered(v)
			p.add("a factory panicked", e, zap.String("factory", what))
			err = fmt.Errorf("%s: its factory: %w", what, e.Cause)
		}
	}()
	return factory()
}
