package url

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMergeKeepsTheProvidersStart(t *testing.T) {
	reference := parsed(t, "consumer://192.0.2.9/a.B?timestamp=999&remote.timestamp=998&release=gofer&dubbo=2.0.2&application=shop")
	for in, want := range map[string]int64{
		"timestamp=111":                        111,
		"timestamp=111&remote.timestamp=222":   111,
		"remote.timestamp=222":                 222,
		"timestamp=abc&remote.timestamp=222":   222,
		"timestamp=&remote.timestamp=222":      222,
		"timestamp=-1&remote.timestamp=222":    222,
		"timestamp=1795980000456&version=1.0":  1795980000456,
		"default.timestamp=333&application=mm": 333,
	} {
		u := Merge(parsed(t, "dubbo://192.0.2.1:20880/a.B?"+in), reference)
		ms, ok := u.StartTime()
		assert.True(t, ok, in)
		assert.Equal(t, want, ms, in)
	}
	for _, in := range []string{"", "timestamp=0", "timestamp=abc", "timestamp=9223372036854775808", "remote.timestamp=x"} {
		u := Merge(parsed(t, "dubbo://192.0.2.1:20880/a.B?"+in), reference)
		_, ok := u.StartTime()
		assert.False(t, ok, "%s: the consumer's own start is none of the provider's", in)
		assert.Empty(t, u.Param("release"))
	}
}

func TestMergePrecedence(t *testing.T) {
	for _, tc := range []struct{ name, provider, reference, want string }{
		{"the reference wins", "timeout=1&retries=5", "timeout=2", "retries=5&timeout=2"},
		{"an empty value hides nothing", "timeout=1&version=1.0", "timeout=&version=", "timeout=1&version=1.0"},
		{"an empty value is not taken over", "timeout=1", "loadbalance=", "timeout=1"},
		{"a plain group is taken over", "", "group=g1&version=1.0", "group=g1&version=1.0"},
		{"an empty group gives way", "group=&version=", "group=g1&version=1.0", "group=g1&version=1.0"},
		{"wildcards are not", "", "group=*&version=*", ""},
		{"nor are they by default", "", "default.group=*&x=1", "x=1"},
		{"nor are lists", "", "group=g1,g2&version=1,2", ""},
		{"the provider's group stays", "group=g1&version=1.0", "group=g2&version=2.0", "group=g1&version=1.0"},
		{"generic of the provider stays", "generic=false", "generic=true", "generic=false"},
		{"generic is taken over", "", "generic=true", "generic=true"},
		{"thread settings go", "threads=1&default.threads=1&queues=1&alive=1&threadname=1&threadpool=1&corethreads=1&transporter=x&iothreads=2", "", "iothreads=2"},
		{"thread settings of the reference stay", "threads=1", "threads=2", "threads=2"},
		{"the tag of the reference is not the provider's", "", "dubbo.tag=gray", ""},
		{"filters are joined", "reference.filter=p&invoker.listener=pl", "reference.filter=c&invoker.listener=cl", "invoker.listener=pl,cl&reference.filter=p,c"},
		{"one filter is kept", "reference.filter=p", "invoker.listener=cl", "invoker.listener=cl&reference.filter=p"},
		{"application", "application=prov", "application=cons", "application=cons&remote.application=prov"},
		{"application of a forwarded provider", "application=prov&remote.application=old", "", "application=prov&remote.application=prov"},
		{"actives of the reference beats the provider's", "actives=5", "actives=10", "actives=10"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := parsed(t, "dubbo://192.0.2.1:20880/a.B?"+tc.provider)
			u := Merge(p, parsed(t, "consumer://192.0.2.9/c.D?"+tc.reference))
			assert.Equal(t, parsed(t, "dubbo://192.0.2.1:20880/a.B?"+tc.want).Full(), u.Full())
			assert.Equal(t, parsed(t, "dubbo://192.0.2.1:20880/a.B?"+tc.provider).Full(), p.Full(), "the provider is left alone")
		})
	}
}

func TestMergeTakesThePathFromTheInterface(t *testing.T) {
	reference := parsed(t, "consumer://192.0.2.9/a.B?interface=a.B")
	p := parsed(t, "dubbo://192.0.2.1:20880")
	assert.Equal(t, "dubbo://192.0.2.1:20880/a.B?interface=a.B", Merge(p, reference).Full())
	assert.Empty(t, p.Path())
	assert.Equal(t, "dubbo://192.0.2.1:20880/ctx/a.B?interface=a.B", Merge(p.WithPath("ctx/a.B"), reference).Full())
	assert.Empty(t, Merge(URL{}, URL{}).Full())
}
