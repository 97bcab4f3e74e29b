package registry

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// observed makes the directory log into memory.
func observed(level zapcore.Level) (func(*DirectoryConfig), *observer.ObservedLogs) {
	core, logs := observer.New(level)
	return func(c *DirectoryConfig) { c.Logger = zap.New(core) }, logs
}

func TestDirectoryZeroConfig(t *testing.T) {
	d := NewDirectory(DirectoryConfig{})
	require.Equal(t, 0, d.List().Candidates.Len())
	assert.Equal(t, protocol.StageRegistered, d.List().Funnel.Emptied())
	assert.Equal(t, "no list has been read yet", d.List().Funnel.Note)

	d.Notify(newRegistered(t).snapshot("dubbo://192.0.2.10:20880/"))
	f := d.List().Funnel
	assert.Equal(t, 1, f.Registered)
	require.Len(t, f.Refused, 1)
	assert.Contains(t, f.Refused[0].Reason, "Refer is nil")
	d.Close()
	d.Close()
}

// TestB008DefaultKeys: what Dubbo 2.6 registers with the prefix "default." counts.
func TestB008DefaultKeys(t *testing.T) {
	d, _ := newDirectory(t, "group=g1&version=1.0.0")
	r := newRegistered(t)
	d.Notify(r.snapshot(
		provided("192.0.2.10:20880", "default.group=g1&default.version=1.0.0&default.timeout=2000"),
		provided("192.0.2.11:20880", "default.group=g2&group=g1&version=1.0.0&default.timeout=2000&timeout=300")))
	require.Equal(t, []string{"192.0.2.10:20880", "192.0.2.11:20880"}, addresses(d.List()))
	assert.Equal(t, 2*time.Second, node(t, d, 0).Method(0).Timeout)
	assert.Equal(t, "g1", node(t, d, 0).URL().Param("group"))
	assert.Equal(t, 300*time.Millisecond, node(t, d, 1).Method(0).Timeout)
}

// TestB030OtherVersions: changes of other versions cost the reference nothing but
// a look at the list.
func TestB030OtherVersions(t *testing.T) {
	quiet, logs := observed(zapcore.InfoLevel)
	d, w := newDirectory(t, "version=2.0.0", quiet)
	r := newRegistered(t)
	var all []string
	for v := range 60 {
		for p := range 20 {
			all = append(all, provided(fmt.Sprintf("198.51.100.%d:%d", p, 20000+v), fmt.Sprintf("version=%d.0.0", v)))
		}
	}
	d.Notify(r.snapshot(all...))
	first := d.List()
	require.Equal(t, 20, first.Candidates.Len())
	require.Equal(t, 20, w.made())
	logged := logs.Len()

	for i := range 50 {
		gone := i % 20 // providers of version 0.0.0
		d.Notify(r.snapshot(append(all[:gone:gone], all[gone+1:]...)...))
		require.Equal(t, 1199, d.List().Funnel.Registered)
		d.Notify(r.snapshot(all...))
	}
	assert.Same(t, first.Candidates, d.List().Candidates, "nothing is built again")
	assert.Equal(t, 20, w.made())
	for _, e := range w.endpoints {
		assert.Zero(t, e.updates.Load())
		assert.Zero(t, e.closes.Load())
	}
	assert.Equal(t, logged, logs.Len(), "nothing is logged at info")

	f := d.List().Funnel
	require.Len(t, f.Refused, maxReasons+1)
	assert.Equal(t, protocol.Refusal{
		Provider: "198.51.100.0:20000, 198.51.100.1:20000, 198.51.100.2:20000 and 17 more",
		Reason:   "version 0.0.0, reference wants 2.0.0", Count: 20,
	}, f.Refused[0])
	assert.Equal(t, protocol.Refusal{Provider: "1020 more", Reason: "for 51 other reasons", Count: 1020}, f.Refused[maxReasons])
	assert.Less(t, len(f.String()), 1500)
}

