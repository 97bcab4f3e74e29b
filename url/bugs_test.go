package url

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An IPv6 address is not taken for a number or a path.
func TestB001_IPv6Address(t *testing.T) {
	for _, tc := range []struct{ in, host, dial string }{
		{"zookeeper://[fe80::d243:1eff:fefa:8a47]:2181", "[fe80::d243:1eff:fefa:8a47]", "[fe80::d243:1eff:fefa:8a47]:2181"},
		{"dubbo://[2001:db8::1]:20880/com.example.DemoService?version=1.0.0", "[2001:db8::1]", "[2001:db8::1]:20880"},
		{"dubbo://f34e:0:4567::3d:ee:8080/com.example.DemoService", "f34e:0:4567::3d:ee", "[f34e:0:4567::3d:ee]:8080"},
		{"dubbo://fe80:0:0:0:894:aeec:f37d:23e1%25en0:20880/a.B", "fe80:0:0:0:894:aeec:f37d:23e1%25en0", "[fe80:0:0:0:894:aeec:f37d:23e1%en0]:20880"},
		{"dubbo://[fe80::1%en0]:20880/a.B", "[fe80::1%en0]", "[fe80::1%en0]:20880"},
	} {
		u := parsed(t, tc.in)
		assert.Equal(t, tc.host, u.Host(), tc.in)
		dial, err := u.DialAddress()
		require.NoError(t, err, tc.in)
		assert.Equal(t, tc.dial, dial)
		again, err := ParseEncoded(u.Encode())
		require.NoError(t, err)
		assert.True(t, u.Equal(again), "round trip of %s", tc.in)
	}

	zone := parsed(t, "dubbo://fe80:0:0:0:894:aeec:f37d:23e1%25en0/com.example.DemoService")
	assert.Equal(t, "fe80:0:0:0:894:aeec:f37d:23e1%25en0", zone.Host())
	assert.Zero(t, zone.Port())
	assert.Equal(t, "com.example.DemoService", zone.Path())
	dial, err := zone.WithAddress(zone.Host(), 20880).DialAddress()
	require.NoError(t, err)
	assert.Equal(t, "[fe80:0:0:0:894:aeec:f37d:23e1%en0]:20880", dial)

	for _, in := range []string{"dubbo://2001:db8::ff/a.B", "dubbo://2001:db8::1/a.B", "dubbo://1:2:3:4:5:6:7:8/a.B", "dubbo://2001:db8::1:0/a.B", "dubbo://::1/a.B"} {
		u := parsed(t, in)
		assert.Zero(t, u.Port(), "only the whole of %s is an address", in)
		assert.Equal(t, in, u.Full())
	}
}

// A password never turns into a wrong host.
func TestB003_PasswordWithSpecialCharacters(t *testing.T) {
	u := parsed(t, "zookeeper://user:pa%23ss%40x@192.0.2.1:2181")
	user, password, err := u.Credentials()
	require.NoError(t, err)
	assert.Equal(t, "user", user)
	assert.Equal(t, "pa#ss@x", password)
	assert.Equal(t, "192.0.2.1", u.Host())
	assert.Equal(t, 2181, u.Port())

	for in, want := range map[string]string{
		"zookeeper://user:pa#ss@192.0.2.1:2181":         "%23",
		"zookeeper://user:12#ss@192.0.2.1:2181":         "%23",
		"zookeeper://user:12/ss@192.0.2.1:2181":         "%2F",
		"zookeeper://user:12?ss@192.0.2.1:2181":         "%3F",
		"zookeeper://user:pa?ss=x@192.0.2.1:2181":       "%3F",
		"zookeeper://user:pa/ss?x@192.0.2.1:2181/y?z=1": "%2F or %3F",
	} {
		_, err := Parse(in)
		require.Error(t, err, in)
		assert.True(t, strings.Contains(want, "or") || strings.Contains(err.Error(), want), "%s: %v", in, err)
		for _, secret := range []string{"pa#", "ss", "12"} {
			assert.NotContains(t, strings.ReplaceAll(err.Error(), "password", ""), secret, in)
		}
	}

	at := parsed(t, "zookeeper://user:p@ss:w@192.0.2.1:2181")
	assert.Equal(t, "p@ss:w", at.Password(), "the last @ ends user info, the first : the name")
	assert.Equal(t, "192.0.2.1", at.Host())

	_, _, err = parsed(t, "zookeeper://user:secret%zz@192.0.2.1:2181").Credentials()
	require.ErrorContains(t, err, "%25")
	assert.NotContains(t, err.Error(), "secret")
	assert.NotContains(t, err.Error(), "zz")
}

