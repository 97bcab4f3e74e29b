package protocol

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/url"
)

// idle is an endpoint that is only looked at.
type idle struct{ state atomic.Int32 }

func (e *idle) Invoke(context.Context, *Invocation) (*Result, error) { return nil, nil }
func (e *idle) State() State                                         { return State(e.state.Load()) }
func (e *idle) StateReason() error                                   { return nil }
func (e *idle) Update(url.URL)                                       {}
func (e *idle) Close()                                               {}

// line is a queue with the nodes that it is about.
type line struct {
	t       testing.TB
	methods *MethodTable
	method  *Method
	nodes   []*Node
	all     *Candidates
	queue   *Queue
}

// newLine returns a line for nodes with the given "actives", 0 for no limit.
func newLine(t testing.TB, limits ...int) *line {
	l := &line{t: t, methods: new(MethodTable)}
	l.method = &Method{Name: "m", Slot: l.methods.Slot("m")}
	for i, limit := range limits {
		u := url.New("dubbo", fmt.Sprintf("192.0.2.%d", i+1), 20880, "com.example.DemoService", map[string]string{"actives": fmt.Sprint(limit)})
		l.nodes = append(l.nodes, NewNode(u.Address(), u, time.Time{}, l.methods, new(idle), nil))
	}
	l.all = NewCandidates(l.nodes, nil)
	l.queue = l.methods.Queue(0)
	return l
}

func (l *line) call() *Invocation { return &Invocation{Method: l.method} }

// begin counts a call at a node that must have a slot.
func (l *line) begin(inv *Invocation, n *Node) {
	l.t.Helper()
	require.True(l.t, n.Status(0).Begin(n.Method(0).Actives), "a slot at %s", n.Address())
	inv.Counted()
}

func (l *line) end(n *Node) {
	n.Status(0).End(0, false)
	n.Freed(0)
}

// woken reports whether a call in line has been woken.
func woken(inv *Invocation) bool { return len(inv.waiter.wake) > 0 }

func TestQueueIsFirstComeFirstServed(t *testing.T) {
	l := newLine(t, 1)
	n := l.nodes[0]
	l.begin(l.call(), n)
	calls := []*Invocation{l.call(), l.call(), l.call()}
	for _, inv := range calls {
		require.False(t, l.queue.Enter(inv, l.all))
	}
	require.Equal(t, 3, l.queue.Waiting())
	for i, inv := range calls {
		l.end(n)
		for j, other := range calls[i:] {
			assert.Equal(t, j == 0, woken(other), "call %d after %d ends", i+j, i+1)
		}
		require.False(t, l.queue.Enter(l.call(), l.all), "nobody overtakes call %d", i)
		require.True(t, inv.Queued())
		l.begin(inv, n)
		require.False(t, inv.Queued())
	}
	assert.Equal(t, 3, l.queue.Waiting(), "those that tried to overtake")
	for l.queue.head != nil {
		l.queue.head.inv.Leave()
	}
	assert.Nil(t, l.queue.common, "an empty line keeps no list")
}

func TestQueueServesTheFirstThatMayUseTheSlot(t *testing.T) {
	l := newLine(t, 1, 1)
	a, b := l.nodes[0], l.nodes[1]
	l.begin(l.call(), a)
	l.begin(l.call(), b)
	onlyA, tried, down := l.call(), l.call(), l.call()
	tried.MarkTried(b)
	require.False(t, l.queue.Enter(onlyA, NewCandidates([]*Node{a}, nil)))
	require.False(t, l.queue.Enter(tried, l.all))
	require.False(t, l.queue.Enter(down, l.all))
	l.end(b)
	assert.False(t, woken(onlyA), "b is not among its candidates")
	assert.False(t, woken(tried), "has been at b")
	assert.True(t, woken(down))
	l.begin(down, b)

	a.endpoint.(*idle).state.Store(int32(Down))
	l.end(a)
	assert.False(t, woken(onlyA) || woken(tried), "a is down")
	a.endpoint.(*idle).state.Store(int32(Ready))
	require.False(t, l.queue.Enter(tried, l.all), "the other one is first in line")
	assert.True(t, woken(onlyA), "a call that looks again finds what nobody told")
}