// TestB031Serialised: lists that come at the same time are taken one after another.
func TestB031Serialised(t *testing.T) {
	r := newRegistered(t)
	a, b, c := provided("192.0.2.10:20880", ""), provided("192.0.2.11:20880", ""), provided("192.0.2.12:20880", "")
	short, long := r.snapshot(a), r.snapshot(a, b, c)
	stale := short
	stale.Stale = true
	for range 500 {
		d, w := newDirectory(t, "")
		d.Notify(short)
		var wg sync.WaitGroup
		wg.Go(func() { d.Notify(long) })
		wg.Go(func() { d.Notify(stale) }) // adds nothing
		wg.Wait()
		require.Equal(t, []string{"192.0.2.10:20880", "192.0.2.11:20880", "192.0.2.12:20880"}, addresses(d.List()))
		for _, n := range d.List().Candidates.Nodes() {
			require.Zero(t, endpointOf(n).closes.Load())
		}
		d.Close()
		require.Empty(t, w.open())
	}
}

// TestB033LastProvider: the last provider's connection is closed like any other.
func TestB033LastProvider(t *testing.T) {
	d, w := newDirectory(t, "")
	r := newRegistered(t)
	a := provided("192.0.2.10:20880", "")
	d.Notify(r.snapshot(a))
	old := node(t, d, 0)
	d.Notify(r.snapshot())
	assert.Empty(t, d.List().Candidates.Nodes())
	assert.Empty(t, w.open())
	d.Notify(r.snapshot(a))
	assert.NotSame(t, old, node(t, d, 0))
	assert.Equal(t, []string{"192.0.2.10:20880"}, w.open())
}

// TestB035Duplicates: a provider that is listed twice is one node, its newest
// entry counts, and nothing stays open.
func TestB035Duplicates(t *testing.T) {
	d, w := newDirectory(t, "")
	r := newRegistered(t)
	ab, ba := provided("192.0.2.10:20880", "a=1&b=2"), provided("192.0.2.10:20880", "b=2&a=1")
	d.Notify(r.snapshot(ab, ba))
	require.Equal(t, []string{"192.0.2.10:20880"}, addresses(d.List()))
	assert.Equal(t, 1, w.made())
	f := d.List().Funnel
	assert.Equal(t, 2, f.Registered)
	assert.Equal(t, 1, f.Enabled)
	require.Len(t, f.Refused, 1)
	assert.Contains(t, f.Refused[0].Reason, "listed again")
	d.Notify(r.snapshot())
	assert.Empty(t, w.open())

	// The node of a dead session beside the new one, in any order of arrival.
	was := provided("192.0.2.10:20880", "timestamp=1000&weight=1")
	is := provided("192.0.2.10:20880", "timestamp=2000&weight=2")
	for _, lists := range [][][]string{{{was}, {was, is}, {is}}, {{is}, {is, was}}, {{is, was}}, {{was, is}}} {
		for _, l := range lists {
			d.Notify(r.snapshot(l...))
		}
		require.Equal(t, []string{"192.0.2.10:20880"}, w.open())
		assert.Equal(t, "2", node(t, d, 0).URL().Param("weight"), "%v", lists)
		d.Notify(r.snapshot())
	}

	// The same name twice is no second entry.
	d.Notify(r.snapshot(is, is))
	assert.Equal(t, 1, d.List().Funnel.Registered)
}

// TestB035SchemesOfOnePort: a provider that registers both of its protocols, one
// of them saying that it answers the other too, is one node.
func TestB035SchemesOfOnePort(t *testing.T) {
	d, w := newDirectory(t, "")
	other := strings.Replace(provided("192.0.2.10:20880", "ext.protocol=dubbo,&x=a"), "dubbo://", "a://", 1)
	d.Notify(newRegistered(t).snapshot(other, provided("192.0.2.10:20880", "x=dubbo")))
	require.Equal(t, []string{"192.0.2.10:20880"}, w.open())
	assert.Equal(t, "dubbo", node(t, d, 0).URL().Param("x"))

	d.Notify(newRegistered(t).snapshot(other))
	assert.Equal(t, "a", node(t, d, 0).URL().Param("x"))
	assert.Equal(t, "dubbo", node(t, d, 0).URL().Protocol())
	assert.Equal(t, 1, w.made())
}

