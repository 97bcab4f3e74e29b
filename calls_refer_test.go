package gofer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// Two references of the same text are one: the limit holds for both together, and
// the order of parameters does not matter.
func TestEqualReferencesShareActives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, "", "actives=2&timeout=60000&retries=0")
		p := w.provider()
		require.NoError(t, p.AnswerAlways("echo", dubbotest.Value("hi").After(time.Second)))
		other := refer(t, w.client, p.URL("retries=0&reference.filter=watch&timeout=60000&actives=2"))
		for i := range 6 {
			r := w.reference
			if i%2 == 1 {
				r = other
			}
			w.aside.Go(func() {
				s, err := gofer.Call[string](t.Context(), r, "echo(java.lang.String)", "x")
				assert.NoError(t, err)
				assert.Equal(t, "hi", s)
			})
		}
		begun := time.Now()
		active, total := w.counted()
		assert.Zero(t, active)
		assert.EqualValues(t, 6, total)
		assert.Equal(t, 3*time.Second, time.Since(begun), "two at a time")
		assert.Equal(t, 2, p.Counters().Peak)

		s := w.client.Snapshot()
		require.Len(t, s.References, 1)
		assert.Equal(t, 2, s.References[0].Users)
		third := refer(t, w.client, p.URL("actives=3"))
		assert.Len(t, w.client.Snapshot().References, 2, "another text, another reference")
		assert.Equal(t, 1, p.Counters().Accepted, "but one connection")
		require.NoError(t, third.Close())
	})
}

// B179: each reference has its own life; what they share ends with the last.
func TestB179ClosingOneReferenceKeepsTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, "", "")
		p := w.provider()
		first, second := w.reference, refer(t, w.client, w.text("&reference.filter=watch"))
		require.NoError(t, first.Close())
		require.NoError(t, first.Close(), "twice is once")
		err := echo(t.Context(), w)
		assert.ErrorIs(t, err, gofer.ErrClosed)
		w.reference = second
		require.NoError(t, echo(t.Context(), w))

		third := refer(t, w.client, w.text("&reference.filter=watch"))
		require.NoError(t, second.Close())
		w.reference = third
		require.NoError(t, echo(t.Context(), w))
		assert.Equal(t, 1, p.Counters().Accepted)
		require.NoError(t, third.Close())
		synctest.Wait()
		assert.Zero(t, p.Counters().Connections, "nobody uses it any more")
		assert.Empty(t, w.client.Snapshot().References)

		w.reference = refer(t, w.client, w.text(""))
		require.NoError(t, echo(t.Context(), w), "and again")
		require.NoError(t, w.client.Close())
		require.NoError(t, w.client.Close())
		_, err = w.client.Refer(t.Context(), w.text(""))
		assert.ErrorIs(t, err, gofer.ErrClosed)
		assert.ErrorContains(t, err, "the client is closed")
	})
}

// Close ends calls under way at once and leaves nothing: no goroutine, no socket, no
// entry in the registry.
func TestCloseLeavesNothing(t *testing.T) {
	zk, err := zktest.Start()
	require.NoError(t, err)
	t.Cleanup(zk.Close)
	p := startDemo(t, "timeout=600000")
	require.NoError(t, p.Register("zookeeper://"+zk.Addr()))
	require.NoError(t, p.AnswerAlways("echo", dubbotest.Never()))
	q := startDemo(t, "")
	before := goleak.IgnoreCurrent()

	c, err := gofer.New(gofer.WithApplication("shop-web"), gofer.WithRegistry("zookeeper://"+zk.Addr()+"?file-cache=false"))
	require.NoError(t, err)
	r := refer(t, c, demo)
	refer(t, c, q.URL())
	var w world
	const calls = 20
	for range calls {
		w.aside.Go(func() {
			_, err := gofer.Call[string](t.Context(), r, "echo(java.lang.String)", "x")
			assert.ErrorIs(t, err, gofer.ErrClosed)
			var e *gofer.Error
			assert.ErrorAs(t, err, &e)
			assert.True(t, e.Sent)
		})
	}
	require.NoError(t, p.Await(t.Context(), func(n dubbotest.Counters) bool { return n.Calls == calls }))
	consumers, _ := zk.Node("/dubbo/" + demo + "/consumers")
	assert.Len(t, consumers.Children, 1)

	require.NoError(t, c.Close())
	w.aside.Wait()
	goleak.VerifyNone(t, before)
	consumers, _ = zk.Node("/dubbo/" + demo + "/consumers")
	assert.Empty(t, consumers.Children)
	for _, provider := range []*dubbotest.Provider{p, q} {
		require.NoError(t, provider.Await(t.Context(), func(n dubbotest.Counters) bool { return n.Connections == 0 }))
	}
	_, err = gofer.Call[string](t.Context(), r, "echo(java.lang.String)", "x")
	assert.ErrorIs(t, err, gofer.ErrClosed)
}

// A reference that cannot be made is an error that names value, place and remedy.
func TestReferErrors(t *testing.T) {
	p := startDemo(t, "version=1.0.0&group=g1")
	c := newClient(t)
	for text, want := range map[string][]string{
		p.URL("loadbalance=leastactiv"):     {"load balancer", `"leastactiv"`, `"leastactive"`, "random", "roundrobin"},
		p.URL("echo.loadbalance=rondrobin"): {"load balancer", `"rondrobin"`, `"roundrobin"`},
		p.URL("cluster=failsover"):          {"cluster", `"failsover"`, `"failover"`, "failfast"},
		p.URL("reference.filter=consumercontxt"): {
			"filter", `"consumercontxt"`, `"consumercontext"`,
		},
		p.URL("reference.filter=-activelimit"): {"activelimit", "cannot be taken out"},
		p.URL("timeout=abc&retries=x"):         {"timeout=abc", "retries=x"},
		demo + "?version=1.0.0":                {"no registry", "WithRegistry", "dubbo://"},
		"":                                     {"empty reference"},
	} {
		r, err := c.Refer(t.Context(), text)
		require.Error(t, err, text)
		assert.Nil(t, r)
		for _, w := range want {
			assert.ErrorContains(t, err, w)
		}
	}
	assert.Empty(t, c.Snapshot().References, "nothing is left of them")
}

