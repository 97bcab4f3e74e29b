package url

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTableIsSound(t *testing.T) {
	type place struct {
		key   string
		scope Scope
	}
	seen := map[place]bool{}
	for _, p := range Table() {
		assert.NotEmpty(t, p.Key)
		assert.NotZero(t, p.Scope, p.Key)
		assert.True(t, strings.HasSuffix(p.Doc, "."), "%s: the sentence ends", p.Key)
		assert.Empty(t, p.Check(p.Default), "%s: the default is allowed", p.Key)
		assert.Equal(t, p.Type == TypeChoice, len(p.Values) > 0, p.Key)
		for s := ScopeReference; s <= ScopeRule; s <<= 1 {
			if p.Scope&s != 0 {
				assert.False(t, seen[place{p.Key, s}], "%s twice on a %s", p.Key, s)
				seen[place{p.Key, s}] = true
			}
		}
		if p.numeric() && p.Default != "" {
			assert.Equal(t, p.Default, p.format(p.def), "%s: the default is parsed", p.Key)
		}
	}
}

// The keys and defaults that every Dubbo user knows.
func TestTableKnowsDubbo(t *testing.T) {
	for key, def := range map[string]string{
		"timeout": "1000", "retries": "2", "loadbalance": "random", "cluster": "failover", "actives": "0", "executes": "0",
		"connections": "0", "shareconnections": "1", "async": "false", "sent": "false", "return": "true", "sticky": "false",
		"mock": "", "merger": "", "cache": "", "validation": "", "forks": "2", "failbacktasks": "100", "check": "true",
		"init": "true", "lazy": "false", "generic": "false", "injvm": "", "scope": "", "reference.filter": "",
		"invoker.listener": "", "router": "", "dubbo.tag": "", "dubbo.force.tag": "false", "protocol": "", "client": "",
		"threadpool": "", "threads": "", "corethreads": "", "queues": "", "reconnect": "", "dubbo.stub.event": "",
		"provided-by": "", "provider-port": "", "provider-namespace": "", "layer": "", "owner": "", "callbacks": "",
		"onconnect": "", "ondisconnect": "", "stub": "", "local": "", "proxy": "", "warmup": "600000", "weight": "100",
		"heartbeat": "60000", "heartbeat.timeout": "", "payload": "8388608", "connect.timeout": "3000", "token": "",
		"dynamic": "true", "deprecated": "false", "serialization": "hessian2", "prefer.serialization": "", "anyhost": "false",
		"ipv6": "", "hash.nodes": "160", "hash.arguments": "0", "ssl-enabled": "false", "group": "", "version": "",
		"interface": "", "application": "", "methods": "", "side": "", "timestamp": "", "remote.timestamp": "", "pid": "",
		"release": "", "dubbo": "", "category": "providers", "enabled": "true", "disabled": "false", "priority": "0",
		"register": "true", "subscribe": "true", "simplified": "false", "session": "30000", "backup": "", "file": "",
		"extra-keys": "", "zone": "", "preferred": "false", "enable-empty-protection": "true", "refer-async": "",
		"cluster.availablecheck": "true", "broadcast.fail.percent": "100", "enable-timeout-countdown": "false",
		"invocationid.autoattach": "false", "accesslog": "", "tps": "-1", "tps.interval": "60000", "ext.protocol": "",
	} {
		p, ok := Lookup(key)
		if assert.True(t, ok, key) {
			assert.Equal(t, def, p.Default, key)
		}
	}
	_, ok := Lookup("find.timeout")
	assert.False(t, ok)
	for key, def := range map[string]string{"timeout": "5000", "group": "dubbo", "weight": "100", "check": "true"} {
		p := lookup(key, ScopeRegistry)
		assert.Equal(t, ScopeRegistry, p.Scope, key)
		assert.Equal(t, def, p.Default, key)
	}
}

func TestTableIsACopy(t *testing.T) {
	Table()[0].Default = "changed"
	assert.NotEqual(t, "changed", Table()[0].Default)
}

