//go:build !race

// Minutes of traffic in which somebody is away, limited or asked for what takes long, and
// none of the others is to blame.
// The race detector looks at the same calls in TestDiagnoseSickTraffic, and would make
// these take minutes.

package gofer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// well expects no finding.
func (w *patient) well(when string) {
	w.t.Helper()
	assert.Empty(w.t, w.reference.Diagnose(), when)
}

// A provider that is listed is away for some minutes: who has its calls meanwhile is not over its share, then
// or later.
func TestDiagnoseOneIsAway(t *testing.T) {
	for _, balance := range []string{"roundrobin", "leastactive"} {
		params := "retries=2&actives=1000&loadbalance=" + balance
		wait := quietly(calling("wait()"))
		synctest.Test(t, func(t *testing.T) { // its connection is lost
			w := newPatient(t, 2, params)
			var net cutter
			net.dial = dubbotest.Dialer(w.providers...)
			c := newClient(t, gofer.WithRegistry(w.registry()), gofer.WithRegistryDialer(w.zk.Dial), gofer.WithDialer(net.Dial))
			w.reference = refer(t, c, demo+"?"+params)
			synctest.Wait()
			w.load(3, time.Minute, wait)
			net.cut(address(1))
			for range 3 {
				w.load(3, time.Minute, wait)
				w.well("cut off")
			}
			net.away.Store(nil)
			time.Sleep(time.Minute)
			for range 9 {
				w.load(3, time.Minute, wait)
				w.well("back")
			}
		})
		synctest.Test(t, func(t *testing.T) { // it wants no calls
			w := newPatient(t, 2, params)
			w.load(3, time.Minute, wait)
			w.providers[1].ReadOnly()
			w.load(3, 3*time.Minute, wait)
			w.well("read-only")
			w.providers[1].Writeable()
			for range 9 {
				w.load(3, time.Minute, wait)
				w.well("writeable")
			}
		})
	}
}

// cutter is a network in which one address may be away.
type cutter struct {
	dial  func(ctx context.Context, network, address string) (net.Conn, error)
	away  atomic.Pointer[string]
	mu    sync.Mutex
	conns map[string][]net.Conn
}

func (c *cutter) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if away := c.away.Load(); away != nil && *away == address {
		<-ctx.Done()
		return nil, errors.New("i/o timeout")
	}
	conn, err := c.dial(ctx, network, address)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.conns == nil {
			c.conns = map[string][]net.Conn{}
		}
		c.conns[address] = append(c.conns[address], conn)
	}
	return conn, err
}

func (c *cutter) cut(address string) {
	c.away.Store(&address)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns[address] {
		_ = conn.Close()
	}
}

// Two of three bear one call at a time, and say so: the third has what they cannot take.
func TestDiagnoseUnequalActives(t *testing.T) {
	for _, balance := range []string{"roundrobin", "random", "leastload", "leastactive"} {
		synctest.Test(t, func(t *testing.T) {
			w := newPatient(t, 3, "loadbalance="+balance)
			for i, actives := range []int{1, 1, 100} {
				w.register(i, w.started, fmt.Sprint("actives=", actives))
			}
			time.Sleep(time.Second)
			w.load(12, 20*time.Second, calling("wait()"))
			w.well(balance)
		})
	}
}

// One key that throws, takes long or is given up wherever it goes is no provider's fault:
// what is found says so, and does not advise to move the key to the next.
func TestDiagnoseOneBadKey(t *testing.T) {
	for _, balance := range []string{"consistenthash", "ringload"} {
		for _, how := range []string{"throws", "is slow", "is given up", "fails"} {
			t.Run(balance+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newPatient(t, 3, "timeout=5000&outlier=false&loadbalance="+balance)
					for _, p := range w.providers {
						w.oneKey(p, how)
					}
					w.load(6, 20*time.Second, func(ctx context.Context, r *gofer.Reference) error {
						key := fmt.Sprint(rand.IntN(1000))
						if rand.IntN(2) == 0 {
							key = "bad"
							if how == "is given up" {
								var cancel context.CancelFunc
								ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
								defer cancel()
							}
						}
						_, err := gofer.Call[any](ctx, r, "key(java.lang.String)", key)
						return err
					})
					all := w.reference.Diagnose()
					if balance == "consistenthash" {
						require.NotEmpty(t, all)
					}
					for _, f := range all {
						if f.Kind != gofer.FindingOverShare {
							assert.Contains(t, f.Text, "it may be one key and not the provider")
							assert.NotContains(t, f.Remedy, "weight")
							assert.NotContains(t, f.Remedy, "disabled")
						}
					}
				})
			})
		}
	}
}

