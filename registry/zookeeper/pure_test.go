package zookeeper

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/url"
)

func TestBackoffIsFullJitterWithACap(t *testing.T) {
	b := backoff{100 * time.Millisecond, 30 * time.Second, func() float64 { return 0.5 }}
	for n, want := range map[int]time.Duration{1: 50 * time.Millisecond, 2: 100 * time.Millisecond, 3: 200 * time.Millisecond, 9: 12800 * time.Millisecond, 10: 15 * time.Second, 1000: 15 * time.Second} {
		assert.Equal(t, want, b.after(n), "%d", n)
	}
	b.random = func() float64 { return 0 }
	assert.Equal(t, 10*time.Millisecond, b.after(5), "never at once")
	assert.Equal(t, 15*time.Second, b.around(30*time.Second))
	b.random = func() float64 { return 0.999999 }
	assert.Less(t, b.after(1000), 30*time.Second)
	assert.Less(t, b.around(30*time.Second), 45*time.Second)
}

func TestPaceSlowsDownWhileChangesKeepComing(t *testing.T) {
	s := newSettings(nil)
	var p pace
	now := time.Now()
	var waits []time.Duration
	for range 6 {
		w := p.next(now, s)
		waits = append(waits, w)
		now = now.Add(w + time.Millisecond)
	}
	ms := time.Millisecond
	assert.Equal(t, []time.Duration{25 * ms, 50 * ms, 100 * ms, 200 * ms, 200 * ms, 200 * ms}, waits)
	assert.Equal(t, 25*ms, p.next(now.Add(s.calm), s), "calm again")
}

func TestDoubt(t *testing.T) {
	const wait = 1500 * time.Millisecond
	t0 := time.Now()
	four := []string{"a", "b", "c", "d"}
	for _, c := range []struct {
		name           string
		believed, read []string
		want           []string
		doubtful       bool
	}{
		{"first list", nil, nil, nil, false},
		{"growth", four[:2], four, four, false},
		{"one of two goes", four[:2], four[:1], four[:1], false},
		{"all of one go", four[:1], nil, four[:1], true},
		{"half of four", four, four[:2], four[:2], false},
		{"more than half of four", four, four[:1], four, true},
		{"two thirds of three", four[:3], four[:1], four[:1], false},
		{"new ones are added", four, []string{"a", "e"}[1:], []string{"a", "b", "c", "d", "e"}, true},
		{"replaced by as many", four, []string{"e", "f", "g", "h"}, []string{"e", "f", "g", "h"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d doubt
			list, again := d.judge(c.believed, c.read, t0, wait)
			assert.Equal(t, c.want, list)
			require.Equal(t, c.doubtful, !again.IsZero())
			if !c.doubtful {
				return
			}
			list, again = d.judge(c.believed, c.read, t0.Add(wait/2), wait)
			assert.Equal(t, c.want, list, "an early second read confirms nothing")
			assert.Equal(t, t0.Add(wait), again)
			list, again = d.judge(c.believed, c.read, again, wait)
			assert.Equal(t, c.read, list, "confirmed")
			assert.Zero(t, again)
		})
	}
	t.Run("recovery clears the doubt", func(t *testing.T) {
		var d doubt
		d.judge(four, nil, t0, wait)
		list, again := d.judge(four, four[:3], t0.Add(time.Second), wait)
		assert.Equal(t, four[:3], list)
		assert.Zero(t, again)
		_, again = d.judge(four[:3], nil, t0.Add(2*time.Second), wait)
		assert.Equal(t, t0.Add(2*time.Second+wait), again)
	})
	t.Run("off", func(t *testing.T) {
		var d doubt
		list, again := d.judge(four, nil, t0, 0)
		assert.Empty(t, list)
		assert.Zero(t, again)
	})
}