// The documentation holds every row with all it says.
func TestMarkdown(t *testing.T) {
	var rows [][]string
	for line := range strings.SplitSeq(Markdown(), "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		rows = append(rows, strings.Split(strings.Trim(line, "| "), " | "))
	}
	require.Len(t, rows, len(Table()))
	for i, p := range Table() {
		require.Len(t, rows[i], 6, p.Key)
		assert.Equal(t, "`"+p.Key+"`", rows[i][0])
		if p.Type == TypeChoice {
			assert.Equal(t, "`"+strings.Join(p.Values, "`, `")+"`", rows[i][1])
		} else {
			assert.Equal(t, p.Type.String(), rows[i][1])
		}
		assert.Equal(t, p.Default, strings.Trim(rows[i][2], "`"))
		assert.Equal(t, p.Scope.String(), rows[i][3])
		assert.Equal(t, p.Level == LevelMethod, rows[i][4] == "yes")
		doc := p.Doc
		if p.Ignored {
			doc += " *Accepted without effect.*"
		}
		assert.Equal(t, doc, rows[i][5])
		assert.Equal(t, map[Level]string{LevelInterface: "interface", LevelMethod: "method"}[p.Level], p.Level.String())
	}
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct{ key, value, reason string }{
		{"timeout", "", ""},
		{"timeout", "0", ""},
		{"timeout", "3000", ""},
		{"timeout", "3s", ""},
		{"timeout", "1m30s", ""},
		{"timeout", "abc", "duration such as 3s"},
		{"timeout", "3 s", "duration such as 3s"},
		{"timeout", " 3000", "duration such as 3s"},
		{"timeout", "3.5", "duration such as 3s"},
		{"timeout", "-5", "less than 0"},
		{"timeout", "-5s", "less than 0"},
		{"timeout", "10us", "shorter than a millisecond"},
		{"timeout", "600h", "longer than 24 days"},
		{"timeout", "2147483647", ""},
		{"timeout", "2147483648", "duration such as 3s"},
		{"tps.interval", "0", "less than 1"},
		{"retries", "-1", ""},
		{"retries", "-2", "less than -1"},
		{"retries", "2147483648", "does not fit 32 bits"},
		{"retries", "2s", "whole number"},
		{"retries", "١", "whole number"},
		{"broadcast.fail.percent", "101", "more than 100"},
		{"hash.nodes", "3", "less than 4"},
		{"hash.arguments", "0, 2", ""},
		{"hash.arguments", "-1", ""},
		{"hash.arguments", ",", "no number"},
		{"hash.arguments", "0,,x", "whole number"},
		{"timestamp", "1795980000456", ""},
		{"timestamp", "9223372036854775808", "does not fit 64 bits"},
		{"sticky", "TRUE", ""},
		{"sticky", "1", "neither true nor false"},
		{"generic", "nativejava", "not one of: true, false"},
		{"group", "*", ""},
		{"group", "g1,g2", ""},
		{"group", "g 1", "character ' '"},
		{"version", strings.Repeat("1", 200), ""},
		{"version", strings.Repeat("1", 201), "longer than 200"},
		{"priority", "-5", ""},
		{"loadbalance", "any thing", ""},
		{"protocol", "dubbo,tri", ""},
	} {
		p, ok := Lookup(tc.key)
		require.True(t, ok, tc.key)
		reason := p.Check(tc.value)
		if tc.reason == "" {
			assert.Empty(t, reason, "%s=%s", tc.key, tc.value)
			continue
		}
		assert.Contains(t, reason, tc.reason, "%s=%s", tc.key, tc.value)
	}
}

// What a number out of bounds is replaced by is the same to who reads it, in what is
// reported, and in the documentation: the default, or where Java takes less for the least,
// and the documentation says so, that.
func TestOutOfBounds(t *testing.T) {
	bounded := 0
	for _, p := range Table() {
		if p.Type != TypeInt && p.Type != TypeLong && p.Type != TypeTime {
			continue
		}
		protocol := map[bool]string{true: "dubbo", false: "zookeeper"}[p.Scope&(ScopeReference|ScopeProvider) != 0]
		if p.Scope == ScopeRule {
			protocol = "override"
		}
		if p.Default == "" {
			p.Default = "0"
		}
		values := map[int64]string{p.Min - 1: p.Default}
		if strings.Contains(p.Doc, "and less") {
			values[p.Min-1] = strconv.FormatInt(p.Min, 10)
		}
		if p.Max != 0 {
			values[p.Max+1] = p.Default
		}
		for value, used := range values {
			if p.Check(strconv.FormatInt(value, 10)) == "" {
				continue // it has no lower bound
			}
			bounded++
			u := parsed(t, fmt.Sprintf("%s://h:1/a.B?%s=%d", protocol, p.Key, value))
			want := NewReader(parsed(t, fmt.Sprintf("%s://h:1/a.B?%s=%s", protocol, p.Key, used)))
			r := NewReader(u)
			assert.Equal(t, want.number(p.Key, p.Type), r.number(p.Key, p.Type), u.String())
			require.Len(t, r.Problems(), 1, u.String())
			assert.Equal(t, used, r.Problems()[0].Fallback, u.String())
			if p.Scope&scopeOf(u) != 0 {
				assert.Equal(t, r.Problems(), Validate(u), u.String())
			}
		}
	}
	assert.Greater(t, bounded, 20)
}

func TestDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"0": 0, "3000": 3 * time.Second, "+7": 7 * time.Millisecond, "-3": -3 * time.Millisecond,
		"3s": 3 * time.Second, "1.5ms": 1500 * time.Microsecond, "0s": 0,
	} {
		d, err := Duration(in)
		require.NoError(t, err, in)
		assert.Equal(t, want, d, in)
	}
	for _, in := range []string{"", "3 ", "s", "0x10", "1_000", "3h9", "1us", "-1us", "9999h", "-9999h", "99999999999"} {
		_, err := Duration(in)
		assert.Error(t, err, in)
	}
}

