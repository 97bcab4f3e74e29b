package dubbo

import (
	"context"
	"crypto/tls"
	"math/rand/v2"
	"net"
	"time"

	"go.uber.org/zap"
)

// Option configures a [Protocol].
type Option func(*options)

// options are what all connections of a protocol share.
type options struct {
	application string
	logger      *zap.Logger
	dial        func(ctx context.Context, network, address string) (net.Conn, error)
	tls         *tls.Config
	drain       time.Duration
	queue       int            // bytes that may wait for a socket
	random      func() float64 // in [0, 1): for jitter
}

func newOptions(opts []Option) options {
	o := options{
		logger: zap.NewNop(),
		dial:   dialLoopbackNames(&net.Dialer{}),
		drain:  10 * time.Second,
		queue:  4 << 20,
		random: rand.Float64,
	}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithApplication names the calling application: providers see it as the
// attachment remote.application. A merged URL of the consumer side (side=consumer)
// that has a parameter "application" goes before.
func WithApplication(name string) Option {
	return func(o *options) { o.application = name }
}

// WithLogger sets the logger for connections that come and go; silent by default.
// Addresses and errors are logged, never arguments, results or secrets.
func WithLogger(l *zap.Logger) Option {
	return func(o *options) {
		if l != nil {
			o.logger = l
		}
	}
}

// WithDialer replaces how connections are made: a proxy, another resolver, a test.
// network is "tcp", address the host and port of the provider's URL. ctx ends with
// the connect timeout, and the dialer must return then: Close waits for it. The default is [net.Dialer] with Go's TCP_NODELAY and
// keepalive, which takes "localhost." and names under ".localhost" for loopback
// without asking anybody (RFC 6761).
func WithDialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(o *options) {
		if dial != nil {
			o.dial = dial
		}
	}
}

// WithTLS sets the configuration for providers whose URL says ssl-enabled=true;
// the others are called without TLS. An empty ServerName stands for the host of
// the provider's URL. Without this option such providers are refused.
func WithTLS(cfg *tls.Config) Option {
	return func(o *options) { o.tls = cfg }
}

// WithDrainTimeout sets how long [protocol.Endpoint].Close lets running calls go
// on: Dubbo's dubbo.service.shutdown.wait, 10 s by default.
func WithDrainTimeout(d time.Duration) Option {
	return func(o *options) { o.drain = max(d, 0) }
}
