package registry

import (
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
	"go.uber.org/zap/zapcore"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

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
	logging, logs := observed(zapcore.InfoLevel)
	d, w := newDirectory(t, "version=2.0.0", logging)
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

	// The node of a dead session beside the new one, in any order once one is known to
	// have come later.
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

// TestB069B174OwnGroup: under wildcards each provider is called with its own
// group and version.
func TestB069B174OwnGroup(t *testing.T) {
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
