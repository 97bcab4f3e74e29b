package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gofer-rpc/gofer/url"
)

// Static is a [Registry] with a fixed list: providers that the user named instead
// of asking a registry (Dubbo's attribute url). It reads no network;
// [Static.Register] and [Static.Unregister] do nothing.
type Static struct {
	since     time.Time
	providers []url.URL
}

// NewStatic returns the registry of dubbo://host:port[/path][?parameters] addresses.
func NewStatic(providers ...url.URL) *Static {
	return &Static{since: time.Now(), providers: providers}
}

// Subscribe delivers the list, once, before it returns. What an address leaves
// out (path, interface, group, version) is the reference's; its own parameters
// are treated like those of a registered provider (B172). An address that cannot
// serve the reference is an error: nobody would ever correct it.
func (s *Static) Subscribe(reference url.URL, l Listener) (Subscription, error) {
	m := newMatcher(reference)
	var entries []*Entry
	var errs []error
	for _, p := range s.providers {
		p = complete(p, reference)
		if _, reason := m.match(p); reason != "" {
			errs = append(errs, fmt.Errorf("provider address %q cannot serve %s: %s", p, reference.ServiceKey(), reason))
			continue
		}
		entries = append(entries, &Entry{Raw: p.Full(), URL: p})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	l.Notify(Snapshot{Providers: entries, Read: s.since, Source: s.State().Address})
	return delivered{}, nil
}

// complete adds to a provider what its address leaves out; matching adds the path.
func complete(p, reference url.URL) url.URL {
	if p.Param("interface") == "" {
		p = p.With("interface", reference.Interface())
	}
	for _, key := range []string{"group", "version", "classifier"} {
		if v := reference.Param(key); v != "" && p.Param(key) == "" && !strings.ContainsAny(v, "*,") {
			p = p.With(key, v)
		}
	}
	return p
}

// Register does nothing.
func (s *Static) Register(url.URL) error { return nil }

// Unregister does nothing.
func (s *Static) Unregister(url.URL) error { return nil }

// State is always connected.
func (s *Static) State() State {
	return State{Address: "direct", Connected: true, Since: s.since}
}

// Close does nothing.
func (s *Static) Close() error { return nil }

// delivered is a subscription that has nothing more to say.
type delivered struct{}

func (delivered) Ready(context.Context) error { return nil }
func (delivered) Close()                      {}