// A call that was woken has a claim on one slot: further slots go to others at
// once, but not its own.
func TestQueueClaims(t *testing.T) {
	l := newLine(t, 2)
	n := l.nodes[0]
	l.begin(l.call(), n)
	l.begin(l.call(), n)
	first, second, third := l.call(), l.call(), l.call()
	for _, inv := range []*Invocation{first, second, third} {
		require.False(t, l.queue.Enter(inv, l.all))
	}
	l.end(n)
	require.True(t, woken(first))
	require.False(t, l.queue.Enter(l.call(), l.all))
	require.False(t, woken(second), "the free slot is the first one's")
	l.end(n)
	require.True(t, woken(second), "the second slot need not wait for the first call")
	require.False(t, woken(third))
	l.begin(second, n)
	l.begin(first, n)
	require.False(t, woken(third))

	l.end(n)
	require.True(t, woken(third))
	third.Leave() // gives up after it was woken
	require.False(t, third.Queued())
	newcomer := l.call()
	require.False(t, l.queue.Enter(newcomer, l.all), "the one who tried to overtake before is next")
}

// Several slots at once wake as many calls, newcomers among them.
func TestQueueServesSeveralAtOnce(t *testing.T) {
	l := newLine(t, 1, 3)
	l.begin(l.call(), l.nodes[0])
	first, second := l.call(), l.call()
	one := NewCandidates(l.nodes[:1], nil)
	require.False(t, l.queue.Enter(first, one))
	require.False(t, l.queue.Enter(second, one))
	l.methods.Changed() // there is a new provider with three slots
	require.True(t, l.queue.Enter(first, l.all))
	require.True(t, l.queue.Enter(second, l.all), "before the first one has begun")
	newcomers := []*Invocation{l.call(), l.call()}
	require.True(t, l.queue.Enter(newcomers[0], l.all))
	require.False(t, l.queue.Enter(newcomers[1], l.all))

	l.nodes[1].Status(0).Begin(0)
	l.nodes[1].Status(0).Begin(0)
	l.end(l.nodes[1])
	l.end(l.nodes[1])
	first.Leave()
	second.Leave()
	require.True(t, woken(newcomers[1]))
}

// What was held back for a woken call is handed out when that call went elsewhere.
func TestQueueHandsOutWhatWasHeldBack(t *testing.T) {
	l := newLine(t, 1, 1)
	a, b := l.nodes[0], l.nodes[1]
	l.begin(l.call(), a)
	l.begin(l.call(), b)
	onlyA, onlyB := l.call(), l.call()
	require.False(t, l.queue.Enter(onlyA, NewCandidates([]*Node{a}, nil)))
	require.False(t, l.queue.Enter(onlyB, NewCandidates([]*Node{b}, nil)))
	l.end(a)
	l.end(b)
	require.True(t, woken(onlyA))
	require.False(t, woken(onlyB), "one free slot among its candidates, one claim before it")
	l.begin(onlyA, a)
	require.True(t, woken(onlyB))
}

func TestQueueRemembersWhatWasHeldBack(t *testing.T) {
	l := newLine(t, 1, 1, 1)
	only := map[*Node]*Invocation{}
	for _, i := range []int{2, 0, 1} {
		n := l.nodes[i]
		l.begin(l.call(), n)
		only[n] = l.call()
		require.False(t, l.queue.Enter(only[n], NewCandidates([]*Node{n}, nil)))
	}
	a, b, c := l.nodes[0], l.nodes[1], l.nodes[2]
	l.end(a)
	l.end(b) // held back: the call for a has a claim
	l.end(c)
	l.begin(only[a], a)
	l.begin(only[c], c)
	require.True(t, woken(only[b]))
}

// Slots that free while a stale call blocks the line are handed out when it has
// looked again, or given up.
func TestQueueGoesOnBehindAStaleCall(t *testing.T) {
	for name, end := range map[string]func(l *line, stale *Invocation, c *Candidates){
		"enters": func(l *line, stale *Invocation, c *Candidates) { require.False(t, l.queue.Enter(stale, c)) },
		"leaves": func(_ *line, stale *Invocation, _ *Candidates) { stale.Leave() },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t, 1, 2)
			a, b := l.nodes[0], l.nodes[1]
			onlyA, onlyB := NewCandidates([]*Node{a}, nil), NewCandidates([]*Node{b}, nil)
			l.begin(l.call(), a)
			l.begin(l.call(), b)
			l.begin(l.call(), b)
			calls := []*Invocation{l.call(), l.call(), l.call(), l.call()}
			lists := []*Candidates{onlyA, onlyA, onlyB, onlyB}
			for i, inv := range calls {
				require.False(t, l.queue.Enter(inv, lists[i]))
			}
			l.methods.Changed()
			for _, i := range []int{3, 2, 0} {
				require.False(t, l.queue.Enter(calls[i], lists[i]))
			}
			l.end(b)
			l.end(b)
			require.False(t, woken(calls[2]) || woken(calls[3]), "the second one has not looked again yet")
			end(l, calls[1], onlyA)
			require.True(t, woken(calls[2]) && woken(calls[3]))
			require.False(t, woken(calls[0]))
		})
	}
}

