package dubbotest

import (
	"context"
	"time"
)

const (
	stopWait  = 10 * time.Second // dubbo.service.shutdown.wait
	eventWait = time.Second      // for one consumer to take an event
)

// Stop stops the provider as SIGTERM does: it takes itself out of the registries
// and sends a readonly event on every connection, in the order of the profile; calls
// go on being served on the connections there are, new connections are closed at
// once. When all consumers have left, or ctx ends, or after Dubbo's ten seconds, the
// connections are closed and the port is free. Calls that run then get no answer.
func (p *Provider) Stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	p.mu.Lock()
	f := p.life
	if f == nil || f.leaving {
		p.mu.Unlock()
		return
	}
	f.leaving, f.greet = true, p.opt.profile.modern()
	p.mu.Unlock()
	if f.greet {
		p.ReadOnly()
		p.withdraw()
		p.mu.Lock()
		f.greet = false
		p.mu.Unlock()
	} else {
		p.withdraw()
	}
	p.ReadOnly()
	_ = p.Await(ctx, func(c Counters) bool { return c.Connections == 0 })
	p.end(f, false)
}

// Kill stops the provider as SIGKILL does: connections are reset, the port is
// closed, and its entries in registries stay until their session has timed out.
func (p *Provider) Kill() {
	p.mu.Lock()
	f := p.life
	p.mu.Unlock()
	p.end(f, true)
	p.abandon()
}

// Close stops the provider at once and for good, takes its entries out of the
// registries, and waits for every goroutine. A function that serves a call must
// return when its context ends. A second call does nothing.
func (p *Provider) Close() {
	p.mu.Lock()
	p.closed = true
	f := p.life
	p.mu.Unlock()
	p.end(f, false)
	p.Unregister()
	p.homes.leaving.Wait()
	p.mu.Lock()
	lives := p.lives
	p.mu.Unlock()
	for _, f := range lives {
		f.serving.Wait()
	}
}

// end ends a life, nil for none, and waits for everything that runs in it.
func (p *Provider) end(f *life, reset bool) {
	if f == nil {
		return
	}
	p.mu.Lock()
	if p.life == f {
		p.life = nil
		p.thaw()
	}
	f.end()
	_ = f.listener.Close()
	for c := range p.conns {
		if c.life == f {
			c.hangUp(reset)
		}
	}
	p.mu.Unlock()
	f.serving.Wait()
}

// Restart starts the provider again after [Provider.Stop] or [Provider.Kill], on
// the same port and with a new start time, and registers it where it was registered;
// one that runs is killed before. Records, counters and scripts stay.
func (p *Provider) Restart() error {
	if p.tb != nil {
		p.tb.Helper()
	}
	p.Kill()
	if err := p.begin(); err != nil {
		return p.mistake(err)
	}
	p.homes.mu.Lock()
	defer p.homes.mu.Unlock()
	return p.settleAll()
}

// Started returns when the provider was started, or restarted.
func (p *Provider) Started() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// Freeze makes the provider mute, as SIGSTOP does: connections are made, nothing is
// read or answered, heartbeats neither, until [Provider.Resume]. Calls that run go
// on, but their answers wait.
func (p *Provider) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life != nil && !p.isFrozen() {
		p.frozen = make(chan struct{})
	}
}

// Resume ends [Provider.Freeze]: what came meanwhile is read and answered.
func (p *Provider) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.thaw()
}

func (p *Provider) isFrozen() bool {
	select {
	case <-p.frozen:
		return false
	default:
		return true
	}
}

// thaw lets everybody go on. The lock is held.
func (p *Provider) thaw() {
	if p.isFrozen() {
		close(p.frozen)
	}
}

// thawed waits while the provider is frozen; false: the connection has ended.
func (c *conn) thawed() bool {
	c.p.mu.Lock()
	ice := c.p.frozen
	c.p.mu.Unlock()
	select {
	case <-ice:
		return true
	case <-c.gone:
		return false
	}
}

// ReadOnly tells the consumers that are connected to make no new calls, as a
// provider that shuts down does. It goes on serving them.
func (p *Provider) ReadOnly() { p.tell(p.opt.profile.event("R")) }

// Writeable takes [Provider.ReadOnly] back, as Dubbo 3 can.
func (p *Provider) Writeable() { p.tell(p.opt.profile.event("W")) }

// ReadOnlyWithoutText sends the readonly event as it comes when Dubbo 2.7 or 3 could
// not write it to another consumer: without its R.
func (p *Provider) ReadOnlyWithoutText() { p.tell(p.opt.profile.event("")) }

// tell sends an event on all connections. It waits until they have it, for a second
// at most: a consumer may not read.
func (p *Provider) tell(event []byte) {
	p.mu.Lock()
	told := make(chan struct{}, len(p.conns))
	for c := range p.conns {
		c.life.serving.Go(func() {
			c.write(event)
			told <- struct{}{}
		})
	}
	p.mu.Unlock()
	t := time.NewTimer(eventWait)
	defer t.Stop()
	for range cap(told) {
		select {
		case <-told:
		case <-t.C:
			return
		}
	}
}

// Disconnect closes all connections and goes on accepting new ones.
func (p *Provider) Disconnect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.hangUp(false)
	}
}
