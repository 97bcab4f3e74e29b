package zookeeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofer-rpc/gofer/registry"
)

// subscription is one listener of a service.
type subscription struct {
	registry *Registry
	service  *service
	box      *mailbox
}

func newSubscription(r *Registry, dir string, l registry.Listener) *subscription {
	sub := &subscription{registry: r, box: newMailbox(l)}
	c := r.client
	c.mu.Lock()
	defer c.mu.Unlock()
	sub.service = c.watch(dir)
	sub.service.subs[sub] = struct{}{}
	if now := sub.service.current; now != nil {
		sub.box.put(now)
	}
	return sub
}

// Ready waits until the first list was delivered. The error says what it is
// waiting for, and wraps that of ctx; or that the subscription was closed before.
func (sub *subscription) Ready(ctx context.Context) error {
	select {
	case <-sub.box.first:
		return nil
	default:
	}
	path := sub.service.paths[providers].path
	select {
	case <-sub.box.first:
		return nil
	case <-sub.box.gone:
		return fmt.Errorf("no list of %s: the subscription is %w", path, ErrClosed)
	case <-ctx.Done():
		return fmt.Errorf("no list of %s yet: %w: %w", path, sub.waiting(), context.Cause(ctx))
	}
}

// waiting says what the first list is waiting for.
func (sub *subscription) waiting() error {
	if err := disconnected(sub.registry.client.session.state()); err != nil {
		return err
	}
	c := sub.registry.client
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, w := range sub.service.paths {
		switch {
		case w.err != nil:
			return w.err
		case !sub.service.known[i]:
			return fmt.Errorf("%s has not answered about %s", c.session.addr.source, w.path)
		}
	}
	return errors.New("the listener has not returned")
}

// Close ends the subscription and waits for the listener if it is being called;
// so the listener must not call it. It may be called again.
func (sub *subscription) Close() {
	sub.registry.forget(sub)
	sub.end()
	sub.box.close()
}

// end takes the subscription out; the last one of a service ends the watching.
func (sub *subscription) end() {
	c := sub.registry.client
	c.mu.Lock()
	defer c.mu.Unlock()
	s := sub.service
	if _, there := s.subs[sub]; !there {
		return
	}
	delete(s.subs, sub)
	if len(s.subs) == 0 {
		c.unwatch(s)
	}
}