func TestB005_BlanksInServerList(t *testing.T) {
	want := []string{"192.0.2.1:2181", "192.0.2.2:2181", "192.0.2.3:2181"}
	for _, in := range []string{
		"zookeeper://192.0.2.1:2181, 192.0.2.2:2181 ,192.0.2.3:2181",
		"zookeeper://192.0.2.1:2181,,192.0.2.2:2181,192.0.2.3:2181,",
		"zookeeper://192.0.2.1:2181?backup= 192.0.2.2:2181 ,, 192.0.2.3:2181",
		"zookeeper://192.0.2.1:2181?backup=192.0.2.2,192.0.2.3,192.0.2.1:2181",
		"192.0.2.1:2181,192.0.2.2:2181,192.0.2.3:2181",
	} {
		assert.Equal(t, want, parsed(t, in).Addresses(), in)
	}
	assert.Equal(t, []string{"[2001:db8::1]:2181", "[2001:db8::2]:2182"},
		parsed(t, "zookeeper://[2001:db8::1]:2181?backup=[2001:db8::2]:2182").Addresses())
}

func TestB006_NamesAreEscapedOnce(t *testing.T) {
	u := New("consumer", "192.0.2.9", 0, "com.example.DemoService", map[string]string{"methods": "sayHello,sayBye"})
	assert.Equal(t, "consumer%3A%2F%2F192.0.2.9%2Fcom.example.DemoService%3Fmethods%3DsayHello%2CsayBye", u.Encode())

	once, err := ParseEncoded(u.Encode())
	require.NoError(t, err)
	assert.Equal(t, []string{"sayHello", "sayBye"}, once.Methods())

	twice, err := ParseEncoded("dubbo%3A%2F%2F192.0.2.10%3A20880%2Fcom.example.DemoService%3Fmethods%3DsayHello%252CsayBye")
	require.NoError(t, err)
	assert.Equal(t, "sayHello%2CsayBye", twice.Param("methods"))
}

func TestB008_DefaultKeysOfOldProviders(t *testing.T) {
	const in = "dubbo://192.0.2.10:20880/com.example.DemoService?default.group=g1&default.version=1.0.0&default.timeout=2000"
	old := parsed(t, in)
	assert.Equal(t, "g1/com.example.DemoService:1.0.0", old.ServiceKey())
	reference := New("consumer", "192.0.2.9", 0, "com.example.DemoService", map[string]string{"group": "g1", "version": "1.0.0"})
	m, problems := CompileMethod(Merge(old, reference), "sayHello")
	assert.Empty(t, problems)
	assert.Equal(t, 2*time.Second, m.Timeout)

	explicit := parsed(t, in+"&timeout=500")
	assert.Equal(t, "500", explicit.Param("timeout"))
	assert.Equal(t, "500", explicit.MethodParam("sayHello", "timeout"))
	assert.Equal(t, "800", old.With("timeout", "800").Param("timeout"))
	assert.Equal(t, "7", old.With("default.retries", "7").Param("retries"))
}

func TestB168_PrecedenceOfTimeout(t *testing.T) {
	provider := parsed(t, "dubbo://192.0.2.10:20880/com.example.DemoService?timeout=2000&getA.timeout=5000")
	for _, tc := range []struct {
		provider    URL
		reference   string
		getA, other time.Duration
	}{
		{provider, "", 5 * time.Second, 2 * time.Second},
		{provider, "timeout=300", 5 * time.Second, 300 * time.Millisecond},
		{provider, "getA.timeout=100&timeout=300", 100 * time.Millisecond, 300 * time.Millisecond},
		{provider.Without("timeout", "getA.timeout"), "", time.Second, time.Second},
		{parsed(t, "dubbo://192.0.2.10:20880/com.example.DemoService?default.timeout=2000"), "", 2 * time.Second, 2 * time.Second},
	} {
		u := Merge(tc.provider, parsed(t, "consumer://192.0.2.9/com.example.DemoService?"+tc.reference))
		getA, problems := CompileMethod(u, "getA")
		assert.Empty(t, problems)
		other, problems := CompileMethod(u, "getB")
		assert.Empty(t, problems)
		assert.Equal(t, tc.getA, getA.Timeout, u)
		assert.Equal(t, tc.other, other.Timeout, u)
	}
}

