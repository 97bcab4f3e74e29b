package gofer

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/url"
)

// inFolder makes a folder with the files, given as name, text …, the working one.
func inFolder(t *testing.T, files ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for i := 0; i < len(files); i += 2 {
		require.NoError(t, os.WriteFile(files[i], []byte(files[i+1]), 0o600))
	}
}

// loaded reads the files, given as name, text …, in that order.
func loaded(t *testing.T, files ...string) *Config {
	t.Helper()
	cfg, err := loadAll(t, files...)
	require.NoError(t, err)
	return cfg
}

func loadAll(t *testing.T, files ...string) (*Config, error) {
	t.Helper()
	inFolder(t, files...)
	var names []string
	for i := 0; i < len(files); i += 2 {
		names = append(names, files[i])
	}
	return Load(names...)
}

// value is a reference's parameter with its origin: "800 application.yml:7".
func value(t *testing.T, cfg *Config, id, key string) string {
	t.Helper()
	s, ok := cfg.Lookup(id, key)
	require.True(t, ok, "%s of %s", key, id)
	return s.Value + " " + s.Origin.String()
}

// referenceURL is a reference as the URL that Refer makes of its text.
func referenceURL(t *testing.T, cfg *Config, id string) url.URL {
	t.Helper()
	r, err := cfg.find(id)
	require.NoError(t, err)
	d, err := parseDeclaration(r.text, "10.0.0.1")
	require.NoError(t, err)
	return d.url
}

// texts are the lines of problems.
func texts(problems []ConfigProblem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

const twoReferencesYAML = `dubbo:
  application:
    name: shop-web
  registry:
    address: zookeeper://127.0.0.1:2181
  consumer:
    timeout: 3s
    check: false
  references:
    orders:
      interface: com.example.OrderService
      version: 1.0.0
      loadbalance: leastactive
      find:
        timeout: 300
    users:
      interface: com.example.UserService
      group: g1
      retries: 0
`

const twoReferencesProperties = `dubbo.application.name = shop-web
dubbo.registry.address = zookeeper://127.0.0.1:2181
dubbo.consumer.timeout = 3s
dubbo.consumer.check = false
dubbo.references.orders.interface = com.example.OrderService
dubbo.references.orders.version = 1.0.0
dubbo.references.orders.loadbalance = leastactive
dubbo.references.orders.find.timeout = 300
dubbo.references.users.interface = com.example.UserService
dubbo.references.users.group = g1
dubbo.references.users.retries = 0
`

// The same references come out of every form.
func TestLoadForms(t *testing.T) {
	forms := map[string]func(t *testing.T) *Config{
		"application.yml": func(t *testing.T) *Config { return loaded(t, "application.yml", twoReferencesYAML) },
		"application.properties": func(t *testing.T) *Config {
			return loaded(t, "application.properties", twoReferencesProperties)
		},
		"dubbo.properties": func(t *testing.T) *Config { return loaded(t, "dubbo.properties", twoReferencesProperties) },
		"found by Load": func(t *testing.T) *Config {
			inFolder(t, "application.yml", twoReferencesYAML)
			cfg, err := Load()
			require.NoError(t, err)
			return cfg
		},
		"flat keys in YAML": func(t *testing.T) *Config {
			var b strings.Builder
			for line := range strings.Lines(twoReferencesProperties) {
				b.WriteString(strings.Replace(line, " = ", ": ", 1))
			}
			return loaded(t, "application.yml", b.String())
		},
		"short form": func(t *testing.T) *Config {
			return loaded(t, "application.yml", strings.Replace(twoReferencesYAML, "references:", "reference:", 1))
		},
		"environment": func(t *testing.T) *Config {
			for line := range strings.Lines(twoReferencesProperties) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
				t.Setenv(strings.ToUpper(strings.ReplaceAll(key, ".", "_")), value)
			}
			return loaded(t)
		},
		"code": func(t *testing.T) *Config {
			o, err := newOptions([]Option{
				WithApplication("shop-web"), WithRegistry("zookeeper://127.0.0.1:2181"),
				WithProperty("dubbo.consumer.timeout", "3s"), WithProperty("dubbo.consumer.check", "false"),
				WithReference("orders", "com.example.OrderService?version=1.0.0&loadbalance=leastactive&find.timeout=300"),
				WithReference("users", "com.example.UserService?group=g1&retries=0"),
			})
			require.NoError(t, err)
			return o.merged
		},
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			cfg := form(t)
			assert.Equal(t, []string{"orders", "users"}, cfg.References())
			assert.Empty(t, cfg.Warnings())
			assert.Equal(t, "consumer://10.0.0.1/com.example.OrderService?check=false&find.timeout=300&interface=com.example.OrderService&loadbalance=leastactive&timeout=3s&version=1.0.0",
				referenceURL(t, cfg, "orders").Full())
			assert.Equal(t, "consumer://10.0.0.1/com.example.UserService?check=false&group=g1&interface=com.example.UserService&retries=0&timeout=3s",
				referenceURL(t, cfg, "users").Full())
			o, err := newOptions([]Option{WithConfig(cfg)})
			require.NoError(t, err)
			assert.Equal(t, "shop-web", o.application)
			assert.Equal(t, "zookeeper://127.0.0.1:2181", o.registry)
		})
	}
}

