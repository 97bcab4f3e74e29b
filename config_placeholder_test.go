package gofer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPlaceholders(t *testing.T) {
	p := newPlaceholders(environment{"ZK_HOST": "10.0.0.1", "zk.port": "2181", "RAW": "${zk.port}"}, []property{
		{"a", "1", Origin{Source: SourceApplication}}, {"a", "2", Origin{Source: SourceDubboProperties}}, {"b", "${a}${c:x}", Origin{}},
		{"name", "a", Origin{}}, {"loop", "${pool}", Origin{}}, {"pool", "x${loop}", Origin{}}, {"secret", "s3cret", Origin{}},
	})
	for text, want := range map[string]string{
		"plain $ } text": "plain $ } text", "${a}": "1", "x${a}y${a}z": "x1y1z", "${b}": "1x", "${ZK_HOST}": "10.0.0.1", "${zk.host}": "10.0.0.1",
		"${zk-host}:${zk.port}": "10.0.0.1:2181", "${none:5}": "5", "${none:}": "", "${none:a:b}": "a:b", "${none:${a}}": "1", "${${name}}": "1",
		"${none:${nobody:${a}}}-": "1-", "${RAW}": "${zk.port}", "${open": "${open", "${none:{x}}": "{x}", "$${a}": "$1", "${none:${none:1}}": "1",
	} {
		got, err := p.resolve(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"${none}": "placeholder ${none} is not set anywhere", "${}": "placeholder ${} is not set", "${loop}": "placeholder ${loop} needs itself",
		"${none${secret}}": "placeholder ${none${secret}} is not set", "${a}${none}": "${none}",
		strings.Repeat("${x:", 40) + strings.Repeat("}", 40): "nested deeper than 16",
	} {
		_, err := p.resolve(text)
		require.Error(t, err, text)
		assert.ErrorContains(t, err, want, text)
		assert.NotContains(t, err.Error(), "s3cret")
	}
}

// Placeholders of placeholders stop at a bound.
func TestPlaceholderBomb(t *testing.T) {
	var properties []property
	for i := range 15 {
		properties = append(properties, property{key: fmt.Sprintf("a%d", i+1), value: strings.Repeat(fmt.Sprintf("${a%d}", i), 10)})
	}
	_, err := newPlaceholders(nil, append(properties, property{key: "a0"})).resolve("${a15}")
	assert.ErrorContains(t, err, "without end")
}

// Files are resolved, with their places in errors; options are taken as they are.
func TestPlaceholdersInConfig(t *testing.T) {
	t.Setenv("APP_TIMEOUT", "700")
	cfg := loaded(t, "application.yml", "my: {retries: 5}\ndubbo:\n  consumer: {timeout: '${app.timeout:1}', retries: '${my.retries}'}\n  references: {orders: {interface: a.B}}\n")
	assert.Equal(t, "700 application.yml:3", value(t, cfg, "orders", "timeout"))
	assert.Equal(t, "5 application.yml:3", value(t, cfg, "orders", "retries"))
	_, err := loadAll(t, "dubbo.properties", "dubbo.consumer.timeout=${nowhere}\n")
	assert.ErrorContains(t, err, "dubbo.properties:1: dubbo.consumer.timeout: placeholder ${nowhere} is not set anywhere")
	o, err := newOptions([]Option{WithApplication("shop"), WithProperty("dubbo.consumer.group", "*"), WithProperty("dubbo.consumer.mock", "${nowhere}")})
	require.NoError(t, err)
	assert.Equal(t, "${nowhere}", first(o.merged.bound.values[owner{scope: scopeConsumer}], "mock"))
}
