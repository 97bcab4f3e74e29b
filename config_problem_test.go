package gofer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// B170: one error lists every bad value with its place, also those that a stronger
// source hides; nothing of it is left for the first call.
func TestB170BadValuesThroughConfig(t *testing.T) {
	cfg, err := loadAll(t, "application.yml", `dubbo:
  consumer:
    timeout: abc
    retries: x
    actives: 1.5
    connections: 0x10
    check: yes
    serialization: kryo
  references:
    orders:
      interface: com.example.OrderService
      timeout: -5
      version: 1 0
      find: {timeout: 1us}
      heartbeat: 1000
      heartbeat.timeout: 1500
      injvm: true
`, "dubbo.properties", "dubbo.reference.orders.timeout=600h\n")
	require.Error(t, err)
	assert.Nil(t, cfg)
	var list *ConfigError
	require.ErrorAs(t, err, &list)
	assert.Equal(t, []string{
		"application.yml:3: dubbo.consumer.timeout: timeout=abc: neither whole milliseconds nor a duration such as 3s or 500ms",
		"application.yml:4: dubbo.consumer.retries: retries=x: not a whole number in decimal digits",
		"application.yml:5: dubbo.consumer.actives: actives=1.5: not a whole number in decimal digits",
		"application.yml:6: dubbo.consumer.connections: connections=0x10: not a whole number in decimal digits",
		"application.yml:7: dubbo.consumer.check: check=yes: neither true nor false",
		"application.yml:8: dubbo.consumer.serialization: serialization=kryo: not one of: hessian2",
		"application.yml:12: dubbo.references.orders.timeout: timeout=-5: less than 0",
		`application.yml:13: dubbo.references.orders.version: version=1 0: the character ' ' is not allowed`,
		"application.yml:14: dubbo.references.orders.find.timeout: find.timeout=1us: shorter than a millisecond",
		"application.yml:16: dubbo.references.orders.heartbeat.timeout: heartbeat.timeout=1500: less than twice the heartbeat, 1s",
		"application.yml:17: dubbo.references.orders.injvm: injvm=true: not one of: false",
		"dubbo.properties:1: dubbo.reference.orders.timeout: timeout=600h: longer than 24 days",
	}, texts(list.Problems))
	for _, p := range list.Problems {
		assert.Contains(t, err.Error(), p.String())
	}
}

// Whether heartbeat and its timeout agree is seen only when both are known.
func TestHeartbeatThroughConfig(t *testing.T) {
	cfg := loaded(t, "dubbo.properties", "dubbo.consumer.heartbeat.timeout=3000\ndubbo.references.orders.interface=a.B\ndubbo.references.orders.heartbeat=1s\n")
	assert.Empty(t, cfg.Warnings())
	assert.Equal(t, "3000", referenceURL(t, cfg, "orders").Param("heartbeat.timeout"))
}

// Names of extensions are known only to the client; it checks them for every
// reference before the first one is made.
func TestB170UnknownNames(t *testing.T) {
	cfg := loaded(t, "application.yml", `dubbo:
  application: {name: shop}
  consumer: {loadbalance: leastactiv}
  references:
    orders:
      interface: com.example.OrderService
      cluster: nope
      filter: [-activelimit, -default, acceslog]
      find: {loadbalance: roundrobbin}
    users: {interface: com.example.UserService, loadbalance: random}
`)
	_, err := New(WithConfig(cfg))
	require.Error(t, err)
	for _, w := range []string{
		"4 problems",
		`application.yml:3: dubbo.consumer.loadbalance: unknown load balancer "leastactiv", did you mean "leastactive"?`,
		`application.yml:7: dubbo.references.orders.cluster: unknown cluster "nope" (known: `,
		`application.yml:8: dubbo.references.orders.filter: unknown filter "acceslog"`,
		`application.yml:9: dubbo.references.orders.find.loadbalance: unknown load balancer "roundrobbin", did you mean "roundrobin"?`,
	} {
		assert.ErrorContains(t, err, w)
	}
}