// Every name may be spelled as Dubbo, Spring or a shell spell it.
func TestRelaxedNames(t *testing.T) {
	files := []string{
		"dubbo.consumer.connect.timeout=700", "dubbo.consumer.connect-timeout=700", "dubbo.consumer.connectTimeout=700",
		"dubbo.consumer.connect_timeout=700", "dubbo.Consumer.CONNECT_TIMEOUT=700", "Dubbo.consumer.parameters.connect.timeout=700",
		"dubbo.consumer.parameters=[{connect.timeout:700}]", "dubbo.consumer.params.connect.timeout=700",
		"dubbo.consumer.parameters[0].connect.timeout=700",
		"dubbo.reference.connect-timeout=700", "dubbo.reference.orders.connectTimeout=700", "dubbo.references[orders].connect-timeout=700",
		"dubbo.reference.com.example.OrderService.connect-timeout=700", "dubbo.reference[com.example.OrderService].connectTimeout=700",
		"dubbo.reference.com.example.OrderService.orders.connect-timeout=700", "dubbo.application.parameters.connect.timeout=700",
	}
	for _, line := range files {
		t.Run(line, func(t *testing.T) {
			cfg := loaded(t, "application.properties", "dubbo.references.orders.interface=com.example.OrderService\n"+line)
			assert.Empty(t, cfg.Warnings())
			assert.Equal(t, "700 application.properties:2", value(t, cfg, "orders", "connect.timeout"))
			assert.Equal(t, []string{"orders"}, cfg.References())
		})
	}
	methods := []string{
		"dubbo.references.orders.findOne.retries=7", "dubbo.reference.orders.methods.findOne.retries=7",
		"dubbo.references.orders.methods[0].name=findOne\ndubbo.references.orders.methods[0].retries=7",
		"dubbo.reference.com.example.OrderService.findOne.retries=7", "dubbo.com.example.OrderService.findOne.retries=7",
		"dubbo.reference.com.example.OrderService.orders.findOne.retries=7", "dubbo.references.orders.parameters.findOne.retries=7",
		"dubbo.references.orders.findOne.parameters.retries=7", "dubbo.consumer.references.orders.findOne.retries=7",
	}
	for _, lines := range methods {
		t.Run(lines, func(t *testing.T) {
			cfg := loaded(t, "dubbo.properties", "dubbo.references.orders.interface=com.example.OrderService\n"+lines)
			assert.Empty(t, cfg.Warnings())
			assert.Equal(t, 7, methodView(t, referenceURL(t, cfg, "orders"), "findOne").Retries)
			assert.Equal(t, []string{"orders"}, cfg.References())
		})
	}
}

func methodView(t *testing.T, u url.URL, name string) url.Method {
	t.Helper()
	m, problems := url.CompileMethod(u, name)
	require.Empty(t, problems)
	return m
}

// Attributes whose names differ from the parameter's.
func TestAttributeNames(t *testing.T) {
	for line, want := range map[string]string{
		"filter=accesslog": "reference.filter=accesslog", "tag=gray": "dubbo.tag=gray", "listener=a": "invoker.listener=a",
		"find.retry=false": "find.retries=0", "mock=force:return a&b": "mock=force%3Areturn+a%26b",
		"filter[0]=accesslog\ndubbo.references.orders.filter[1]=-x": "reference.filter=accesslog,-x",
	} {
		cfg := loaded(t, "dubbo.properties", "dubbo.references.orders.interface=a.B\ndubbo.references.orders."+line)
		key, value, _ := strings.Cut(want, "=")
		assert.Equal(t, value, referenceURL(t, cfg, "orders").Param(key), line)
	}
}

