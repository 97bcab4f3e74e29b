package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gofer-rpc/gofer/registry"
	"github.com/gofer-rpc/gofer/url"
)

// ErrClosed is the cause of errors that come from a closed [Registry] or
// subscription.
var ErrClosed = errors.New("closed")

// Registry is a [registry.Registry] in ZooKeeper. All methods are safe for
// concurrent use.
type Registry struct {
	pool   *Pool
	key    string
	client *client
	root   string

	mu         sync.Mutex
	subs       map[*subscription]struct{}
	registered map[string]struct{} // paths
	leaving    []<-chan struct{}   // of those that are being taken out
	closed     bool
}

var _ registry.Registry = (*Registry)(nil)

// New returns a registry for an address of the form
//
//	zookeeper://[user:password@]host:2181[,host2:2181…][?backup=…&group=…&session=…]
//
// Several hosts, in the authority or in backup, are one ensemble (B005). group is
// the root of all paths, "dubbo" by default; "/" is none. session is the session
// timeout to ask for, in milliseconds, 30 s by default; servers have limits of
// their own. With credentials the connection is authenticated by digest before
// anything else, and what is created is open to that user alone. Percent escapes
// in user name and password are undone, other parameters ignored.
//
// New does not wait for the servers, nor fail when they are not there: use
// [registry.Subscription.Ready].
func New(u url.URL, opts ...Option) (*Registry, error) { return NewPool(opts...).Open(u) }

// Subscribe delivers the providers and rules of the reference's interface to l. A
// category node that does not exist is created, or its creation awaited (B020).
func (r *Registry) Subscribe(reference url.URL, l registry.Listener) (registry.Subscription, error) {
	service := reference.Interface()
	if service == "" || service == "*" {
		return nil, fmt.Errorf("subscribe %s: it names no interface", reference)
	}
	if l == nil {
		return nil, fmt.Errorf("subscribe %s: no listener", service)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, fmt.Errorf("subscribe %s: registry %s: %w", service, r.client.session.addr.source, ErrClosed)
	}
	sub := newSubscription(r, serviceDir(r.root, service), l)
	r.subs[sub] = struct{}{}
	return sub, nil
}

// Register makes the URL visible below the category it names (parameter category,
// default providers), as an ephemeral node.
func (r *Registry) Register(u url.URL) error {
	path, err := nodePath(r.root, u)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fmt.Errorf("register %s: registry %s: %w", u, r.client.session.addr.source, ErrClosed)
	}
	if _, there := r.registered[path]; !there {
		r.registered[path] = struct{}{}
		r.client.register(path)
	}
	return nil
}

// Unregister takes the URL out again. It does not wait; failures are repeated.
func (r *Registry) Unregister(u url.URL) error {
	path, err := nodePath(r.root, u)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.registered[path]; !there {
		return fmt.Errorf("unregister %s: it is not registered", u)
	}
	delete(r.registered, path)
	r.leaving = append(slices.DeleteFunc(r.leaving, ended), r.client.unregister(path))
	return nil
}

// State returns the state of the connection and, while it is there, the read or
// registration that is being repeated.
func (r *Registry) State() registry.State {
	st := r.client.session.state()
	if st.Connected {
		st.LastError = r.client.trouble(r.root)
	}
	return st
}

// disconnected returns an error that tells since when and why there is no
// session; nil when there is one.
func disconnected(st registry.State) error {
	if st.Connected {
		return nil
	}
	since := time.Since(st.Since).Round(time.Second)
	if st.LastError == nil {
		return fmt.Errorf("not connected to %s since %s", st.Address, since)
	}
	return fmt.Errorf("not connected to %s since %s: %w", st.Address, since, st.LastError)
}

// Close ends all subscriptions and takes out what was registered, or is being taken
// out still, for which it waits a second at most, also for a connection that was just
// lost to be made again; what it could not take out goes with the session. The
// last registry of a connection closes the session. Listeners must not call it.
func (r *Registry) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	subs, registered, leaving := r.subs, r.registered, r.leaving
	r.subs, r.registered, r.leaving = nil, nil, nil
	r.mu.Unlock()
	for sub := range subs {
		sub.end() // first all, so that none delays the others
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.client.s.goodbye)
	defer cancel()
	for path := range registered {
		leaving = append(leaving, r.client.unregister(path))
	}
	if st := r.client.session.state(); st.Connected || time.Since(st.Since) < r.client.s.goodbye { // or about to be again
		for _, gone := range leaving {
			select {
			case <-gone:
			case <-ctx.Done():
			}
		}
	}
	for sub := range subs {
		sub.box.close()
	}
	r.pool.release(r.key, r.client)
	return nil
}

// ended reports whether a channel is closed.
func ended(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// forget drops a closed subscription.
func (r *Registry) forget(sub *subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.subs, sub)
}
