package gofer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// disturbRegistry hurts the registry until the trouble ends.
func (c *chaos) disturbRegistry(r *rand.Rand) {
	const long = 4 * time.Second // some faults outlast the sessions
	for c.pause(r, 700*time.Millisecond) {
		switch r.IntN(9) {
		case 0, 1:
			c.zk.Cut()
		case 2:
			c.zk.Refuse(true)
			c.zk.Cut()
			c.pause(r, long)
			c.zk.Refuse(false)
		case 3:
			c.zk.Freeze(true)
			c.pause(r, long)
			c.zk.Freeze(false)
		case 4:
			for _, s := range c.zk.Sessions() {
				if r.IntN(2) == 0 {
					c.zk.ExpireSession(s.ID)
				}
			}
		case 5:
			c.zk.Delay(time.Duration(r.IntN(300)) * time.Millisecond)
			c.pause(r, long)
			c.zk.Delay(0)
		case 6:
			c.deleteDirectory(r, r.IntN(chaosServices))
		default:
			ops := []zktest.Op{zktest.OpGetChildren2, zktest.OpCreate, zktest.OpExists, zktest.OpSetWatches, zktest.OpDelete}
			codes := []zktest.Code{zktest.CutBefore, zktest.CutAfter, zktest.RuntimeInconsistency}
			for range 1 + r.IntN(3) {
				c.zk.FailNext(ops[r.IntN(len(ops))], "", codes[r.IntN(len(codes))])
			}
		}
	}
}

// deleteDirectory deletes the list of a service. Nobody registers anew because of
// that: the provider that is spared does after a while, or when another one was
// restarted and is listed alone; the others when they are restarted or healed.
func (c *chaos) deleteDirectory(r *rand.Rand, service int) {
	c.deleted[service].Store(true)
	if c.zk.Delete("/dubbo/"+chaosService(service)+"/providers") != nil {
		return // it was not there
	}
	for n := 0; n < 100 && len(c.registered(service)) == 0 && c.pause(r, 100*time.Millisecond); n++ {
		c.keptAreConnected(service)
	}
	spared := c.providers[service*chaosEach]
	for spared.unlisted = true; spared.unlisted; { // some request may be due to fail
		if spared.unlisted = spared.Reregister() != nil; spared.unlisted && !c.pause(r, 100*time.Millisecond) {
			return
		}
	}
}

// keptAreConnected: a provider that a reference has although it is not listed is
// connected.
func (c *chaos) keptAreConnected(service int) {
	connected := func(p gofer.ProviderSnapshot) bool {
		i := slices.IndexFunc(c.providers, func(o *chaosProvider) bool { return o.Addr() == p.Address })
		return p.State != "down" && c.providers[i].Counters().Connections > 0
	}
	for i, ref := range c.refs {
		if i%chaosServices != service {
			continue
		}
		end := time.Now().Add(c.slack) // the news of a disconnection takes its way
		for {
			s := ref.Snapshot()
			dead := slices.IndexFunc(s.Providers, func(p gofer.ProviderSnapshot) bool { return !connected(p) })
			if !s.Kept || dead < 0 {
				if s.Kept {
					c.calls.kept.Add(1)
				}
				break
			}
			if !assert.True(c.t, time.Now().Before(end), "kept, but not connected: %+v", s.Providers[dead]) {
				return
			}
			<-time.After(time.Millisecond)
		}
	}
}

// chaosProvider is a provider that is hurt by one agent.
type chaosProvider struct {
	*dubbotest.Provider
	c        *chaos
	service  int
	dead     bool
	unlisted bool // not registered, or not surely
}

