package protocol_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// endpoint is a provider without a wire.
type endpoint struct {
	state   atomic.Int32
	urls    []url.URL // given to Update
	reached int
}

func (e *endpoint) Invoke(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	e.reached++
	return &inv.Result, nil
}
func (e *endpoint) State() protocol.State { return protocol.State(e.state.Load()) }
func (e *endpoint) StateReason() error    { return errors.New("for people") }
func (e *endpoint) Update(u url.URL)      { e.urls = append(e.urls, u) }
func (e *endpoint) Close()                {}

func providerURL(i int, params map[string]string) url.URL {
	return url.New("dubbo", fmt.Sprintf("192.0.2.%d", i), 20880, "com.example.S", params)
}

// newNode returns provider i with parameters.
func newNode(i int, methods *protocol.MethodTable, params map[string]string) *protocol.Node {
	u := providerURL(i, params)
	return protocol.NewNode(u.Address(), u, time.Time{}, methods, new(endpoint), nil)
}

func newNodes(n int, methods *protocol.MethodTable, params map[string]string) []*protocol.Node {
	nodes := make([]*protocol.Node, n)
	for i := range nodes {
		nodes[i] = newNode(i+1, methods, params)
	}
	return nodes
}

var birth = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func TestNodeIdentity(t *testing.T) {
	var methods protocol.MethodTable
	e := new(endpoint)
	u := providerURL(1, nil)
	n := protocol.NewNode("key", u, birth, &methods, e, nil)
	assert.Equal(t, "key", n.Key())
	assert.Equal(t, "192.0.2.1:20880", n.Address())
	assert.True(t, u.Equal(n.URL()))
	assert.Same(t, e, n.Endpoint())
	assert.Equal(t, birth, n.Life().Start)
	for _, s := range []protocol.State{protocol.Ready, protocol.ReadOnly, protocol.Down} {
		e.state.Store(int32(s))
		assert.Equal(t, s, n.State())
	}
}

func TestNodeInvoke(t *testing.T) {
	e := new(endpoint)
	var methods protocol.MethodTable
	var log []string
	wrap := func(next protocol.Invoker) protocol.Invoker {
		return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			log = append(log, "filter")
			return next.Invoke(ctx, inv)
		})
	}
	inv := new(protocol.Invocation)
	r, err := protocol.NewNode("k", providerURL(1, nil), birth, &methods, e, wrap).Invoke(t.Context(), inv)
	require.NoError(t, err)
	assert.Same(t, &inv.Result, r)
	assert.Equal(t, []string{"filter"}, log)
	assert.Equal(t, 1, e.reached)

	_, err = protocol.NewNode("k", providerURL(1, nil), birth, &methods, e, nil).Invoke(t.Context(), inv)
	require.NoError(t, err)
	assert.Equal(t, 2, e.reached)
}

// B041: new parameters are in force at once, at the same endpoint and with the
// calls under way still counted.
func TestNodeUpdate(t *testing.T) {
	var methods protocol.MethodTable
	find, save := methods.Slot("find"), methods.Slot("save")
	n := newNode(1, &methods, map[string]string{"weight": "100"})
	e := n.Endpoint()
	require.True(t, n.Status(find).Begin(0))
	u := providerURL(1, map[string]string{"weight": "50", "save.weight": "7", "find.actives": "1"})
	n.Update(u, time.Time{})
	assert.True(t, u.Equal(n.URL()))
	assert.Equal(t, 50, n.Method(find).Weight)
	assert.Equal(t, 7, n.Method(save).Weight)
	assert.Same(t, e, n.Endpoint())
	assert.Len(t, e.(*endpoint).urls, 1)
	assert.Equal(t, 1, n.Status(find).Active())
	assert.True(t, n.Saturated(find))
	assert.False(t, n.Saturated(save))
}

// A provider that was started again begins with fresh counters; what is still under
// way ends in the life it began in.
func TestNodeLife(t *testing.T) {
	var methods protocol.MethodTable
	slot := methods.Slot("find")
	n := newNode(1, &methods, nil)
	n.Update(n.URL(), birth)
	first := n.Status(slot)
	require.True(t, first.Begin(0))

	n.Update(n.URL(), birth.In(time.FixedZone("elsewhere", 3600)))
	assert.Same(t, first, n.Status(slot), "the same moment is the same life")

	n.Update(n.URL(), birth.Add(time.Millisecond))
	second := n.Status(slot)
	assert.NotSame(t, first, second)
	assert.Equal(t, birth.Add(time.Millisecond), n.Life().Start)
	first.End(time.Second, true)
	assert.Zero(t, second.Counters())
	assert.Zero(t, first.Active())
}

