package registry

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// network is a wire whose endpoints are connected until they are cut off.
type network struct {
	wire
	lines map[string]*line // the newest of each address
}

// line is an endpoint with a connection. It has its owner's lock.
type line struct {
	*fakeEndpoint
	n     *network
	state protocol.State
	lost  func()
}

func (n *network) refer(u url.URL) (protocol.Endpoint, error) {
	e, err := n.wire.refer(u)
	if err != nil {
		return nil, err
	}
	l := &line{fakeEndpoint: e.(*fakeEndpoint), n: n}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines[u.Address()] = l
	return l, nil
}

func (l *line) State() protocol.State {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	return l.state
}

func (l *line) Unlist(lost func()) bool {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	if l.state != protocol.Ready || l.closes.Load() > 0 {
		return false
	}
	l.lost = lost
	return true
}

func (l *line) Relist() bool {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	l.lost = nil
	return l.state == protocol.Ready
}

// cut ends the connection to an address. It returns who is to be told.
func (n *network) cut(address string, state protocol.State) (tell func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.lines[address]
	l.state = state
	if l.lost == nil {
		return func() {}
	}
	return l.lost
}

const (
	first, second, third = "192.0.2.10:20880", "192.0.2.11:20880", "192.0.2.12:20880"
)

func newNetwork(t testing.TB, params string, change ...func(*DirectoryConfig)) (*Directory, *network) {
	n := &network{lines: map[string]*line{}}
	d, _ := newDirectory(t, params, append(change, func(c *DirectoryConfig) { c.Refer = n.refer })...)
	return d, n
}

// Of the providers that an empty list takes away those stay that are connected, with
// their nodes, and the listing says so.
func TestEmptyListKeepsTheConnected(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	d, n := newNetwork(t, "", func(c *DirectoryConfig) { c.Logger = zap.New(core) })
	r := newRegistered(t)
	d.Notify(r.snapshot(provided(first, ""), provided(second, ""), provided(third, "")))
	was := d.List().Candidates.Nodes()
	n.cut(second, protocol.Down)
	n.cut(third, protocol.ReadOnly)
	logs.TakeAll()

	empty := r.snapshot()
	d.Notify(empty)
	assert.Equal(t, []*protocol.Node{was[0]}, d.List().Candidates.Nodes())
	assert.Equal(t, []string{first}, n.open())
	f := d.List().Funnel
	assert.Equal(t, 0, f.Registered)
	assert.Equal(t, 1, f.Kept)
	assert.Equal(t, 1, f.Enabled)
	assert.Contains(t, f.Note, "none listed since "+clock(empty.Read))
	assert.Contains(t, f.Note, "enable-empty-protection")
	assert.Equal(t, 1, logs.FilterLevelExact(zap.WarnLevel).Len())
	assert.Contains(t, logs.FilterLevelExact(zap.WarnLevel).All()[0].Message, "lists no provider any more")

	listing := d.List()
	later := r.snapshot()
	later.Read = later.Read.Add(time.Hour)
	d.Notify(later) // says nothing new
	assert.Same(t, listing, d.List())
	later.Stale = true
	d.Notify(later)
	assert.Equal(t, []string{first}, addresses(d.List()))
	assert.Contains(t, d.List().Funnel.Note, "stale")
	assert.Contains(t, d.List().Funnel.Note, "none listed")

	n.cut(first, protocol.Down)()
	assert.Empty(t, d.List().Candidates.Nodes())
	assert.Empty(t, n.open())
	assert.Zero(t, d.List().Funnel.Kept)
	assert.NotContains(t, d.List().Funnel.Note, "kept")
	assert.Equal(t, protocol.StageRegistered, d.List().Funnel.Emptied())
	assert.Equal(t, 2, logs.FilterLevelExact(zap.WarnLevel).Len(), "no provider")

	d.Notify(r.snapshot()) // B036
	assert.Empty(t, d.List().Candidates.Nodes())
}

// A list with a provider holds alone; a provider in it that was kept has its node
// and its connection still.
func TestKeptIsReplaced(t *testing.T) {
	d, n := newNetwork(t, "")
	r := newRegistered(t)
	d.Notify(r.snapshot(provided(first, "timestamp=1000"), provided(second, "")))
	was := node(t, d, 0)
	life := was.Life()
	d.Notify(r.snapshot())
	require.Equal(t, []string{first, second}, addresses(d.List()))

	d.Notify(r.snapshot(provided(first, "timestamp=1000"), provided(third, "")))
	assert.Equal(t, []string{first, third}, addresses(d.List()))
	assert.Same(t, was, node(t, d, 0))
	assert.Same(t, life, was.Life())
	assert.Equal(t, []string{first, third}, n.open())
	assert.Equal(t, 3, n.made())
	assert.Zero(t, d.List().Funnel.Kept)
	assert.Empty(t, d.List().Funnel.Note)
	n.cut(first, protocol.Down)() // it is listed: it stays, as ever
	assert.Equal(t, []string{first, third}, addresses(d.List()))
}