func TestB170_EveryBadParameterIsNamed(t *testing.T) {
	u := parsed(t, "consumer://192.0.2.9/com.example.DemoService?timeout=abc&retries=x&actives=1.5&connections=0x10"+
		"&serialization=kryo&find.timeout=-5&list.sticky=yes&hash.arguments=0,x&group=a/b")
	type bad struct{ value, reason, fallback string }
	got := map[string]bad{}
	for _, p := range Validate(u) {
		got[p.Key] = bad{p.Value, p.Reason, p.Fallback}
		assert.Equal(t, u.String(), p.URL)
		assert.Contains(t, p.Error(), p.Key+"="+p.Value)
	}
	const number = "not a whole number in decimal digits"
	assert.Equal(t, map[string]bad{
		"timeout":        {"abc", "neither whole milliseconds nor a duration such as 3s or 500ms", "1000"},
		"retries":        {"x", number, "2"},
		"actives":        {"1.5", number, "0"},
		"connections":    {"0x10", number, "0"},
		"serialization":  {"kryo", "not one of: hessian2", "hessian2"},
		"find.timeout":   {"-5", "less than 0", "1000"},
		"list.sticky":    {"yes", "neither true nor false", "false"},
		"hash.arguments": {"0,x", number, "0"},
		"group":          {"a/b", `the character '/' is not allowed`, ""},
	}, got)

	for _, in := range []string{"timeout=3s", "timeout=3000", "timeout=0", "retries=-1", "retries=0", "find.timeout=1.5s", "timeout="} {
		assert.Empty(t, Validate(parsed(t, "com.example.DemoService?"+in)), in)
	}
	m, problems := CompileMethod(parsed(t, "com.example.DemoService?timeout=3s&find.timeout=1500ms"), "find")
	assert.Empty(t, problems)
	assert.Equal(t, 1500*time.Millisecond, m.Timeout)
}

// With a direct address the reference's parameters apply and the path is the interface.
func TestB172_DirectAddresses(t *testing.T) {
	reference := parsed(t, "consumer://192.0.2.9/com.example.DemoService?interface=com.example.DemoService&group=g1&version=1.0.0&timeout=3000")
	providers, err := ParseList("dubbo://127.0.0.1:20880; dubbo://127.0.0.1:20881 ;")
	require.NoError(t, err)
	require.Len(t, providers, 2)
	for i, p := range providers {
		u := Merge(p, reference)
		assert.Equal(t, 20880+i, u.Port())
		assert.Equal(t, "com.example.DemoService", u.Path())
		assert.Equal(t, "g1/com.example.DemoService:1.0.0", u.ServiceKey())
		m, problems := CompileMethod(u, "sayHello")
		assert.Empty(t, problems)
		assert.Equal(t, 3*time.Second, m.Timeout)
	}
}

func TestB174_WildcardsGiveWay(t *testing.T) {
	reference := parsed(t, "consumer://192.0.2.9/com.example.BarService?group=*&version=*")
	u := Merge(parsed(t, "dubbo://192.0.2.10:20880/com.example.BarService?group=g1&version=v1"), reference)
	assert.Equal(t, "g1/com.example.BarService:v1", u.ServiceKey())
	bare := Merge(parsed(t, "dubbo://192.0.2.10:20880/com.example.BarService"), reference)
	assert.Equal(t, "com.example.BarService", bare.ServiceKey(), "no wildcard goes onto the wire")
}

func TestB194_NoSecretsInTexts(t *testing.T) {
	u := parsed(t, "zookeeper://user:hunter2@192.0.2.1:2181/x?token=hunter2&m.token=hunter2&password=hunter2&ssl.key-password=hunter2"+
		"&secretAccessKey=hunter2&accessKeyId=hunter2&monitor=dubbo%3A%2F%2Fu%3Ahunter2%40h&owner=me&timeout=abc&empty.token=")
	texts := []string{u.String(), Redact(u.Full()), Redact(u.Encode()), Redact(strings.TrimPrefix(u.Full(), "zookeeper://"))}
	for _, p := range append(Validate(u), Warnings(u)...) {
		texts = append(texts, p.Error())
	}
	_, err := Parse(u.Full() + "&\xff")
	require.Error(t, err)
	_, err2 := ParseEncoded(u.Encode() + "%zz")
	require.Error(t, err2)
	_, err3 := u.WithAddress("", 0).DialAddress()
	require.Error(t, err3)
	_, err4 := u.With("rule", "%zz").ParamDecoded("rule")
	require.Error(t, err4)
	_, err5 := ParseList("zookeeper://u:hunter2@h:x;zookeeper://u:hunter2@h:y?a=1;zookeeper://v:hunter2@h")
	require.Error(t, err5)
	texts = append(texts, err.Error(), err2.Error(), err3.Error(), err4.Error(), err5.Error())
	for _, text := range texts {
		assert.NotContains(t, text, "hunter2")
		assert.Contains(t, text, mask)
	}
	assert.Contains(t, u.String(), "192.0.2.1:2181/x?accessKeyId=***&empty.token=&m.token=***&monitor=***&owner=me&")
	assert.True(t, strings.HasPrefix(u.String(), "zookeeper://192.0.2.1"))
}
