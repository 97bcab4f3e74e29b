package gofer

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/loadbalance"
)

// Everything that is wrong with the options comes in one error.
func TestNewListsWhatIsWrong(t *testing.T) {
	_, err := New(WithRegistry("zookeeper://a:1"), WithRegistry("zookeeper://b:1"), WithLoadBalance("", loadbalance.NewRandom), WithFilter("x", nil))
	require.Error(t, err)
	for _, w := range []string{"WithApplication", "WithRegistry is given twice", "load balancer", "filter"} {
		assert.Contains(t, err.Error(), w)
	}
	_, err = New(WithApplication("shop web"))
	assert.ErrorContains(t, err, `"shop web"`)
}

func TestNewRefusesBadRegistryAddresses(t *testing.T) {
	cases := map[string][]string{
		"127.0.0.1:2181":                      {"no protocol", "zookeeper://"},
		"nacos://127.0.0.1:8848":              {"nacos", "zookeeper"},
		"zookeeper://":                        {"zookeeper://"},
		"zookeeper://h:2181?session=abc":      {"session", "abc"},
		"zookeeper://user:s3cret@h:21x81/foo": {"21x81"},
	}
	for address, want := range cases {
		t.Run(address, func(t *testing.T) {
			_, err := New(WithApplication("shop"), WithRegistry(address))
			require.Error(t, err)
			for _, w := range want {
				assert.ErrorContains(t, err, w)
			}
			assert.NotContains(t, err.Error(), "s3cret")
		})
	}
}

func TestSlogBridge(t *testing.T) {
	var out bytes.Buffer
	cfg, err := newOptions([]Option{WithApplication("shop"), WithSlog(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo}))})
	require.NoError(t, err)
	log := cfg.logger.Named("dubbo").With(zap.String("provider", "10.0.0.7:20880"))
	log.Debug("hidden")
	log.Warn("connection lost", zap.Int("calls", 3), zap.Error(errors.New("reset by peer")))
	text := out.String()
	assert.NotContains(t, text, "hidden")
	for _, w := range []string{"level=WARN", `msg="connection lost"`, "logger=dubbo", "provider=10.0.0.7:20880", "calls=3", `error="reset by peer"`} {
		assert.Contains(t, text, w)
	}
}

func TestSilentByDefault(t *testing.T) {
	cfg, err := newOptions([]Option{WithApplication("shop"), WithLogger(nil), WithSlog(nil)})
	require.NoError(t, err)
	assert.False(t, cfg.logger.Core().Enabled(zap.ErrorLevel))
}

// Credentials may stand in the query as Dubbo's registry attributes do.
func TestRegistryCredentialsAsParameters(t *testing.T) {
	c, err := New(WithApplication("shop"), WithRegistry("zookeeper://127.0.0.1:1?username=ada&password=a+b%2Fc&file-cache=false"))
	require.NoError(t, err)
	defer c.Close()
	user, password, err := c.address.Credentials()
	require.NoError(t, err)
	assert.Equal(t, "ada", user)
	assert.Equal(t, "a+b%2Fc", password, "the plain form is not decoded")
	assert.NotContains(t, c.address.String(), "a+b")
	assert.Empty(t, c.address.Param("password"))
}
