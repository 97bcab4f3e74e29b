package dubbo

import (
	"errors"
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
	"github.com/gofer-rpc/gofer/url"
)

// Defaults of Dubbo.
const (
	defaultPayload        = 8 << 20
	defaultHeartbeat      = time.Minute
	defaultConnectTimeout = 3 * time.Second
	minHeartbeat          = time.Second // Dubbo's least period: heartbeat=1 would be a flood
	maxConnections        = 256
)

// settings are what a provider's URL says about connections. They are read once,
// by the first reference to an address; connections that several references share
// keep them.
type settings struct {
	address, host  string
	tls            bool
	private        bool // connections=N: not shared with other references
	count          int
	connectTimeout time.Duration
	conn           connConfig
}

// settingsOf reads the URL. Bad numbers are replaced by the default: whoever merged
// the URL has reported them already. The error is about what cannot be served.
func (p *Protocol) settingsOf(u url.URL) (settings, error) {
	if u.Protocol() != "dubbo" {
		return settings{}, fmt.Errorf("protocol %q is not supported: only dubbo", u.Protocol())
	}
	if u.Host() == "" || u.Interface() == "" {
		return settings{}, errors.New("it names no host or no interface")
	}
	address, err := u.DialAddress()
	if err != nil {
		return settings{}, err
	}
	s := settings{
		address:        address,
		host:           u.Host(),
		tls:            url.Bool(u.Param("ssl-enabled")),
		count:          number(u, "connections", 0),
		connectTimeout: duration(u, "connect.timeout", defaultConnectTimeout),
	}
	if s.tls && p.opt.tls == nil {
		return settings{}, errors.New("ssl-enabled=true, but this client has no TLS configuration: add WithTLS")
	}
	if s.private = s.count > 0; !s.private {
		s.count = number(u, "shareconnections", 1)
	}
	s.count = min(max(s.count, 1), maxConnections)
	s.connectTimeout = max(s.connectTimeout, time.Millisecond)
	beat := duration(u, "heartbeat", defaultHeartbeat)
	if beat = max(beat, 0); beat > 0 {
		beat = max(beat, minHeartbeat)
	}
	silence := duration(u, "heartbeat.timeout", 3*beat)
	if silence < 2*beat { // Java refuses to start with such a value
		silence = 3 * beat
	}
	s.conn = connConfig{queue: p.opt.queue, heartbeat: beat, silence: silence, patience: s.connectTimeout}
	return s, nil
}

// key is equal for references that share connections.
func (s settings) key() string {
	if s.tls {
		return "tls " + s.address
	}
	return s.address
}

// payloadOf returns the longest body for a service, in either direction. Zero and
// less mean no limit, as in Dubbo.
func payloadOf(u url.URL) int {
	if n := number(u, "payload", defaultPayload); n > 0 {
		return min(n, frame.MaxBody)
	}
	return frame.MaxBody
}

func number(u url.URL, key string, def int) int {
	if n, err := url.Int(u.Param(key)); err == nil {
		return n
	}
	return def
}

func duration(u url.URL, key string, def time.Duration) time.Duration {
	if d, err := url.Duration(u.Param(key)); err == nil {
		return d
	}
	return def
}
