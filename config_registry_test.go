package gofer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every way to write the registry gives its one address.
func TestRegistryAddress(t *testing.T) {
	cases := []struct{ name, lines, want string }{
		{"plain", "dubbo.registry.address=zookeeper://h:2181", "zookeeper://h:2181"},
		{"ensemble", "dubbo.registry.address=zookeeper://a:1,b:2,c:3", "zookeeper://a:1,b:2,c:3"},
		{"backup", "dubbo.registry.address=zookeeper://a:1?backup=b:2,c:3", "zookeeper://a:1?backup=b:2,c:3"},
		{"protocol beside it", "dubbo.registry.address=a:1,b:2\ndubbo.registry.protocol=zookeeper", "zookeeper://a:1,b:2"},
		{"port beside it", "dubbo.registry.address=zookeeper://h\ndubbo.registry.port=2182", "zookeeper://h:2182"},
		{"attributes", "dubbo.registry.address=zookeeper://h:1\ndubbo.registry.group=g\ndubbo.registry.timeout=3s\ndubbo.registry.session=20000\ndubbo.registry.register=false",
			"zookeeper://h:1?group=g&register=false&session=20000&timeout=3s"},
		{"parameters", "dubbo.registry.address=zookeeper://h:1\ndubbo.registry.parameters.session=20000\ndubbo.registry.parameters[0].own.key=1", "zookeeper://h:1?own.key=1&session=20000"},
		{"parameters in one", "dubbo.registry.address=zookeeper://h:1\ndubbo.registry.parameters=[{session:20000},{group:g}]", "zookeeper://h:1?group=g&session=20000"},
		{"the address goes before the attributes", "dubbo.registry.address=zookeeper://u:p@h:1?group=a\ndubbo.registry.group=b\ndubbo.registry.username=x\ndubbo.registry.port=2", "zookeeper://u:p@h:1?group=a"},
		{"user", "dubbo.registry.address=zookeeper://h:1\ndubbo.registry.username=admin\ndubbo.registry.password=p@:/?#% é", "zookeeper://admin:p%40%3A%2F%3F%23%25%20%C3%A9@h:1"},
		{"with an id", "dubbo.registries.main.address=zookeeper://h:1\ndubbo.registries.main.group=g", "zookeeper://h:1?group=g"},
		{"common attributes of one with an id", "dubbo.registries.main.address=zookeeper://h:1\ndubbo.registries.main.group=g\ndubbo.registry.group=x\ndubbo.registry.session=20000", "zookeeper://h:1?group=g&session=20000"},
		{"of the application", "dubbo.registry.address=zookeeper://h:1\ndubbo.application.enable-empty-protection=false", "zookeeper://h:1?enable-empty-protection=false"},
		{"of the application, for one with an id", "dubbo.registries.main.address=zookeeper://h:1\ndubbo.application.enableEmptyProtection=false", "zookeeper://h:1?enable-empty-protection=false"},
		{"the registry's own goes before the application's", "dubbo.registry.address=zookeeper://h:1\ndubbo.registry.enable-empty-protection=true\ndubbo.application.enable-empty-protection=false", "zookeeper://h:1?enable-empty-protection=true"},
		{"so does the address's", "dubbo.registry.address=zookeeper://h:1?enable-empty-protection=true\ndubbo.application.enable-empty-protection=false", "zookeeper://h:1?enable-empty-protection=true"},
		{"none", "dubbo.registry.address=N/A", ""},
		{"none either", "dubbo.registry.group=g", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o, err := newOptions([]Option{WithConfig(loaded(t, "dubbo.properties", c.lines)), WithApplication("shop")})
			require.NoError(t, err)
			assert.Equal(t, c.want, o.registry)
		})
	}
}

// What the application says for registries goes to no reference, where it would count
// more than what the registry says, and is checked.
func TestApplicationParametersOfRegistries(t *testing.T) {
	cfg := loaded(t, "dubbo.properties", "dubbo.registry.address=zookeeper://h:1\ndubbo.application.enable-empty-protection=false\ndubbo.references.demo.interface=com.example.Demo")
	assert.Empty(t, cfg.Warnings())
	assert.Empty(t, referenceURL(t, cfg, "demo").Param("enable-empty-protection"))
	_, err := loadAll(t, "dubbo.properties", "dubbo.application.enable-empty-protection=no")
	assert.ErrorContains(t, err, "dubbo.properties:1: dubbo.application.enable-empty-protection: enable-empty-protection=no: ")
	u := referenceURL(t, loaded(t, "dubbo.properties", "dubbo.references.demo.interface=com.example.Demo\ndubbo.references.demo.enable-empty-protection=false"), "demo")
	assert.Equal(t, "false", u.Param("enable-empty-protection"), "a reference's own stays")
}