// TestB036EmptyStaysEmpty: rules that come after the last provider left do not
// change what a caller is told.
func TestB036EmptyStaysEmpty(t *testing.T) {
	d, _ := newDirectory(t, "")
	r := newRegistered(t)
	d.Notify(r.snapshot())
	before := d.List().Funnel
	s := r.snapshot()
	s.Configurators = []string{"override://0.0.0.0/" + iface + "?category=configurators&timeout=500"}
	d.Notify(s)
	assert.Equal(t, before, d.List().Funnel)
	assert.Equal(t, protocol.StageRegistered, d.List().Funnel.Emptied())
}

// TestB039NeverEmpty: while lists follow each other that all hold provider A,
// every call finds it, in one consistent list.
func TestB039NeverEmpty(t *testing.T) {
	d, _ := newDirectory(t, "")
	r := newRegistered(t)
	var lists []Snapshot
	for i := range 5 {
		l := []string{provided("192.0.2.10:20880", "")}
		for j := range 3 {
			l = append(l, provided(fmt.Sprintf("192.0.2.%d:20880", 20+3*i+j), ""))
		}
		lists = append(lists, r.snapshot(l...))
	}
	d.Notify(lists[0])
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				l := d.List()
				nodes := l.Candidates.Nodes()
				if len(nodes) != 4 || l.Funnel.Enabled != 4 || nodes[0].Address() != "192.0.2.10:20880" || endpointOf(nodes[0]).closes.Load() > 0 {
					t.Errorf("inconsistent list: %v, funnel %s", addresses(l), l.Funnel)
					return
				}
			}
		})
	}
	for i := range 500 {
		d.Notify(lists[i%len(lists)])
	}
	close(stop)
	wg.Wait()
}

// TestB041SameConnection: parameters, pid and timestamp may change as often as
// they like, the connection stays and calls go on.
func TestB041SameConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, w := newDirectory(t, "")
		r := newRegistered(t)
		d.Notify(r.snapshot(provided("192.0.2.10:20880", "timestamp=1000&pid=1")))
		n := node(t, d, 0)
		e := endpointOf(n)
		e.answer = make(chan struct{})
		result := call(t, n)
		candidates := d.List().Candidates
		for i := range 100 {
			d.Notify(r.snapshot(provided("192.0.2.10:20880", fmt.Sprintf("timestamp=%d&pid=%d", 2000+i, i))))
		}
		for i := range 100 {
			d.Notify(r.snapshot(provided("192.0.2.10:20880", fmt.Sprintf("timestamp=3000&weight=%d", i))))
			require.Equal(t, i, n.Method(0).Weight, "at once")
			require.NotSame(t, candidates, d.List().Candidates, "balancers look at the weights again")
			candidates = d.List().Candidates
		}
		assert.Same(t, n, node(t, d, 0))
		assert.Equal(t, 1, w.made())
		assert.Zero(t, e.closes.Load())
		assert.Equal(t, int32(200), e.updates.Load())
		close(e.answer)
		assert.NoError(t, <-result)
	})
}

// TestB045OwnTag: the reference's tag never becomes a provider's.
func TestB045OwnTag(t *testing.T) {
	d, _ := newDirectory(t, "dubbo.tag=dev")
	d.Notify(newRegistered(t).snapshot(provided("192.0.2.10:20880", "dubbo.tag=qa"), provided("192.0.2.11:20880", "")))
	assert.Equal(t, "qa", node(t, d, 0).URL().Param("dubbo.tag"))
	assert.Equal(t, "", node(t, d, 1).URL().Param("dubbo.tag"))
}

