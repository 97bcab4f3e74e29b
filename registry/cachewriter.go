package registry

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// change has the file written soon. The first change starts the writer, the only
// goroutine of a cache. It is called under the lock.
func (c *Cache) change() {
	switch {
	case c.closed:
		return
	case !c.active:
		c.active = true
		c.writer.Go(c.keep)
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// keep writes the file in due time, until the cache is closed.
func (c *Cache) keep() {
	timer := time.NewTimer(c.pace.refresh)
	defer timer.Stop()
	pending := false
	var next time.Time // no write before
	for {
		select {
		case <-c.done:
			return
		case <-c.changed:
			if !pending {
				pending = true
				timer.Reset(max(c.pace.debounce, time.Until(next)))
			}
		case <-timer.C:
			pending = false
			wait := c.pace.refresh
			if !c.write() {
				wait = c.pace.retry
			}
			next = time.Now().Add(c.pace.interval)
			timer.Reset(wait)
		}
	}
}

// write brings the file up to date and reports whether it is. One goroutine at a
// time calls it.
func (c *Cache) write() bool {
	c.mu.Lock()
	lines := c.lines()
	c.mu.Unlock()
	if len(lines) == 0 {
		return true
	}
	left, err := c.store.update(func(old []cacheLine, problem error) []cacheLine {
		c.trouble(cannotRead, problem)
		return c.settle(append(old, lines...))
	})
	if err == nil && left > 0 {
		err = fmt.Errorf("%d lists are left out: it holds %d MiB at most", left, c.store.size>>20)
	}
	c.trouble(cannotWrite, err)
	if err != nil {
		return false
	}
	c.mu.Lock()
	clear(c.warned)
	c.mu.Unlock()
	c.clean.Do(func() { c.store.clean(time.Now()) })
	return true
}

// lines returns what this process knows.
func (c *Cache) lines() []cacheLine {
	now := c.cfg.Now()
	lines := slices.Collect(maps.Values(c.stored))
	for service, l := range c.lists {
		if len(l.snapshot.Providers) == 0 {
			continue
		}
		line := cacheLine{
			Interface: service, Registry: c.source, Root: c.cfg.Root, Path: l.snapshot.Path, Time: l.seen,
			Configurators: l.snapshot.Configurators, Routers: l.snapshot.Routers,
		}
		if l.live {
			line.Time = now
		}
		line.Providers = make([]string, len(l.snapshot.Providers))
		for i, e := range l.snapshot.Providers {
			line.Providers[i] = e.Raw
		}
		lines = append(lines, line)
	}
	return lines
}