// An unknown key that is near to a known one is an error, any other a warning; both
// have their places.
func TestUnknownKeys(t *testing.T) {
	errors := map[string]string{
		"dubbo.consumer.timout=1":                                  `did you mean "timeout"?`,
		"dubbo.consumer.conect-timeout=1":                          `did you mean "connect.timeout"?`,
		"dubbo.references.orders.lodabalance=random":               `did you mean "loadbalance"?`,
		"dubbo.references.orders.find.timout=1":                    `did you mean "find.timeout"?`,
		"dubbo.references.orders.methods.find.retry5":              `did you mean "find.retry"?`,
		"dubbo.reference.timout=1":                                 `did you mean "timeout"?`,
		"dubbo.application.nme=x":                                  `did you mean "name"?`,
		"dubbo.registry.adress=x":                                  `did you mean "address"?`,
		"dubbo.registries.a.passwrd=x":                             `did you mean "password"?`,
		"dubbo.aplication.name=x":                                  `did you mean section "application"?`,
		"dubbo.references.timeout=1":                               "names no reference",
		"dubbo.reference.interface=a.B":                            "names no reference",
		"dubbo.registries.address=zookeeper://h:1":                 "names no registry",
		"dubbo.consumers.a.timeout=1":                              "one set of defaults",
		"dubbo=x":                                                  "a value where sections are expected",
		"dubbo.consumer=x":                                         "a value where attributes are expected",
		"dubbo.references.orders.parameters=a:b":                   "[{key:value},{key:value}]",
		"dubbo.references.orders.parameters.a&b=c":                 "no name of a parameter",
		"dubbo.references.orders.group=a;b":                        "may not hold & or ;",
		"dubbo.references.orders.methods[0].retries":               "the method has no name",
		"dubbo.references.orders.url=http://h:1":                   "only dubbo://",
		"dubbo.references.orders.url=dubbo://h":                    "no usable port",
		"dubbo.references.x.interface=no interface":                `"no interface" is not a Java interface name`,
		"dubbo.consumer" + strings.Repeat(".a", 40):                "more than 32 names",
		"dubbo.reference.c.D.orders.version=2":                     `"orders" is the id of a reference to a.B already`,
		"dubbo.application.name=shop web":                          `application name "shop web"`,
		"dubbo.references.orders.timeout.find=300":                 "timeout is one value, not several: for the method find write find.timeout",
		"dubbo.references.orders.retries.a=b":                      "retries is one value, not several: for the method a write a.retries",
		"dubbo.references.orders.find.timeout.x=1":                 "timeout is one value, not several: write timeout: …",
		"dubbo.consumer.timeout.find=300":                          "timeout is one value, not several",
		"dubbo.references.orders.find(long).timeout=1":             "methods are named without types, which all of that name share: write find.timeout",
		"dubbo.references.orders.find(java.lang.String).timeout=1": "methods are named without types, which all of that name share: write find.timeout",
		"dubbo.references[0].interface=a.C":                        "references are no list, each has an id",
		"dubbo.registries[0].address=zookeeper://h:1":              "registries are no list, each has an id",
		"dubbo.references.orders.timeout=1,2":                      "neither whole milliseconds",
	}
	for line, want := range errors {
		t.Run(line, func(t *testing.T) {
			_, err := loadAll(t, "application.properties", "dubbo.references.orders.interface=a.B\n"+line)
			require.Error(t, err)
			assert.ErrorContains(t, err, "application.properties:2: dubbo")
			assert.ErrorContains(t, err, want)
		})
	}
	warnings := map[string]string{
		"dubbo.consumer.foobarbazqux=1":              "unknown, not used; a parameter of your own goes under consumer.parameters",
		"dubbo.foobarbazqux.a=1":                     "unknown section, not used",
		"dubbo.consumer.parameters.timout=1":         `unknown, did you mean "timeout"?`,
		"dubbo.consumer.threads=1":                   "accepted, but it does nothing here",
		"dubbo.consumer.mesh-enable=true":            "accepted, but it does nothing here",
		"dubbo.application.qos-port=22222":           "accepted, but it does nothing here",
		"dubbo.provider.timeout=1":                   "accepted, but it does nothing here: section provider",
		"dubbo.protocols.tri.port=1":                 "section protocols",
		"dubbo.config-center.address=x":              "section config-center",
		"dubbo.registry.simplified=true":             "accepted, but it does nothing here",
		"dubbo.references.orders.find.connections=1": "it holds for the whole service, not for one method",
		"dubbo.references.orders.find.0.callback=1":  "arguments that call back",
		"duboo.consumer.timeout=1":                   "did you mean dubbo.consumer.timeout?",
	}
	for line, want := range warnings {
		t.Run(line, func(t *testing.T) {
			cfg := loaded(t, "application.properties", "dubbo.references.orders.interface=a.B\n"+line)
			require.Len(t, cfg.Warnings(), 1)
			w := cfg.Warnings()[0].String()
			assert.Contains(t, w, "application.properties:2: dub")
			assert.Contains(t, w, want)
		})
	}
}