func TestQueueEntersAgainAfterAChange(t *testing.T) {
	l := newLine(t, 1, 1)
	old := NewCandidates(l.nodes[:1], nil)
	l.begin(l.call(), l.nodes[0])
	first, second := l.call(), l.call()
	require.False(t, l.queue.Enter(first, old))
	require.False(t, l.queue.Enter(second, old))
	l.methods.Changed()
	require.True(t, woken(first) && woken(second), "to look again")
	require.False(t, l.queue.Enter(second, l.all), "the first one is asked before, though the second was faster to look")
	require.True(t, l.queue.Enter(first, l.all))
	l.begin(first, l.nodes[1])
}

func TestQueueWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t, 1)
		n := l.nodes[0]
		l.begin(l.call(), n)
		start := time.Now()

		inv := l.call()
		require.False(t, l.queue.Enter(inv, l.all))
		assert.False(t, l.queue.Wait(t.Context(), inv, time.Second), "only time has passed")
		assert.Equal(t, time.Second, time.Since(start))

		require.False(t, l.queue.Enter(inv, l.all))
		time.AfterFunc(time.Second, func() { l.end(n) })
		assert.True(t, l.queue.Wait(t.Context(), inv, time.Minute))
		assert.Equal(t, 2*time.Second, time.Since(start))
		l.begin(inv, n)

		inv = l.call()
		require.False(t, l.queue.Enter(inv, l.all))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.False(t, l.queue.Wait(ctx, inv, time.Minute))
		assert.Equal(t, 3*time.Second, time.Since(start))
		inv.Leave()
		assert.Zero(t, l.queue.Waiting())
	})
}

// TestQueueLosesNoWakeUp lets many calls fight for few slots. All of them wait
// without a limit of time: a lost wake-up is a deadlock.
func TestQueueLosesNoWakeUp(t *testing.T) {
	l := newLine(t, 2, 1, 3)
	some := []*Candidates{l.all, NewCandidates(l.nodes[:2], nil), NewCandidates(l.nodes[2:], nil)}
	var done, waits atomic.Int32
	var wg sync.WaitGroup
	const callers, each = 16, 80
	for i := range callers {
		wg.Go(func() {
			for range each {
				if l.callOnce(some[i%len(some)], rand.IntN(20) == 0, &waits) {
					done.Add(1)
				}
			}
		})
	}
	stop := make(chan struct{})
	var changes sync.WaitGroup
	changes.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				l.methods.Changed()
				runtime.Gosched()
			}
		}
	})
	wg.Wait()
	close(stop)
	changes.Wait()
	assert.Zero(t, l.queue.Waiting())
	assert.Greater(t, int(done.Load()), callers*each/2)
	assert.Positive(t, waits.Load(), "else it proves nothing")
	for _, n := range l.nodes {
		assert.Zero(t, n.Status(0).Active())
	}
}

// callOnce takes a slot, waiting if it must, and gives it back; or gives up when it
// is its turn.
func (l *line) callOnce(c *Candidates, giveUp bool, waits *atomic.Int32) bool {
	inv := l.call()
	defer inv.Leave()
	turn := l.queue.Waiting() == 0
	for {
		if turn || l.queue.Enter(inv, c) {
			if giveUp && inv.Queued() {
				return false
			}
			for _, n := range c.Nodes() {
				if n.Status(0).Begin(n.Method(0).Actives) {
					inv.Counted()
					runtime.Gosched() // the call
					l.end(n)
					return true
				}
			}
			turn = false
			continue
		}
		waits.Add(1)
		turn = l.queue.Wait(context.Background(), inv, time.Hour)
		inv.SetRelax(RelaxState) // a waiting call's invocation is read by others, this one's no more
		runtime.Gosched()
		inv.SetRelax(0)
	}
}
