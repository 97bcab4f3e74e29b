package gofer_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// late makes the first connection to an address later than asked for.
func late(dial dialFunc, by map[string]time.Duration) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		select {
		case <-time.After(by[address]):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return dial(ctx, network, address)
	}
}

const (
	firstAddr  = "192.0.2.1:20880"
	secondAddr = "192.0.2.2:20880"
)

// The first call after Refer with check=false has its timeout for the connection too.
func TestFirstCallWaitsForTheConnection(t *testing.T) {
	for _, where := range []string{"direct", "registry"} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := startDemo(t, "", dubbotest.InMemory(), dubbotest.WithAddr(firstAddr))
				dial := gofer.WithDialer(late(buffered(dubbotest.Dialer(p)), map[string]time.Duration{firstAddr: 200 * time.Millisecond}))
				text := p.URL("check=false")
				c := newClient(t, dial)
				if where == "registry" {
					zk, err := zktest.Start(zktest.InMemory())
					require.NoError(t, err)
					t.Cleanup(zk.Close)
					registry := "zookeeper://" + zk.Addr() + "?file-cache=false"
					q := startDemo(t, "", dubbotest.InMemory(), dubbotest.WithAddr(firstAddr), dubbotest.WithRegistryDialer(zk.Dial))
					require.NoError(t, q.Register(registry))
					dial = gofer.WithDialer(late(buffered(dubbotest.Dialer(q)), map[string]time.Duration{firstAddr: 200 * time.Millisecond}))
					c = newClient(t, dial, gofer.WithRegistry(registry), gofer.WithRegistryDialer(zk.Dial))
					text = demo + "?check=false"
				}
				r := refer(t, c, text)
				_, err := gofer.Call[string](t.Context(), r, "echo(java.lang.String)", "x")
				require.NoError(t, err)
			})
		})
	}
}

// One provider that is connected is enough: nobody waits for the others.
func TestACallWaitsForTheFirstOfSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := startDemo(t, "", dubbotest.InMemory(), dubbotest.WithAddr(firstAddr))
		b := startDemo(t, "", dubbotest.InMemory(), dubbotest.WithAddr(secondAddr))
		c := newClient(t, gofer.WithDialer(late(buffered(dubbotest.Dialer(a, b)), map[string]time.Duration{
			firstAddr: time.Second, secondAddr: 100 * time.Millisecond,
		})))
		r := refer(t, c, a.URL("check=false")+";"+b.URL("check=false"))
		begun := time.Now()
		for range 4 {
			_, err := gofer.Call[string](t.Context(), r, "echo(java.lang.String)", "x")
			require.NoError(t, err)
		}
		assert.Equal(t, 100*time.Millisecond, time.Since(begun))
	})
}

// A connection that does not come ends the call at its timeout, with a text that
// says what it has waited for. Once an attempt has failed nobody waits any more.
func TestACallWaitsForNoHopelessConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startDemo(t, "", dubbotest.InMemory(), dubbotest.WithAddr(firstAddr))
		c := newClient(t, gofer.WithDialer(late(dubbotest.Dialer(p), map[string]time.Duration{firstAddr: time.Hour})))
		r := refer(t, c, p.URL("check=false", "timeout=300", "connect.timeout=1000"))
		call := func(ctx context.Context) (time.Duration, error) {
			begun := time.Now()
			_, err := gofer.Call[string](ctx, r, "echo(java.lang.String)", "x")
			return time.Since(begun), err
		}
		took, err := call(t.Context())
		require.ErrorIs(t, err, gofer.ErrNoProvider)
		assert.Contains(t, err.Error(), "the call has waited 300ms, all its time, for a connection that is being made")
		assert.NotContains(t, err.Error(), "the network between")
		assert.Equal(t, 300*time.Millisecond, took)

		short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		took, err = call(short)
		require.ErrorIs(t, err, gofer.ErrNoProvider)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 50*time.Millisecond, took)

		canceled, cancel := context.WithCancel(t.Context())
		time.AfterFunc(70*time.Millisecond, cancel)
		took, err = call(canceled)
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 70*time.Millisecond, took)

		time.Sleep(time.Second) // the attempt has failed
		took, err = call(t.Context())
		require.ErrorIs(t, err, gofer.ErrNoProvider)
		assert.Contains(t, err.Error(), "the network between")
		assert.Zero(t, took)
	})
}

// A reference that is closed lets calls go that wait for a connection.
func TestCloseEndsTheWaitForAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startDemo(t, "", dubbotest.InMemory(), dubbotest.WithAddr(firstAddr))
		c := newClient(t, gofer.WithDialer(late(dubbotest.Dialer(p), map[string]time.Duration{firstAddr: time.Hour})))
		r := refer(t, c, p.URL("check=false", "timeout=5000"))
		time.AfterFunc(40*time.Millisecond, func() { _ = r.Close() })
		begun := time.Now()
		_, err := gofer.Call[string](t.Context(), r, "echo(java.lang.String)", "x")
		require.ErrorIs(t, err, gofer.ErrClosed)
		assert.LessOrEqual(t, time.Since(begun), 150*time.Millisecond)
	})
}
