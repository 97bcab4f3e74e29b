package registry

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

const iface = "com.example.DemoService"

// wire is a protocol whose endpoints live in memory. It knows which are open.
type wire struct {
	mu        sync.Mutex
	endpoints []*fakeEndpoint // every one ever made
	refuse    map[string]error
	attempts  int
}

func (w *wire) refer(u url.URL) (protocol.Endpoint, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attempts++
	if err := w.refuse[u.Address()]; err != nil {
		return nil, err
	}
	e := &fakeEndpoint{answer: make(chan struct{})}
	close(e.answer)
	e.url.Store(&u)
	w.endpoints = append(w.endpoints, e)
	return e, nil
}

func (w *wire) fail(address string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse == nil {
		w.refuse = map[string]error{}
	}
	w.refuse[address] = err
}

// tried is how often a provider was to be referred.
func (w *wire) tried() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.attempts
}

func (w *wire) made() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.endpoints)
}

func (w *wire) open() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, e := range w.endpoints {
		if e.closes.Load() == 0 {
			out = append(out, e.url.Load().Address())
		}
	}
	slices.Sort(out)
	return out
}

// fakeEndpoint counts what is done to it. A call waits for answer.
type fakeEndpoint struct {
	url     atomic.Pointer[url.URL]
	closes  atomic.Int32
	updates atomic.Int32
	answer  chan struct{}
}

func (e *fakeEndpoint) Invoke(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
	if e.closes.Load() > 0 {
		return nil, protocol.Errorf(protocol.ErrClosed, "endpoint closed")
	}
	select {
	case <-e.answer:
		return &inv.Result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
func (e *fakeEndpoint) State() protocol.State { return protocol.Ready }
func (e *fakeEndpoint) StateReason() error    { return nil }
func (e *fakeEndpoint) Update(u url.URL)      { e.url.Store(&u); e.updates.Add(1) }
func (e *fakeEndpoint) Close()                { e.closes.Add(1) }

func endpointOf(n *protocol.Node) *fakeEndpoint { return n.Endpoint().(*fakeEndpoint) }

func parse(t testing.TB, s string) url.URL {
	t.Helper()
	u, err := url.Parse(s)
	require.NoError(t, err)
	return u
}

// reference returns the URL of a reference with parameters "a=b&c=d".
func reference(t testing.TB, params string) url.URL {
	return parse(t, "consumer://192.0.2.100/"+iface+"?interface="+iface+"&side=consumer&"+params)
}

// newDirectory returns a directory of a reference, its endpoints on a fresh wire,
// closed at the end of the test.
func newDirectory(t testing.TB, params string, change ...func(*DirectoryConfig)) (*Directory, *wire) {
	w := &wire{}
	cfg := DirectoryConfig{Reference: reference(t, params), Refer: w.refer}
	for _, f := range change {
		f(&cfg)
	}
	d := NewDirectory(cfg)
	t.Cleanup(d.Close)
	return d, w
}

// registered makes entries as a registry does: the same pointer for the same name.
type registered struct {
	t       testing.TB
	entries map[string]*Entry
}

func newRegistered(t testing.TB) *registered { return &registered{t, map[string]*Entry{}} }

func (r *registered) list(raws ...string) []*Entry {
	var out []*Entry
	for _, raw := range raws {
		e := r.entries[raw]
		if e == nil {
			e = &Entry{Raw: raw, URL: parse(r.t, raw)}
			r.entries[raw] = e
		}
		out = append(out, e)
	}
	return out
}

func (r *registered) snapshot(raws ...string) Snapshot {
	return Snapshot{Providers: r.list(raws...), Read: time.Now(), Source: "zookeeper://192.0.2.1:2181", Path: "/dubbo/" + iface + "/providers"}
}

// provided is the text of a provider's URL.
func provided(address, params string) string {
	return fmt.Sprintf("dubbo://%s/%s?%s", address, iface, params)
}

func addresses(l *protocol.Listing) []string {
	out := []string{}
	for _, n := range l.Candidates.Nodes() {
		out = append(out, n.Address())
	}
	return out
}

func node(t testing.TB, d *Directory, i int) *protocol.Node {
	t.Helper()
	nodes := d.List().Candidates.Nodes()
	require.Greater(t, len(nodes), i)
	return nodes[i]
}
