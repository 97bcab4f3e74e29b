package dubbo

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
)

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// dialLoopbackNames returns a dialer that knows the names of the loopback
// interface itself: neither Go's resolver nor every DNS server does, and providers
// under test register them, because Dubbo refuses to register 127.0.0.1.
func dialLoopbackNames(d *net.Dialer) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil || !isLoopbackName(host) {
			return d.DialContext(ctx, network, address)
		}
		var errs []error
		for _, ip := range []string{"127.0.0.1", "::1"} {
			nc, err := d.DialContext(ctx, network, net.JoinHostPort(ip, port))
			if err == nil {
				return nc, nil
			}
			errs = append(errs, err)
		}
		return nil, errors.Join(errs...)
	}
}

// isLoopbackName reports whether RFC 6761 §6.3 says that host is this machine.
// Plain "localhost" is left to the resolver: the hosts file may say more.
func isLoopbackName(host string) bool {
	h := strings.ToLower(host)
	return h == "localhost." || strings.HasSuffix(strings.TrimSuffix(h, "."), ".localhost")
}

// dial makes one connection to the exchange's address.
func (x *exchange) dial() (net.Conn, error) {
	ctx, cancel := context.WithTimeout(x.ctx, x.settings.connectTimeout)
	defer cancel()
	nc, err := x.p.opt.dial(ctx, "tcp", x.settings.address)
	if err != nil {
		if ctx.Err() != nil && x.ctx.Err() == nil {
			err = fmt.Errorf("connect.timeout of %v: %w", x.settings.connectTimeout, err)
		}
		return nil, err
	}
	if !x.settings.tls {
		return nc, nil
	}
	cfg := x.p.opt.tls.Clone()
	if cfg.ServerName == "" {
		cfg.ServerName = x.settings.host
	}
	secure := tls.Client(nc, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = nc.Close()
		return nil, fmt.Errorf("TLS with %s: %w", x.settings.address, err)
	}
	return secure, nil
}
