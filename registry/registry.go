package registry

import (
	"context"
	"time"

	"github.com/gofer-rpc/gofer/url"
)

// Registry tells which providers of a service there are. Implementations are safe
// for concurrent use; all references of a client share one per address.
type Registry interface {
	// Subscribe delivers the providers of the reference's interface to l, now and
	// after every change, until the subscription is closed. It does not wait for
	// the registry to be reachable.
	Subscribe(reference url.URL, l Listener) (Subscription, error)
	// Register makes the URL visible in the registry as an ephemeral entry and
	// keeps it there, across lost sessions too, until Unregister or Close. It does
	// not wait; failures are repeated and show in State.
	Register(u url.URL) error
	// Unregister takes the URL out again.
	Unregister(u url.URL) error
	// State returns the connection state at this moment.
	State() State
	// Close ends all subscriptions, takes out what was registered and waits for
	// every goroutine. After it returns no listener is called.
	Close() error
}

// Subscription is the handle of a [Registry.Subscribe] call.
type Subscription interface {
	// Ready waits for the first list. It returns nil once one was delivered, or
	// an error that says what the registry is waiting for when ctx ends.
	Ready(ctx context.Context) error
	// Close ends the subscription. After it returns the listener is not called.
	Close()
}

// Listener takes lists. Notify is called with full snapshots, never with single
// changes, by one goroutine at a time per subscription; a newer snapshot replaces
// one that was not delivered yet (B017, B187). The listener may take its time:
// that delays nobody else and no session event (B025).
type Listener interface {
	Notify(s Snapshot)
}

// ListenerFunc makes a function a [Listener].
type ListenerFunc func(Snapshot)

// Notify calls f.
func (f ListenerFunc) Notify(s Snapshot) { f(s) }

// Snapshot is all that the registry knows of an interface, read at one moment.
// Groups and versions are not filtered yet: the directory does that and can say
// what it refused.
type Snapshot struct {
	// Providers are the entries of the category providers. An entry that has not
	// changed is the same pointer as in the snapshot before.
	Providers []*Entry
	// Rejected are entries that could not be parsed: at most a few, for people.
	Rejected []Rejection
	// RejectedCount counts all of them.
	RejectedCount int
	// Configurators and Routers hold the undecoded URLs of Dubbo 2.6-style rules.
	Configurators, Routers []string
	// Read is when the providers were read.
	Read time.Time
	// Held is until when the list before is known to have held: the moment of the
	// event that announced this one, say. It tells how long ago a new provider can
	// have started at most (F18). The zero time: until it was read.
	Held time.Time
	// Doubt is not nil when the registry lists suddenly far fewer providers, and is
	// asked again before that is believed: Providers has those known before too.
	Doubt *Doubt
	// Stale is true when the registry cannot be asked at present; the entries are
	// the last ones known. Errors never empty a list (B012).
	Stale bool
	// Cached is true when the list comes from the file of a [Cache]: Read is when
	// it was last known to hold. It is Stale too, and counts only until the registry
	// delivers a list.
	Cached bool
	// Source is the registry's address without secrets, Path where the list lies.
	Source, Path string
}

// Doubt tells of a list that was read and is not believed yet.
type Doubt struct {
	Listed int       // providers that the registry lists now
	Known  int       // those that it has listed before
	Since  time.Time // when the fewer were read first
}

// Entry is one provider as registered. Entries with the same name have the same URL.
type Entry struct {
	Raw string  // the name it is registered under
	URL url.URL // parsed
}

// Rejection is an entry that cannot be used.
type Rejection struct {
	Raw    string // bounded
	Reason string
}

// State describes a registry connection, for snapshots and error texts.
type State struct {
	Address   string // without secrets
	Connected bool
	// Since is when the connection was got or lost.
	Since time.Time
	// LastError is the latest failure while not connected, or of a read or
	// registration that is being repeated.
	LastError error
	// Sessions counts the sessions so far.
	Sessions int
}
