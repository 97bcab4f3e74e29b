package gofer

import (
	"sync"

	"github.com/gofer-rpc/gofer/registry"
	"github.com/gofer-rpc/gofer/url"
)

// consumers counts the references behind each entry under consumers. Those that
// differ in parameters that stay private, such as timeout, are one consumer to the
// registry, which must show until the last of them is closed.
type consumers struct {
	mu   sync.Mutex
	uses map[string]int // by the text of the URL
}

// add registers a consumer at its first use.
func (c *consumers) add(r registry.Registry, consumer url.URL) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := consumer.Full()
	if c.uses[key] == 0 {
		if err := r.Register(consumer); err != nil {
			return err
		}
	}
	if c.uses == nil {
		c.uses = map[string]int{}
	}
	c.uses[key]++
	return nil
}

// remove takes a consumer out with its last use.
func (c *consumers) remove(r registry.Registry, consumer url.URL) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := consumer.Full()
	if c.uses[key]--; c.uses[key] > 0 {
		return nil
	}
	delete(c.uses, key)
	return r.Unregister(consumer)
}
