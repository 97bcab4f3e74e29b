package url

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestCompileMethodDefaults(t *testing.T) {
	for _, u := range []URL{{}, parsed(t, "dubbo://h:1/a.B"), parsed(t, "consumer://h/a.B?timeout=&retries=&m.weight=")} {
		m, problems := CompileMethod(u, "m")
		assert.Empty(t, problems)
		assert.Equal(t, Method{
			Name: "m", Timeout: time.Second, Retries: 2, Return: true, LoadBalance: "random", ShadowSample: 1, Cluster: "failover",
			Weight: 100, Warmup: 10 * time.Minute, HashNodes: 160, HashArguments: []int{0}, Forks: 2,
		}, m)
	}
}

func TestCompileMethodReadsEverything(t *testing.T) {
	u := parsed(t, "dubbo://h:1/a.B?timeout=1&m.timeout=250&retries=7&m.retries=0&m.loadbalance=consistenthash&cluster=failfast"+
		"&m.sticky=TRUE&m.return=false&m.sent=true&m.actives=3&m.weight=0&warmup=5s&m.forks=5&m.hash.nodes=320&m.hash.arguments=0,2"+
		"&m.enable-timeout-countdown=true&methods=m,n&m.loadbalance.shadow=leastload&loadbalance.shadow.sample=10")
	m, problems := CompileMethod(u, "m")
	assert.Empty(t, problems)
	assert.Equal(t, Method{
		Name: "m", Timeout: 250 * time.Millisecond, TimeoutCountdown: true, Retries: 0, Return: false, Sent: true, Actives: 3,
		LoadBalance: "consistenthash", Shadow: "leastload", ShadowSample: 10, Cluster: "failfast", Sticky: true, Weight: 0, Warmup: 5 * time.Second,
		HashNodes: 320, HashArguments: []int{0, 2}, Forks: 5,
	}, m)

	n, _ := CompileMethod(u, "n")
	assert.Equal(t, time.Millisecond, n.Timeout)
	assert.Equal(t, 7, n.Retries)
	assert.False(t, n.Sticky)
	all, _ := CompileMethod(u, "")
	n.Name = ""
	assert.Equal(t, n, all, "no name is the interface level")
}

// A bad value gives way to the next best, and is named.
func TestCompileMethodReplacesBadValues(t *testing.T) {
	for _, tc := range []struct {
		params   string
		problems map[string]string // key to fallback
		check    func(m Method) bool
	}{
		{"timeout=abc", map[string]string{"timeout": "1000"}, func(m Method) bool { return m.Timeout == time.Second }},
		{"timeout=-5", map[string]string{"timeout": "1000"}, func(m Method) bool { return m.Timeout == time.Second }},
		{"timeout=0", nil, func(m Method) bool { return m.Timeout == time.Second }},
		{"m.timeout=0&timeout=70", nil, func(m Method) bool { return m.Timeout == 70*time.Millisecond }},
		{"m.timeout=x&timeout=70", map[string]string{"m.timeout": "70"}, func(m Method) bool { return m.Timeout == 70*time.Millisecond }},
		{"m.timeout=-1&timeout=70", map[string]string{"m.timeout": "70"}, func(m Method) bool { return m.Timeout == 70*time.Millisecond }},
		{"m.timeout=x&timeout=y", map[string]string{"m.timeout": "1000", "timeout": "1000"}, func(m Method) bool { return m.Timeout == time.Second }},
		{"m.timeout=60&timeout=y", nil, func(m Method) bool { return m.Timeout == 60*time.Millisecond }},
		{"retries=x", map[string]string{"retries": "2"}, func(m Method) bool { return m.Retries == 2 }},
		{"retries=-1", nil, func(m Method) bool { return m.Retries == 0 }},
		{"retries=-9", map[string]string{"retries": "-1"}, func(m Method) bool { return m.Retries == 0 }},
		{"actives=1.5", map[string]string{"actives": "0"}, func(m Method) bool { return m.Actives == 0 }},
		{"weight=abc", map[string]string{"weight": "100"}, func(m Method) bool { return m.Weight == 100 }},
		{"weight=-1", map[string]string{"weight": "0"}, func(m Method) bool { return m.Weight == 0 }},
		{"m.weight=-1&weight=5", map[string]string{"m.weight": "0"}, func(m Method) bool { return m.Weight == 0 }},
		{"warmup=x", map[string]string{"warmup": "600000"}, func(m Method) bool { return m.Warmup == 10*time.Minute }},
		{"m.warmup=x", nil, func(m Method) bool { return m.Warmup == 10*time.Minute }},
		{"return=no", map[string]string{"return": "true"}, func(m Method) bool { return m.Return }},
		{"sticky=1", map[string]string{"sticky": "false"}, func(m Method) bool { return !m.Sticky }},
		{"hash.nodes=2", map[string]string{"hash.nodes": "160"}, func(m Method) bool { return m.HashNodes == 160 }},
		{"m.hash.nodes=2&hash.nodes=8", map[string]string{"m.hash.nodes": "8"}, func(m Method) bool { return m.HashNodes == 8 }},
		{"hash.arguments=x", map[string]string{"hash.arguments": "0"}, func(m Method) bool { return len(m.HashArguments) == 1 }},
		{"m.hash.arguments=x&hash.arguments=3,4", map[string]string{"m.hash.arguments": "3,4"}, func(m Method) bool { return m.HashArguments[1] == 4 }},
		{"methods=other&m.timeout=x", nil, func(m Method) bool { return m.Timeout == time.Second }},
		{"m.timeout=x&timeout=1500us", map[string]string{"m.timeout": "1.5ms"}, func(m Method) bool { return m.Timeout == 1500*time.Microsecond }},
		{"m.timeout=1500us", nil, func(m Method) bool { return m.Timeout == 1500*time.Microsecond }},
	} {
		m, problems := CompileMethod(parsed(t, "dubbo://h:1/a.B?"+tc.params), "m")
		got := map[string]string{}
		for _, p := range problems {
			got[p.Key] = p.Fallback
			assert.NotEmpty(t, p.Reason)
			assert.Contains(t, p.URL, "dubbo://h:1/a.B")
		}
		if tc.problems == nil {
			tc.problems = map[string]string{}
		}
		assert.Equal(t, tc.problems, got, tc.params)
		assert.True(t, tc.check(m), "%s gives %+v", tc.params, m)
	}
}

