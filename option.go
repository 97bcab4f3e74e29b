package gofer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/loadbalance"
)

// Option configures a [Client].
type Option func(*options)

// options is what the options make; New validates it once, as a whole.
type options struct {
	application string
	registry    string
	logger      *zap.Logger
	dialer      func(ctx context.Context, network, address string) (net.Conn, error)
	tls         *tls.Config

	registryDialer func(ctx context.Context, network, address string) (net.Conn, error)

	balancers map[string]loadbalance.Factory
	clusters  map[string]cluster.Factory
	filters   map[string]filter.Factory

	trace      func(Trace)
	traceEvery int

	loaded *Config    // of WithConfig
	code   []property // of WithReference and WithProperty
	merged *Config    // all of it

	problems []error
}

// WithApplication names the calling application: Dubbo's application.name, which
// providers see as remote.application and rules match on. Required.
func WithApplication(name string) Option {
	return func(c *options) { c.application = name }
}

// WithRegistry sets the registry, e.g. zookeeper://10.0.0.1:2181,10.0.0.2:2181 or
// zookeeper://user:password@10.0.0.1:2181?backup=10.0.0.2:2181&group=dubbo.
// Without it only references with a direct address can be made.
func WithRegistry(address string) Option {
	return func(c *options) {
		if c.registry != "" {
			c.problems = append(c.problems, errors.New("WithRegistry is given twice: one client uses one registry; list the servers of an ensemble in one address, separated by commas"))
		}
		if strings.TrimSpace(address) == "" {
			c.problems = append(c.problems, errors.New("WithRegistry is given an empty address: write zookeeper://host:2181, or leave the option out"))
		}
		c.registry = address
	}
}

// WithLogger sets the logger; the default is silent.
func WithLogger(l *zap.Logger) Option {
	return func(c *options) {
		if l != nil {
			c.logger = l
		}
	}
}

// WithSlog logs to a log/slog handler.
func WithSlog(h slog.Handler) Option {
	return func(c *options) {
		if h != nil {
			c.logger = zap.New(slogCore{h})
		}
	}
}

// WithDialer sets how TCP connections to providers are made, for networks where
// registered addresses need a translation. The registry has [WithRegistryDialer].
// Without it, localhost. and names under .localhost are loopback (RFC 6761).
func WithDialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(c *options) { c.dialer = dial }
}

// WithRegistryDialer sets how TCP connections to the registry's servers are made:
// for TLS, a proxy, or an in-process server in a test.
func WithRegistryDialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(c *options) { c.registryDialer = dial }
}

// WithTLS sets the TLS configuration for providers registered with
// ssl-enabled=true. Without it such a provider is refused with a clear error.
func WithTLS(t *tls.Config) Option {
	return func(c *options) { c.tls = t }
}

// WithLoadBalance adds a load balancer to this client, or replaces one, to be
// chosen by its name with loadbalance=name. Factories are called while a reference
// is made and must not use the client.
func WithLoadBalance(name string, f loadbalance.Factory) Option {
	return func(c *options) { add(c, c.balancers, "load balancer", name, f, f == nil) }
}

// WithCluster adds a cluster strategy, to be chosen with cluster=name. As with
// [WithLoadBalance], the factory must not use the client.
func WithCluster(name string, f cluster.Factory) Option {
	return func(c *options) { add(c, c.clusters, "cluster", name, f, f == nil) }
}

// WithFilter adds a filter, to be chosen with reference.filter=name. As with
// [WithLoadBalance], the factory must not use the client.
func WithFilter(name string, f filter.Factory) Option {
	return func(c *options) { add(c, c.filters, "filter", name, f, f == nil) }
}

func add[F any](c *options, m map[string]F, kind, name string, f F, missing bool) {
	if name == "" || missing {
		c.problems = append(c.problems, fmt.Errorf("a %s needs a name and a factory, got name %q", kind, name))
		return
	}
	m[name] = f
}

func newOptions(opts []Option) (*options, error) {
	c := &options{
		logger:    zap.NewNop(),
		balancers: loadbalance.Builtin(),
		clusters:  cluster.Builtin(),
		filters:   filter.Builtin(),
	}
	for _, o := range opts {
		if o != nil {
			o(c)
		}
	}
	err := c.configure()
	c.problems = append(c.problems, err)
	if strings.TrimSpace(c.application) == "" {
		c.problems = append(c.problems, errors.New("no application name: add WithApplication(\"shop-web\"), or set dubbo.application.name; providers and rules identify the caller by it"))
	}
	if err := errors.Join(c.problems...); err != nil {
		return nil, fmt.Errorf("gofer: invalid configuration: %w", err)
	}
	return c, nil
}
