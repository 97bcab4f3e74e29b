package protocol

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/url"
)

// Node is one provider endpoint of one reference. Its identity (protocol, address,
// path, group, version) never changes; its URL, parameters and life do, while its
// connection and the calls under way go on (B041). All methods are safe for
// concurrent use; what a pick needs is read without a lock.
type Node struct {
	// What a pick reads of every node it examines comes first: one cache line.
	endpoint Endpoint
	limited  atomic.Bool // the view may have methods with "actives"
	ejected  atomic.Bool // see [Node.Eject]
	view     atomic.Pointer[view]
	life     atomic.Pointer[Life]

	mu      sync.Mutex // serialises writers of limited, ejected, view and life
	key     string
	methods *MethodTable
	invoker Invoker // filters around endpoint, composed once
}

// view is the node's parameters: the merged URL and its typed form by slot.
type view struct {
	url     url.URL
	methods atomic.Pointer[[]*url.Method]
}

// Life is one run of a provider process: the counters and the start time that end
// with a restart. A call that ends late ends in the life it began in.
type Life struct {
	// Start of the provider as far as this consumer believes it, the zero time
	// when unknown: no warm-up then.
	Start time.Time
	// Since is when this consumer began to count.
	Since    time.Time
	mu       sync.Mutex // serialises writers of what follows
	statuses atomic.Pointer[[]*Status]
	states   states
}

// NewNode returns the node of a merged provider URL. wrap composes the attempt
// filters around the endpoint; nil: none. start is the provider's start, the zero
// time when unknown.
func NewNode(key string, u url.URL, start time.Time, methods *MethodTable, endpoint Endpoint, wrap func(Invoker) Invoker) *Node {
	n := &Node{key: key, methods: methods, endpoint: endpoint, invoker: wire{endpoint}}
	if wrap != nil {
		n.invoker = wrap(n.invoker)
	}
	n.life.Store(&Life{Start: start, Since: time.Now()})
	n.setView(u)
	return n
}

// wire is where the filters end.
type wire struct{ endpoint Endpoint }

// Invoke notes that the attempt has come so far.
func (w wire) Invoke(ctx context.Context, inv *Invocation) (*Result, error) {
	inv.sent = true
	return w.endpoint.Invoke(ctx, inv)
}

// Key is the node's identity within its reference.
func (n *Node) Key() string { return n.key }

// URL returns the merged URL in force.
func (n *Node) URL() url.URL { return n.view.Load().url }

// Address returns host:port.
func (n *Node) Address() string { return n.URL().Address() }

// Endpoint returns the wire side.
func (n *Node) Endpoint() Endpoint { return n.endpoint }

// State returns the endpoint's state.
func (n *Node) State() State { return n.endpoint.State() }

// Life returns the provider's current life.
func (n *Node) Life() *Life { return n.life.Load() }

// Invoke passes the invocation through the attempt filters to the wire.
func (n *Node) Invoke(ctx context.Context, inv *Invocation) (*Result, error) {
	return n.invoker.Invoke(ctx, inv)
}

// Update puts a new merged URL of the same identity in force. A changed start
// begins a new life: fresh counters, warm-up from the beginning, no ejection. What load
// balancers derived from the old parameters is out of date from then on
// ([Candidates.Version]).
func (n *Node) Update(u url.URL, start time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.setView(u)
	n.endpoint.Update(u)
	if !n.life.Load().Start.Equal(start) {
		n.life.Store(&Life{Start: start, Since: time.Now()})
		n.ejected.Store(false)
	}
	n.methods.changes.Add(1) // last: who sees it sees the rest
}

func (n *Node) setView(u url.URL) {
	v := &view{url: u}
	names := n.methods.Names()
	ms := make([]*url.Method, len(names))
	for i, name := range names {
		m, _ := url.CompileMethod(u, name) // problems are reported where the URL is merged
		ms[i] = &m
	}
	v.methods.Store(&ms)
	n.view.Store(v)
	n.limited.Store(limits(u))
}

// limits reports whether "actives" is set for any method.
func limits(u url.URL) bool {
	for key := range u.Params() {
		if key == "actives" || strings.HasSuffix(key, ".actives") {
			return true
		}
	}
	return false
}

// Method returns the provider view of a method's parameters.
func (n *Node) Method(slot int) *url.Method {
	v := n.view.Load()
	if ms := *v.methods.Load(); slot < len(ms) && ms[slot] != nil {
		return ms[slot]
	}
	return n.compile(v, slot)
}

// compile adds a method that appeared after the view was made.
func (n *Node) compile(v *view, slot int) *url.Method {
	n.mu.Lock()
	defer n.mu.Unlock()
	old := *v.methods.Load()
	if slot < len(old) && old[slot] != nil {
		return old[slot]
	}
	m, _ := url.CompileMethod(v.url, n.methods.Name(slot))
	ms := slices.Clone(old)
	for len(ms) <= slot {
		ms = append(ms, nil)
	}
	ms[slot] = &m
	v.methods.Store(&ms)
	return &m
}

// Status returns the counters of a method in the current life.
func (n *Node) Status(slot int) *Status { return n.life.Load().Status(slot) }

// Saturated reports whether the method's "actives" are used up at this node.
func (n *Node) Saturated(slot int) bool {
	if !n.limited.Load() {
		return false
	}
	limit := n.Method(slot).Actives
	return limit > 0 && n.Status(slot).Active() >= limit
}

// Status returns the counters of a method in this life.
func (l *Life) Status(slot int) *Status {
	if p := l.statuses.Load(); p != nil && slot < len(*p) && (*p)[slot] != nil {
		return (*p)[slot]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var ss []*Status
	if p := l.statuses.Load(); p != nil {
		if slot < len(*p) && (*p)[slot] != nil {
			return (*p)[slot]
		}
		ss = slices.Clone(*p)
	}
	for len(ss) <= slot {
		ss = append(ss, nil)
	}
	s := new(Status)
	ss[slot] = s
	l.statuses.Store(&ss)
	return s
}

// Statuses calls yield for every method that was called in this life.
func (l *Life) Statuses(yield func(slot int, s *Status) bool) {
	p := l.statuses.Load()
	if p == nil {
		return
	}
	for i, s := range *p {
		if s != nil && !yield(i, s) {
			return
		}
	}
}

// Known returns what owner keeps for this life, nil when it keeps nothing yet.
func (l *Life) Known(owner any) any {
	v, _ := l.states.known(owner)
	return v
}

// State returns what owner keeps for this life; build makes it at its first use.
// It is for what an [Observer] learns. owner must be comparable; use a pointer.
// Build must not ask for a state of the same life itself.
func (l *Life) State(owner any, build func() any) any {
	if known := l.Known(owner); known != nil {
		return known
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.states.keep(owner, build)
}