// TestB069OwnGroup, and B174: under wildcards each provider is called with its own
// group and version.
func TestB069OwnGroup(t *testing.T) {
	for _, params := range []string{"group=*&version=*", "group=g1,g2&version=*"} {
		d, _ := newDirectory(t, params)
		d.Notify(newRegistered(t).snapshot(
			provided("192.0.2.10:20880", "group=g1&version=1.0.0"),
			provided("192.0.2.10:20880", "group=g2&version=2.0.0"), // another service on the same port
			provided("192.0.2.11:20880", "group=g2")))
		require.Len(t, d.List().Candidates.Nodes(), 3)
		for i, want := range []string{"g1 1.0.0", "g2 2.0.0", "g2 "} {
			u := node(t, d, i).URL()
			assert.Equal(t, want, u.Param("group")+" "+u.Param("version"))
		}
	}
}

// TestB175RunningCall: a provider that leaves gets no new calls, the running one
// ends, and Notify does not wait for it.
func TestB175RunningCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d *Directory
		var during []string // what a call finds at the moment the endpoint is closed
		w := &wire{}
		d = NewDirectory(DirectoryConfig{Reference: reference(t, ""), Refer: func(u url.URL) (protocol.Endpoint, error) {
			e, err := w.refer(u)
			return closeHook{e, func() { during = addresses(d.List()) }}, err
		}})
		defer d.Close()
		r := newRegistered(t)
		d.Notify(r.snapshot(provided("192.0.2.10:20880", ""), provided("192.0.2.11:20880", "")))
		e := w.endpoints[0]
		e.answer = make(chan struct{})
		result := call(t, node(t, d, 0))
		d.Notify(r.snapshot(provided("192.0.2.11:20880", "")))
		assert.Equal(t, []string{"192.0.2.11:20880"}, during)
		assert.Equal(t, int32(1), e.closes.Load())
		close(e.answer)
		assert.NoError(t, <-result)
	})
}

// call begins a call, in a bubble, and returns when the endpoint has it.
func call(t *testing.T, n *protocol.Node) <-chan error {
	result := make(chan error, 1)
	go func() {
		_, err := n.Invoke(t.Context(), &protocol.Invocation{})
		result <- err
	}()
	synctest.Wait()
	return result
}

type closeHook struct {
	protocol.Endpoint
	hook func()
}

func (c closeHook) Close() { c.hook(); c.Endpoint.Close() }

// TestB179Independent: closing one directory leaves others of the service alone.
func TestB179Independent(t *testing.T) {
	r := newRegistered(t)
	a := provided("192.0.2.10:20880", "")
	d1, w1 := newDirectory(t, "")
	d2, w2 := newDirectory(t, "")
	d1.Notify(r.snapshot(a))
	d2.Notify(r.snapshot(a))
	d1.Close()
	assert.Empty(t, w1.open())
	assert.Equal(t, []string{"192.0.2.10:20880"}, w2.open())
	_, err := node(t, d2, 0).Invoke(t.Context(), &protocol.Invocation{})
	require.NoError(t, err)
	d3, _ := newDirectory(t, "")
	d3.Notify(r.snapshot(a))
	_, err = node(t, d3, 0).Invoke(t.Context(), &protocol.Invocation{})
	require.NoError(t, err)
}

