package gofer

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/url"
)

// sourceWorld sets properties in any source.
type sourceWorld struct {
	t     *testing.T
	files map[string]string
	code  []Option
}

// sources are those that can be set, the weakest first, and how.
var allSources = []struct {
	name   string
	set    func(w *sourceWorld, key, value string)
	origin string // of the first property
}{
	{"dubbo.properties", func(w *sourceWorld, k, v string) { w.files["dubbo.properties"] += k + "=" + v + "\n" }, "dubbo.properties:1"},
	{"code", func(w *sourceWorld, k, v string) { w.code = append(w.code, WithProperty(k, v)) }, "code"},
	{"application.yml", func(w *sourceWorld, k, v string) { w.files["application.yml"] += k + ": " + v + "\n" }, "application.yml:1"},
	{"application.properties", func(w *sourceWorld, k, v string) { w.files["application.properties"] += k + "=" + v + "\n" }, "application.properties:1"},
	{"environment", func(w *sourceWorld, k, v string) {
		w.t.Setenv(strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(k)), v)
	}, "$DUBBO_"},
}

// configuration loads the files, found by Load itself, and applies the code.
func (w *sourceWorld) configuration() *Config {
	w.t.Helper()
	w.t.Chdir(w.t.TempDir())
	for name, text := range w.files {
		require.NoError(w.t, os.WriteFile(name, []byte(text), 0o600))
	}
	cfg, err := Load()
	require.NoError(w.t, err)
	o, err := newOptions(append(w.code, WithConfig(cfg), WithApplication("shop"), WithReference("orders", "com.example.OrderService")))
	require.NoError(w.t, err)
	return o.merged
}

// For every pair of sources and every bean the greater one counts, and shows which
// value it goes before: the order of Dubbo 3.3.
func TestPrecedenceOfSources(t *testing.T) {
	keys := []string{
		"dubbo.consumer.timeout", "dubbo.reference.timeout", "dubbo.references.orders.timeout",
		"dubbo.reference.com.example.OrderService.timeout", "dubbo.references.orders.find.timeout",
		"dubbo.application.parameters.timeout", "dubbo.consumer.parameters.timeout",
	}
	for _, key := range keys {
		for i, weak := range allSources {
			for j, strong := range allSources[i:] {
				t.Run(fmt.Sprintf("%s/%s,%s", key, weak.name, strong.name), func(t *testing.T) {
					w := &sourceWorld{t: t, files: map[string]string{}}
					strong.set(w, key, "111")
					if j > 0 {
						weak.set(w, key, "222")
					}
					s, ok := w.configuration().Lookup("orders", "find.timeout")
					require.True(t, ok)
					assert.Equal(t, "111", s.Value)
					assert.Contains(t, s.Origin.String(), strong.origin)
					if j > 0 {
						require.Len(t, s.Overridden, 1)
						assert.Equal(t, "222", s.Overridden[0].Value)
						assert.Contains(t, s.Overridden[0].Origin.String(), weak.origin)
					}
				})
			}
		}
	}
}

// The order of the names given to Load counts only within a kind of source.
func TestPrecedenceOfFiles(t *testing.T) {
	const one, two = "dubbo.consumer.timeout=1\n", "dubbo.consumer.timeout=2\n"
	consumer := func(cfg *Config) string {
		e := cfg.bound.values[owner{scope: scopeConsumer}]["timeout"][0]
		return e.value + " " + e.origin.String()
	}
	assert.Equal(t, "2 b.properties:1", consumer(loaded(t, "a.properties", one, "b.properties", two)))
	assert.Equal(t, "1 a.properties:1", consumer(loaded(t, "b.properties", two, "a.properties", one)))
	assert.Equal(t, "1 a.properties:1", consumer(loaded(t, "a.properties", one, "dubbo.properties", two)))
	assert.Equal(t, "1 a.properties:1", consumer(loaded(t, "dubbo-prod.properties", two, "a.properties", one)))
}