func TestReader(t *testing.T) {
	r := NewReader(parsed(t, "zookeeper://h:1?session=30s&timeout=x&group=prod&check=false&own=text&timestamp=1795980000456"))
	assert.Equal(t, 30*time.Second, r.Duration("session"))
	assert.Equal(t, 5*time.Second, r.Duration("timeout"), "the default of a registry")
	assert.Equal(t, "prod", r.Text("group"))
	assert.False(t, r.Bool("check"))
	assert.True(t, r.Bool("register"))
	assert.Equal(t, "text", r.Text("own"))
	assert.Equal(t, -1, r.Int("retry.times"))
	assert.EqualValues(t, 1795980000456, r.Long("timestamp"))
	assert.Empty(t, r.Text("nosuch"))
	assert.Zero(t, r.Int("nosuch"))
	if assert.Len(t, r.Problems(), 1) {
		assert.Equal(t, "timeout", r.Problems()[0].Key)
		assert.Equal(t, "5000", r.Problems()[0].Fallback)
	}

	r = NewReader(parsed(t, "h?my.int=-7&my.time=-2s&my.bool=true&my.list=1,-2&my.bad=x&half=1500us&warmup=-1"))
	assert.Equal(t, -7, r.Int("my.int"), "keys of one's own are read without bounds")
	assert.Equal(t, -2*time.Second, r.Duration("my.time"))
	assert.True(t, r.Bool("my.bool"))
	assert.Equal(t, []int{1, -2}, r.Numbers("my.list"))
	assert.Empty(t, r.Problems())
	assert.Zero(t, r.Int("my.bad"))
	assert.Zero(t, r.Duration("warmup"))
	assert.Len(t, r.Problems(), 2)

	r = NewReader(parsed(t, "consumer://h/a.B?serialization=kryo&group=a b"))
	assert.Equal(t, "hessian2", r.Text("serialization"))
	assert.Equal(t, "a b", r.Text("group"), "a group that Java would refuse is still the group")
	assert.Len(t, r.Problems(), 2)
}

func TestMethods(t *testing.T) {
	assert.Nil(t, parsed(t, "h?methods=*").Methods())
	assert.Nil(t, parsed(t, "h").Methods())
	assert.Equal(t, []string{"a", "b"}, parsed(t, "h?methods= a , b,").Methods())
}

// Dubbo 3.3 takes any part of the text of "methods" for a method.
func TestOnlyWholeNamesAreMethods(t *testing.T) {
	u := parsed(t, "h?methods=getAll,set&getAll.timeout=1&get.timeout=2&getAllOfThem.timeout=3&All.timeout=4&timeout=9")
	assert.Equal(t, "1", u.MethodParam("getAll", "timeout"))
	for _, method := range []string{"get", "getAllOfThem", "All", "set", ""} {
		assert.Equal(t, "9", u.MethodParam(method, "timeout"), method)
	}
}