// TestB180Flapping: nothing is kept of what a provider was before.
func TestB180Flapping(t *testing.T) {
	d, w := newDirectory(t, "")
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for range 10 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for _, n := range d.List().Candidates.Nodes() {
					n.Status(0).Begin(0)
					n.Status(0).End(time.Millisecond, false)
				}
				runtime.Gosched()
			}
		})
	}
	flap := func(i int) (weak.Pointer[protocol.Listing], weak.Pointer[protocol.Life], weak.Pointer[Entry]) {
		e := &Entry{Raw: provided("192.0.2.10:20880", fmt.Sprintf("timestamp=%d", 1000+i))}
		e.URL = parse(t, e.Raw)
		d.Notify(Snapshot{Providers: []*Entry{e}, Read: time.Now()})
		l, life := d.List(), node(t, d, 0).Life()
		if i%2 == 0 { // every other restart is seen as leaving and coming back
			d.Notify(Snapshot{Read: time.Now()})
		}
		return weak.Make(l), weak.Make(life), weak.Make(e)
	}
	var listings []weak.Pointer[protocol.Listing]
	var lives []weak.Pointer[protocol.Life]
	var entries []weak.Pointer[Entry]
	for i := range 500 {
		l, life, e := flap(i)
		listings, lives, entries = append(listings, l), append(lives, life), append(entries, e)
	}
	close(stop)
	callers.Wait()
	w.mu.Lock()
	w.endpoints = w.endpoints[len(w.endpoints)-1:]
	w.mu.Unlock()
	runtime.GC()
	runtime.GC()
	assert.LessOrEqual(t, alive(listings), 1)
	assert.LessOrEqual(t, alive(lives), 1)
	assert.LessOrEqual(t, alive(entries), 1)
	assert.LessOrEqual(t, len(w.open()), 1)
	assert.Len(t, d.roster.byRaw, 1)
	assert.Len(t, d.roster.byKey, 1)
	assert.LessOrEqual(t, len(d.departed.lives), 1)
	runtime.KeepAlive(d)
}

func alive[T any](ps []weak.Pointer[T]) (n int) {
	for _, p := range ps {
		if p.Value() != nil {
			n++
		}
	}
	return n
}

// TestB187RollingRestart: 200 providers replaced one by one: no provider is
// referred twice, and the last list is exact.
func TestB187RollingRestart(t *testing.T) {
	d, w := newDirectory(t, "")
	r := newRegistered(t)
	name := func(i int) string { return provided(fmt.Sprintf("198.51.100.%d:20880", i), "") }
	var list []string
	for i := range 200 {
		list = append(list, name(i))
	}
	d.Notify(r.snapshot(list...))
	for i := range 200 {
		list = list[1:]
		d.Notify(r.snapshot(list...))
		list = append(list, name(200+i))
		d.Notify(r.snapshot(list...))
	}
	assert.Equal(t, 400, w.made())
	assert.Len(t, w.open(), 200)
	assert.ElementsMatch(t, w.open(), addresses(d.List()))
}

// TestOrder: nodes are ordered by address, whatever the order of the list.
func TestOrder(t *testing.T) {
	d, _ := newDirectory(t, "")
	r := newRegistered(t)
	a, b, c, e := provided("192.0.2.10:20880", ""), provided("192.0.2.11:20880", ""), provided("192.0.2.12:20880", ""), provided("192.0.2.13:20880", "")
	for _, list := range [][]string{{c}, {c, a}, {b, c, a}, {e, c, b}, {a, b, c, e}, {e, a}, {b, c, a, e}} {
		d.Notify(r.snapshot(list...))
		assert.IsIncreasing(t, append(addresses(d.List()), "9"))
		assert.Len(t, d.List().Candidates.Nodes(), len(list))
	}
}