// An address where nobody listens is an error with check=true, and with check=false
// one of each call.
func TestUnreachableProvider(t *testing.T) {
	const address = "127.0.0.1:1" // below what anybody is given
	c := newClient(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // the refusal is there in no time
	defer cancel()
	_, err := c.Refer(ctx, "dubbo://"+address+"/"+demo)
	assert.ErrorIs(t, err, gofer.ErrNoProvider)
	for _, want := range []string{demo, address, "refused", `emptied at stage "available"`, "check=false"} {
		assert.ErrorContains(t, err, want)
	}
	var none *gofer.NoProviderError
	require.ErrorAs(t, err, &none)
	assert.Equal(t, 1, none.Funnel.Enabled)
	assert.Zero(t, none.Funnel.Available)

	r := refer(t, c, "dubbo://"+address+"/"+demo+"?check=false")
	_, err = gofer.Call[string](t.Context(), r, "echo(java.lang.String)", "x")
	assert.ErrorContains(t, err, address)
	var e *gofer.Error
	require.ErrorAs(t, err, &e)
	assert.False(t, e.Sent)
}

// A reference of the wrong version or group says which providers there are, and why
// each was refused.
func TestNobodyFits(t *testing.T) {
	zk, err := zktest.Start()
	require.NoError(t, err)
	t.Cleanup(zk.Close)
	address := "zookeeper://" + zk.Addr()
	one, two := startDemo(t, "version=1.0.0&group=g1&token=s3cret"), startDemo(t, "version=2.0.0")
	require.NoError(t, one.Register(address))
	require.NoError(t, two.Register(address))
	c := newClient(t, gofer.WithRegistry(address+"?file-cache=false"))

	_, err = c.Refer(t.Context(), demo+"?version=2.0.0&group=g1")
	require.Error(t, err)
	assert.ErrorIs(t, err, gofer.ErrNoProvider)
	for _, want := range []string{
		one.Addr(), "version 1.0.0, reference wants 2.0.0",
		two.Addr(), "no group, reference wants g1",
		"registered 2 → enabled 0", "/dubbo/" + demo + "/providers", "compare group, version", "check=false",
	} {
		assert.ErrorContains(t, err, want)
	}
	assert.NotContains(t, err.Error(), "s3cret")

	_, err = c.Refer(t.Context(), "com.example.Nobody")
	assert.ErrorIs(t, err, gofer.ErrNoProvider)
	assert.ErrorContains(t, err, "registered 0")
	assert.ErrorContains(t, err, "check that a provider of this interface is running")

	late := refer(t, c, demo+"?version=3.0.0&check=false")
	three := startDemo(t, "version=3.0.0")
	require.NoError(t, three.Register(address))
	require.Eventually(t, func() bool { return late.Snapshot().Funnel.Available == 1 }, 10*time.Second, time.Millisecond)
	s, err := gofer.Call[string](t.Context(), late, "echo(java.lang.String)", "hi")
	require.NoError(t, err)
	assert.Equal(t, "hi", s)

	_, err = c.Refer(t.Context(), one.URL("version=9.9.9"))
	require.NoError(t, err, "a direct address is believed")
}

// Who gives up while Refer waits finds that in the error.
func TestReferGivenUp(t *testing.T) {
	c := newClient(t, gofer.WithRegistry("zookeeper://127.0.0.1:1?file-cache=false"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Refer(ctx, demo)
	assert.ErrorIs(t, err, gofer.ErrCanceled)
	assert.ErrorIs(t, err, context.Canceled)
	var none *gofer.NoProviderError
	assert.ErrorAs(t, err, &none)
	ctx, cancel = context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	_, err = c.Refer(ctx, demo)
	assert.ErrorIs(t, err, gofer.ErrNoProvider)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

// true and false are read in any case, as in Java.
func TestCheckInAnyCase(t *testing.T) {
	c := newClient(t, gofer.WithRegistry("zookeeper://127.0.0.1:1?file-cache=false&timeout=10"))
	_, err := c.Refer(t.Context(), demo+"?check=TRUE")
	assert.ErrorIs(t, err, gofer.ErrNoProvider)
	r, err := c.Refer(t.Context(), demo+"?check=False")
	require.NoError(t, err)
	require.NoError(t, r.Close())
}

// No secret of a direct address gets into an error.
func TestDirectAddressSecrets(t *testing.T) {
	c := newClient(t)
	_, err := c.Refer(t.Context(), "dubbo://u:secretpw@127.0.0.1:abc/I?token=tokensecret")
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "secretpw")
	assert.NotContains(t, err.Error(), "tokensecret")
}

// A generic call of a declared signature with too few arguments is not sent.
func TestGenericArgumentCount(t *testing.T) {
	p := startDemo(t, "")
	r, err := newClient(t).Refer(t.Context(), p.URL())
	require.NoError(t, err)
	_, err = r.Generic(t.Context(), "echo(java.lang.String)")
	assert.ErrorIs(t, err, gofer.ErrBadArgument)
	assert.ErrorContains(t, err, "takes 1 arguments, got 0")
	assert.Empty(t, p.Calls())
}