func (c *chaos) newProvider(i int) *chaosProvider {
	profiles := []dubbotest.Profile{dubbotest.Dubbo26, dubbotest.Dubbo27, dubbotest.Dubbo32, dubbotest.Dubbo33}
	opts := []dubbotest.Option{dubbotest.WithProfile(profiles[i%len(profiles)]), dubbotest.WithRecords(0)}
	service := chaosService(i/chaosEach) + "?warmup=0"
	var p *dubbotest.Provider
	var err error
	if c.memory {
		p, err = dubbotest.New(service, append(opts, dubbotest.InMemory(), dubbotest.WithRegistryDialer(c.zk.Dial),
			dubbotest.WithAddr(fmt.Sprintf("192.0.2.%d:20880", i+1)))...)
	} else {
		p, err = newOnPort(service, opts...)
	}
	require.NoError(c.t, err)
	c.t.Cleanup(p.Close)
	require.NoError(c.t, p.Handle("echo(java.lang.String)", func(s string) string { return s }))
	require.NoError(c.t, p.Register(c.registry()))
	return &chaosProvider{Provider: p, c: c, service: i / chaosEach}
}

// newOnPort starts a provider on a port that no outgoing connection takes while it
// is down.
func newOnPort(service string, opts ...dubbotest.Option) (p *dubbotest.Provider, err error) {
	for range 100 {
		at := fmt.Sprintf("127.0.0.1:%d", 10000+rand.IntN(20000))
		if p, err = dubbotest.New(service, append(opts, dubbotest.WithAddr(at))...); err == nil {
			break
		}
	}
	return p, err
}

// disturb hurts the provider until the trouble ends.
func (p *chaosProvider) disturb(r *rand.Rand) {
	const long = 3 * time.Second
	for p.c.pause(r, 400*time.Millisecond) {
		switch r.IntN(9) {
		case 0, 1:
			p.Kill()
			p.dead = true
			if p.c.pause(r, long) {
				p.restart()
			}
		case 2:
			p.stop()
			if p.c.pause(r, long) {
				p.restart()
			}
		case 3:
			p.Freeze()
			p.c.pause(r, 2*long)
			p.Resume()
		case 4:
			p.Disconnect()
		case 5:
			p.unlisted = p.Reregister() != nil || p.unlisted
		case 6:
			p.Unregister()
			p.unlisted = true
			p.c.pause(r, long)
			p.unlisted = p.Register(p.c.registry()) != nil
		case 7:
			slow := time.Duration(r.IntN(400)) * time.Millisecond
			p.SetDelay(func(*dubbotest.Call, time.Duration) time.Duration { return slow })
			p.c.pause(r, long)
			p.SetDelay(nil)
		default:
			assert.NoError(p.c.t, p.Answer("echo", nonsense(r)...))
		}
	}
}

// nonsense is what a provider answers that is out of its mind.
func nonsense(r *rand.Rand) []dubbotest.Answer {
	all := []dubbotest.Answer{
		dubbotest.Never(), dubbotest.Garbage(), dubbotest.HangUp(), dubbotest.Large(9 << 20),
		dubbotest.Status(80, "out of order"), dubbotest.Status(100, "full"),
		dubbotest.Throw("java.lang.IllegalStateException", "no"),
		dubbotest.Handler().Twice(), dubbotest.Handler().WrongID(), dubbotest.Handler().ThenHangUp(),
		dubbotest.Handler().After(250 * time.Millisecond),
	}
	var some []dubbotest.Answer
	for range 1 + r.IntN(5) {
		some = append(some, all[r.IntN(len(all))])
	}
	return some
}

// stop stops gracefully, though not as patiently as Java does.
func (p *chaosProvider) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	p.Stop(ctx)
	p.dead = true
}

// restart starts a provider that is down. Its registry may be down too: then it
// serves without being listed.
func (p *chaosProvider) restart() {
	p.unlisted = p.Restart() != nil || p.unlisted
	p.dead = false
}

// heal leaves the provider dead, or well and listed.
func (p *chaosProvider) heal() {
	p.Resume()
	p.SetDelay(nil)
	p.Unscript("echo")
	if p.dead || !p.unlisted && !p.c.deleted[p.service].Load() {
		return
	}
	p.Unregister()
	require.NoError(p.c.t, p.Register(p.c.registry()))
	p.unlisted = false
}