// TestUnchangedList: a list that brings nothing new publishes nothing.
func TestUnchangedList(t *testing.T) {
	published := 0
	d, _ := newDirectory(t, "", func(c *DirectoryConfig) {
		c.OnPublish = func(_, _ *protocol.Listing) { published++ }
	})
	r := newRegistered(t)
	a, b := provided("192.0.2.10:20880", ""), provided("192.0.2.11:20880", "group=x")
	d.Notify(r.snapshot(a, b))
	l := d.List()
	d.Notify(r.snapshot(a, b))
	d.Notify(r.snapshot(b, a))
	d.Notify(newRegistered(t).snapshot(a, b)) // other pointers, same names
	assert.Same(t, l, d.List())
	assert.Equal(t, 1, published)
	d.Notify(Snapshot{Providers: append(r.list(a), nil), Read: time.Now()})
	assert.Equal(t, 1, d.List().Funnel.Registered)

	// A parameter that the reference sets itself, or that is the provider's own affair.
	d, _ = newDirectory(t, "timeout=3000")
	d.Notify(r.snapshot(provided("192.0.2.10:20880", "timeout=1&threads=5")))
	l = d.List()
	d.Notify(r.snapshot(provided("192.0.2.10:20880", "timeout=2&threads=9")))
	assert.Same(t, l, d.List())
}

// TestHooks: strategies prepare before a listing is in force, waiters look after.
func TestHooks(t *testing.T) {
	var d *Directory
	var events []string
	w := &wire{}
	d = NewDirectory(DirectoryConfig{
		Reference: reference(t, ""), Refer: w.refer,
		Prepare: func(old, next *protocol.Listing) {
			assert.Same(t, old, d.List())
			events = append(events, fmt.Sprintf("prepare %d to %d", old.Candidates.Len(), next.Candidates.Len()))
		},
		OnPublish: func(old, next *protocol.Listing) {
			assert.Same(t, next, d.List())
			events = append(events, fmt.Sprintf("publish %d to %d", old.Candidates.Len(), next.Candidates.Len()))
		},
	})
	l, replaced := d.Watch()
	assert.Same(t, d.List(), l)
	d.Notify(newRegistered(t).snapshot(provided("192.0.2.10:20880", "")))
	<-replaced
	_, replaced = d.Watch()
	d.Close()
	<-replaced
	assert.Equal(t, []string{"prepare 0 to 1", "publish 0 to 1", "prepare 1 to 0", "publish 1 to 0"}, events)
	assert.Empty(t, w.open())
	d.Notify(newRegistered(t).snapshot(provided("192.0.2.10:20880", "")))
	assert.Equal(t, 1, w.made(), "a closed directory takes no list")
	assert.Equal(t, "the reference is closed", d.List().Funnel.Note)
}

// TestAllRefused: a list of which nothing can be used is an empty one that says why.
func TestAllRefused(t *testing.T) {
	d, w := newDirectory(t, "version=1.0.0")
	r := newRegistered(t)
	d.Notify(r.snapshot(provided("192.0.2.10:20880", "version=1.0.0")))
	s := r.snapshot(provided("192.0.2.10:20880", "version=1.0.0&disabled=true"), provided("192.0.2.11:20880", "version=2.0.0"))
	s.Rejected = []Rejection{{Raw: "garbage", Reason: "no %3A%2F%2F in it"}}
	s.RejectedCount = 5
	d.Notify(s)
	l := d.List()
	require.Empty(t, l.Candidates.Nodes())
	require.Empty(t, w.open())
	assert.Equal(t, protocol.StageEnabled, l.Funnel.Emptied())
	assert.Equal(t, 7, l.Funnel.Registered)
	assert.ElementsMatch(t, []protocol.Refusal{
		{Provider: "4 entries", Reason: "cannot be parsed", Count: 4},
		{Provider: "192.0.2.10:20880", Reason: "disabled=true", Count: 1},
		{Provider: "192.0.2.11:20880", Reason: "version 2.0.0, reference wants 1.0.0", Count: 1},
		{Provider: "garbage", Reason: "no %3A%2F%2F in it", Count: 1},
	}, l.Funnel.Refused)
	assert.Equal(t, "zookeeper://192.0.2.1:2181", l.Funnel.Source)
	assert.Equal(t, "/dubbo/"+iface+"/providers", l.Funnel.Path)
}

