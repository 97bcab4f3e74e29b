package url

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseErrors(t *testing.T) {
	for in, reason := range map[string]string{
		"":                                   "empty",
		" \t ":                               "empty",
		"dubbo://h\xff:1/a.B":                "UTF-8",
		"://h:1/a.B":                         "missing protocol",
		":/a.B":                              "missing protocol",
		"dubbo://h:abc/a.B":                  `port "abc"`,
		"dubbo://h:0x10/a.B":                 `port "0x10"`,
		"dubbo://h:99999999999/a.B":          `port "99999999999"`,
		"dubbo://h: 80/a.B":                  `port " 80"`,
		"dubbo://h:/a.B":                     `port ""`,
		"dubbo://${zk.host}:2181":            `character '$'`,
		"dubbo://h name:1/a.B":               `character ' '`,
		"a=1&b=2":                            `character '='`,
		"dubbo://a:b:1/a.B":                  "neither a name nor an IPv6 address",
		"dubbo://1:2:3:4:5:6:7:8:9:1/a.B":    "neither a name nor an IPv6 address",
		"dubbo://[::1/a.B":                   "not an IPv6 address",
		"dubbo://[h]:1/a.B":                  "not an IPv6 address",
		"dubbo://[::1]x/a.B":                 "not a port",
		"dubbo://[::1]:x/a.B":                "not a port",
		"dubbo://[::1]:/a.B":                 "not a port",
		"zookeeper://a:1,b:x,c:1":            `port "x"`,
		"zookeeper://a:1,:2":                 "no host",
		"zookeeper://a:1,b c,d:1":            `character ' '`,
		"dubbo://h:1/" + "x@y":               "%2F",
		"dubbo://h:1?x@y=1":                  "%3F",
		"dubbo://h:abc?" + "x=" + long + "@": "%3F",
	} {
		_, err := Parse(in)
		var parse *ParseError
		require.ErrorAs(t, err, &parse, in)
		assert.Contains(t, parse.Reason, reason, in)
		assert.Less(t, len(err.Error()), 4000)
	}
}

var long = strings.Repeat("x", 100000)

func TestParseEncodedErrors(t *testing.T) {
	for in, reason := range map[string]string{
		"":                               "empty",
		"foo":                            "missing protocol",
		"h%3A1%2Fa.B":                    "missing protocol",
		"dubbo%253A%252F%252Fh":          "character '%'",
		"dubbo%3A%2F%2Fh%3Ax":            `port "x"`,
		"dubbo%3A%2F%2Fh%3Fa%3D%4":       `bad escape "%4" at byte 22`,
		"dubbo%3A%2F%2Fh%3Fa%3D%":        `bad escape "%"`,
		"dubbo%3A%2F%2Fh%3Fa%3D%gg":      `bad escape "%gg"`,
		"dubbo%3A%2F%2Fh%3Fa%3D%C3":      "UTF-8",
		"dubbo%3A%2F%2Fh%3Fa%3D%C3%28%9": "bad escape",
	} {
		_, err := ParseEncoded(in)
		var parse *ParseError
		require.ErrorAs(t, err, &parse, in)
		assert.Contains(t, parse.Reason, reason, in)
	}
}

func TestParseKeepsWhatIsGood(t *testing.T) {
	u := parsed(t, "dubbo://192.0.2.1:20880/a.B?timeout=abc&=lost&&weight=5;retries=1&x&weight=abc&group=g1&timeout=800")
	assert.Equal(t, "dubbo://192.0.2.1:20880/a.B?group=g1&retries=1&timeout=800&weight=abc&x=", u.Full())
	assert.Equal(t, "abc", u.Param("weight"), "a bad value is kept for whoever reports it")
}

func TestProtocolMarkerInThePath(t *testing.T) {
	u := parsed(t, "192.0.2.1:20880/ctx/a://b")
	assert.Equal(t, "", u.Protocol())
	assert.Equal(t, "ctx/a://b", u.Path())
	assert.Equal(t, "192.0.2.1:20880/ctx/a://b", u.Full())
}