// chaosCalls are the figures of what was called.
type chaosCalls struct {
	agents                          uint64
	ok, timeouts, network, nobody   atomic.Int64
	refused, limits, broken, others atomic.Int64
	references, kept                atomic.Int64
}

func (s *chaosCalls) failed() int64 {
	return s.timeouts.Load() + s.network.Load() + s.nobody.Load() + s.refused.Load() + s.limits.Load() + s.broken.Load() + s.others.Load()
}

func (s *chaosCalls) String() string {
	return fmt.Sprintf("%d calls well, %d timeouts, %d lost connections, %d without provider, %d refused, %d over actives, %d nonsense, %d others; %d references came and went, %d had providers that were not listed",
		s.ok.Load(), s.timeouts.Load(), s.network.Load(), s.nobody.Load(), s.refused.Load(), s.limits.Load(), s.broken.Load(), s.others.Load(), s.references.Load(), s.kept.Load())
}

// call calls one reference again and again. A call may fail, but in time, with an
// error that says what it is, and it never brings what another one asked for.
func (c *chaos) call(r *rand.Rand, i int) {
	for n := 0; c.pause(r, 8*time.Millisecond); n++ {
		c.check(r, c.refs[i], fmt.Sprintf("%d in %d", n, i))
	}
}

func (c *chaos) check(r *rand.Rand, ref *gofer.Reference, text string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if r.IntN(10) == 0 {
		defer time.AfterFunc(time.Duration(r.IntN(20))*time.Millisecond, cancel).Stop()
	}
	const most = 3 * 300 * time.Millisecond // attempts, each with its timeout
	begun := time.Now()
	got, err := gofer.Call[string](ctx, ref, "echo(java.lang.String)", text)
	assert.LessOrEqual(c.t, time.Since(begun), most+c.slack, "a call hangs")
	c.calls.count(err)
	var e *gofer.Error
	switch {
	case err == nil:
		assert.Equal(c.t, text, got)
	case errors.As(err, &e):
		assert.True(c.t, strings.HasPrefix(e.Service, "com.example.Chaos"), "%v", err)
	default:
		assert.NoError(c.t, err, "not a *gofer.Error: %T", err)
	}
}

func (s *chaosCalls) count(err error) {
	switch {
	case err == nil:
		s.ok.Add(1)
	case errors.Is(err, gofer.ErrTimeout):
		s.timeouts.Add(1)
	case errors.Is(err, gofer.ErrNetwork):
		s.network.Add(1)
	case errors.Is(err, gofer.ErrNoProvider):
		s.nobody.Add(1)
	case errors.Is(err, gofer.ErrLimitExceeded):
		s.limits.Add(1)
	case errors.Is(err, gofer.ErrSerialization):
		s.broken.Add(1)
	case errors.Is(err, gofer.ErrCanceled), errors.Is(err, gofer.ErrClosed):
		s.others.Add(1)
	default:
		s.refused.Add(1)
	}
}

// comeAndGo declares references and closes them, some like those there are, some of
// their own, with calls under way.
func (c *chaos) comeAndGo(r *rand.Rand) {
	for n := 0; c.pause(r, 100*time.Millisecond); n++ {
		text := c.texts[r.IntN(len(c.texts))] + "&check=false"
		if r.IntN(2) == 0 {
			text += fmt.Sprintf("&marker=%d", n%5)
		}
		ref, err := c.client.Refer(context.Background(), text)
		if !assert.NoError(c.t, err) {
			return
		}
		var calls sync.WaitGroup
		calls.Go(func() { c.check(r, ref, fmt.Sprint("passing by ", n)) })
		if n%2 == 0 {
			calls.Wait()
		}
		assert.NoError(c.t, ref.Close())
		calls.Wait()
		c.calls.references.Add(1)
	}
}
