package loadbalance_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// acting is a provider that does what the test says.
type acting struct {
	endpoint
	act func(ctx context.Context, inv *protocol.Invocation) error
}

func (a *acting) Invoke(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	if err := a.act(ctx, inv); err != nil {
		return nil, err
	}
	return &inv.Result, nil
}

// endings are the ways in which an attempt may end.
var endings = map[string]func(context.Context, *protocol.Invocation) error{
	"value": func(context.Context, *protocol.Invocation) error { return nil },
	"exception": func(context.Context, *protocol.Invocation) error {
		return &protocol.Error{Code: protocol.ErrBusiness, Cause: &protocol.RemoteError{}}
	},
	"refused": func(context.Context, *protocol.Invocation) error {
		return &protocol.Error{Code: protocol.ErrLimitExceeded}
	},
	"network": func(context.Context, *protocol.Invocation) error {
		return &protocol.Error{Code: protocol.ErrNetwork, Sent: true}
	},
	"timeout": func(_ context.Context, inv *protocol.Invocation) error {
		time.Sleep(time.Until(inv.Deadline)) // the bubble's
		return &protocol.Error{Code: protocol.ErrTimeout, Sent: true}
	},
	"cancelled": func(ctx context.Context, _ *protocol.Invocation) error {
		<-ctx.Done()
		return ctx.Err()
	},
	"other": func(context.Context, *protocol.Invocation) error { return errors.New("other") },
	"panic": func(context.Context, *protocol.Invocation) error { panic("in a filter further in") },
}

// Every observer's figures come home: after attempts that ended in every way there is, at
// once and from many goroutines, nothing is under way; and meanwhile all is.
func TestObserversBalance(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(loadbalance.Builtin())) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testObserverBalances(t, name) })
		})
	}
}

func testObserverBalances(t *testing.T, name string) {
	f := newFleet()
	lb := balancer(t, name, loadbalance.Config{})
	if o, ok := lb.(protocol.Observer); ok {
		f.table.Observe(o)
	}
	gate := make(chan struct{})
	provider := &acting{act: func(ctx context.Context, inv *protocol.Invocation) error {
		<-gate
		return endings[inv.Arguments[0].(string)](ctx, inv)
	}}
	for i := range 3 {
		address := fmt.Sprintf("10.0.0.%d", i+1)
		u := url.New("dubbo", address, 20880, "com.example.S", params{"timeout": "500", "warmup": "0"})
		f.nodes = append(f.nodes, protocol.NewNode(address, u, time.Now(), &f.table, provider, filter.ActiveLimit))
	}
	c := f.list()
	ctx, cancel := context.WithCancel(t.Context())
	const rounds = 10
	var calls sync.WaitGroup
	for range rounds {
		for ending := range endings {
			calls.Go(func() {
				inv := &protocol.Invocation{Method: f.method, Arguments: []any{ending}, Start: time.Now()}
				n := lb.Select(c, inv)
				require.NotNil(t, n)
				inv.StartAttempt(n, time.Now(), time.Now().Add(500*time.Millisecond))
				defer inv.EndAttempt()
				defer func() { assert.Equal(t, ending == "panic", recover() != nil) }()
				_, err := n.Invoke(ctx, inv)
				assert.Equal(t, ending == "value", err == nil)
			})
		}
	}
	synctest.Wait()
	before := active(lb, c, f)
	n := f.nodes[1] // a restart: what is under way ends in the life before
	n.Update(n.URL(), time.Now().Add(time.Second))
	close(gate)
	synctest.Wait()
	cancel()
	calls.Wait()
	if before == nil {
		return
	}
	sum := 0
	for _, a := range before {
		sum += a
	}
	assert.Equal(t, rounds*len(endings), sum, "under way before they ended")
	assert.Equal(t, []int{0, 0, 0}, active(lb, c, f))
}

// active returns how many calls a strategy thinks are under way; nil if it does not
// look at that.
func active(lb loadbalance.LoadBalance, c *protocol.Candidates, f *fleet) (counts []int) {
	_, observes := lb.(protocol.Observer)
	x, explains := lb.(loadbalance.Explainer)
	if !observes || !explains {
		return nil
	}
	for _, candidate := range x.Explain(c, f.call()).Candidates {
		counts = append(counts, candidate.Active)
	}
	return counts
}