func TestParseList(t *testing.T) {
	urls, err := ParseList("zookeeper://a:2181?backup=b:2181 ; zookeeper://c:2181 | ;d:2181,e:2181")
	require.NoError(t, err)
	require.Len(t, urls, 3)
	assert.Equal(t, []string{"a:2181", "b:2181"}, urls[0].Addresses())
	assert.Equal(t, "zookeeper://c:2181", urls[1].Full())
	assert.Equal(t, []string{"d:2181", "e:2181"}, urls[2].Addresses())

	urls, err = ParseList("zookeeper://a:x;zookeeper://b:2181;zookeeper://c:y")
	require.Len(t, urls, 1, "good ones are kept")
	assert.Equal(t, "b:2181", urls[0].Address())
	require.ErrorContains(t, err, `"x"`)
	require.ErrorContains(t, err, `"y"`)

	urls, err = ParseList(" ;| ")
	require.NoError(t, err)
	assert.Empty(t, urls)
}

func TestDialAddress(t *testing.T) {
	for in, want := range map[string]string{
		"dubbo://h:1/a.B":             "h:1",
		"dubbo://h:65535/a.B":         "h:65535",
		"dubbo://[::1]:80/a.B":        "[::1]:80",
		"dubbo://::1:80/a.B":          "[::1]:80",
		"dubbo://[fe80::1%25e0]:80/x": "[fe80::1%e0]:80",
		"dubbo://[fe80::1%25]:80/x":   "[fe80::1%25]:80",
	} {
		got, err := parsed(t, in).DialAddress()
		require.NoError(t, err, in)
		assert.Equal(t, want, got, in)
	}
	for in, reason := range map[string]string{
		"dubbo:///a.B":          "no host",
		"dubbo://:20880/a.B":    "no host",
		"dubbo://h/a.B":         "port 0",
		"dubbo://h:-1/a.B":      "port 0",
		"dubbo://h:65536/a.B":   "port 65536",
		"dubbo://a:1,b:2/a.B":   "not one address",
		"dubbo://a,b:2/a.B":     "not one address",
		"dubbo://[::1],h:2/a.B": "not one address",
	} {
		_, err := parsed(t, in).DialAddress()
		require.ErrorContains(t, err, reason, in)
	}
}

func TestAddresses(t *testing.T) {
	u := parsed(t, "zookeeper://a:2181?backup=b,c:2182,b:2181")
	assert.Equal(t, "a:2181", u.Address())
	assert.Equal(t, []string{"b:2181", "c:2182"}, u.Backups())
	assert.Equal(t, []string{"a:2181", "b:2181", "c:2182"}, u.Addresses())
	assert.Equal(t, []string{"a:2181", "b:2181"}, parsed(t, "zookeeper://a,b:2181").Addresses())
	assert.Equal(t, []string{"a", "b"}, parsed(t, "zookeeper://a?backup=b").Addresses(), "no port is known")
}

func TestRedactTakesAnything(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"dubbo://h:1/a.B?x=1":    "dubbo://h:1/a.B?x=1",
		"a\nb\x7f\xff":           "a%0Ab%7F%FF",
		"dubbo://u:p@h:1/a.B":    "dubbo://***@h:1/a.B",
		"u:p@h:1":                "***@h:1",
		"x://h?token=1&a=2;b":    "x://h?token=***&a=2;b",
		"x://h/?a=1;y://u:p@g":   "x://h/?a=1;***",
		"x://h/?a=1;y://u:p@g=1": "x://h/?a=1;***",
		"x://u:p?a=b@h":          "x://***@h",
		"x://u:p/q?a@h:1?b=c":    "x://***@h:1?b=c",
		"x%3A%2F%2Fu%3Ap%40h%3Ftoken%3Dabc%26b%3D%zz": "x://***@h?token=***&b=%zz",
	} {
		assert.Equal(t, want, Redact(in), in)
	}
	assert.Equal(t, "x:///"+strings.Repeat("é", 497)+"…", Redact("x:///"+strings.Repeat("é", 1000)))
	assert.Equal(t, "x://"+strings.Repeat("é", 498)+"…", Redact("x://"+strings.Repeat("é", 1000)), "cut between characters")
}

func TestParamDecoded(t *testing.T) {
	u := parsed(t, "route://0.0.0.0/a.B?rule=host%20%3D%20192.0.2.1+%3D%3E&bad=%zz&none=")
	rule, err := u.ParamDecoded("rule")
	require.NoError(t, err)
	assert.Equal(t, "host = 192.0.2.1 =>", rule)
	none, err := u.ParamDecoded("none")
	require.NoError(t, err)
	assert.Empty(t, none)
	_, err = u.ParamDecoded("bad")
	require.ErrorContains(t, err, `parameter bad: bad escape "%zz" at byte 0`)
}