// A key set twice in one file: YAML refuses it, properties take the later one, as
// in Java, and so do two spellings; both say so.
func TestRepeatedKeys(t *testing.T) {
	cfg := loaded(t, "dubbo.properties", "dubbo.consumer.connect-timeout=1\ndubbo.consumer.connect-timeout=2\ndubbo.consumer.connectTimeout=3\ndubbo.consumer.connect.timeout=3\ndubbo.references.orders.interface=a.B\n")
	assert.Equal(t, "3 dubbo.properties:4", value(t, cfg, "orders", "connect.timeout"))
	assert.Equal(t, []string{
		"dubbo.properties:2: dubbo.consumer.connect-timeout: set before as dubbo.consumer.connect-timeout in line 1; this one counts",
		"dubbo.properties:3: dubbo.consumer.connectTimeout: set before as dubbo.consumer.connect-timeout in line 2; this one counts",
	}, texts(cfg.Warnings()))
}

// No error shows a secret, not even one under a name that is a typo.
func TestProblemsHideSecrets(t *testing.T) {
	_, err := loadAll(t, "application.yml", `dubbo:
  registry:
    address: "zookeeper://admin:s3cret@h:x"
    pasword: s3cret
    password: s3cret
    port: s3cret
  consumer:
    tokn: s3cret
    parameters: "[s3cret"
    url: s3cret
  references:
    orders:
      interface: com.example.OrderService
      token: "s3cret&"
      url: "dubbo://a:s3cret@h"
      parameters: [{password:s3cret}, {password:s3cret}]
`)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "s3cret")
	assert.ErrorContains(t, err, "application.yml:4: dubbo.registry.pasword")
	assert.ErrorContains(t, err, "application.yml:8: dubbo.consumer.tokn")
}

func TestConfigErrorText(t *testing.T) {
	one := ConfigProblem{Origin{Source: SourceApplication, File: "a.yml", Line: 3}, "dubbo.x", "bad"}
	two := ConfigProblem{Origin{Source: SourceEnvironment, Variable: "DUBBO_X"}, "dubbo.x", "bad"}
	three := ConfigProblem{Origin{Source: SourceCode}, "dubbo.\n.x", "bad"}
	assert.EqualError(t, &ConfigError{[]ConfigProblem{one}}, "a.yml:3: dubbo.x: bad")
	assert.EqualError(t, &ConfigError{[]ConfigProblem{one, two, three}}, "3 problems:\n  a.yml:3: dubbo.x: bad\n  $DUBBO_X: dubbo.x: bad\n  code: \"dubbo.\\n.x\": bad")
	assert.Equal(t, "default", Origin{}.String())
}
