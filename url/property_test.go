package url

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Slow models, written from the rules and not from the code.

// methodParamModel builds the whole index of method parameters, as Java does.
func methodParamModel(params map[string]string, method, key string) string {
	index := map[string]string{}
	methods := params["methods"]
	for k, v := range params {
		if methods == "" {
			if m, rest, ok := strings.Cut(k, "."); ok && m != "" {
				index[m+"/"+rest] = v
			}
			continue
		}
		for m := range strings.SplitSeq(methods, ",") {
			if rest, ok := strings.CutPrefix(k, m+"."); ok {
				index[m+"/"+rest] = v
			}
		}
	}
	if v := index[method+"/"+key]; v != "" {
		return v
	}
	return params[key]
}

// mergeModel works on maps, in Java's order: provider, removals, consumer, extras.
func mergeModel(provider, consumer map[string]string) map[string]string {
	out := maps.Clone(provider)
	for _, k := range []string{"threadname", "threadpool", "corethreads", "threads", "queues", "alive", "transporter"} {
		delete(out, k)
		delete(out, "default."+k)
	}
	never := []string{"release", "dubbo", "methods", "timestamp", "remote.timestamp", "dubbo.tag"}
	for k, v := range consumer {
		plain := strings.TrimPrefix(k, "default.")
		kept := slices.Contains([]string{"group", "version", "generic"}, plain) && provider[k] != ""
		wild := slices.Contains([]string{"group", "version"}, plain) && strings.ContainsAny(v, "*,")
		if v != "" && !kept && !wild && !slices.Contains(never, plain) {
			out[k] = v
		}
	}
	if app := provider["application"]; app != "" {
		out["remote.application"] = app
	}
	for _, k := range []string{"reference.filter", "invoker.listener", "default.reference.filter"} {
		if p, c := provider[k], consumer[k]; p != "" && c != "" {
			out[k] = p + "," + c
		}
	}
	return out
}

var (
	keys = rapid.SampledFrom([]string{
		"timeout", "retries", "group", "version", "generic", "methods", "timestamp", "remote.timestamp", "application", "threads",
		"default.threads", "default.timeout", "default.group", "reference.filter", "invoker.listener", "dubbo.tag", "release",
		"m.timeout", "n.timeout", "m.weight", "weight", "warmup", "a.b.c", ".x", "x.", "m.hash.nodes", "hash.arguments", "z", "return", "m", "n",
	})
	values = rapid.OneOf(
		rapid.SampledFrom([]string{"", "1", "m", "m,n", "*", "abc", "-5", "3s", "true", "false", "1.5", "99999999999", "1,2"}),
		rapid.StringMatching(`[a-zA-Z0-9=?%+ /:@#é😀*~_.-]{0,12}`),
	)
	params = rapid.MapOfN(keys, values, 0, 12)
	names  = rapid.SampledFrom([]string{"m", "n", "a", "a.b", "default", "x", "", "hash"})
)

func mapOf(u URL) map[string]string { return maps.Collect(u.Params()) }

func TestMethodParamAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := New("dubbo", "h", 1, "a.B", params.Draw(t, "params"))
		method, key := names.Draw(t, "method"), rapid.SampledFrom([]string{"timeout", "weight", "c", "b.c", "x", ""}).Draw(t, "key")
		require.Equal(t, methodParamModel(mapOf(u), method, key), u.MethodParam(method, key))
	})
}

func TestMergeAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New("dubbo", "h", 1, "a.B", params.Draw(t, "provider"))
		r := New("consumer", "c", 0, "a.B", params.Draw(t, "reference"))
		before := p.Full() + r.Full()
		u := Merge(p, r)
		require.Equal(t, mergeModel(mapOf(p), mapOf(r)), mapOf(u))
		require.True(t, slices.IsSortedFunc(u.data().params, func(a, b param) int { return strings.Compare(a.key, b.key) }))
		require.Equal(t, before, p.Full()+r.Full())
		require.Equal(t, p.Identity(), u.Identity())
		ms, ok := p.StartTime()
		merged, mergedOK := u.StartTime()
		require.Equal(t, ok, mergedOK)
		require.Equal(t, ms, merged)
	})
}

func TestWithAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := params.Draw(t, "params")
		u := New("dubbo", "h", 1, "a.B", start)
		want := mapOf(u)
		kv := rapid.SliceOfN(keys, 0, 8).Draw(t, "pairs")
		kv = kv[:len(kv)/2*2]
		for i := 0; i < len(kv); i += 2 {
			want[kv[i]] = kv[i+1]
		}
		for i := 0; i < len(kv); i += 2 {
			if plain, ok := strings.CutPrefix(kv[i], "default."); ok {
				for k, v := range want { // every default key gets its plain one
					if p, ok := strings.CutPrefix(k, "default."); ok {
						if _, there := want[p]; !there {
							want[p] = v
						}
					}
				}
				require.Contains(t, want, plain)
			}
		}
		got := u.With(kv...)
		require.Equal(t, want, mapOf(got))
		gone := keys.Draw(t, "gone")
		delete(want, gone)
		require.Equal(t, want, mapOf(got.Without(gone)))
	})
}

// What New makes of sane parts comes back from both texts.
func TestRoundTrip(t *testing.T) {
	word := rapid.StringMatching(`[a-zA-Z][a-zA-Z0-9_.-]{0,10}`)
	rapid.Check(t, func(t *rapid.T) {
		host := rapid.OneOf(
			rapid.StringMatching(`[a-z][a-z0-9.-]{0,12}`),
			rapid.SampledFrom([]string{"192.0.2.1", "[2001:db8::1]", "2001:db8::1", "[fe80::1%25eth0]", "fe80:0:0:0:894:aeec:f37d:23e1%en0", "a:1,b:2,c"}),
		).Draw(t, "host")
		values := rapid.StringMatching(`([a-zA-Z0-9=?%+/:@#é😀*~_.-][a-zA-Z0-9=?%+/:@#é😀*~_. -]{0,10}[a-zA-Z0-9=?%+/:@#é😀*~_.-])?`)
		u := New(word.Draw(t, "protocol"), host, rapid.IntRange(1, 65535).Draw(t, "port"), word.Draw(t, "path"),
			rapid.MapOfN(rapid.StringMatching(`[a-zA-Z0-9_.é-]{1,8}`), values, 0, 8).Draw(t, "params"))
		if rapid.Bool().Draw(t, "with user info") {
			u = u.WithUserInfo(word.Draw(t, "user"), rapid.StringMatching(`[a-zA-Z0-9:@%!+]{0,8}`).Draw(t, "password"))
		}
		plain, err := Parse(u.Full())
		require.NoError(t, err)
		require.True(t, u.Equal(plain), "%s\n%s", u.Full(), plain.Full())
		encoded, err := ParseEncoded(u.Encode())
		require.NoError(t, err)
		require.True(t, u.Equal(encoded))
	})
}

// compileModel says what two of the typed fields must be, from the texts alone.
func TestCompileMethodAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := New("dubbo", "h", 1, "a.B", params.Draw(t, "params"))
		method := names.Draw(t, "method")
		m, problems := CompileMethod(u, method)

		timeout := time.Second
		strict := ""
		if method != "" {
			strict = methodParamModel(mapOf(u.Without("timeout")), method, "timeout")
		}
		for _, text := range []string{u.Param("timeout"), strict} {
			if d, err := Duration(text); err == nil && d > 0 {
				timeout = d
			}
		}
		require.Equal(t, timeout, m.Timeout)
		require.GreaterOrEqual(t, m.Retries, 0)
		require.GreaterOrEqual(t, m.Weight, 0)
		require.GreaterOrEqual(t, m.Warmup, time.Duration(0))
		require.NotEmpty(t, m.HashArguments)
		for _, p := range problems {
			row, _ := u.parameterOf(p.Key, ScopeProvider)
			require.NotNil(t, row)
			require.NotEmpty(t, row.Check(u.Param(p.Key)), p)
			require.Empty(t, row.Check(p.Fallback), p)
		}
		if len(Validate(u)) == 0 {
			require.Empty(t, problems, "what validates compiles")
		}
	})
}