// oneKey makes a provider answer the calls of one key in that way.
func (w *patient) oneKey(p *dubbotest.Provider, how string) {
	require.NoError(w.t, p.Handle("key(java.lang.String)", func(key string) error {
		if key == "bad" && how == "throws" {
			return &gofer.RemoteError{Class: "com.example.NoSuchTenant", Message: key}
		}
		return nil
	}))
	p.SetDelay(func(c *dubbotest.Call, _ time.Duration) time.Duration {
		if len(c.Arguments) > 0 && c.Arguments[0] == "bad" {
			return map[string]time.Duration{"is slow": 100 * time.Millisecond, "is given up": time.Second, "fails": 6 * time.Second}[how]
		}
		return 10 * time.Millisecond
	})
}

// Some calls of a method take minutes, and come back: those are not stuck, though another
// has failed once.
func TestDiagnoseLongTail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPatient(t, 3, "loadbalance=leastload&timeout=300000")
		for _, p := range w.providers {
			p.SetDelay(func(c *dubbotest.Call, _ time.Duration) time.Duration {
				if c.Arguments[0] == "report" {
					return 2 * time.Minute
				}
				return 10 * time.Millisecond
			})
		}
		key := func(key string) calls {
			return func(ctx context.Context, r *gofer.Reference) error {
				_, err := gofer.Call[any](ctx, r, "key(java.lang.String)", key)
				return err
			}
		}
		var all sync.WaitGroup
		reports := func() {
			for range 9 {
				all.Go(func() { assert.NoError(t, key("report")(t.Context(), w.reference)) })
			}
		}
		w.load(6, time.Minute, key("a"))
		reports()
		all.Wait()
		for _, p := range w.providers {
			require.NoError(t, p.Answer("key", dubbotest.Status(70, "once")))
		}
		assert.Equal(t, 3, w.load(6, time.Minute, key("a")))
		reports()
		time.Sleep(15 * time.Second)
		w.well("under way")
		all.Wait()
	})
}

// What all depend on fails for some minutes: it is none of them, nor those that were
// ejected meanwhile, also when it is over.
func TestDiagnoseCommonFault(t *testing.T) {
	for _, outlier := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newPatient(t, 4, fmt.Sprintf("loadbalance=leastload&outlier=%t", outlier))
			wait := quietly(calling("wait()"))
			w.load(6, 10*time.Second, wait)
			for _, p := range w.providers {
				require.NoError(t, p.AnswerAlways("wait", dubbotest.Status(70, "the database is gone")))
			}
			w.load(6, 2*time.Minute, wait)
			w.find(gofer.FindingFailsEverywhere, "at all providers alike: it is not one of them")
			for _, p := range w.providers {
				p.Unscript("wait")
			}
			for range 20 {
				w.load(6, 30*time.Second, wait)
				for _, f := range w.reference.Diagnose() {
					assert.Equal(t, gofer.FindingFailsEverywhere, f.Kind, "%s", f)
				}
			}
			w.well("over")
		})
	}
}

// A method whose timeout is too short everywhere.
func TestDiagnoseTimeoutTooShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPatient(t, 2, "loadbalance=leastload&long.timeout=30")
		for range 4 {
			w.load(3, 30*time.Second, func(ctx context.Context, r *gofer.Reference) error {
				return calling([]string{"wait()", "long()"}[rand.IntN(2)])(ctx, r)
			})
			found := w.find(gofer.FindingFailsEverywhere, "the whole timeout, at all providers alike")
			assert.Equal(t, "long", found.Method)
			assert.Contains(t, found.Remedy, "long.timeout, now 30ms")
		}
	})
}
