package gofer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseDeclaration(t *testing.T) {
	cases := []struct {
		text, service string
		params        map[string]string
		direct        []string // addresses
	}{
		{text: "com.example.OrderService", service: "com.example.OrderService"},
		{
			text:    " com.example.OrderService?version=1.0.0&group=g1&find.timeout=300 ",
			service: "g1/com.example.OrderService:1.0.0", params: map[string]string{"find.timeout": "300"},
		},
		{
			text:    "dubbo://127.0.0.1:20880/com.example.OrderService?timeout=800",
			service: "com.example.OrderService", params: map[string]string{"timeout": "800"}, direct: []string{"127.0.0.1:20880"},
		},
		{ // several; what they share is the reference's, the rest stays with its provider
			text:    "dubbo://127.0.0.1:1/a.B?timeout=800&weight=1;dubbo://127.0.0.1:2/a.B?timeout=800&weight=2",
			service: "a.B", params: map[string]string{"timeout": "800", "weight": ""}, direct: []string{"127.0.0.1:1", "127.0.0.1:2"},
		},
		{ // a semicolon inside a query separates parameters
			text:    "dubbo://127.0.0.1:1/a.B?timeout=800;retries=1",
			service: "a.B", params: map[string]string{"timeout": "800", "retries": "1"}, direct: []string{"127.0.0.1:1"},
		},
		{ // B172: Dubbo's attribute url, the path comes from the interface
			text:    "a.B?url=dubbo://127.0.0.1:1&group=g1&version=1.0.0&timeout=3000",
			service: "g1/a.B:1.0.0", params: map[string]string{"timeout": "3000", "url": ""}, direct: []string{"127.0.0.1:1"},
		},
		{
			text:    "a.B?url=dubbo://127.0.0.1:1%3Bdubbo://127.0.0.1:2",
			service: "a.B", direct: []string{"127.0.0.1:1", "127.0.0.1:2"},
		},
		{
			text: "dubbo://[::1]:20880/a.B?interface=a.B", service: "a.B", direct: []string{"[::1]:20880"},
		},
	}
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			d, err := parseDeclaration(c.text, "10.0.0.1")
			require.NoError(t, err)
			assert.Equal(t, c.service, d.url.ServiceKey())
			assert.Equal(t, "consumer", d.url.Protocol())
			for k, v := range c.params {
				assert.Equal(t, v, d.url.Param(k), k)
			}
			var addresses []string
			for _, p := range d.direct {
				addresses = append(addresses, p.Address())
				assert.Equal(t, d.url.Interface(), p.Interface())
			}
			assert.Equal(t, c.direct, addresses)
		})
	}
}

// Every bad reference is an error that names the value and what to write instead.
func TestParseDeclarationErrors(t *testing.T) {
	cases := map[string][]string{
		"":                          {"empty reference", "com.example.OrderService"},
		"?timeout=800":              {"no interface"},
		"com.example.Order Service": {"com.example.Order Service", "not a Java interface name"},
		"com..example":              {"com..example"},
		"1com.example":              {"1com.example"},
		"tri://127.0.0.1:1/a.B":     {"tri", "only dubbo://"},
		"dubbo://127.0.0.1/a.B":     {"no usable port", "20880"},
		"dubbo:///a.B":              {"no host"},
		"dubbo://127.0.0.1:1":       {"names no interface"},
		"dubbo://127.0.0.1:1/a.B;dubbo://127.0.0.1:2/a.C": {"a.B", "a.C", "two interfaces"},
		"a.B?url=http://127.0.0.1:1":                      {"http", "only dubbo://"},
		"a.B?injvm=true":                                  {"injvm=true", "in-process"},
	}
	for text, want := range cases {
		t.Run(text, func(t *testing.T) {
			_, err := parseDeclaration(text, "10.0.0.1")
			require.Error(t, err)
			for _, w := range want {
				assert.Contains(t, err.Error(), w)
			}
		})
	}
}

// B170: one error lists every bad parameter.
func TestB170BadParametersAtCreation(t *testing.T) {
	_, err := parseDeclaration("a.B?timeout=abc&retries=x&actives=1.5&connections=0x10&find.timeout=-5&weight=30", "10.0.0.1")
	require.Error(t, err)
	for _, w := range []string{"timeout", "abc", "retries", "x", "actives", "1.5", "connections", "0x10", "find.timeout", "-5"} {
		assert.Contains(t, err.Error(), w)
	}
	assert.NotContains(t, err.Error(), "weight")
	_, err = parseDeclaration("a.B?timeout=3s", "10.0.0.1")
	assert.NoError(t, err, "Go's durations are understood")
}

func FuzzParseDeclaration(f *testing.F) {
	f.Add("com.example.OrderService?version=1.0.0")
	f.Add("dubbo://127.0.0.1:1/a.B?timeout=800;dubbo://127.0.0.1:2/a.B")
	f.Add("a.B?url=dubbo://127.0.0.1:1%3B")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDeclaration(text, "10.0.0.1")
		if err == nil {
			assert.NotEmpty(t, d.url.Interface())
			for _, p := range d.direct {
				assert.Positive(t, p.Port())
			}
		}
	})
}

// A slip in what a program writes is an error that names what was meant, as in a file;
// what may be a parameter of somebody's own passes, and in an address of a provider
// and under parameters anything does.
func TestMisspeltParameters(t *testing.T) {
	c, err := New(WithApplication("shop"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	for text, want := range map[string]string{
		"a.B?loadblance=leastload":          `gofer: reference: parameter loadblance: unknown, did you mean "loadbalance"?`,
		"a.B?find.timout=30&outlier.pauze=": `did you mean "find.timeout"?`,
		"a.B?pasword=secret&timout=1":       `parameter timout`,
	} {
		_, err := c.Refer(t.Context(), text)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "secret")
		_, err = New(WithApplication("shop"), WithReference("orders", text))
		require.ErrorContains(t, err, `WithReference("orders")`)
		assert.ErrorContains(t, err, "did you mean")
	}
	for _, text := range []string{"a.B?check=false&region=eu&size=3", "dubbo://192.0.2.1:20880/a.B?check=false&loadblance=x"} {
		r, err := c.Refer(t.Context(), text)
		if err == nil {
			assert.NoError(t, r.Close())
			continue
		}
		assert.ErrorContains(t, err, "no registry", text)
	}
	own, err := New(WithApplication("shop"), WithReference("orders", "dubbo://192.0.2.1:20880/a.B?check=false"),
		WithProperty("dubbo.references.orders.parameters.loadblance", "x"))
	require.NoError(t, err)
	r, err := own.Reference("orders")
	require.NoError(t, err)
	assert.Equal(t, "x", r.URL().Param("loadblance"))
	assert.NoError(t, own.Close())
}