// TestStaleNeverEmpties: whatever a registry that is away delivers, what is known stays.
func TestStaleNeverEmpties(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := State{Address: "zookeeper://192.0.2.1:2181"}
		d, w := newDirectory(t, "", func(c *DirectoryConfig) { c.State = func() State { return state } })
		defer d.Close()
		assert.Equal(t, "zookeeper://192.0.2.1:2181", d.List().Funnel.Source)
		assert.Equal(t, "no list has been read yet", d.List().Funnel.Note)

		state.LastError = errors.New("dial tcp 192.0.2.1:2181: connection refused")
		d.Notify(Snapshot{Stale: true})
		assert.True(t, d.List().Stale)
		assert.Equal(t, "no list has been read yet; registry not connected: dial tcp 192.0.2.1:2181: connection refused", d.List().Funnel.Note)

		state = State{Connected: true, Since: time.Now()}
		r := newRegistered(t)
		a, b := provided("192.0.2.10:20880", ""), provided("192.0.2.11:20880", "")
		d.Notify(r.snapshot(a, b))
		both := []string{"192.0.2.10:20880", "192.0.2.11:20880"}
		require.Equal(t, both, addresses(d.List()))
		assert.False(t, d.List().Stale)
		assert.Empty(t, d.List().Funnel.Note)
		read := time.Now()

		time.Sleep(time.Minute)
		state = State{Since: time.Now(), LastError: errors.New("session expired")}
		assert.Contains(t, d.Funnel().Note, "registry not connected since", "as it is now")
		for _, s := range []Snapshot{
			{Stale: true},
			{Stale: true, Read: time.Now()},
			{Stale: true, Providers: r.list(a)},
			{Stale: true, Providers: r.list(a), Read: read},
			{Stale: true, Providers: r.list(a), Read: read.Add(-time.Hour)},
		} {
			d.Notify(s)
			require.Equal(t, both, addresses(d.List()))
			require.True(t, d.List().Stale)
		}
		assert.Equal(t, fmt.Sprintf("stale: read at %s; registry not connected since %s: session expired",
			read.Format(time.RFC3339), time.Now().Format(time.RFC3339)), d.List().Funnel.Note)
		assert.Equal(t, both, w.open())

		// A list that was read and went stale before it was delivered is news.
		d.Notify(Snapshot{Stale: true, Providers: r.list(b), Read: time.Now()})
		assert.Equal(t, []string{"192.0.2.11:20880"}, addresses(d.List()))

		time.Sleep(time.Minute)
		state = State{Connected: true, Since: time.Now()}
		d.Notify(r.snapshot())
		assert.Empty(t, d.List().Candidates.Nodes(), "a good list that is empty is believed")
		assert.False(t, d.List().Stale)
	})
}

// TestStaleFirst: a list from a cache is better than none.
func TestStaleFirst(t *testing.T) {
	d, _ := newDirectory(t, "")
	s := newRegistered(t).snapshot(provided("192.0.2.10:20880", ""))
	s.Stale, s.Read = true, time.Time{}
	d.Notify(s)
	assert.Equal(t, []string{"192.0.2.10:20880"}, addresses(d.List()))
	assert.Equal(t, "stale", d.List().Funnel.Note)
	assert.NoError(t, d.Ready(t.Context()))
}

func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := newDirectory(t, "version=1.0.0", func(c *DirectoryConfig) {
			c.State = func() State { return State{LastError: errors.New("no route to host")} }
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d.Notify(Snapshot{Stale: true}) // no list
		err := d.Ready(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, iface+":1.0.0: no list has been read yet; registry not connected: no route to host")

		go func() {
			time.Sleep(time.Second)
			d.Notify(Snapshot{Read: time.Now()})
		}()
		require.NoError(t, d.Ready(t.Context()), "an empty list is a list")
		d.Close()
		require.ErrorIs(t, d.Ready(t.Context()), protocol.ErrClosed)
	})
}