// Filters of all beans count, as in Dubbo, those of the greater one last.
func TestListsAreJoined(t *testing.T) {
	cfg := loaded(t, "dubbo.properties", `dubbo.consumer.filter=a,b
dubbo.reference.filter=c
dubbo.references.orders.filter=b,d
dubbo.references.orders.interface=a.B`)
	s, ok := cfg.Lookup("orders", "reference.filter")
	require.True(t, ok)
	assert.Equal(t, "a,b,c,d", s.Value)
	assert.Equal(t, 4-1, s.Origin.Line)
	assert.Len(t, s.Overridden, 2)
}

// A reference may be declared by its interface alone; that is its id then.
func TestInterfaceIsID(t *testing.T) {
	cfg := loaded(t, "application.yml", `
dubbo:
  reference:
    com.example.OrderService:
      timeout: 300
      find: {retries: 1}
    "[lower.service]": {timeout: 400}
    com.example.UserService:
      main: {version: 1.0.0, timeout: 500}
      backup: {version: 2.0.0}
      timeout: 100
`)
	assert.Equal(t, []string{"backup", "com.example.OrderService", "lower.service", "main"}, cfg.References())
	assert.Equal(t, "300 application.yml:5", value(t, cfg, "com.example.OrderService", "timeout"))
	assert.Equal(t, "1 application.yml:6", value(t, cfg, "com.example.OrderService", "find.retries"))
	assert.Equal(t, "400 application.yml:7", value(t, cfg, "lower.service", "timeout"))
	assert.Equal(t, "500 application.yml:9", value(t, cfg, "main", "timeout"))
	assert.Equal(t, "100 application.yml:11", value(t, cfg, "backup", "timeout"))
	assert.Equal(t, "com.example.UserService:2.0.0", referenceURL(t, cfg, "backup").ServiceKey())
}

// Ids that together with the section's name read like another section.
func TestAwkwardIDs(t *testing.T) {
	cfg := loaded(t, "dubbo.properties", `dubbo.reference.s.interface=a.B
dubbo.reference.timeout=5
dubbo.references.timeout.interface=a.C
dubbo.references.timeout.retries=1
dubbo.reference.find.interface=a.D
dubbo.reference.find.timeout=7
dubbo.references[x.y].interface=a.E
dubbo.references.x.y.timeout=8
`)
	assert.Empty(t, cfg.Warnings())
	assert.Equal(t, []string{"find", "s", "timeout", "x.y"}, cfg.References())
	assert.Equal(t, "5 dubbo.properties:2", value(t, cfg, "s", "timeout"))
	assert.Equal(t, "1 dubbo.properties:4", value(t, cfg, "timeout", "retries"))
	assert.Equal(t, "7 dubbo.properties:6", value(t, cfg, "find", "timeout"))
	assert.Equal(t, "8 dubbo.properties:8", value(t, cfg, "x.y", "timeout"))
}

// What belongs to Java is not even resolved.
func TestJavaSectionsAreLeftAlone(t *testing.T) {
	cfg := loaded(t, "dubbo.properties", "dubbo.provider.token=${nowhere}\ndubbo.protocol.port=x\n")
	assert.Len(t, cfg.Warnings(), 2)
}

// Explain has every effective value with its origin, and what it goes before.
func TestExplain(t *testing.T) {
	t.Setenv("DUBBO_REFERENCES_ORDERS_FIND_TIMEOUT", "250")
	cfg := loaded(t, "dubbo.properties", "dubbo.consumer.timeout=1\ndubbo.consumer.token=s3cret", "application.yml", twoReferencesYAML)
	all, err := cfg.Explain("orders")
	require.NoError(t, err)
	var lines []string
	for _, s := range all {
		lines = append(lines, s.String())
	}
	assert.Equal(t, []string{
		"interface=com.example.OrderService (application.yml:11)",
		"check=false (application.yml:8)",
		"find.timeout=250 ($DUBBO_REFERENCES_ORDERS_FIND_TIMEOUT)",
		"loadbalance=leastactive (application.yml:13)",
		"timeout=3s (application.yml:7)",
		"token=*** (dubbo.properties:2)",
		"version=1.0.0 (application.yml:12)",
	}, lines[:7])
	for _, w := range []string{"retries=2 (default)", "cluster=failover (default)", "actives=0 (default)"} {
		assert.Contains(t, lines, w)
	}
	assert.NotContains(t, lines, "timeout=1000 (default)")

	s, ok := cfg.Lookup("orders", "find.timeout")
	require.True(t, ok)
	require.Len(t, s.Overridden, 1)
	assert.Equal(t, "find.timeout=300 (application.yml:15)", s.Overridden[0].String())
	assert.Equal(t, "dubbo.references.orders.find.timeout", s.Overridden[0].Property)
	s, _ = cfg.Lookup("orders", "other.timeout")
	assert.Equal(t, "timeout=3s (application.yml:7)", s.String(), "the service's counts")
	require.Len(t, s.Overridden, 1)
	assert.Equal(t, "timeout=1 (dubbo.properties:1)", s.Overridden[0].String())
	s, _ = cfg.Lookup("orders", "list.retries")
	assert.Equal(t, "retries=2 (default)", s.String())
	_, ok = cfg.Lookup("orders", "nonsense")
	assert.False(t, ok)
	_, ok = cfg.Lookup("nobody", "timeout")
	assert.False(t, ok)

	var settings []string
	for _, s := range cfg.Settings() {
		settings = append(settings, s.String())
	}
	assert.Equal(t, []string{"application=shop-web (application.yml:3)", "address=zookeeper://127.0.0.1:2181 (application.yml:5)"}, settings[:2])
	assert.Contains(t, settings, "session=30000 (default)")
}

