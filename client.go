package gofer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo"
	"github.com/gofer-rpc/gofer/registry"
	"github.com/gofer-rpc/gofer/registry/zookeeper"
	"github.com/gofer-rpc/gofer/url"
)

// Client owns everything that references share: the registry session, the
// connections and the extensions. Make one per process, close it at the end. All
// methods are safe for concurrent use.
type Client struct {
	cfg      *options
	started  time.Time
	host     string // our address as registered
	wire     protocol.Protocol
	registry registry.Registry // nil without WithRegistry
	address  url.URL           // of the registry
	cache    *registry.Cache   // before the registry; nil without

	consumers consumers

	mu       sync.Mutex
	services map[string]*service
	closed   bool
	closing  sync.Once
}

// New makes a client. It starts to connect to the registry but does not wait for
// it: [Client.Refer] does. The error lists everything that is wrong with the
// options.
func New(opts ...Option) (*Client, error) {
	cfg, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, started: time.Now(), host: localIP(), services: map[string]*service{}}
	if cfg.registry != "" {
		if err := c.connectRegistry(cfg.registry); err != nil {
			return nil, fmt.Errorf("gofer: registry: %w", err)
		}
	}
	wire := []dubbo.Option{dubbo.WithLogger(cfg.logger.Named("dubbo")), dubbo.WithApplication(cfg.application)}
	if cfg.dialer != nil {
		wire = append(wire, dubbo.WithDialer(cfg.dialer))
	}
	if cfg.tls != nil {
		wire = append(wire, dubbo.WithTLS(cfg.tls))
	}
	c.wire = dubbo.New(wire...)
	return c, nil
}

// connectRegistry opens the registry at an address that the configuration has checked.
func (c *Client) connectRegistry(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return err
	}
	c.address = u
	log := c.cfg.logger.Named("registry")
	warnUnknown(log, u)
	opts := []zookeeper.Option{zookeeper.WithLogger(log)}
	if c.cfg.registryDialer != nil {
		opts = append(opts, zookeeper.WithDialer(c.cfg.registryDialer))
	}
	r, err := zookeeper.New(u, opts...)
	if err != nil {
		return err
	}
	c.registry = r
	c.openCache()
	return nil
}

// localIP returns the address of this machine that a connection to elsewhere
// would have, without sending anything; 127.0.0.1 when there is none.
func localIP() string {
	addrs, err := net.InterfaceAddrs()
	if err == nil {
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
				return n.IP.String()
			}
		}
	}
	return "127.0.0.1"
}

// Refer declares a reference: an interface with parameters,
//
//	com.example.OrderService?version=1.0.0&loadbalance=leastactive&timeout=800&find.timeout=300
//
// or fixed providers,
//
//	dubbo://10.0.0.7:20880/com.example.OrderService?timeout=800
//
// several separated by semicolons. With check=true, the default, Refer waits for
// the registry, the list and a first connection (until ctx ends, and at most as
// long as the registry's parameter timeout, 5 s by default) and returns an error
// that says what is missing. With check=false it returns at once; providers may
// come later, and calls made before the first list has been read wait for it.
//
// A parameter that nobody knows is an error behind the name of an interface when it
// can hardly be anything but a slip (loadblance), else a warning of the logger: it may
// be one of your own, which routers and filters find in the URL.
//
// Without the registry the last known providers serve, from a file that only its
// owner may read (it may hold tokens): below ~/.gofer/registry, or where the
// registry's parameter file says; none with file-cache=false. With check=false they
// do at once, with check=true when the registry has given no list in time and one
// of them is connected. [Reference.Snapshot] says so, with the age of the list,
// until the registry delivers one.
//
// What the configuration of [WithConfig] sets for all references (dubbo.consumer …)
// holds where the text says nothing. References of the same text share everything,
// actives too; each wants its own [Reference.Close].
func (c *Client) Refer(ctx context.Context, reference string) (*Reference, error) {
	d, err := parseDeclaration(reference, c.host)
	if err == nil {
		err = checkSpelling(reference, d.url)
	}
	if err != nil {
		return nil, fmt.Errorf("gofer: reference: %w", err)
	}
	return c.refer(ctx, d)
}

// refer is Refer for a declaration in which any parameter may stand.
func (c *Client) refer(ctx context.Context, d declaration) (*Reference, error) {
	d.url = c.cfg.merged.withDefaults(d.url)
	s, err := c.acquire(d)
	if err != nil {
		return nil, err
	}
	r := &Reference{service: s}
	if url.Bool(d.url.ParamOr("check", "true")) {
		if err := s.check(ctx); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	return r, nil
}

// acquire returns the service of a declaration, a new one at its first use.
func (c *Client) acquire(d declaration) (*service, error) {
	key := d.key()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, &protocol.Error{Code: ErrClosed, Service: d.url.Interface(), Detail: "the client is closed"}
	}
	s := c.services[key]
	if s == nil {
		var err error
		if s, err = newService(c, key, d); err != nil {
			return nil, fmt.Errorf("gofer: reference %s: %w", d.url.ServiceKey(), err)
		}
		c.services[key] = s
	}
	s.users++
	return s, nil
}

// release gives a service back; the last user closes it.
func (c *Client) release(s *service) error {
	c.mu.Lock()
	s.users--
	last := s.users == 0 && c.services[s.key] == s
	if last {
		delete(c.services, s.key)
	}
	c.mu.Unlock()
	if last {
		return s.close()
	}
	return nil
}

// Close ends all references: calls under way fail at once, the entries in the
// registry are taken out, every goroutine and socket is gone when it returns. A
// second call does nothing but wait for the first.
func (c *Client) Close() error {
	var err error
	c.closing.Do(func() { err = c.close() })
	return err
}

func (c *Client) close() error {
	c.mu.Lock()
	c.closed = true
	services := c.services
	c.services = map[string]*service{}
	c.mu.Unlock()

	var errs []error
	for _, s := range services {
		errs = append(errs, s.close())
	}
	errs = append(errs, c.wire.Close())
	if c.registry != nil {
		errs = append(errs, c.registry.Close())
	}
	err := errors.Join(errs...)
	c.cfg.logger.Info("client closed", zap.String("application", c.cfg.application), zap.Error(err))
	return err
}