// Methods that were not known when the node was made, or that share the last slot.
func TestNodeMethodLater(t *testing.T) {
	var methods protocol.MethodTable
	n := newNode(1, &methods, map[string]string{"timeout": "100", "late.timeout": "200", "m300.timeout": "300"})
	slot := methods.Slot("late")
	assert.Equal(t, 200*time.Millisecond, n.Method(slot).Timeout)
	assert.Same(t, n.Method(slot), n.Method(slot), "compiled once")
	for i := range 400 {
		methods.Slot(fmt.Sprint("m", i))
	}
	shared := methods.Slot("m300")
	assert.Equal(t, protocol.MaxMethods-1, shared)
	assert.Equal(t, 100*time.Millisecond, n.Method(shared).Timeout, "names that share a slot have no parameters of their own")
	n.Update(providerURL(1, map[string]string{"timeout": "50"}), time.Time{})
	assert.Equal(t, 50*time.Millisecond, n.Method(slot).Timeout)
	assert.Equal(t, 50*time.Millisecond, n.Method(shared).Timeout)
}

func TestNodeSaturated(t *testing.T) {
	for name, params := range map[string]map[string]string{
		"of the interface": {"actives": "2"},
		"of the method":    {"actives": "5", "find.actives": "2"},
		"default":          {"default.actives": "2"},
	} {
		t.Run(name, func(t *testing.T) {
			var methods protocol.MethodTable
			n := newNode(1, &methods, params)
			slot := methods.Slot("find")
			for i := range 3 {
				assert.Equal(t, i == 2, n.Saturated(slot), "%d under way", i)
				assert.Equal(t, i < 2, n.Status(slot).Begin(n.Method(slot).Actives))
			}
			n.Status(slot).End(0, false)
			assert.False(t, n.Saturated(slot))
		})
	}
	var methods protocol.MethodTable
	for _, params := range []map[string]string{nil, {"actives": "0"}, {"save.actives": "1"}} {
		n := newNode(1, &methods, params)
		slot := methods.Slot("find")
		for range 10 {
			require.True(t, n.Status(slot).Begin(n.Method(slot).Actives))
		}
		assert.False(t, n.Saturated(slot), "%v", params)
	}
}

func TestLifeStatuses(t *testing.T) {
	var l protocol.Life
	for range l.Statuses {
		t.Fatal("no method was called")
	}
	five, two := l.Status(5), l.Status(2)
	got := map[int]*protocol.Status{}
	for slot, s := range l.Statuses {
		got[slot] = s
	}
	assert.Equal(t, map[int]*protocol.Status{2: two, 5: five}, got)
	assert.Same(t, five, l.Status(5))
	for slot := range l.Statuses {
		assert.Equal(t, 2, slot)
		break
	}
}

// Everything at once: lost updates, torn views and races would show.
func TestNodeConcurrently(t *testing.T) {
	var methods protocol.MethodTable
	n := newNode(1, &methods, map[string]string{"weight": "1", "timeout": "1"})
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		for i := 1; i <= 200; i++ {
			both := fmt.Sprint(i)
			n.Update(providerURL(1, map[string]string{"weight": both, "timeout": both}), birth.Add(time.Duration(i/50)*time.Hour))
		}
	})
	for g := range 3 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				slot := methods.Slot(fmt.Sprint("m", (g+i)%20))
				m := n.Method(slot)
				assert.Equal(t, time.Duration(m.Weight)*time.Millisecond, m.Timeout, "parameters of two URLs in one view")
				s := n.Status(slot)
				s.Begin(0)
				n.Saturated(slot)
				s.End(1, false)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 200, n.Method(methods.Slot("m1")).Weight)
	for _, s := range n.Life().Statuses {
		assert.Zero(t, s.Active())
	}
}

func TestStateString(t *testing.T) {
	assert.Equal(t, "ready", protocol.Ready.String())
	assert.Equal(t, "readonly", protocol.ReadOnly.String())
	assert.Equal(t, "down", protocol.Down.String())
}
