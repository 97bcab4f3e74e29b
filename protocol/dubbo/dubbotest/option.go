package dubbotest

import (
	"context"
	"net"
	"time"
)

// TB is what [Start] needs of a *testing.T, B or F.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Option changes a setting of [New] or [Start]. What Dubbo has a parameter for is
// no option: it stands in the text of the service.
type Option func(*options)

type options struct {
	profile    Profile
	addr       string
	memory     bool
	heartbeats Heartbeats
	keep       int
	delay      DelayFunc
	dial       func(ctx context.Context, network, address string) (net.Conn, error) // to registries
}

func newOptions(opts []Option) options {
	o := options{addr: "127.0.0.1:0", keep: 1000, dial: new(net.Dialer).DialContext}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if o.memory && o.addr == "127.0.0.1:0" {
		o.addr = "192.0.2.1:20880" // of a network that exists in documentation only
	}
	return o
}

// WithProfile makes the provider behave like another release line.
func WithProfile(p Profile) Option { return func(o *options) { o.profile = p } }

// WithAddr sets the address to listen on; the default is a free port of 127.0.0.1.
func WithAddr(addr string) Option { return func(o *options) { o.addr = addr } }

// InMemory makes the provider listen on no socket: [Provider.Dial] and [Dialer] are
// the only ways to reach it. Such a provider and its consumers can live in a
// testing/synctest bubble, where timeouts of minutes pass at once. Its address, by
// default 192.0.2.1:20880, is then a mere name.
func InMemory() Option { return func(o *options) { o.memory = true } }

// Heartbeats is what a provider does about heartbeats.
type Heartbeats int

// The policies.
const (
	HeartbeatsAsProfile Heartbeats = iota // [HeartbeatsSent] for Dubbo26, else [HeartbeatsAnswered]
	HeartbeatsAnswered                    // answers, closes what neither reads nor writes for three periods
	HeartbeatsSent                        // answers, sends its own, closes what does not answer for three periods
	HeartbeatsIgnored                     // neither answers nor sends nor closes: a provider that hangs
)

// WithHeartbeats sets what the provider does about heartbeats. The period is its
// parameter heartbeat, in milliseconds, 60,000 by default; 0 is as ignored, but for
// answers.
func WithHeartbeats(h Heartbeats) Option { return func(o *options) { o.heartbeats = h } }

// WithRecords sets how many calls [Provider.Calls] remembers, the latest ones; the
// default is 1000.
func WithRecords(n int) Option { return func(o *options) { o.keep = max(n, 0) } }

// DelayFunc returns how long a call takes, at least: its answer waits for that. age
// is the time since the provider's start, or its last restart. It may be called
// concurrently.
type DelayFunc func(c *Call, age time.Duration) time.Duration

// WithDelay slows the provider down; see also [Provider.SetDelay].
func WithDelay(f DelayFunc) Option { return func(o *options) { o.delay = f } }

// ColdStart is the delay of a provider that is slower in the beginning: factor
// times the usual time at its start, and in a straight line down to the usual time
// when it is warm.
func ColdStart(usual time.Duration, factor float64, warm time.Duration) DelayFunc {
	return func(_ *Call, age time.Duration) time.Duration {
		if age >= warm || warm <= 0 {
			return usual
		}
		cold := 1 - float64(age)/float64(warm)
		return time.Duration(float64(usual) * (1 + (factor-1)*cold))
	}
}

// WithRegistryDialer sets how [Provider.Register] connects to registries, such as
// one in memory.
func WithRegistryDialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(o *options) {
		if dial != nil {
			o.dial = dial
		}
	}
}
