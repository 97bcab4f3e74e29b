package gofer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// newConfigured makes a client that the end of the test closes.
func newConfigured(t *testing.T, opts ...Option) *Client {
	t.Helper()
	c, err := New(opts...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

// From every form Reference returns a reference that can be called, and that Refer
// of the same parameters shares.
func TestClientReference(t *testing.T) {
	yaml := func(t *testing.T) []Option {
		return []Option{WithConfig(loaded(t, "application.yml", `dubbo:
  application: {name: shop-web}
  consumer: {retries: 0}
  references:
    orders: {interface: com.example.OrderService, url: "dubbo://192.0.2.1:20880", timeout: 800, find: {timeout: 300}}
`))}
	}
	properties := func(t *testing.T) []Option {
		return []Option{WithConfig(loaded(t, "dubbo.properties", `dubbo.application.name=shop-web
dubbo.consumer.retries=0
dubbo.reference.orders.interface=com.example.OrderService
dubbo.reference.orders.url=dubbo\://192.0.2.1\:20880
dubbo.reference.orders.timeout=800
dubbo.reference.orders.find.timeout=300
`))}
	}
	environment := func(t *testing.T) []Option {
		for k, v := range map[string]string{
			"DUBBO_APPLICATION_NAME": "shop-web", "DUBBO_CONSUMER_RETRIES": "0", "DUBBO_REFERENCES_ORDERS_INTERFACE": "com.example.OrderService",
			"DUBBO_REFERENCES_ORDERS_URL": "dubbo://192.0.2.1:20880", "DUBBO_REFERENCES_ORDERS_TIMEOUT": "800", "DUBBO_REFERENCES_ORDERS_FIND_TIMEOUT": "300",
		} {
			t.Setenv(k, v)
		}
		return []Option{WithConfig(loaded(t))}
	}
	code := func(*testing.T) []Option {
		return []Option{WithApplication("shop-web"), WithProperty("dubbo.consumer.retries", "0"),
			WithReference("orders", "com.example.OrderService?timeout=800&find.timeout=300&url=dubbo%3A%2F%2F192.0.2.1%3A20880")}
	}
	for name, form := range map[string]func(*testing.T) []Option{"yaml": yaml, "properties": properties, "environment": environment, "code": code} {
		t.Run(name, func(t *testing.T) {
			opts := form(t)
			synctest.Test(t, func(t *testing.T) {
				p := dubbotest.Start(t, "com.example.OrderService", dubbotest.InMemory(), dubbotest.WithAddr("192.0.2.1:20880"))
				require.NoError(t, p.Handle("describe(long)", func(id int64) string { return "order" }))
				c := newConfigured(t, append(opts, WithDialer(dubbotest.Dialer(p)))...)
				orders, err := c.Reference("orders")
				require.NoError(t, err)
				text, err := Call[string](t.Context(), orders, "describe(long)", int64(42))
				require.NoError(t, err)
				assert.Equal(t, "order", text)

				same, err := c.Refer(t.Context(), "com.example.OrderService?find.timeout=300&retries=0&timeout=800&url=dubbo://192.0.2.1:20880")
				require.NoError(t, err)
				again, err := c.Reference("orders")
				require.NoError(t, err)
				assert.Same(t, orders.service, same.service)
				assert.Same(t, orders.service, again.service)
				snapshot := c.Snapshot()
				require.Len(t, snapshot.References, 1)
				assert.Equal(t, 3, snapshot.References[0].Users)
				assert.Equal(t, "shop-web", snapshot.Application)
				assert.Equal(t, "300", snapshot.References[0].Parameters["find.timeout"])
			})
		})
	}
}

// What is set for all references holds for those of Refer, too, where they say
// nothing themselves.
func TestDefaultsForRefer(t *testing.T) {
	cfg := loaded(t, "application.yml", `dubbo:
  application: {name: shop-web, owner: team}
  consumer: {timeout: 700, retries: 1, check: false, filter: [one]}
  reference: {retries: 5}
`)
	c := newConfigured(t, WithConfig(cfg), WithFilter("one", filterNothing), WithFilter("two", filterNothing))
	r, err := c.Refer(t.Context(), "dubbo://127.0.0.1:1/com.example.OrderService?timeout=800&reference.filter=two")
	require.NoError(t, err, "check=false of the consumer holds")
	u := r.URL()
	for key, want := range map[string]string{
		"timeout": "800", "retries": "5", "check": "false", "owner": "team", "application": "shop-web", "reference.filter": "one,two",
	} {
		assert.Equal(t, want, u.Param(key), key)
	}
}

func filterNothing(filter.Config) (filter.Pair, error) { return filter.Pair{}, nil }

// A direct reference of WithReference is the one of Refer; configuration adds to it.
func TestWithReferenceDirect(t *testing.T) {
	const text = "dubbo://127.0.0.1:1/com.example.OrderService?check=false&timeout=800&weight=3;dubbo://127.0.0.1:2/com.example.OrderService?check=false&timeout=800"
	c := newConfigured(t, WithApplication("shop"), WithReference("orders", text), WithReference("a.b", text))
	orders, err := c.Reference("orders")
	require.NoError(t, err)
	same, err := c.Refer(t.Context(), text)
	require.NoError(t, err)
	dotted, err := c.Reference("a.b")
	require.NoError(t, err)
	assert.Same(t, orders.service, same.service)
	assert.Same(t, orders.service, dotted.service)
	assert.Equal(t, "800 code", value(t, c.Config(), "orders", "timeout"))

	cfg := loaded(t, "application.yml", "dubbo.references.orders: {timeout: 900, find.retries: 0}\n")
	c = newConfigured(t, WithConfig(cfg), WithApplication("shop"), WithReference("orders", text))
	assert.Equal(t, "900 application.yml:1", value(t, c.Config(), "orders", "timeout"), "application files go before code")
	assert.Equal(t, "0 application.yml:1", value(t, c.Config(), "orders", "find.retries"))
	assert.Equal(t, "false code", value(t, c.Config(), "orders", "check"))
}

// A parameter that stands escaped in a URL does so once; a variable finds the name
// of a method that only code has.
func TestWithReferenceEscapes(t *testing.T) {
	t.Setenv("DUBBO_REFERENCES_ORDERS_FINDBYID_RETRIES", "4")
	const text = "com.example.OrderService?findById.timeout=300&mock=force%3Areturn+null&url=dubbo%3A%2F%2F127.0.0.1%3A1&check=false&findById.retries=4"
	c := newConfigured(t, WithConfig(loaded(t)), WithApplication("shop"), WithReference("orders", text))
	orders, err := c.Reference("orders")
	require.NoError(t, err)
	assert.Equal(t, "force%3Areturn+null", orders.URL().Param("mock"))
	assert.Equal(t, "4 $DUBBO_REFERENCES_ORDERS_FINDBYID_RETRIES", value(t, c.Config(), "orders", "findById.retries"))
	same, err := c.Refer(t.Context(), text)
	require.NoError(t, err)
	assert.Same(t, orders.service, same.service)
}

// B172: addresses without a registry, with the reference's own parameters.
func TestB172DirectThroughConfig(t *testing.T) {
	cfg := loaded(t, "application.yml", `dubbo:
  references:
    orders: {interface: com.example.OrderService, url: "dubbo://127.0.0.1:20880;dubbo://127.0.0.1:20881", group: g1, version: 1.0.0, timeout: 3000}
`)
	r, err := cfg.find("orders")
	require.NoError(t, err)
	d, err := parseDeclaration(r.text, "10.0.0.1")
	require.NoError(t, err)
	assert.Equal(t, "g1/com.example.OrderService:1.0.0", d.url.ServiceKey())
	assert.Equal(t, "3000", d.url.Param("timeout"))
	require.Len(t, d.direct, 2)
	for i, want := range []string{"dubbo://127.0.0.1:20880/com.example.OrderService", "dubbo://127.0.0.1:20881/com.example.OrderService"} {
		assert.Equal(t, want, d.direct[i].Full())
	}
}

// B174: wildcards for group and version with an interface that is none.
func TestB174WildcardsThroughConfig(t *testing.T) {
	cfg := loaded(t, "application.yml", "dubbo.references.bars: {interface: com.example.BarService, group: '*', version: '*'}\n")
	u := referenceURL(t, cfg, "bars")
	assert.Equal(t, "com.example.BarService", u.Interface())
	assert.Equal(t, "*", u.Param("group"))
	assert.Equal(t, "*", u.Param("version"))
}

// What is missing is an error of New, when nothing more can come.
func TestIncompleteConfig(t *testing.T) {
	cfg := loaded(t, "application.yml", "dubbo.references:\n  orders: {interface: a.B}\n  ordres: {timeout: 3}\n")
	_, err := New(WithConfig(cfg))
	assert.ErrorContains(t, err, `application.yml:3: dubbo.references.ordres.timeout: reference "ordres" has no interface: set dubbo.references.ordres.interface, or did you mean "orders"?`)
	assert.ErrorContains(t, err, "no application name: add WithApplication(\"shop-web\"), or set dubbo.application.name")
	_, err = newOptions([]Option{WithConfig(cfg), WithApplication("shop"), WithReference("ordres", "a.C")})
	assert.NoError(t, err, "an option adds what is missing")
}

func TestConfigOptionProblems(t *testing.T) {
	cfg := loaded(t)
	_, err := New(WithConfig(nil), WithConfig(cfg), WithConfig(cfg), WithReference("", "a.B"), WithReference("x", "a.B?timeout=abc"), WithReference("y", "a.B"),
		WithReference("y", "a.C"), WithProperty("timeout", "3"), WithProperty("dubbo.consumer.timeout", "abc"))
	require.Error(t, err)
	for _, w := range []string{
		"WithConfig without a configuration", "WithConfig is given twice", `WithReference(""): an id needs letters`, `WithReference("x"): parameter timeout=abc`,
		`WithReference("y") is given twice`, `WithProperty("timeout"): a property of Dubbo begins with dubbo.`, "code: dubbo.consumer.timeout: timeout=abc", "no application name",
	} {
		assert.ErrorContains(t, err, w)
	}
}

// Java's ExtensionLoader takes "true" for the default, and no other word.
func TestConfigDefaultLoadBalance(t *testing.T) {
	with := func(name string) error {
		cfg := loaded(t, "dubbo.properties", "dubbo.references.x.interface=a.B\ndubbo.references.x.find.loadbalance="+name)
		_, err := newOptions([]Option{WithConfig(cfg), WithApplication("shop")})
		return err
	}
	assert.NoError(t, with("true"))
	for _, name := range []string{"True", "default", "false"} {
		assert.ErrorContains(t, with(name), `dubbo.properties:2: dubbo.references.x.find.loadbalance: unknown load balancer "`+name+`"`)
	}
}

// Reference says which reference it is that cannot be had, and waits no longer
// than the context.
func TestClientReferenceErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nobody := dubbotest.Start(t, "com.example.OrderService", dubbotest.InMemory(), dubbotest.WithAddr("192.0.2.1:20880"))
		nobody.Kill()
		c := newConfigured(t, WithApplication("shop"), WithDialer(dubbotest.Dialer(nobody)),
			WithReference("orders", "dubbo://192.0.2.1:20880/com.example.OrderService"))
		_, err := c.Reference("order")
		assert.EqualError(t, err, `gofer: no reference "order" in the configuration, did you mean "orders"? (known: orders)`)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		begun := time.Now()
		_, err = c.ReferenceContext(ctx, "orders")
		require.ErrorIs(t, err, ErrNoProvider)
		assert.ErrorContains(t, err, `reference "orders"`)
		assert.Equal(t, 100*time.Millisecond, time.Since(begun))
	})
}