func TestUnion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), rapid.ID)
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		slices.Sort(a)
		slices.Sort(b)
		u := union(a, b)
		assert.True(t, slices.IsSorted(u))
		for _, x := range slices.Concat(a, b) {
			assert.Contains(t, u, x)
		}
		assert.Len(t, slices.Compact(u), len(u))
	})
}

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]address{
		"zookeeper://h": {servers: []string{"h:2181"}, root: "/dubbo", session: 30 * time.Second},
		"zookeeper://h1:2182,h2, h3:2184 ,,?backup=h4:1,h1:2182&group=/a/b/": {servers: []string{"h1:2182", "h2:2184", "h3:2184", "h4:1"}, root: "/a/b", session: 30 * time.Second},
		"zookeeper://[::1]:2181?group=/&session=5000":                        {servers: []string{"[::1]:2181"}, root: "", session: 5 * time.Second},
		"zookeeper://u:p%23s%40x@h:2181?zk.session.expire=40000":             {servers: []string{"h:2181"}, user: "u", secret: "u:p#s@x", root: "/dubbo", session: 40 * time.Second},
		"zookeeper://h/org.apache.dubbo.registry.RegistryService?group=x":    {servers: []string{"h:2181"}, root: "/x", session: 30 * time.Second},
	} {
		u, err := url.Parse(text)
		require.NoError(t, err, text)
		got, err := parseAddress(u)
		require.NoError(t, err, text)
		got.source = ""
		assert.Equal(t, want, got, text)
	}
	for text, part := range map[string]string{
		"nacos://h:8848":                    `protocol "nacos"`,
		"zookeeper://":                      "no server",
		"zookeeper://h:2181/app":            "use group=app",
		"zookeeper://h:99999":               `"h:99999"`,
		"zookeeper://h:2181?session=soon":   `session="soon"`,
		"zookeeper://h:2181?session=5":      `session="5"`,
		"zookeeper://h:2181?group=a//b":     `group="a//b"`,
		"zookeeper://h:2181?group=../x":     `group="../x"`,
		"zookeeper://h:2181?backup=x:1/y":   `"x:1/y"`,
		"zookeeper://u:secret%2@h:2181":     "percent escape",
		"zookeeper://h:2181?backup=a:b:c:d": `"a:b:c:d"`,
	} {
		u, err := url.Parse(text)
		require.NoError(t, err, text)
		_, err = parseAddress(u)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), part)
		assert.NotContains(t, err.Error(), "secret")
	}
}

func TestPaths(t *testing.T) {
	u := parse(t, "consumer://10.0.0.9/com.example.Outer$Inner?category=consumers&check=false&v=~*")
	p, err := nodePath("/dubbo", u)
	require.NoError(t, err)
	assert.Equal(t, "/dubbo/com.example.Outer%24Inner/consumers/consumer%3A%2F%2F10.0.0.9%2Fcom.example.Outer%24Inner%3Fcategory%3Dconsumers%26check%3Dfalse%26v%3D%7E*", p)
	assert.Equal(t, []string{"/dubbo", "/dubbo/x"}, parents("/dubbo/x/consumers"))
	assert.Empty(t, parents("/x"))
	p, err = nodePath("", parse(t, "dubbo://h:1/x.Y"))
	require.NoError(t, err)
	assert.Equal(t, "/x.Y/providers/dubbo%3A%2F%2Fh%3A1%2Fx.Y", p)
	for _, bad := range []string{"consumer://h", "consumer://h/*"} {
		_, err = nodePath("/dubbo", parse(t, bad))
		assert.ErrorContains(t, err, "names no interface")
	}
}

func TestLoopbackNames(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "localhost.": true, "LocalHost": true, "zk.localhost": true, "a.b.localhost.": true,
		"mylocalhost": false, "localhost.example.com": false, "127.0.0.1": false, "": false,
	} {
		assert.Equal(t, want, loopback(host), host)
	}
}

func TestHostsRestBetweenRounds(t *testing.T) {
	h := &hosts{}
	require.NoError(t, h.Init([]string{"a", "b"}))
	require.Equal(t, 2, h.Len())
	var seen []string
	for range 2 {
		s, rest := h.Next()
		require.False(t, rest, "each server once at once")
		seen = append(seen, s)
	}
	assert.ElementsMatch(t, []string{"a", "b"}, seen)
	_, rest := h.Next()
	assert.True(t, rest)
	_, rest = h.Next()
	assert.False(t, rest)
	h.Connected()
	_, rest = h.Next()
	assert.False(t, rest, "after a session: at once")
	_, _ = h.Next()
	h.Connected() // but not again after one that did not last
	_, rest = h.Next()
	assert.True(t, rest)
	_, _ = h.Next()
	h.expired()
	_, rest = h.Next()
	assert.False(t, rest, "a new session needs no rest")
}
