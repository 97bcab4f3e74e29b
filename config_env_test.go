package gofer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const envReference = `
dubbo:
  references:
    orders: {interface: com.example.OrderService, findById: {retries: 1}}
    order-query: {interface: com.example.QueryService}
  registries:
    my-zk: {address: "zookeeper://h:1"}
`

// A variable finds the property that it means, though capitals have lost its case
// and its separators.
func TestEnvironmentNames(t *testing.T) {
	cases := []struct{ variable, id, key string }{
		{"DUBBO_CONSUMER_CONNECT_TIMEOUT", "orders", "connect.timeout"},
		{"DUBBO_CONSUMER_CONNECTTIMEOUT", "orders", "connect.timeout"},
		{"DUBBO_CONSUMER_CONNECT-TIMEOUT", "orders", "connect.timeout"},
		{"dubbo_consumer_connect_timeout", "orders", "connect.timeout"},
		{"dubbo.consumer.connect-timeout", "orders", "connect.timeout"},
		{"DUBBO_REFERENCE_CONNECT_TIMEOUT", "orders", "connect.timeout"},
		{"DUBBO_REFERENCES_ORDERS_CONNECT_TIMEOUT", "orders", "connect.timeout"},
		{"DUBBO_REFERENCES_ORDER_QUERY_CONNECT_TIMEOUT", "order-query", "connect.timeout"},
		{"DUBBO_REFERENCE_ORDERQUERY_CONNECTTIMEOUT", "order-query", "connect.timeout"},
		{"DUBBO_REFERENCE_COM_EXAMPLE_ORDERSERVICE_CONNECT_TIMEOUT", "orders", "connect.timeout"},
		{"DUBBO_REFERENCE_COM_EXAMPLE_ORDERSERVICE_ORDERS_CONNECT_TIMEOUT", "orders", "connect.timeout"},
		{"DUBBO_REFERENCES_ORDERS_PARAMETERS_HEARTBEAT_TIMEOUT", "orders", "heartbeat.timeout"},
		{"DUBBO_REFERENCES_ORDERS_FINDBYID_TIMEOUT", "orders", "findById.timeout"},
		{"DUBBO_REFERENCES_ORDERS_METHODS_FINDBYID_TIMEOUT", "orders", "findById.timeout"},
		{"DUBBO_REFERENCES_orders_getAll_TIMEOUT", "orders", "getAll.timeout"},
		{"DUBBO_REFERENCES_ORDERS_LIST_TIMEOUT", "orders", "list.timeout"},
		{"DUBBO_REFERENCE_COM_EXAMPLE_ORDERSERVICE_FINDBYID_TIMEOUT", "orders", "findById.timeout"},
	}
	for _, c := range cases {
		t.Run(c.variable, func(t *testing.T) {
			t.Setenv(c.variable, "500000")
			cfg := loaded(t, "application.yml", envReference)
			assert.Empty(t, cfg.Warnings())
			assert.Equal(t, []string{"order-query", "orders"}, cfg.References())
			assert.Equal(t, "500000 $"+c.variable, value(t, cfg, c.id, c.key))
		})
	}
}

// Of two variables for one property the one counts that Dubbo 3.3.6 looks up
// first; an empty one counts, too, and then the files' value does.
func TestEnvironmentOrder(t *testing.T) {
	names := []string{ // the one that counts first
		"dubbo.consumer.connect-timeout", "DUBBO_CONSUMER_CONNECT_TIMEOUT", "DUBBO_CONSUMER_CONNECTTIMEOUT",
		"DUBBO_CONSUMER_CONNECT-TIMEOUT", "dubbo_consumer_connect_timeout",
	}
	for i, first := range names {
		for _, second := range names[i+1:] {
			t.Run(first+","+second, func(t *testing.T) {
				t.Setenv(second, "222")
				t.Setenv(first, "111")
				assert.Equal(t, "111 $"+first, value(t, loaded(t, "application.yml", envReference), "orders", "connect.timeout"))
				t.Setenv(first, "")
				assert.Equal(t, "3000 default", value(t, loaded(t, "application.yml", envReference), "orders", "connect.timeout"))
			})
		}
	}
}

func TestEnvironmentRegistry(t *testing.T) {
	t.Setenv("DUBBO_REGISTRIES_MY_ZK_GROUP", "test")
	t.Setenv("DUBBO_REGISTRY_SESSION", "20000")
	cfg := loaded(t, "application.yml", envReference)
	require.NotNil(t, cfg.bound.registry)
	assert.Equal(t, "zookeeper://h:1?group=test&session=20000", cfg.bound.registry.url.Full())
	t.Setenv("DUBBO_REGISTRY_ADDRESS", "zookeeper://other:2")
	assert.Equal(t, "zookeeper://other:2?session=20000", loaded(t, "application.yml", envReference).bound.registry.url.Full())
}

