package dubbotest

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/url"
)

// Provider is an in-process dubbo provider of one service. All methods are safe for
// concurrent use.
type Provider struct {
	tb  TB // nil with New
	opt options

	mu       sync.Mutex
	service  url.URL // as exported: with host and port
	limits   limits
	handlers map[string]*handler // by name and descriptor, as "find(J"
	scripts  scripts
	attached map[string]any // with every answer
	load     float64        // percent, see SetLoad
	delay    DelayFunc
	records  records
	life     *life   // nil while it is down
	lives    []*life // that may have goroutines
	started  time.Time
	conns    map[*conn]struct{}
	accepted int // connections so far
	frozen   chan struct{}
	closed   bool

	homes homes
}

// life is one run of the provider.
type life struct {
	ctx      context.Context // ends with it
	end      context.CancelFunc
	listener net.Listener
	serving  sync.WaitGroup // accept loop, connections, calls
	leaving  bool           // stops gracefully: answers what comes on the connections there are
	greet    bool           // new connections get a readonly event first
}

// Start starts a provider that ends with the test. A mistake ends the test at once,
// here and in [Provider.Handle] and the like. See [New].
func Start(t TB, service string, opts ...Option) *Provider {
	t.Helper()
	p, err := New(service, opts...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	p.tb = t
	t.Cleanup(p.Close)
	return p
}

// New starts a provider. service is an interface with the provider's parameters, as
// they would stand in its URL:
//
//	com.example.OrderService?version=1.0.0&group=g1&token=secret&find.executes=2
//
// Parameters that are obeyed here: version, group, token; executes (also of a
// method), threads, accepts and payload as limits; heartbeat. All of them are
// registered, and consumers find in them what is theirs (weight, timeout …).
func New(service string, opts ...Option) (*Provider, error) {
	u, err := url.Parse("dubbo://127.0.0.1/" + strings.TrimSpace(service))
	if err != nil {
		return nil, fmt.Errorf("dubbotest: service %q: %w", service, err)
	}
	if u.Path() == "" || strings.ContainsAny(u.Path(), "/:") {
		return nil, fmt.Errorf("dubbotest: service %q: write an interface and the provider's parameters, such as com.example.OrderService?version=1.0.0", service)
	}
	p := &Provider{
		opt: newOptions(opts), service: u, handlers: map[string]*handler{}, attached: map[string]any{}, load: usualLoad,
		scripts: scripts{}, conns: map[*conn]struct{}{}, frozen: make(chan struct{}),
	}
	p.thaw()
	p.delay = p.opt.delay
	p.records = newRecords(p.opt.keep)
	if p.limits, err = newLimits(u, p.opt.profile); err != nil {
		return nil, fmt.Errorf("dubbotest: service %q: %w", service, err)
	}
	if err := p.begin(); err != nil {
		return nil, err
	}
	return p, nil
}

// begin listens and serves.
func (p *Provider) begin() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return fmt.Errorf("dubbotest: the provider is closed")
	}
	l, err := p.listen()
	if err != nil {
		return fmt.Errorf("dubbotest: %w", err)
	}
	p.opt.addr = l.Addr().String()
	host, port, err := net.SplitHostPort(p.opt.addr)
	if err != nil {
		return fmt.Errorf("dubbotest: %w", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return fmt.Errorf("dubbotest: address %q: %w", p.opt.addr, err)
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	p.service = p.service.WithAddress(host, number)
	p.started = laterThan(p.started)
	f := &life{listener: l}
	f.ctx, f.end = context.WithCancel(context.Background())
	p.life, p.lives = f, append(p.lives, f)
	f.serving.Go(func() { p.accept(f) })
	return nil
}

// Addr returns the address as "host:port". It stays the same over restarts.
func (p *Provider) Addr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opt.addr
}

// exported returns the provider's URL.
func (p *Provider) exported() url.URL {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.service
}

// URL returns the direct address of the service for a reference:
// dubbo://host:port/interface with the group, version and token that it must have,
// and the parameters given as "timeout=800".
func (p *Provider) URL(params ...string) string {
	u := p.exported()
	own := url.New(u.Protocol(), u.Host(), u.Port(), u.Path(), nil)
	for _, key := range []string{"group", "version", "token"} {
		if v := u.Param(key); v != "" {
			own = own.With(key, v)
		}
	}
	return withParams(own, params).Full()
}

// withParams adds parameters written as "key=value".
func withParams(u url.URL, params []string) url.URL {
	for _, p := range params {
		for one := range strings.SplitSeq(p, "&") {
			key, value, _ := strings.Cut(one, "=")
			u = u.With(key, value)
		}
	}
	return u
}

// Handle makes a Go function the method of a signature in Java's words, such as
// find(long) or put(java.util.List,byte[]); overloads are handled by one function
// each. The function may take a context first, has one parameter for each of the
// method, into whose Go type the argument is decoded, and returns nothing, a
// result, an error, or both:
//
//	func(ctx context.Context, id int64) (*Order, error)
//
// A nil result is null. An error that is a [*protocol.RemoteError] goes out as an
// exception of its class with message, fields and cause, any other one as a
// java.lang.RuntimeException; a panic too, and a nil pointer returned as an error. The context ends when the provider is
// closed or killed, not when the consumer gives up: Dubbo does not tell. [FromContext]
// gives the call and [Attach] adds attachments to the answer. A result that is an
// [Answer] is not sent but followed: a function can decide about statuses and faults.
//
// A second function for a signature replaces the first. The error says what is
// wrong with the signature or the function; with [Start] it ends the test.
func (p *Provider) Handle(signature string, function any) error {
	if p.tb != nil {
		p.tb.Helper()
	}
	h, err := newHandler(signature, function)
	if err != nil {
		return p.mistake(fmt.Errorf("dubbotest: %w", err))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handlers[h.key()] = h
	return nil
}

// mistake is the error of a call by the test.
func (p *Provider) mistake(err error) error {
	if p.tb != nil {
		p.tb.Helper()
		p.tb.Fatalf("%v", err)
	}
	return err
}

// SetDelay replaces the delay function; nil is none.
func (p *Provider) SetDelay(f DelayFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = f
}

// SetAttachment adds an attachment to all answers from now on; nil takes it out.
func (p *Provider) SetAttachment(key string, value any) error {
	if value != nil {
		if _, err := hessian2.Append(nil, value); err != nil {
			return p.mistake(fmt.Errorf("dubbotest: attachment %q: %w", key, err))
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if value == nil {
		delete(p.attached, key)
	} else {
		p.attached[key] = value
	}
	return nil
}