// For a reference the greater bean counts, whatever the sources: here the weaker
// one is in the environment, the stronger one in dubbo.properties.
func TestPrecedenceOfScopes(t *testing.T) {
	scopes := []string{ // the weakest first
		"dubbo.application.parameters.timeout", "dubbo.consumer.timeout", "dubbo.reference.timeout",
		"dubbo.references.orders.timeout", "dubbo.references.orders.find.timeout",
	}
	for i, weak := range scopes {
		for _, strong := range scopes[i+1:] {
			t.Run(weak+","+strong, func(t *testing.T) {
				w := &sourceWorld{t: t, files: map[string]string{}}
				allSources[4].set(w, weak, "222")
				allSources[0].set(w, strong, "111")
				cfg := w.configuration()
				assert.Equal(t, "111 dubbo.properties:1", value(t, cfg, "orders", "find.timeout"))
				if strings.Contains(strong, "find") {
					assert.Contains(t, value(t, cfg, "orders", "timeout"), "222 $DUBBO_")
				}
			})
		}
	}
}

// Within one source the more specific form of a reference's key counts, in
// whatever order they stand; the source goes before.
func TestPrecedenceOfForms(t *testing.T) {
	forms := []string{ // the weakest first
		"dubbo.references.orders.timeout", "dubbo.reference.com.example.OrderService.timeout",
		"dubbo.reference.com.example.OrderService.orders.timeout",
	}
	for i, weak := range forms {
		for _, strong := range forms[i+1:] {
			for _, lines := range []string{strong + "=111\n" + weak + "=222\n", weak + "=222\n" + strong + "=111\n"} {
				w := &sourceWorld{t: t, files: map[string]string{"application.properties": lines}}
				s, _ := w.configuration().Lookup("orders", "timeout")
				assert.Equal(t, "111", s.Value, lines)
			}
			w := &sourceWorld{t: t, files: map[string]string{"dubbo.properties": strong + "=222\n", "application.yml": weak + ": 111\n"}}
			s, _ := w.configuration().Lookup("orders", "timeout")
			assert.Equal(t, "111", s.Value, "%s in application.yml before %s in dubbo.properties", weak, strong)
		}
	}
}

// Empty values are none: they hide nothing.
func TestEmptyValuesHideNothing(t *testing.T) {
	t.Setenv("DUBBO_CONSUMER_TIMEOUT", "")
	cfg := loaded(t, "dubbo.properties", "dubbo.consumer.timeout=5\ndubbo.references.orders.interface=a.B\n",
		"application.yml", "dubbo:\n  consumer:\n    timeout:\n  references:\n    orders: {timeout: ~, interface: ''}\n")
	assert.Equal(t, "5 dubbo.properties:1", value(t, cfg, "orders", "timeout"))
}

// B168: what configuration sets, with what providers send, has the right order.
func TestB168PrecedenceThroughConfig(t *testing.T) {
	provider, err := url.Parse("dubbo://10.0.0.7:20880/com.example.OrderService?timeout=2000&getA.timeout=5000")
	require.NoError(t, err)
	old, err := url.Parse("dubbo://10.0.0.7:20880/com.example.OrderService?default.timeout=4000")
	require.NoError(t, err)
	const reference = "dubbo.references.orders.interface=com.example.OrderService\n"
	cases := []struct {
		lines       string
		provider    url.URL
		getA, other time.Duration
	}{
		{"", provider, 5000, 2000},
		{"dubbo.references.orders.timeout=300\n", provider, 5000, 300},
		{"dubbo.consumer.timeout=300\n", provider, 5000, 300},
		{"dubbo.consumer.timeout=300\ndubbo.references.orders.getA.timeout=100\n", provider, 100, 300},
		{"", old, 4000, 4000},
		{"dubbo.consumer.timeout=300\n", old, 300, 300},
		{"", old.Without("default.timeout", "timeout"), 1000, 1000},
	}
	for _, c := range cases {
		u := url.Merge(c.provider, referenceURL(t, loaded(t, "dubbo.properties", reference+c.lines), "orders"))
		assert.Equal(t, c.getA*time.Millisecond, methodView(t, u, "getA").Timeout, "getA with %q", c.lines)
		assert.Equal(t, c.other*time.Millisecond, methodView(t, u, "other").Timeout, "other with %q", c.lines)
	}
}