// TestReferError: one provider that cannot be referred is left out, named, and
// tried again; the others serve.
func TestReferError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quiet, logs := observed(zapcore.WarnLevel)
		d, w := newDirectory(t, "", quiet)
		defer d.Close()
		r := newRegistered(t)
		a, b := provided("192.0.2.10:20880", "token=geheim"), provided("192.0.2.11:20880", "")
		w.fail("192.0.2.10:20880", errors.New("ssl-enabled=true is not supported"))
		d.Notify(r.snapshot(a, b))
		require.Equal(t, []string{"192.0.2.11:20880"}, addresses(d.List()))
		assert.Equal(t, []protocol.Refusal{{Provider: "192.0.2.10:20880", Reason: "cannot be used: ssl-enabled=true is not supported", Count: 1}}, d.List().Funnel.Refused)

		// With the next list, and after 1 s, 2 s, 4 s …; the log says it once.
		require.Equal(t, 2, w.attempts)
		d.Notify(r.snapshot(a, b))
		require.Equal(t, 3, w.attempts)
		d.Notify(r.snapshot(a+"&weight=1", b))
		require.Equal(t, 4, w.attempts)
		time.Sleep(10 * time.Second)
		assert.Equal(t, 4+3, w.attempts)
		assert.Equal(t, 1, logs.Len())
		assert.NotContains(t, fmt.Sprint(logs.All()[0].ContextMap()), "geheim")
		w.fail("192.0.2.10:20880", nil)
		time.Sleep(time.Hour)
		assert.Equal(t, 4+4, w.attempts)
		require.Equal(t, []string{"192.0.2.10:20880", "192.0.2.11:20880"}, addresses(d.List()))
		assert.Empty(t, d.List().Funnel.Refused)
		assert.Equal(t, 2, w.made())

		// Gone before it ever worked.
		w.fail("192.0.2.12:20880", errors.New("no"))
		d.Notify(r.snapshot(a, b, provided("192.0.2.12:20880", "")))
		assert.Equal(t, 3, d.List().Funnel.Registered)
		time.Sleep(time.Hour)
		assert.Equal(t, 9+5+(3600-31)/30, w.attempts, "every 30 s after 1, 3, 7, 15 and 31 s")
		d.Notify(r.snapshot(a, b))
		time.Sleep(time.Hour)
		assert.Equal(t, 2, w.made())
		assert.Empty(t, d.List().Funnel.Refused)

		// Closed before the next attempt: the bubble ends, so no timer is left.
		d.Notify(r.snapshot(a, b, provided("192.0.2.12:20880", "")))
	})
}

// TestReferNothing: a Refer that returns neither endpoint nor error is an error.
func TestReferNothing(t *testing.T) {
	d := NewDirectory(DirectoryConfig{Reference: reference(t, ""), Refer: func(url.URL) (protocol.Endpoint, error) { return nil, nil }})
	defer d.Close()
	d.Notify(newRegistered(t).snapshot(provided("192.0.2.10:20880", "")))
	require.Empty(t, d.List().Candidates.Nodes())
	assert.Equal(t, "cannot be used: there is no endpoint for it", d.List().Funnel.Refused[0].Reason)
}

// TestWrap: attempt filters are composed once per node.
func TestWrap(t *testing.T) {
	wraps, calls := 0, 0
	d, _ := newDirectory(t, "", func(c *DirectoryConfig) {
		c.Wrap = func(next protocol.Invoker) protocol.Invoker {
			wraps++
			return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
				calls++
				return next.Invoke(ctx, inv)
			})
		}
	})
	r := newRegistered(t)
	for i := range 3 {
		d.Notify(r.snapshot(provided("192.0.2.10:20880", fmt.Sprint("weight=", i))))
		_, err := node(t, d, 0).Invoke(t.Context(), &protocol.Invocation{})
		require.NoError(t, err)
	}
	assert.Equal(t, 1, wraps)
	assert.Equal(t, 3, calls)
}