func TestNearest(t *testing.T) {
	for in, want := range map[string]string{
		"timeout":            "timeout",
		"timout":             "timeout",
		"tiemout":            "timeout",
		"Timeout":            "timeout",
		"connectTimeout":     "connect.timeout",
		"connect-timeout":    "connect.timeout",
		"loadbalence":        "loadbalance",
		"load-balance":       "loadbalance",
		"retrys":             "retries",
		"active":             "actives",
		"tag":                "dubbo.tag",
		"filter":             "reference.filter",
		"find.timout":        "find.timeout",
		"find.Actives":       "find.actives",
		"outlier.failure":    "outlier.failures",
		"find.outlir":        "outlier",
		"find.outlierPauses": "outlier.pause",
		"xyzzy":              "",
		"shop.colour":        "",
		"":                   "",
	} {
		assert.Equal(t, want, Nearest(in), in)
	}
}

func TestMisspelt(t *testing.T) {
	for in, want := range map[string]string{
		"loadblance": "loadbalance", "lodabalance": "loadbalance", "timout": "timeout", "retrys": "retries", "active": "actives",
		"clusterr": "cluster", "weigth": "weight", "groupp": "group", "versoin": "version", "find.timout": "find.timeout",
		"connectTimeout": "connect.timeout", "outlier.failure": "outlier.failures", "find.outlier.pauses": "",
		"loadbalance": "", "find.timeout": "", // right
		"tag": "", "filter": "", "size": "", "window.size": "", "cluster.name": "", "source": "", "qps": "", "unit": "", "version2": "",
		"threadz": "", // a provider's
		"asynk":   "", // without effect
		"region":  "", "": "", ".": "", "x.": "", ".x": "",
	} {
		assert.Equal(t, want, Misspelt(in), in)
	}
}

func TestNearestOf(t *testing.T) {
	known := []string{"random", "roundrobin", "leastactive", "consistenthash"}
	for in, want := range map[string]string{
		"LeastActive": "leastactive", "round-robin": "roundrobin", "randm": "random", "nope": "", "": "",
	} {
		assert.Equal(t, want, NearestOf(in, known), in)
	}
}

func TestWarnings(t *testing.T) {
	u := parsed(t, "com.example.DemoService?timout=5&default.retrys=1&find.timout=5&shop.colour=red&proxy=jdk&find.cluster=failfast"+
		"&session=5&executes=5&find.actives=3&timeout=abc&default.check=false&empty=")
	got := map[string]string{}
	for _, p := range Warnings(u) {
		got[p.Key] = p.Reason
	}
	assert.Equal(t, map[string]string{
		"timout":         `unknown, did you mean "timeout"?`,
		"default.retrys": `unknown, did you mean "default.retries"?`,
		"find.timout":    `unknown, did you mean "find.timeout"?`,
		"shop.colour":    "unknown",
		"empty":          "unknown",
		"proxy":          "accepted, but it does nothing here",
		"find.cluster":   "it holds for the whole service, not for one method",
		"session":        "it does nothing here, only on the URL of a registry",
		"executes":       "it does nothing here, only on the URL of a provider or rule",
	}, got)
}

// What the row of a key is depends on the kind of URL.
func TestValidateByKindOfURL(t *testing.T) {
	for in, bad := range map[string]string{
		"consumer://h/a.B?serialization=fastjson2":                           "serialization",
		"a.B?session=abc&executes=abc":                                       "",
		"a.B?serialization=fastjson2":                                        "serialization",
		"dubbo://h:1/a.B?serialization=fastjson2&generic=bean":               "",
		"override://0.0.0.0/a.B?timeout=x&enabled=true":                      "timeout",
		"zookeeper://h:1?group=/a/b c&timeout=5000&session=x":                "session",
		"nacos://h:1/org.apache.dubbo.registry.RegistryService?register=yes": "register",
		"dubbo://h:1/a.B?heartbeat=10000&heartbeat.timeout=19999":            "heartbeat.timeout",
		"dubbo://h:1/a.B?heartbeat=10000&heartbeat.timeout=20s":              "",
		"dubbo://h:1/a.B?heartbeat.timeout=0":                                "",
		"dubbo://h:1/a.B?heartbeat=x&heartbeat.timeout=1":                    "heartbeat",
		"dubbo://h:1/a.B?methods=get&get.actives=x&list.actives=x":           "get.actives",
		"dubbo://h:1/a.B?default.timeout=abc":                                "default.timeout",
		"dubbo://h:1/a.B?get.warmup=abc":                                     "get.warmup",
		"dubbo://h:1/a.B?.timeout=abc&timeout.=abc&x.y.timeout=abc":          "",
		"dubbo://h:1/a.B?get.0.callback=true":                                "",
		"dubbo://h:1/a.B?unknown=%zz&another=<>&timeout=":                    "",
	} {
		var keys []string
		for _, p := range Validate(parsed(t, in)) {
			keys = append(keys, p.Key)
		}
		assert.Equal(t, bad, strings.Join(keys, " "), in)
	}
}
