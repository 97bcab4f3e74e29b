package main

import (
	"bytes"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestFlags(t *testing.T) {
	cfg, err := parseFlags(nil, nil)
	require.NoError(t, err)
	assert.Equal(t, config{local: true, duration: 9 * time.Second, callers: 12, seed: 1}, cfg)
	assert.Equal(t, []string{"random", "roundrobin", "leastactive"}, cfg.strategies())
	assert.Less(t, 3*cfg.warmup(), cfg.duration, "each strategy has time before the restart")

	cfg, err = parseFlags([]string{"-registry", "zookeeper://zk:2181", "-service", "a.B?describe.loadbalance=random", "-method", "describe(long,java.util.List)",
		"-arg", "-7", "-arg", `[1,"x",{"y":0.5}]`, "-duration", "1m", "-callers", "1000", "-seed", "0"}, nil)
	require.NoError(t, err)
	assert.Equal(t, config{registry: "zookeeper://zk:2181", service: "a.B?describe.loadbalance=random", method: "describe(long,java.util.List)",
		args: []any{int64(-7), []any{int64(1), "x", map[string]any{"y": 0.5}}}, duration: time.Minute, callers: 1000}, cfg)
	assert.Equal(t, []string{"random"}, cfg.strategies())
}

func TestBadFlags(t *testing.T) {
	real := "-registry zookeeper://zk:2181 -service a.B "
	for args, want := range map[string]string{
		"-duration 5":                          `invalid value "5" for flag -duration: write a time from 1s to 1m`,
		"-duration 999ms":                      `"999ms" for flag -duration: write a time from 1s to 1m`,
		"-duration 61s":                        `"61s" for flag -duration: write a time from 1s to 1m`,
		"-callers 0":                           `"0" for flag -callers: write a whole number from 1 to 1000`,
		"-callers many":                        `"many" for flag -callers: write a whole number from 1 to 1000`,
		"-callers 1001":                        `"1001" for flag -callers: write a whole number from 1 to 1000`,
		"-seed -1":                             `"-1" for flag -seed: write a whole number`,
		"-quick":                               `-quick (-help lists the flags)`,
		"now":                                  `"now" belongs to no flag: write arguments of the method as -arg now`,
		"-service a.B?token=secret":            `-service "a.B" needs a registry to look in: add -registry zookeeper://`,
		"-method find(long)":                   `-method "find(long)" needs a registry`,
		"-arg 42":                              `-arg "42" needs a registry`,
		"-registry zookeeper://u:secret@zk:21": `-registry "zookeeper://zk:21" without -service: say what to call`,
		"-registry zookeeper://zk:x":           `-registry: url "zookeeper://zk:x"`,
		real:                                   `-method "": write name and parameter types`,
		real + "-method find":                  `-method "find": write name and parameter types`,
		real + "-method find(long":             `-method "find(long"`,
		real + "-method find(long)":            `has 1 parameters, and -arg was given 0 times`,
		real + "-method find() -arg x":         `has 0 parameters, and -arg was given 1 times (["x"])`,
		real + "-method find(long) -arg x":     `-arg "x" for parameter 1 of find(long): a Java long wants a whole number`,
	} {
		t.Run(args, func(t *testing.T) {
			var out, errs bytes.Buffer
			assert.Equal(t, 2, run(t.Context(), strings.Fields(args), &out, &errs))
			assert.Contains(t, errs.String(), want)
			assert.Equal(t, 1, strings.Count(errs.String(), "\n"), "one line")
			assert.NotContains(t, errs.String(), "secret")
			assert.Empty(t, out.String())
		})
	}
}

func TestHelp(t *testing.T) {
	var out, errs bytes.Buffer
	assert.Zero(t, run(t.Context(), []string{"-help"}, &out, &errs))
	for _, name := range []string{"-registry", "-service", "-method", "-arg", "-duration", "-callers", "-seed"} {
		assert.Contains(t, errs.String(), "\n  "+name+" ")
	}
	_, err := parseFlags([]string{"-h"}, &errs)
	assert.ErrorIs(t, err, flag.ErrHelp)
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		java, text string
		want       any
	}{
		{"boolean", "true", true}, {"java.lang.Boolean", "false", false}, {"java.lang.Boolean", "null", nil},
		{"byte", "-128", int8(-128)}, {"short", "7", int16(7)}, {"int", "42", int32(42)}, {"java.lang.Integer", "42", int32(42)},
		{"long", "-9223372036854775808", int64(-1 << 63)}, {"java.lang.Long", "null", nil},
		{"float", "1.5", float32(1.5)}, {"double", "1e300", 1e300},
		{"char", "é", "é"}, {"java.lang.Character", "x", "x"},
		{"java.lang.String", "null", "null"}, {"java.lang.String", "", ""}, {"java.lang.String", "42", "42"},
		{"int[]", "[1,2]", []any{int64(1), int64(2)}}, {"com.example.Order", "null", nil},
		{"java.util.Map", `{"a":{"b":[1,2.5]}}`, map[string]any{"a": map[string]any{"b": []any{int64(1), 2.5}}}},
		{"com.example.Order", `{"id":9007199254740993}`, map[string]any{"id": int64(9007199254740993)}},
	} {
		got, err := argument(c.java, c.text)
		require.NoError(t, err, "%s %s", c.java, c.text)
		assert.Equal(t, c.want, got, "%s %s", c.java, c.text)
	}
	for _, c := range [][2]string{
		{"boolean", "ja"}, {"byte", "128"}, {"short", "32768"}, {"int", "2147483648"}, {"int", "null"}, {"long", "1.5"}, {"long", ""},
		{"float", "x"}, {"float", "1e39"}, {"double", "x"}, {"char", "xy"}, {"char", ""}, {"java.util.List", "[1"}, {"java.util.List", ""}, {"java.util.List", "1 2"},
	} {
		_, err := argument(c[0], c[1])
		assert.ErrorContains(t, err, "a Java "+c[0], "%q", c[1])
	}
}

func TestReferenceText(t *testing.T) {
	c := config{service: "a.B?version=1&reference.filter=-default", method: "find (long)"}
	assert.Equal(t, "a.B?version=1&reference.filter=-default,meter&find.loadbalance=random", c.reference("random"))
	c.service = "a.B"
	assert.Equal(t, "a.B?reference.filter=meter&find.loadbalance=leastactive", c.reference("leastactive"))

	key, value := rapid.StringMatching(`[a-z.]{1,8}`), rapid.StringMatching(`[a-z0-9=]{1,8}`)
	rapid.Check(t, func(t *rapid.T) {
		text, want := "a.B", map[string]string{}
		for range rapid.IntRange(0, 10).Draw(t, "parameters") {
			k, v := key.Draw(t, "key"), value.Draw(t, "value")
			text, want[k] = with(text, k, v), v
		}
		for k, v := range want {
			assert.Equal(t, v, parameter(text, k), text)
		}
		assert.Equal(t, len(want), strings.Count(text, "&")+min(strings.Count(text, "?"), 1), "each key once: %s", text)
	})
}
