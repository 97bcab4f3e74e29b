package dubbo

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// sentBy encodes a call at an endpoint of the URL and decodes it with the library.
func sentBy(t *testing.T, u url.URL, application string, inv *protocol.Invocation, budget time.Duration) request {
	t.Helper()
	f, err := newService(u, application).appendRequest(nil, inv, budget)
	require.NoError(t, err)
	return received{body: f[16:]}.call(t)
}

func TestRequestCarriesTheProvidersValues(t *testing.T) {
	for _, c := range []struct {
		name, url   string
		version     string
		path        string
		attachments map[any]any
	}{{
		"all", "dubbo://10.0.0.1:20880/com.example.DemoService?group=g1&version=1.0.0&token=t0&application=shop-web&side=consumer",
		"1.0.0", demo, map[any]any{
			"path": demo, "interface": demo, "version": "1.0.0", "group": "g1", "token": "t0",
			"remote.application": "shop-web", "timeout": "300",
		},
	}, {
		"bare", "dubbo://10.0.0.1:20880/com.example.DemoService",
		"0.0.0", demo, map[any]any{"path": demo, "interface": demo, "timeout": "300", "remote.application": "from-option"},
	}, {
		"context path", "dubbo://10.0.0.1:20880/ctx/com.example.DemoService?interface=com.example.DemoService",
		"0.0.0", demo, map[any]any{
			"path": "ctx/com.example.DemoService", "interface": demo, "timeout": "300", "remote.application": "from-option",
		},
	}, {
		"no path", "dubbo://10.0.0.1:20880?interface=com.example.DemoService",
		"0.0.0", demo, map[any]any{"path": demo, "interface": demo, "timeout": "300", "remote.application": "from-option"},
	}} {
		t.Run(c.name, func(t *testing.T) {
			r := sentBy(t, mustParse(t, c.url), "from-option", invocation("x"), 300*time.Millisecond)
			assert.Equal(t, request{
				dubbo: "2.0.2", path: c.path, version: c.version, method: "echo", desc: "Ljava/lang/String;",
				args: []any{"x"}, attachments: c.attachments,
			}, r)
		})
	}
}

// B162: the call modes and what addresses the service are never taken from a
// call's attachments; everything else is sent.
func TestB162ReservedAttachmentsAreNotSent(t *testing.T) {
	inv := invocation("x")
	for _, key := range []string{"async", "return", "sent", "path", "interface", "version", "group", "timeout", "generic", "dubbo", "input", "output"} {
		inv.Attach(key, "evil")
	}
	inv.Attach("trace-id", "abc")
	inv.Attach("empty", "")
	inv.Attach("ключ", "знач😀")
	r := sentBy(t, providerURL(t, "10.0.0.1:20880"), "", inv, time.Second)
	assert.Equal(t, map[any]any{
		"path": demo, "interface": demo, "timeout": "1000", "remote.application": "shop-web",
		"trace-id": "abc", "empty": "", "ключ": "знач😀",
	}, r.attachments)
}

// A call may bring its own token and application name; a key is sent once.
func TestAttachmentsOfTheCallGoBefore(t *testing.T) {
	inv := invocation("x")
	inv.Attach("token", "mine")
	inv.Attach("remote.application", "shop-web")
	inv.Tag = "gray"
	u := providerURL(t, "10.0.0.1:20880", "token", "theirs")
	f, err := newService(u, "").appendRequest(nil, inv, time.Second)
	require.NoError(t, err)
	assert.NotContains(t, string(f), "theirs")
	r := received{body: f[16:]}.call(t)
	assert.Equal(t, map[any]any{
		"path": demo, "interface": demo, "timeout": "1000", "remote.application": "shop-web",
		"token": "mine", "dubbo.tag": "gray",
	}, r.attachments)

	inv.Attach("dubbo.tag", "blue") // a filter has decided
	assert.Equal(t, "blue", sentBy(t, u, "", inv, time.Second).attachments["dubbo.tag"])
}

