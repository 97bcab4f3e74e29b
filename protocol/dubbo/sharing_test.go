package dubbo

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// services refers to n interfaces at the peer's address.
func services(t *testing.T, d *Protocol, p *peer, n int, params ...string) (es []protocol.Endpoint) {
	for i := range n {
		u := providerURL(t, p.address, params...).WithPath(fmt.Sprintf("com.example.S%d", i))
		e, err := d.Refer(u)
		require.NoError(t, err)
		es = append(es, e)
	}
	return es
}

func TestOneConnectionPerAddress(t *testing.T) {
	bubble(t, echo, func(t *testing.T, p *peer, d *Protocol) {
		es := services(t, d, p, 5)
		synctest.Wait()
		assert.EqualValues(t, 1, p.accepted.Load(), "before any call")
		for _, e := range es {
			_, err := invoke(t.Context(), e, invocation("x"))
			require.NoError(t, err)
		}
		assert.EqualValues(t, 1, p.accepted.Load())
		c := only(t, d)
		assert.True(t, c.Shared)
		assert.Equal(t, 5, c.Users)
		assert.Equal(t, p.address, c.Address)
		assert.NotEmpty(t, c.Local)
		assert.EqualValues(t, 5, c.Writes)
	})
}

// B121: lazy references share too, and nothing connects before the first call.
func TestB121LazyConnectsAtTheFirstCallAndShares(t *testing.T) {
	bubble(t, echo, func(t *testing.T, p *peer, d *Protocol) {
		es := services(t, d, p, 3, "lazy", "true")
		synctest.Wait()
		assert.Zero(t, p.accepted.Load())
		for _, e := range es {
			assert.Equal(t, protocol.Ready, e.State(), "a call may come")
			assert.NoError(t, e.StateReason())
		}
		for _, e := range es {
			_, err := invoke(t.Context(), e, invocation("x"))
			require.NoError(t, err)
		}
		assert.EqualValues(t, 1, p.accepted.Load())

		// Once connected it comes back like any other.
		p.closeAll()
		synctest.Wait()
		pass(quickRetry)
		assert.Equal(t, protocol.Ready, es[0].State())
		assert.EqualValues(t, 2, p.accepted.Load())
	})
}

// An eager reference to the address of a lazy one connects for both.
func TestLazyAndEager(t *testing.T) {
	bubble(t, echo, func(t *testing.T, p *peer, d *Protocol) {
		services(t, d, p, 1, "lazy", "true")
		services(t, d, p, 2, "lazy", "false")
		synctest.Wait()
		assert.EqualValues(t, 1, p.accepted.Load())
	})
}

// The last user leaves while another one comes: whoever has been given an endpoint
// can use it.
func TestComingAndGoingAtOnce(t *testing.T) {
	p := listen(t, echo)
	d := newProtocol(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				e, err := d.Refer(providerURL(t, p.address))
				if !assert.NoError(t, err) {
					return
				}
				_, err = invoke(t.Context(), e, invocation("x"))
				assert.NoError(t, err)
				e.Close()
			}
		})
	}
	wg.Wait()
}

func TestConnectionsOfTheirOwn(t *testing.T) {
	var perConn [8]atomic.Int32
	bubble(t, func(c *peerConn, f received) {
		perConn[c.number].Add(1)
		echo(c, f)
	}, func(t *testing.T, p *peer, d *Protocol) {
		shared := services(t, d, p, 2)
		synctest.Wait()
		own := services(t, d, p, 2, "connections", "3")
		synctest.Wait()
		assert.EqualValues(t, 1+2*3, p.accepted.Load())
		for range 30 {
			_, err := invoke(t.Context(), own[0], invocation("x"))
			require.NoError(t, err)
		}
		counts := 0
		for i := range perConn {
			if n := perConn[i].Load(); n > 0 {
				assert.EqualValues(t, 10, n, "round robin")
				counts++
			}
		}
		assert.Equal(t, 3, counts)
		own[0].Close()
		own[1].Close()
		synctest.Wait()
		assert.Equal(t, protocol.Ready, shared[0].State())
		only(t, d)
	})
}

func TestShareConnections(t *testing.T) {
	bubble(t, echo, func(t *testing.T, p *peer, d *Protocol) {
		es := services(t, d, p, 4, "shareconnections", "2")
		synctest.Wait()
		assert.EqualValues(t, 2, p.accepted.Load())
		for i := range 10 {
			_, err := invoke(t.Context(), es[i%4], invocation("x"))
			require.NoError(t, err)
		}
		cs := d.Connections()
		require.Len(t, cs, 2)
		assert.Equal(t, cs[0].Writes, cs[1].Writes)
		assert.Equal(t, []int{0, 1}, []int{cs[0].Number, cs[1].Number})

		// A connection that is readonly is left alone while there is another.
		p.conn(1).send(event(frame.Hessian2, "N"))
		synctest.Wait()
		assert.Equal(t, protocol.Ready, es[0].State())
		before := d.Connections()
		for range 4 {
			_, err := invoke(t.Context(), es[0], invocation("x"))
			assert.NoError(t, err)
		}
		after := d.Connections()
		for i := range after {
			want := before[i].Writes
			if before[i].State == protocol.Ready {
				want += 4
			}
			assert.Equal(t, want, after[i].Writes)
		}

		// One of two is enough to be ready.
		_ = p.conn(1).Close()
		synctest.Wait()
		assert.Equal(t, protocol.Ready, es[0].State())
		for range 4 {
			_, err := invoke(t.Context(), es[0], invocation("x"))
			assert.NoError(t, err)
		}
	})
}

func TestReferErrors(t *testing.T) {
	d := newProtocol(t)
	for _, c := range []struct{ url, want string }{
		{"tri://10.0.0.1:20880/com.example.S", `protocol "tri" is not supported`},
		{"dubbo://10.0.0.1:20880", "no interface"},
		{"dubbo:///com.example.S", "no host"},
		{"dubbo://10.0.0.1/com.example.S", "port"},
		{"dubbo://10.0.0.1:20880/com.example.S?ssl-enabled=true&token=secret", "add WithTLS"},
	} {
		u := mustParse(t, c.url)
		_, err := d.Refer(u)
		require.Error(t, err, c.url)
		assert.ErrorContains(t, err, c.want)
		assert.NotContains(t, err.Error(), "secret")
	}
	assert.Empty(t, d.Connections())
}
