package loadbalance_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
)

func TestBuiltin(t *testing.T) {
	m := loadbalance.Builtin()
	require.Contains(t, m, loadbalance.Default)
	assert.Subset(t, slices.Sorted(maps.Keys(m)), []string{"leastactive", "random", "roundrobin", "shortestresponse"})
	clear(m)
	assert.NotEmpty(t, loadbalance.Builtin(), "the map is the caller's own")
	for name := range loadbalance.Builtin() {
		lb, err := loadbalance.New(loadbalance.Builtin(), name, loadbalance.Config{})
		require.NoError(t, err)
		assert.NotNil(t, lb)
	}
}

func TestNewUnknown(t *testing.T) {
	known := strings.Join(slices.Sorted(maps.Keys(loadbalance.Builtin())), ", ")
	for name, want := range map[string]string{
		"leastActive": `unknown load balancer "leastActive", did you mean "leastactive"? (known: ` + known + `)`,
		"roundrobbin": `unknown load balancer "roundrobbin", did you mean "roundrobin"? (known: ` + known + `)`,
		"fastest":     `unknown load balancer "fastest" (known: ` + known + `)`,
		"":            `unknown load balancer "" (known: ` + known + `)`,
	} {
		lb, err := loadbalance.New(loadbalance.Builtin(), name, loadbalance.Config{})
		require.EqualError(t, err, want)
		assert.Nil(t, lb)
	}
}

func TestNewFails(t *testing.T) {
	cause := errors.New("no zone given")
	m := map[string]loadbalance.Factory{"zone": func(loadbalance.Config) (loadbalance.LoadBalance, error) { return nil, cause }}
	lb, err := loadbalance.New(m, "zone", loadbalance.Config{})
	require.ErrorIs(t, err, cause)
	require.EqualError(t, err, `load balancer "zone": no zone given`)
	assert.Nil(t, lb)
	_, err = loadbalance.New(map[string]loadbalance.Factory{"zone": nil}, "zone", loadbalance.Config{})
	require.EqualError(t, err, `load balancer "zone": its factory is nil`)
}
