package registry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// DirectoryConfig says what a [Directory] is for. Only Reference and Refer are
// required.
//
// The functions are called by one goroutine at a time, while the directory is
// being changed: they must not call its Notify or Close.
type DirectoryConfig struct {
	// Reference holds the interface, what providers it wants (group, version,
	// classifier, protocol) and the parameters that go over theirs.
	Reference url.URL
	// Methods numbers the reference's methods. Nil: the directory makes its own.
	Methods *protocol.MethodTable
	// Refer makes the endpoint of a merged provider URL. It must not wait for a
	// connection. An error leaves that provider out for the moment; it is tried
	// again with the next list and after a while.
	Refer func(url.URL) (protocol.Endpoint, error)
	// Wrap composes the attempt filters around an endpoint, once per node. Nil: none.
	Wrap func(protocol.Invoker) protocol.Invoker
	// Prepare is called before a listing is put in force: strategies may build what
	// they derive from its candidates. Nil: nothing.
	Prepare func(old, new *protocol.Listing)
	// OnPublish is called after a listing has been put in force: who waits for a
	// provider looks again. The candidates are the same object when only the
	// funnel has changed. Nil: nothing.
	OnPublish func(old, new *protocol.Listing)
	// State returns the state of the registry, for notes. Nil: notes say less.
	State func() State
	// BelieveEmpty makes a list without any usable provider hold at once, as it does
	// in Dubbo. Otherwise, unless the reference says enable-empty-protection=false,
	// those providers stay that are connected, while they are. That takes endpoints
	// that are a [protocol.Unlister].
	BelieveEmpty bool
	// Logger is silent when nil.
	Logger *zap.Logger
	// Now is the clock, time.Now when nil.
	Now func() time.Time
}

// Directory keeps the providers of one reference: it takes full lists from a
// registry and offers an immutable [protocol.Listing] that a call reads with one
// atomic load.
//
// An entry that the reference does not use is left out, with a reason in the
// funnel. One provider is one node, however often it is registered and whatever
// parameters change: its connection, counters and position stay (B041). A removed
// provider gets no new calls; those under way may finish (B175). When a list holds
// nothing usable, providers that are connected stay while they are, see
// [DirectoryConfig.BelieveEmpty]; without any the listing is empty and says why
// (Java would go on with the old one). A list that the registry calls stale never
// empties anything.
//
// All methods are safe for concurrent use; changes are made one after another
// (B031). Directories share nothing: closing one leaves others of the same service
// alone (B179).
type Directory struct {
	cfg     DirectoryConfig
	service string // service key, for messages
	log     *zap.Logger
	current atomic.Pointer[published]

	mu       sync.Mutex // held while the directory changes; guards what follows
	closed   bool
	roster   roster
	departed departed
	problems problems
	listed   bool                   // a list has been taken
	last     Snapshot               // that list, without its entries
	failed   map[*provider]struct{} // Refer returned an error
	kept     kept
	retry    retry
}

// published is a listing with what its note depends on.
type published struct {
	protocol.Listing
	replaced chan struct{} // closed when another listing is in force
	closed   bool
	listed   bool // a list has been taken
	cached   bool // from a cache file
	read     time.Time
	emptied  time.Time // the first list without any provider, while some are kept
	doubt    *Doubt    // about a list that is not believed yet
}

// NewDirectory returns an empty directory. Subscribe it to a registry, or call
// Notify.
func NewDirectory(cfg DirectoryConfig) *Directory {
	if cfg.Methods == nil {
		cfg.Methods = new(protocol.MethodTable)
	}
	if cfg.Refer == nil {
		cfg.Refer = func(url.URL) (protocol.Endpoint, error) {
			return nil, errors.New("registry: DirectoryConfig.Refer is nil")
		}
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if v := cfg.Reference.Param(emptyProtection); v != "" {
		cfg.BelieveEmpty = !url.Bool(v)
	}
	d := &Directory{
		cfg:     cfg,
		service: cfg.Reference.ServiceKey(),
		log:     cfg.Logger.With(zap.String("service", cfg.Reference.ServiceKey())),
		failed:  map[*provider]struct{}{},
	}
	d.roster = roster{
		matcher: newMatcher(cfg.Reference),
		byRaw:   map[string]*record{},
		byKey:   map[string]*provider{},
	}
	d.problems.log = d.log
	first := &published{replaced: make(chan struct{})}
	first.Candidates = protocol.NewCandidates(nil, nil)
	first.Funnel.Source = d.state().Address
	first.Funnel.Note = first.note(d.state(), cfg.Now())
	d.current.Store(first)
	return d
}

// List returns the listing in force, never nil. It is one atomic load.
func (d *Directory) List() *protocol.Listing { return &d.current.Load().Listing }

// Watch returns the listing in force and a channel that is closed when another
// one replaces it.
func (d *Directory) Watch() (*protocol.Listing, <-chan struct{}) {
	p := d.current.Load()
	return &p.Listing, p.replaced
}

// Funnel returns the funnel of the listing in force with a note about the
// registry as it is now. [Directory.List] has the note of when it was published:
// enough for a decision, not for an explanation.
func (d *Directory) Funnel() protocol.Funnel {
	p := d.current.Load()
	f := p.Funnel
	f.Note = p.note(d.state(), d.cfg.Now())
	return f
}

// Ready waits for the first list. It returns nil once one was taken, even if it
// holds no provider, or an error that says what is being waited for when ctx ends.
func (d *Directory) Ready(ctx context.Context) error {
	for {
		p := d.current.Load()
		switch {
		case p.closed:
			return protocol.Errorf(protocol.ErrClosed, "the directory of %s is closed", d.service)
		case p.listed:
			return nil
		}
		select {
		case <-p.replaced:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the providers of %s: %s: %w", d.service, p.note(d.state(), d.cfg.Now()), context.Cause(ctx))
		}
	}
}

// Close takes all providers out of the listing and closes their endpoints: calls
// under way may finish. Later lists are ignored. It does not wait for calls; a
// second Close does nothing.
func (d *Directory) Close() {
	d.mu.Lock()
	var c change
	if !d.closed {
		d.closed = true
		for _, p := range d.roster.nodes {
			c.left = append(c.left, p.node)
		}
		d.roster, d.departed, d.failed, d.kept = roster{}, departed{}, nil, kept{}
		d.publish(&c)
	}
	d.mu.Unlock()
	closeAll(c.left)
	d.retry.wait()
}

func closeAll(nodes []*protocol.Node) {
	for _, n := range nodes {
		n.Endpoint().Close()
	}
}

func (d *Directory) state() State {
	if d.cfg.State == nil {
		return State{}
	}
	return d.cfg.State()
}
