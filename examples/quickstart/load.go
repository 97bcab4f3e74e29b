package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/protocol"
)

// sample is one call at one provider.
type sample struct {
	provider string        // its address
	begun    time.Duration // since the meter was reset
	took     time.Duration
	active   int // calls that this one made it there at once
	failed   bool
}

// meter sees every call at the provider that was chosen for it: it is a filter, and
// stands between the load balancer and the wire.
type meter struct {
	mu      sync.Mutex
	zero    time.Time
	active  map[string]int
	samples []sample
}

func newMeter() *meter { return &meter{zero: time.Now(), active: map[string]int{}} }

// filter is the factory given to gofer.WithFilter. A Pair can have a part that sees
// each call once and one that sees each attempt: with retries a call has several.
func (m *meter) filter(filter.Config) (filter.Pair, error) {
	attempt := func(next protocol.Invoker) protocol.Invoker {
		return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (res *protocol.Result, err error) {
			s := m.begin(inv.Node.Address())
			defer func() { m.end(s, err) }()
			return next.Invoke(ctx, inv)
		})
	}
	return filter.Pair{Attempt: attempt}, nil
}

func (m *meter) begin(provider string) sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.active[provider]++
	return sample{provider: provider, begun: time.Since(m.zero), active: m.active[provider]}
}

func (m *meter) end(s sample, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.active[s.provider]--
	s.took, s.failed = time.Since(m.zero)-s.begun, err != nil
	m.samples = append(m.samples, s)
}

// reset begins a new measurement. No call may be under way.
func (m *meter) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.zero, m.samples = time.Now(), nil
}

func (m *meter) now() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.zero)
}

func (m *meter) taken() []sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.samples
}

// load is a number of callers, each of which makes one call after the other. A
// goroutine per caller is all it takes: references and methods are safe for
// concurrent use.
type load struct {
	callers sync.WaitGroup
	done    chan struct{}
	calls   atomic.Int64

	mu     sync.Mutex
	failed int
	first  error
}

func startLoad(ctx context.Context, callers int, call caller) *load {
	l := &load{done: make(chan struct{})}
	for range callers {
		l.callers.Go(func() {
			for ctx.Err() == nil && !l.ended() {
				_, err := call(ctx)
				l.calls.Add(1)
				if err != nil && ctx.Err() == nil {
					l.fail(err)
					_ = pause(ctx, usual) // failures may come fast
				}
			}
		})
	}
	return l
}

func (l *load) ended() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func (l *load) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed++; l.first == nil {
		l.first = err
	}
}

// stop waits for the calls under way; it tells how many calls were made, how many
// failed and the first failure.
func (l *load) stop() (calls, failed int, first error) {
	close(l.done)
	l.callers.Wait()
	return int(l.calls.Load()), l.failed, l.first
}

// pause waits, unless ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
