package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// What the consumer calls. With retries=0 no failure hides behind a second attempt:
// a call that the restart hits would be counted as failed.
const (
	service  = "com.example.OrderService?version=1.0.0&retries=0&timeout=2000"
	method   = "describe(long)"
	id       = int64(42)
	exported = "com.example.OrderService?version=1.0.0"
)

const (
	usual    = 10 * time.Millisecond // mean time of a call at a warm provider
	factor   = 3                     // by which a cold one is slower
	newcomer = "C"                   // the provider that is restarted
)

// cluster is everything that is not the consumer: in real life a ZooKeeper ensemble
// and three Java processes. Packages zktest and dubbotest serve as well in tests of
// your own.
type cluster struct {
	zk        *zktest.Server
	warm      time.Duration
	dice      *dice
	providers map[string]*dubbotest.Provider
}

// startCluster starts the server, and three providers that have been up for an hour.
func startCluster(warm time.Duration, d *dice) (*cluster, error) {
	zk, err := zktest.Start()
	if err != nil {
		return nil, err
	}
	c := &cluster{zk: zk, warm: warm, dice: d, providers: map[string]*dubbotest.Provider{}}
	// A consumer knows the age of a provider from the timestamp it registers, and
	// gives it less weight during its first "warmup" milliseconds. These three are
	// as new as the process, but say otherwise.
	anHourAgo := "timestamp=" + strconv.FormatInt(time.Now().Add(-time.Hour).UnixMilli(), 10)
	for _, name := range []string{"A", "B", newcomer} {
		steady := func(*dubbotest.Call, time.Duration) time.Duration { return usual }
		if err := c.start(name, "127.0.0.1:0", steady, anHourAgo); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// start starts a provider, and registers it with the parameters given.
func (c *cluster) start(name, addr string, delay dubbotest.DelayFunc, params ...string) error {
	p, err := dubbotest.New(fmt.Sprintf("%s&warmup=%d", exported, c.warm.Milliseconds()),
		dubbotest.WithAddr(addr),
		dubbotest.WithRecords(0), // it need not remember what it was asked
		dubbotest.WithDelay(func(call *dubbotest.Call, age time.Duration) time.Duration {
			return c.dice.vary(delay(call, age))
		}))
	if err != nil {
		return fmt.Errorf("provider %s: %w", name, err)
	}
	c.providers[name] = p
	err = p.Handle(method, func(id int64) string { return fmt.Sprintf("order %d, says %s", id, name) })
	if err == nil {
		err = p.Register(c.registry(), params...)
	}
	if err != nil {
		return fmt.Errorf("provider %s: %w", name, err)
	}
	return nil
}

// restart stops the newcomer as SIGTERM does and starts it again, cold, at the same
// address. Stop returns when the consumer has left: it took the provider out of its
// list, or the provider's readonly event came first, and let the calls there end.
func (c *cluster) restart(ctx context.Context) error {
	old := c.providers[newcomer]
	old.Stop(ctx)
	old.Close()
	return errors.Join(ctx.Err(), c.start(newcomer, old.Addr(), dubbotest.ColdStart(usual, factor, c.warm)))
}

func (c *cluster) registry() string { return "zookeeper://" + c.zk.Addr() }

// names tells which provider has which address.
func (c *cluster) names() map[string]string {
	names := map[string]string{}
	for name, p := range c.providers {
		names[p.Addr()] = name
	}
	return names
}

func (c *cluster) close() {
	for _, p := range c.providers {
		p.Close()
	}
	c.zk.Close()
}

// dice is the chance in a run. It is safe for concurrent use.
type dice struct {
	mu   sync.Mutex
	rand *rand.Rand
}

func newDice(seed uint64) *dice { return &dice{rand: rand.New(rand.NewPCG(seed, 0))} }

// vary spreads a time: at least half of it, itself on average, seldom several times.
func (d *dice) vary(mean time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Duration(float64(mean) * (1 + d.rand.ExpFloat64()) / 2)
}

func (d *dice) bits() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rand.Uint64()
}

// balancers are options that make the load balancers draw from these dice. One of
// your own is added in the same way, under a new name.
func (d *dice) balancers() (options []gofer.Option) {
	for name, factory := range loadbalance.Builtin() {
		options = append(options, gofer.WithLoadBalance(name, func(cfg loadbalance.Config) (loadbalance.LoadBalance, error) {
			cfg.Rand = d.bits
			return factory(cfg)
		}))
	}
	return options
}