func TestUnknownReference(t *testing.T) {
	cfg := loaded(t, "application.yml", twoReferencesYAML)
	_, err := cfg.Explain("ordres")
	assert.EqualError(t, err, `gofer: no reference "ordres" in the configuration, did you mean "orders"? (known: orders, users)`)
	_, err = loaded(t).Explain("orders")
	assert.ErrorContains(t, err, "dubbo.references.orders.interface")
}

// A Config shows no values, however it is printed.
func TestConfigHidesSecrets(t *testing.T) {
	cfg := loaded(t, "application.yml", "dubbo:\n  registry: {address: 'zookeeper://admin:s3cret@h:1', password: s3cret}\n  consumer: {token: s3cret}\n  references: {orders: {interface: a.B}}\n")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		text := fmt.Sprintf(verb, cfg)
		assert.NotContains(t, text, "s3cret", verb)
		assert.Contains(t, text, "application.yml", verb)
	}
	all, err := cfg.Explain("orders")
	require.NoError(t, err)
	for _, s := range slices.Concat(all, cfg.Settings()) {
		assert.NotContains(t, fmt.Sprintf("%+v", s), "s3cret")
	}
}

// Two documents, of which one is for a Spring profile.
func TestSpringProfiles(t *testing.T) {
	cfg := loaded(t, "application.yml", "dubbo.application.name: a\n---\nspring: {config: {activate: {on-profile: prod}}}\ndubbo.application.name: b\n---\ndubbo.consumer.timeout: 3\n",
		"application.properties", "dubbo.consumer.retries=1\n#---\nspring.config.activate.on-profile=prod\ndubbo.consumer.retries=2\n")
	assert.Equal(t, []string{
		`application.yml:3: spring.config.activate.on-profile: left out: a document for profile "prod"; load it as a file of its own`,
		`application.properties:3: spring.config.activate.on-profile: left out: a document for profile "prod"; load it as a file of its own`,
	}, texts(cfg.Warnings()))
	assert.Equal(t, "a", cfg.Settings()[0].Value)
	assert.Equal(t, "1", first(cfg.bound.values[owner{scope: scopeConsumer}], "retries"))
}

// Spring's name of the application counts when Dubbo's is not set.
func TestSpringApplicationName(t *testing.T) {
	t.Setenv("SUFFIX", "web")
	const spring = "spring:\n  application:\n    name: shop-${SUFFIX}\n"
	assert.Equal(t, "application=shop-web (application.yml:3)", loaded(t, "application.yml", spring).Settings()[0].String())
	assert.Equal(t, "application=x (application.yml:4)", loaded(t, "application.yml", spring+"dubbo.application.name: x\n").Settings()[0].String())
}

// Reading and binding a file of 100 references, once at the start.
func BenchmarkConfig(b *testing.B) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "dubbo.references.r%d.interface=com.example.Service%d\ndubbo.references.r%d.timeout=800\ndubbo.references.r%d.find.retries=0\n", i, i, i, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		properties, found := parseConfigFile("dubbo.properties", text.String())
		cfg := (&Config{properties: properties, reading: found}).bind(true)
		if len(cfg.References()) != 100 {
			b.Fatal(cfg.bound.err())
		}
	}
}