// B166: whole milliseconds of the time that is left, never 0 while there is some.
func TestB166TimeoutAttachment(t *testing.T) {
	for budget, want := range map[time.Duration]string{
		300 * time.Millisecond:             "300",
		300*time.Millisecond - 1:           "300",
		299 * time.Millisecond:             "299",
		time.Nanosecond:                    "1",
		24*time.Hour + time.Millisecond:    "86400001",
		time.Duration(1<<63 - 1 - 1000000): "9223372036854",
	} {
		r := sentBy(t, providerURL(t, "10.0.0.1:20880"), "", invocation("x"), budget)
		assert.Equal(t, want, r.attachments["timeout"], "%v", budget)
	}
	bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
		seen := make(chan any, 1)
		p.handle = func(c *peerConn, f received) { seen <- f.call(t).attachments["timeout"]; echo(c, f) }
		e := refer(t, d, p.address, "timeout", "5000")
		inv := within(300*time.Millisecond, "x")
		pass(50 * time.Millisecond) // waiting for a slot, say
		_, err := invoke(t.Context(), e, inv)
		require.NoError(t, err)
		assert.Equal(t, "250", <-seen)

		ctx, cancel := context.WithTimeout(t.Context(), 70*time.Millisecond)
		defer cancel()
		_, err = invoke(ctx, e, invocation("x"))
		require.NoError(t, err)
		assert.Equal(t, "70", <-seen)
	})
}

// An update changes what later calls carry; a call under way keeps what it had.
func TestUpdateSwapsTheConstantParts(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
		seen := make(chan request, 1)
		p.handle = func(c *peerConn, f received) { seen <- f.call(t); echo(c, f) }
		e := refer(t, d, p.address, "token", "one")
		for _, token := range []string{"one", "two", ""} {
			e.Update(providerURL(t, p.address, "token", token))
			_, err := invoke(t.Context(), e, invocation("x"))
			require.NoError(t, err)
			want := any(nil)
			if token != "" {
				want = token
			}
			assert.Equal(t, want, (<-seen).attachments["token"])
		}
		assert.EqualValues(t, 1, p.accepted.Load())
	})
}

// Methods with and without a place in the table of encoded heads, and two that
// claim the same one.
func TestMethodHeadsAreKeptByID(t *testing.T) {
	s := newService(providerURL(t, "10.0.0.1:20880"), "")
	for round := range 2 {
		for id := -1; id < 2*maxPrefixes; id += 7 {
			for _, name := range []string{"a", "b"} {
				m := &protocol.Method{ID: id, WireName: fmt.Sprint(name, id), Descriptor: "I"}
				f, err := s.appendRequest(nil, &protocol.Invocation{Method: m, Arguments: []any{int32(1)}}, time.Second)
				require.NoError(t, err)
				r := received{body: f[16:]}.call(t)
				require.Equal(t, m.WireName, r.method, "round %d", round)
				require.Equal(t, "I", r.desc)
			}
		}
	}
	assert.LessOrEqual(t, len(*s.prefixes.Load()), maxPrefixes)
}

func TestGenericCall(t *testing.T) {
	m := &protocol.Method{
		Service: demo, Name: "getUser", WireName: "$invoke", Generic: "true",
		Descriptor: "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;",
	}
	inv := &protocol.Invocation{Method: m, Arguments: []any{"getUser", []string{"long"}, []any{int64(7)}}}
	r := sentBy(t, providerURL(t, "10.0.0.1:20880"), "", inv, time.Second)
	assert.Equal(t, "$invoke", r.method)
	assert.Equal(t, "true", r.attachments["generic"])
	assert.Equal(t, []any{"getUser", []string{"long"}, []any{int64(7)}}, r.args)
}

// An argument that cannot be encoded fails the call at once: nothing is sent, and
// no other provider is bothered (B067).
func TestB067UnencodableArgument(t *testing.T) {
	bubble(t, echo, func(t *testing.T, p *peer, d *Protocol) {
		e := refer(t, d, p.address)
		_, err := invoke(t.Context(), e, invocation(make(chan int)))
		f := failure(t, err)
		assert.False(t, f.Sent)
		assert.Equal(t, protocol.RetryNever, f.Retry)
		assert.Contains(t, f.Detail, "chan int")
		assert.Zero(t, only(t, d).Writes)
		assert.Zero(t, only(t, d).InFlight)
	})
}
