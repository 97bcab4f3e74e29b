package zookeeper

import (
	"context"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"
)

// dialServer is the default [Dialer].
func dialServer(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	host, port, err := net.SplitHostPort(address)
	if err != nil || !loopback(host) {
		return d.DialContext(ctx, network, address)
	}
	c, err := d.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		if c6, err6 := d.DialContext(ctx, network, net.JoinHostPort("::1", port)); err6 == nil {
			return c6, nil
		}
	}
	return c, err
}

// loopback reports names that are this machine by definition (RFC 6761). DNS is
// not asked about them.
func loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// hosts rotates through the servers for the library. Unlike the library's own it
// resolves nothing: the dialer does, at each attempt. After a session was lost
// each server gets one attempt at once; then the library rests a second before
// each round.
type hosts struct {
	mu      sync.Mutex
	servers []string
	next    int
	tries   int // since the last rest, or since the last session
	rounds  int // in a row without a session
	session time.Time
}

// Init takes the list, which the library has shuffled.
func (h *hosts) Init(servers []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.servers = servers
	return nil
}

// Len returns the number of servers.
func (h *hosts) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.servers)
}

// Next returns the server to try, and whether to rest before.
func (h *hosts) Next() (server string, rest bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tries >= len(h.servers) {
		h.tries, rest = 0, true
		h.rounds++
		rand.Shuffle(len(h.servers), func(i, j int) { h.servers[i], h.servers[j] = h.servers[j], h.servers[i] })
	}
	server = h.servers[h.next]
	h.next = (h.next + 1) % len(h.servers)
	h.tries++
	return server, rest
}

// Connected is told of a session. One that did not hold a second does not earn a
// new round of attempts without rest.
func (h *hosts) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.session) > time.Second {
		h.tries = 0
	}
	h.rounds, h.session = 0, time.Now()
}

// expired is told that the server knows our session no more: the next attempt
// gets a new one and need not wait.
func (h *hosts) expired() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tries = 0
}

// round returns the number of fruitless rounds, and whether one begins.
func (h *hosts) round() (n int, begins bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rounds, h.tries == 1
}

// dialer opens the sockets of one link and owns them: the library leaves the old
// one open after an expiry and waits for a mute server almost for ever.
type dialer struct {
	s     *settings
	hosts *hosts
	ctx   context.Context // ends with the link
	// failed is told why there is no session: dial, handshake or lost connection.
	failed func(error)
	// reached is told that a server accepted a connection.
	reached func(server string)

	mu      sync.Mutex
	current net.Conn
}

// dial is what the library calls; its own timeout of one second is not used.
func (d *dialer) dial(network, address string, _ time.Duration) (net.Conn, error) {
	d.drop()
	if err := d.ctx.Err(); err != nil {
		return nil, err
	}
	round, begins := d.hosts.round()
	if begins && round > 0 {
		select {
		case <-time.After(d.s.redial.after(round)):
		case <-d.ctx.Done():
		}
	}
	limit := d.s.shake
	for i := 0; i < round && limit < d.s.shakeMax; i++ {
		limit *= 2
	}
	limit = min(limit, d.s.shakeMax)
	ctx, cancel := context.WithTimeout(d.ctx, limit)
	defer cancel()
	c, err := d.s.dial(ctx, network, address)
	if err != nil {
		d.failed(err)
		return nil, err
	}
	d.reached(address)
	sc := &serverConn{Conn: c, d: d, server: address, limit: limit, until: time.Now().Add(limit), lock: make(chan struct{}, 1), holding: true}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.ctx.Err(); err != nil {
		_ = c.Close()
		return nil, err
	}
	d.current = c
	return sc, nil
}

// drop closes the socket, if there is one.
func (d *dialer) drop() {
	d.mu.Lock()
	c := d.current
	d.current = nil
	d.mu.Unlock()
	if c != nil {
		_ = c.Close()
	}
}
