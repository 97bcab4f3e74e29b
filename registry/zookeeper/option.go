package zookeeper

import (
	"context"
	"math/rand/v2"
	"net"
	"time"

	"go.uber.org/zap"
)

// Option changes a setting of [New] or [NewPool].
type Option func(*settings)

// WithLogger sets where the registry logs; the default is nowhere. It logs lost
// and regained sessions, entries that cannot be read and missing permissions,
// once each; never passwords.
func WithLogger(l *zap.Logger) Option {
	return func(s *settings) {
		if l != nil {
			s.log = l
		}
	}
}

// Dialer opens the connection to one server, given as "host:port" with the host
// as written in the registry's address. It has to respect ctx.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// WithDialer replaces the way servers are connected to, for TLS or a relay. The
// default resolves the name at each attempt, so that a moved server is found
// again, and takes "localhost" and names under ".localhost" for loopback without
// asking DNS (RFC 6761).
func WithDialer(d Dialer) Option {
	return func(s *settings) {
		if d != nil {
			s.dial = d
		}
	}
}

// WithConfirmation sets after which time a list that suddenly became empty, or
// lost more than half of at least four entries, is read again before it is
// believed; until then the old entries stay. The default is 1.5 s, 0 believes
// everything at once, as Java does.
func WithConfirmation(d time.Duration) Option {
	return func(s *settings) { s.confirm = max(0, d) }
}

// WithAudit sets how often each path is checked for a change that no event told
// of; the default is 7.5 minutes, ± 50 %. 0 turns it off.
func WithAudit(d time.Duration) Option {
	return func(s *settings) { s.audit = max(0, d) }
}

// WithWatchdog sets how long servers may answer without granting a session before
// the connection is given up for a new one with a new session: what it takes when
// the servers lost their data. The default is twice the session timeout, at least
// a minute.
func WithWatchdog(d time.Duration) Option {
	return func(s *settings) {
		if d > 0 {
			s.watchdog = d
		}
	}
}

// settings holds every constant; tests shorten them.
type settings struct {
	log      *zap.Logger
	dial     Dialer
	confirm  time.Duration
	audit    time.Duration
	watchdog time.Duration

	retry    backoff       // failed reads and registrations
	redial   backoff       // added to the library's second between rounds of servers
	denied   time.Duration // between tries that fail with NoAuth
	quiet    time.Duration // from an event to the read
	burst    time.Duration // the same while events keep coming
	calm     time.Duration // without events, until quiet counts again
	settle   time.Duration // how long requests wait on a new connection
	rules    time.Duration // how long the first snapshot waits for rules
	grace    time.Duration // without session, until lists are flagged stale
	lag      time.Duration // until a list older than the known one is read again
	goodbye  time.Duration // how long Close waits for the removal of nodes
	shake    time.Duration // limit of dial and of handshake, doubled each round
	shakeMax time.Duration
	workers  int
}

func newSettings(opts []Option) *settings {
	s := &settings{
		log:      zap.NewNop(),
		dial:     dialServer,
		confirm:  1500 * time.Millisecond,
		audit:    450 * time.Second,
		retry:    backoff{100 * time.Millisecond, 30 * time.Second, rand.Float64},
		redial:   backoff{250 * time.Millisecond, 2 * time.Second, rand.Float64},
		denied:   30 * time.Second,
		quiet:    25 * time.Millisecond,
		burst:    200 * time.Millisecond,
		calm:     time.Second,
		settle:   20 * time.Millisecond,
		rules:    3 * time.Second,
		grace:    2 * time.Second,
		lag:      200 * time.Millisecond,
		goodbye:  time.Second,
		shake:    2 * time.Second,
		shakeMax: 10 * time.Second,
		workers:  8,
	}
	for _, o := range opts {
		o(s)
	}
	return s
}
