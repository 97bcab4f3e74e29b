//go:build integration

package integration

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

const (
	place     = "place(java.lang.Object)"
	placeBoth = "placeBoth(java.lang.Object,java.lang.Object)"
)

// placementKeys are lines for the Java consumer, with the same keys for Go.
func placementKeys(t *testing.T) (lines []string, keys [][]any) {
	add := func(line string, key ...any) {
		lines, keys = append(lines, line), append(keys, key)
	}
	for i := range 60 {
		text := fmt.Sprintf("user-%d äöü 中 😀", i)
		add("string:"+text, text)
		n := int64(i*i*i*7919) - 1_000_000
		add("long:"+strconv.FormatInt(n, 10), n)
		add("int:"+strconv.Itoa(i*31), int32(i*31))
		list := []any{text, nil, strconv.Itoa(i)}
		add("list:"+text+",null,"+strconv.Itoa(i), list)
		add("string:"+text+"\tlong:"+strconv.FormatInt(n, 10), text, n)
	}
	for _, text := range []string{
		"0", "-0.0", "1", "0.1", "100", "0.001", "9.9E-4", "1e7", "9999999", "12345678.9", "-2.5", "3.141592653589793",
		"1.2345678901234568E17", "1e100", "1.7976931348623157E308", "NaN", "Infinity", "-Infinity", "0.3333333333333333",
	} {
		d, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		add("double:"+text, d)
		if text == "1.2345678901234568E17" { // as a float it has a digit too many before JDK 19
			continue
		}
		f, _ := strconv.ParseFloat(text, 32) // out of range is infinite, as in Java
		add("float:"+text, float32(f))
	}
	add("null:", nil)
	add("null:\tnull:", nil, nil)
	add("bool:true", true)
	add("bool:false", false)
	add("byte:-128", int8(-128))
	add("short:300", int16(300))
	add("char:中", hessian.Rune('中'))
	add("string:", "")
	return lines, keys
}

// registerLocally registers a provider under the name "localhost.": in place of a
// loopback address Java would take another one of this machine.
func registerLocally(t *testing.T, conn *zk.Conn, p *dubbotest.Provider) {
	path := "/dubbo"
	for _, part := range []string{"", "/" + harness.Placement, "/providers"} {
		path += part
		if _, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); !errors.Is(err, zk.ErrNodeExists) {
			require.NoError(t, err)
		}
	}
	provider := strings.Replace(p.URL("methods=place,placeBoth", "dubbo=2.0.2", "interface="+harness.Placement), "127.0.0.1", "localhost.", 1)
	_, err := conn.Create(path+"/"+url.QueryEscape(provider), nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
}

// TestJavaConsumersPlaceKeysAlike: consumers of Dubbo whose ring has no bounds send
// every key to the provider that gofer sends it to, typed and, where Dubbo hashes the
// real arguments of generic calls, generic.
func TestJavaConsumersPlaceKeysAlike(t *testing.T) {
	conn := connect(t, env.ZooKeeper.Addr())
	owners := map[string]int{}
	for range 3 {
		p := dubbotest.Start(t, harness.Placement+"?methods=place,placeBoth", dubbotest.WithProfile(dubbotest.Dubbo33), dubbotest.WithRecords(0))
		require.NoError(t, p.Handle(place, func(any) string { return p.Addr() }))
		require.NoError(t, p.Handle(placeBoth, func(_, _ any) string { return p.Addr() }))
		registerLocally(t, conn, p)
		owners[p.Addr()] = 0
	}
	lines, keys := placementKeys(t)
	params := []string{"loadbalance=consistenthash", "hash.nodes=163", "hash.arguments=0,1"}
	r := refer(t, newClient(t, env.ZooKeeper.Addr()), harness.Placement+"?timeout=20000&"+strings.Join(params, "&"))

	want := make([]harness.Placed, len(keys))
	for i, key := range keys {
		signature := place
		if len(key) == 2 {
			signature = placeBoth
		}
		typed, err := gofer.Call[string](t.Context(), r, signature, key...)
		require.NoError(t, err)
		generic, err := r.Generic(t.Context(), signature, key...)
		require.NoError(t, err)
		want[i] = harness.Placed{Typed: typed, Generic: generic.(string)}
		require.Equal(t, typed, generic, "%s: a generic call goes where the typed one goes", lines[i])
		owners[typed]++
	}
	for owner, n := range owners {
		assert.Greater(t, n, len(keys)/10, "keys of %s", owner)
	}

	for _, v := range env.Versions() {
		if v == "2.7.23" { // it moves a key from its second call on (F7)
			continue
		}
		t.Run(v, func(t *testing.T) {
			alike := 0
			for i, placed := range env.Place(t, v, lines, params...) {
				if v == "2.6.12" { // it hashes the name of a generic call's method
					placed.Generic = want[i].Generic
				}
				if assert.Equal(t, want[i], placed, lines[i]) {
					alike++
				}
			}
			env.Table.Record("consistenthash", v, fmt.Sprintf("%d keys alike", alike))
		})
	}
}