// A kept provider that is listed again in the moment its connection ends gets a new
// endpoint, whoever is heard first.
func TestKeptIsListedAgainAsItEnds(t *testing.T) {
	for _, told := range []string{"before", "after"} {
		d, n := newNetwork(t, "")
		r := newRegistered(t)
		a, b := provided(first, ""), provided(second, "")
		d.Notify(r.snapshot(a, b))
		was := node(t, d, 0)
		d.Notify(r.snapshot())
		tell := n.cut(first, protocol.Down)
		if told == "before" {
			tell()
		}
		d.Notify(r.snapshot(a, b))
		if told == "after" {
			tell()
		}
		require.Equal(t, []string{first, second}, addresses(d.List()), told)
		assert.NotSame(t, was, node(t, d, 0))
		assert.Equal(t, []string{first, second}, n.open())
		assert.Equal(t, 3, n.made())
		d.Notify(r.snapshot())
		if told == "after" {
			tell() // about the endpoint of before
		}
		assert.Equal(t, []string{first, second}, addresses(d.List()))
		d.Close()
		assert.Empty(t, n.open())
	}
}

// An entry that is refused is a word about its address; those of others are not.
func TestKeptUnlessRefused(t *testing.T) {
	d, n := newNetwork(t, "version=1.0")
	r := newRegistered(t)
	of := func(address, params string) string { return provided(address, params) }
	d.Notify(r.snapshot(of(first, "version=1.0"), of(second, "version=1.0"), of(third, "version=1.0")))
	d.Notify(r.snapshot(of(first, "version=1.0&disabled=true"), of(second, "version=2.0"), of("192.0.2.13:20880", "version=2.0")))
	assert.Equal(t, []string{third}, addresses(d.List()))
	assert.Equal(t, []string{third}, n.open())
	f := d.List().Funnel
	assert.Equal(t, []int{3, 1, 1}, []int{f.Registered, f.Kept, f.Enabled})
	refused := 0
	for _, x := range f.Refused {
		refused += x.Count
	}
	assert.Equal(t, 3, refused)
	d.Notify(r.snapshot(of(third, "version=2.0")))
	assert.Empty(t, addresses(d.List()))
	f = d.List().Funnel
	assert.Len(t, f.Refused, 1)
	assert.Equal(t, protocol.StageEnabled, f.Emptied())
}

// As many refused entries as kept providers: the funnel has both.
func TestKeptAndRefused(t *testing.T) {
	d, _ := newNetwork(t, "version=1.0")
	r := newRegistered(t)
	d.Notify(r.snapshot(provided(first, "version=1.0")))
	d.Notify(r.snapshot(provided(second, "version=2.0")))
	assert.Equal(t, []string{first}, addresses(d.List()))
	assert.Len(t, d.List().Funnel.Refused, 1)
}

// The switch, as the client and as the reference have it.
func TestEmptyProtectionOff(t *testing.T) {
	for _, c := range []struct {
		params  string
		believe bool
		keeps   bool
	}{
		{"", false, true}, {"", true, false},
		{"enable-empty-protection=false", false, false}, {"enable-empty-protection=FALSE", false, false},
		{"enable-empty-protection=true", true, true},
	} {
		d, n := newNetwork(t, c.params, func(cfg *DirectoryConfig) { cfg.BelieveEmpty = c.believe })
		r := newRegistered(t)
		d.Notify(r.snapshot(provided(first, "")))
		d.Notify(r.snapshot())
		assert.Equal(t, c.keeps, len(n.open()) == 1, "%+v", c)
		assert.Equal(t, c.keeps, d.List().Candidates.Len() == 1, "%+v", c)
	}
}

// What nobody but a cache file knew goes with the first list of the registry.
func TestCachedIsNotKept(t *testing.T) {
	d, n := newNetwork(t, "")
	r := newRegistered(t)
	cached := r.snapshot(provided(first, ""))
	cached.Stale, cached.Cached = true, true
	d.Notify(cached)
	require.Equal(t, []string{first}, addresses(d.List()))
	d.Notify(r.snapshot())
	assert.Empty(t, addresses(d.List()))
	assert.Empty(t, n.open())
}

// Lists and losses at the same time: in the end there is who is listed, or connected.
func TestKeptConcurrently(t *testing.T) {
	for range 200 {
		d, n := newNetwork(t, "")
		r := newRegistered(t)
		full, some := r.snapshot(provided(first, ""), provided(second, ""), provided(third, "")), r.snapshot(provided(first, ""))
		d.Notify(full)
		var wg sync.WaitGroup
		wg.Go(func() {
			for _, s := range []Snapshot{r.snapshot(), some, r.snapshot(), full, r.snapshot()} {
				d.Notify(s)
			}
		})
		wg.Go(func() {
			for _, a := range []string{third, second} {
				n.cut(a, protocol.Down)()
			}
		})
		wg.Wait()
		for _, l := range []string{second, third} { // who was replaced is connected
			n.cut(l, protocol.Down)()
		}
		require.Equal(t, []string{first}, addresses(d.List()))
		require.Equal(t, []string{first}, slices.Compact(n.open()))
		d.Notify(full)
		require.Equal(t, []string{first, second, third}, n.open())
		d.Close()
		require.Empty(t, n.open())
	}
}
