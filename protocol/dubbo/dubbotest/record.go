package dubbotest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// Call is a request as it came in.
type Call struct {
	Connection int       // number of the connection, from 1
	ID         uint64    // of the request
	OneWay     bool      // wants no answer
	Flags      byte      // third byte of the frame
	Length     int       // of the body, in bytes
	Arrived    time.Time // when it had been read

	Dubbo      string // protocol version
	Path       string // interface in the body
	Version    string // of the service, in the body
	Method     string // as on the wire: also $invoke, $echo
	Descriptor string
	// Arguments are the natural Go values: what a result of type any would be.
	Arguments []any
	// Attachments are strings as a rule.
	Attachments map[string]any

	// Signature is the method that is meant, in Java's words, such as find(long):
	// the real one of a generic call, whose types may be unknown: find.
	Signature string
	// Misfit says which argument did not fit the Go type of the function that
	// serves the method: Dubbo 2 calls it with null in its place.
	Misfit error

	generic bool
	types   []string // of the parameters; nil when a generic call does not say
}

// Name is the name of the method that is meant: not $invoke.
func (c Call) Name() string {
	name, _, _ := strings.Cut(c.Signature, "(")
	return name
}

// Generic reports whether the call came as $invoke.
func (c Call) Generic() bool { return c.generic }

// Attachment returns an attachment that is a string, "" if there is none.
func (c Call) Attachment(key string) string {
	s, _ := c.Attachments[key].(string)
	return s
}

// is reports whether the call is one of a method given by its name or signature.
func (c *Call) is(method string) bool {
	return method == c.Signature || method == c.Name() || method == c.Method
}

// Counters are a provider's figures, over restarts.
type Counters struct {
	Calls    int // requests that came in, refused and one-way ones too
	InFlight int // of them, those that run now
	Peak     int // most that ran at once
	Refused  int // not served: unknown, wrong token, a limit was reached

	Connections      int // open now
	Accepted         int // connections ever
	Heartbeats       int // from consumers
	HeartbeatAnswers int // from consumers
}

// records is what the provider has seen. It is guarded by the provider's lock.
type records struct {
	calls   []*Call // a ring, once it is full
	next    int
	keep    int
	count   Counters
	running running
	turn    chan struct{} // closed at the next change
}

func newRecords(keep int) records { return records{keep: keep, turn: make(chan struct{})} }

func (r *records) add(c *Call) {
	r.count.Calls++
	switch {
	case r.keep == 0:
	case len(r.calls) < r.keep:
		r.calls = append(r.calls, c)
	default:
		r.calls[r.next] = c
		r.next = (r.next + 1) % r.keep
	}
	r.changed()
}

// changed wakes those who wait for something to happen.
func (r *records) changed() {
	close(r.turn)
	r.turn = make(chan struct{})
}

// Calls returns what came in, in order: the latest calls, see [WithRecords]; of
// certain methods alone if they are given, by name or signature.
func (p *Provider) Calls(methods ...string) []Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &p.records
	var calls []Call
	for _, c := range slices.Concat(r.calls[r.next:], r.calls[:r.next]) {
		if len(methods) == 0 || slices.ContainsFunc(methods, c.is) {
			calls = append(calls, *c)
		}
	}
	return calls
}

// LastCall returns the latest call; the zero Call before the first.
func (p *Provider) LastCall() (c Call) {
	if all := p.Calls(); len(all) > 0 {
		c = all[len(all)-1]
	}
	return c
}

// Counters returns the figures at this moment.
func (p *Provider) Counters() Counters {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counters()
}

func (p *Provider) counters() Counters {
	c := p.records.count
	c.InFlight, c.Connections, c.Accepted = p.records.running.all, len(p.conns), p.accepted
	return c
}

// Await waits until the figures are as done wants them. The error is the context's,
// or says that done is nil.
func (p *Provider) Await(ctx context.Context, done func(Counters) bool) error {
	if done == nil {
		return errors.New("dubbotest: Await(nil): it takes a function that tells whether the figures are those waited for")
	}
	for {
		p.mu.Lock()
		c, turn := p.counters(), p.records.turn
		p.mu.Unlock()
		if done(c) {
			return nil
		}
		select {
		case <-turn:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Forget drops the records and sets the counters to zero, but for what is there now.
func (p *Provider) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &p.records
	r.calls, r.next, r.count, p.accepted = nil, 0, Counters{Peak: r.running.all}, len(p.conns)
	r.changed()
}