// A bad value is an error that names the variable; a variable that is only near to
// something known is a warning, and those of others are nobody's business.
func TestEnvironmentProblems(t *testing.T) {
	t.Setenv("DUBBO_CONSUMER_TIMEOUT", "abc")
	_, err := loadAll(t)
	require.Error(t, err)
	assert.ErrorContains(t, err, "$DUBBO_CONSUMER_TIMEOUT: dubbo.consumer.timeout: timeout=abc")

	t.Setenv("DUBBO_CONSUMER_TIMEOUT", "")
	for _, foreign := range []string{"DUBBO_IP_TO_REGISTRY", "DUBBO_PORT_20880_TCP", "DUBBO_LABELS", "DUBBO_SERVICE_HOST", "DUBBO_HOME", "DUBBO_", "DUBBOX_A", "DUBBO"} {
		t.Setenv(foreign, "x")
	}
	t.Setenv("DUBBO_REGISTY_ADDRESS", "x")
	t.Setenv("DUBBO_REFERENCES_NOBODY_TIMEOUT", "3")
	cfg := loaded(t)
	assert.Equal(t, []string{`$DUBBO_REGISTY_ADDRESS: dubbo.registy.address: unknown, did you mean section "registry"?`}, texts(cfg.Warnings()))
	o, err := newOptions([]Option{WithConfig(cfg), WithApplication("shop")})
	require.NoError(t, err)
	assert.Contains(t, texts(o.merged.Warnings()), `$DUBBO_REFERENCES_NOBODY_TIMEOUT: dubbo.references.nobody.timeout: no reference has the id "nobody": there is none`)
}

// A key that is nearly known is a warning in a variable: others set those.
func TestEnvironmentTypos(t *testing.T) {
	for variable, want := range map[string]string{
		"DUBBO_CONSUMER_RETRYS":             `dubbo.consumer.retrys: unknown, did you mean "retries"?`,
		"DUBBO_REFERENCES_ORDRS_TIMEOUT":    `dubbo.references.ordrs.timeout: no reference has the id "ordrs", did you mean "orders"?`,
		"DUBBO_REFERENCE_ORDRS_TIMEOUT":     `dubbo.reference.ordrs.timeout: no reference has the id "ordrs", did you mean "orders"?`,
		"DUBBO_REFERENCES_ODER_QUERY_GROUP": `dubbo.references.oder.query.group: no reference has the id "oder-query", did you mean "order-query"?`,
		"dubbo.references.ordrs.timeout":    `dubbo.references.ordrs.timeout: no reference has the id "ordrs", did you mean "orders"?`,
		"DUBBO_REFERENCES_ORDERS_TIMEOT":    `dubbo.references.orders.timeot: unknown, did you mean "timeout"?`,
		"DUBBO_CONSUMER":                    "dubbo.consumer: a value where attributes are expected, such as timeout",
		"DUBBO_REFERENCES_TIMEOUT":          "dubbo.references.timeout: names no reference: dubbo.references.<id>.interface",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, "7")
			cfg := loaded(t, "application.yml", envReference)
			assert.Equal(t, []string{"$" + variable + ": " + want}, texts(cfg.Warnings()))
			assert.Equal(t, []string{"order-query", "orders"}, cfg.References())
		})
	}
}

// What a cluster tells every process about services whose names begin with dubbo is
// no configuration.
func TestEnvironmentOfAService(t *testing.T) {
	for _, service := range []string{"DUBBO_CONSUMER", "DUBBO_REGISTRY", "DUBBO_REFERENCES_ORDERS", "DUBBO_APPLICATION", "DUBBO"} {
		t.Run(service, func(t *testing.T) {
			for suffix, value := range map[string]string{
				"PORT": "tcp://10.0.0.1:20880", "SERVICE_HOST": "10.0.0.1", "SERVICE_PORT": "20880", "SERVICE_PORT_DUBBO": "20880",
				"PORT_20880_TCP": "tcp://10.0.0.1:20880", "PORT_20880_TCP_PROTO": "tcp", "PORT_20880_TCP_PORT": "20880", "PORT_20880_TCP_ADDR": "10.0.0.1",
			} {
				t.Setenv(service+"_"+suffix, value)
			}
			cfg := loaded(t, "application.yml", envReference)
			assert.Empty(t, texts(cfg.Warnings()))
			require.NotNil(t, cfg.bound.registry)
			assert.Equal(t, "zookeeper://h:1", cfg.bound.registry.url.Full())
		})
	}
	t.Setenv("DUBBO_REGISTRY_PORT", "2182") // a number is meant
	assert.Equal(t, "zookeeper://h:2182", loaded(t, "application.yml", `{dubbo: {registry: {address: h, protocol: zookeeper}}}`).bound.registry.url.Full())
}

// Whatever the environment holds, it is bound or reported with its variable.
func FuzzEnvironment(f *testing.F) {
	f.Add("DUBBO_REFERENCES_ORDERS_FIND_BY_ID_TIMEOUT", "300")
	f.Add("DUBBO_REFERENCE_NEW_ONE_INTERFACE", "com.example.NewService")
	f.Add("DUBBO_REGISTRIES_MY_ZK_PARAMETERS_A", "${DUBBO_X:${y}}")
	f.Add("dubbo.reference.com.example.OrderService.orders.x.y", "[{a:b}]")
	properties, _ := parseConfigFile("application.yml", envReference)
	f.Fuzz(func(t *testing.T, name, value string) {
		env := newEnvironment([]string{name + "=" + value})
		cfg := (&Config{files: []string{"application.yml"}, env: env, properties: append(properties[:len(properties):len(properties)], env.properties()...)}).bind(true)
		for _, line := range append(texts(cfg.bound.problems), texts(cfg.Warnings())...) {
			name, _, _ := strings.Cut(name, "=")
			assert.True(t, strings.HasPrefix(line, "$"+name+": "), line)
		}
		for _, id := range cfg.References() {
			_, err := cfg.Explain(id)
			require.NoError(t, err)
		}
	})
}