// The password reaches ZooKeeper as it was written.
func TestRegistryCredentials(t *testing.T) {
	cfg := loaded(t, "dubbo.properties", "dubbo.registry.address=zookeeper://h:1\ndubbo.registry.username=admin\ndubbo.registry.password=p@:/?#%2B+ é")
	user, password, err := cfg.bound.registry.url.Credentials()
	require.NoError(t, err)
	assert.Equal(t, "admin", user)
	assert.Equal(t, "p@:/?#%2B+ é", password)
}

// The registry of the greatest source counts; several in it are an error.
func TestSeveralRegistries(t *testing.T) {
	const two = "dubbo.registries.a.address=zookeeper://a:1\ndubbo.registries.b.address=zookeeper://b:1\n"
	_, err := loadAll(t, "application.properties", two)
	assert.ErrorContains(t, err, "application.properties:1: dubbo.registries.a.address: several registries: dubbo.registries.a.address (application.properties:1), dubbo.registries.b.address (application.properties:2); one client uses one registry")
	_, err = loadAll(t, "application.properties", "dubbo.registry.address=zookeeper://c:1\n"+two)
	assert.ErrorContains(t, err, "dubbo.registry.address (application.properties:1)")
	for _, separator := range []string{";", "|", " | "} {
		_, err = loadAll(t, "application.properties", "dubbo.registry.address=zookeeper://a:1"+separator+"zookeeper://b:1\n")
		assert.ErrorContains(t, err, "application.properties:1: dubbo.registry.address: several registries, separated by ; or |")
	}

	cfg := loaded(t, "dubbo.properties", two) // an option may still choose one
	_, err = New(WithConfig(cfg), WithApplication("shop"))
	assert.ErrorContains(t, err, "several registries")
	o, err := newOptions([]Option{WithConfig(cfg), WithApplication("shop"), WithRegistry("zookeeper://c:1")})
	require.NoError(t, err)
	assert.Equal(t, "zookeeper://c:1", o.registry)
	o, err = newOptions([]Option{WithConfig(loaded(t, "application.properties", "dubbo.registries.a.address=zookeeper://a:1")), WithApplication("shop"), WithRegistry("zookeeper://c:1")})
	require.NoError(t, err)
	assert.Equal(t, "zookeeper://a:1", o.registry, "application files go before code")
}

func TestRegistryProblems(t *testing.T) {
	cases := map[string]string{
		"dubbo.registry.address=127.0.0.1:2181":                              "has no protocol: write zookeeper://host:2181",
		"dubbo.registry.address=nacos://h:1":                                 `protocol "nacos"`,
		"dubbo.registry.address=zookeeper://h:1?session=abc":                 "session=abc: neither",
		"dubbo.registry.address=zookeeper://u:s3cret@h:1x":                   "port",
		"dubbo.registry.session=abc":                                         "session=abc: neither",
		"dubbo.registry.port=70000\ndubbo.registry.address=zookeeper://host": "port=70000: no number from 1 to 65535",
	}
	for lines, want := range cases {
		_, err := loadAll(t, "dubbo.properties", lines)
		require.Error(t, err, lines)
		assert.ErrorContains(t, err, "dubbo.properties:1: dubbo.registry.")
		assert.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "s3cret")
	}
}

// A reference may name the registry, or none when it has addresses.
func TestRegistryOfReference(t *testing.T) {
	const head = "dubbo.application.name=shop\ndubbo.registries.main.address=zookeeper://h:1\ndubbo.references.orders.interface=a.B\n"
	for lines, want := range map[string]string{
		"dubbo.references.orders.registry=main":                                             "",
		"dubbo.consumer.registry=main":                                                      "",
		"dubbo.references.orders.registry=N/A\ndubbo.references.orders.url=dubbo://h:20880": "",
		"dubbo.references.orders.registry=N/A":                                              "dubbo.properties:4: dubbo.references.orders.registry: N/A is no registry",
		"dubbo.references.orders.registry=other":                                            `there is no registry "other"`,
		"dubbo.references.orders.registry=main,other":                                       `there is no registry "main,other"`,
	} {
		_, err := newOptions([]Option{WithConfig(loaded(t, "dubbo.properties", head+lines))})
		if want == "" {
			assert.NoError(t, err, lines)
		} else {
			assert.ErrorContains(t, err, want)
		}
	}
	_, err := newOptions([]Option{WithConfig(loaded(t, "dubbo.properties", "dubbo.application.name=shop\ndubbo.registry.id=zk\ndubbo.registry.address=zookeeper://h:1\ndubbo.references.orders.interface=a.B\ndubbo.references.orders.registry=zk"))})
	assert.NoError(t, err)
}
