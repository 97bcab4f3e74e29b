package url

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func addVectors(f *testing.F) {
	v := loadVectors(f)
	for _, rows := range [][]struct {
		In, Plain string
		Want      wanted
	}{v.Plain, v.Znode, v.ZnodeRaw} {
		for _, r := range rows {
			f.Add(r.In)
			f.Add(r.Plain)
		}
	}
	f.Add("zookeeper://user:pa?ss=x@192.0.2.1:2181")
	f.Add("dubbo://fe80::1%25en0:80/x?a=1;b")
}

// checkParsed holds for every URL that a parser lets through.
func checkParsed(t *testing.T, u URL) {
	ps := u.data().params
	for i, p := range ps {
		require.NotEmpty(t, p.key)
		require.True(t, i == 0 || ps[i-1].key < p.key, "sorted and unique")
	}
	_ = Validate(u)
	_ = Warnings(u)
	_, _ = u.DialAddress()
	_, _, _ = u.Credentials()
	_ = u.Addresses()
	_ = u.ProtocolServiceKey() + u.ColonKey() + u.ExporterKey() + u.String()

	full := u.Full()
	if full == "" || u.Username() == "" && u.Password() != "" || u.Host() == "" && u.Port() > 0 {
		return // Java's text loses these
	}
	again, err := Parse(full)
	require.NoError(t, err, "%q", full)
	require.Equal(t, full, again.Full())
	require.Equal(t, u.Identity(), again.Identity())
	require.Equal(t, u.Host(), again.Host())
	require.Equal(t, u.Port(), again.Port())
	for k, v := range u.Params() {
		require.Equal(t, trim(v), again.Param(k))
	}
	if u.Protocol() != "" {
		encoded, err := ParseEncoded(u.Encode())
		require.NoError(t, err, "%q", full)
		require.True(t, again.Equal(encoded))
	}
}

func FuzzParse(f *testing.F) {
	addVectors(f)
	f.Fuzz(func(t *testing.T, s string) {
		u, err := Parse(s)
		if err != nil {
			require.True(t, u.Equal(URL{}))
			require.Less(t, len(err.Error()), 10000)
			return
		}
		checkParsed(t, u)
	})
}

func FuzzParseEncoded(f *testing.F) {
	addVectors(f)
	f.Fuzz(func(t *testing.T, s string) {
		if u, err := ParseEncoded(s); err == nil {
			require.NotEmpty(t, u.Protocol())
			checkParsed(t, u)
		}
		text, err := Unescape(Escape(s))
		require.Equal(t, strings.ToValidUTF8(s, "") == s, err == nil)
		if err == nil {
			require.Equal(t, s, text)
		}
	})
}

// A part that is bad takes nothing of the rest with it.
func FuzzGoodParametersSurvive(f *testing.F) {
	f.Add("=x&&a=%zz;timeout=abc")
	f.Add("m.timeout=;default.=1&default.default.x=2")
	f.Fuzz(func(t *testing.T, junk string) {
		junk = strings.ToValidUTF8(junk, "")
		if strings.Contains(junk, "timeout") || strings.Contains(junk, "find") || strings.Contains(junk, "methods") {
			return
		}
		u, err := Parse("dubbo://192.0.2.1:20880/a.B?find.timeout=300&" + junk + "&timeout=800")
		require.NoError(t, err)
		encoded, err := ParseEncoded(Escape("dubbo://192.0.2.1:20880/a.B?find.timeout=300&" + junk + "&timeout=800"))
		require.NoError(t, err)
		require.True(t, u.Equal(encoded))
		require.Equal(t, "192.0.2.1:20880", u.Address())
		require.Equal(t, "300", u.MethodParam("find", "timeout"))
		require.Equal(t, "800", u.MethodParam("list", "timeout"))
	})
}

func FuzzMerge(f *testing.F) {
	for _, r := range loadVectors(f).Merge {
		f.Add(r.Provider, New("consumer", "h", 0, "a.B", r.Consumer).Full())
	}
	f.Fuzz(func(t *testing.T, provider, reference string) {
		p, err1 := Parse(provider)
		r, err2 := Parse(reference)
		if err1 != nil || err2 != nil {
			return
		}
		u := Merge(p, r)
		require.Equal(t, mergeModel(mapOf(p), mapOf(r)), mapOf(u))
		require.Equal(t, p.Address(), u.Address())
	})
}

func FuzzCompileMethod(f *testing.F) {
	f.Add("timeout=abc&m.timeout=-5&retries=x&actives=1.5&weight=-1", "m")
	f.Add("hash.arguments=0,2,x&m.hash.nodes=99999999999&return=no&warmup=9h", "m")
	f.Add("methods=a,b&a.timeout=3s&default.retries=0", "a")
	f.Fuzz(func(t *testing.T, query, method string) {
		u, err := Parse("dubbo://192.0.2.1:20880/a.B?" + query)
		if err != nil {
			return
		}
		m, problems := CompileMethod(u, method)
		require.Positive(t, m.Timeout)
		require.GreaterOrEqual(t, min(m.Retries, m.Actives, m.Weight, m.Forks, int(m.Warmup)), 0)
		require.NotEmpty(t, m.HashArguments)
		require.GreaterOrEqual(t, slices.Min(m.HashArguments), 0)
		valid := Validate(u)
		require.LessOrEqual(t, len(valid), len(u.data().params)+1)
		if len(valid) == 0 {
			require.Empty(t, problems)
		}
	})
}

func FuzzRedact(f *testing.F) {
	addVectors(f)
	f.Fuzz(func(t *testing.T, s string) {
		require.Less(t, len(Redact(s)), 4000)
		if strings.ContainsAny(s, "@%;&#|/?=,") {
			return
		}
		require.NotContains(t, Redact("zookeeper://u:"+s+"S3cret@h:1/x?a=b"), "S3cret")
		require.NotContains(t, Redact("zookeeper://h:1/x?token="+s+"S3cret"), "S3cret")
	})
}
