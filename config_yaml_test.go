package gofer

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// flat is what a YAML text flattens to: "key=value@line".
func flat(t *testing.T, text string) []string {
	t.Helper()
	documents, found := parseYAML([]byte(text))
	require.Empty(t, found.problems)
	var out []string
	for i, d := range documents {
		if i > 0 {
			out = append(out, "---")
		}
		for _, p := range d {
			out = append(out, fmt.Sprintf("%s=%s@%d", p.key, p.value, p.origin.Line))
		}
	}
	return out
}

func TestYAML(t *testing.T) {
	cases := []struct {
		name, text string
		want       []string
	}{
		{"nested and dotted", "a:\n  b.c: 1\n  d: {e: x, f: }\n", []string{"a.b.c=1@2", "a.d.e=x@3", "a.d.f=@3"}},
		{"scalars stay as written", "a: 010\nb: 1.10\nc: 0x10\nd: yes\ne: ~\nf: '~'\ng: 3s\n", []string{"a=010@1", "b=1.10@2", "c=0x10@3", "d=yes@4", "e=@5", "f=~@6", "g=3s@7"}},
		{"texts of several lines", "a: |\n  x\n  y\nb: >-\n  x\n  y\n", []string{"a=x\ny\n@1", "b=x y@4"}},
		{"lists", "a: [x, y]\nb:\n- c: 1\n- c: 2\n", []string{"a[0]=x@1", "a[1]=y@1", "b[0].c=1@3", "b[1].c=2@4"}},
		{"keys in brackets", "a:\n  '[b.c]': 1\n", []string{"a[b.c]=1@2"}},
		{"documents", "a: 1\n---\na: 2\n", []string{"a=1@1", "---", "a=2@3"}},
		{"aliases", "a: &x {b: 1}\nc: *x\n", []string{"a.b=1@1", "c.b=1@1"}},
		{"aliases as keys", "a: &x b\n*x : 1\n", []string{"a=b@1", "b=1@2"}},
		{"merge", "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  b: 3\n", []string{"a.b=1@1", "a.c=2@1", "d.c=2@1", "d.b=3@4"}},
		{"merge of several, the first counts", "d:\n  <<: [{b: 1}, {b: 2, c: 3}]\n", []string{"d.b=2@2", "d.c=3@2", "d.b=1@2"}},
		{"Dubbo's pairs", "p: [{k1:v1},{k2: v2}, {\"k3:v3\": }]\n", []string{"p[0].k1=v1@1", "p[1].k2=v2@1", "p[2].k3:v3=@1"}},
		{"empty", "", nil},
		{"only a comment", "# nothing\n", nil},
		{"numbers as keys", "1: a\ntrue: b\n", []string{"1=a@1", "true=b@2"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, flat(t, c.text)) })
	}
}

// What is not YAML is an error in the right line, and shows nothing of the text.
func TestYAMLErrors(t *testing.T) {
	const head = "dubbo:\n  application:\n    name: shop\n"
	cases := []struct {
		name, text string
		line       int
		reason     string
	}{
		{"tab", head + "  consumer:\n\ttimeout: s3cret\n", 5, "cannot start any token"},
		{"two colons", head + "  consumer: s3cret: b\n", 4, "mapping values are not allowed"},
		{"indentation", head + "   consumer: s3cret\n", 4, "indentation"},
		{"open bracket", head + "  consumer: {token: s3cret\n  a: b\n", 4, "brackets"},
		{"open quote", head + "  token: \"s3cret\n  a: b\n", 4, "unexpected end"},
		{"unknown alias", head + "  token: *s3cret\n", 4, "put it in quotes"},
		{"in the first line", "dubbo: [s3cret\n", 1, "brackets"},
		{"in a second document", head + "---\na: b\n c: s3cret\n", 6, "mapping values"},
		{"list and mapping", head + "  a:\n    - s3cret\n    b: c\n", 6, "indentation"},
		{"key set twice", "dubbo:\n  token: a\n  token: s3cret\n", 3, "dubbo.token: set twice, first in line 2"},
		{"list as a key", "dubbo:\n  ? [s3cret]\n  : b\n", 2, "a key must be a text"},
		{"only a text", "s3cret\n", 1, "a text where keys are expected"},
		{"merge of a text", "dubbo:\n  <<: s3cret\n", 2, "<< must name a mapping"},
		{"loop", "a: &a\n  b: *a\n", 2, "deeper than"},
		{"loop of merges", "a: &a\n  <<: *a\n", 1, "deeper than"},
		{"many lists", strings.Repeat("[", 100) + strings.Repeat("]", 100), 1, "deeper than"},
		{"not UTF-8", head + "  a: \"\xff\"\n", 4, "not UTF-8"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inFolder(t, "application.yml", c.text)
			cfg, err := Load("application.yml")
			require.Error(t, err)
			assert.Nil(t, cfg)
			assert.Contains(t, err.Error(), fmt.Sprintf("application.yml:%d: ", c.line))
			assert.Contains(t, err.Error(), c.reason)
			assert.NotContains(t, err.Error(), "s3cret")
		})
	}
}

// Aliases of aliases stop at a bound instead of filling the memory.
func TestYAMLBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	documents, found := parseYAML([]byte(b.String()))
	require.Len(t, found.problems, 1)
	assert.Contains(t, found.problems[0].Reason, "more than 50000 values")
	assert.LessOrEqual(t, len(documents[0]), yamlNodes)
}

func FuzzYAML(f *testing.F) {
	for _, seed := range []string{
		twoReferencesYAML, "a: &x {b: [1, {c: d}]}\n<<: *x\n---\n[]\n", "p: [{k1:v1}]\n", "a: &a\n  <<: [*a, {b: c}]\n", "? {a: b}\n: c\n",
		"&a : *a\n", "*a : b\n", "a: |\n  x\n", "%YAML 1.1\n---\n!!map {a: !!int 3}\n", "{a: b, <<: {c: d}}", "? \"a\"", "a:\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		documents, found := parseYAML(data)
		lines := 1 + strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + 2*strings.Count(string(data), "\u2028") +
			strings.Count(string(data), "\u2029") + strings.Count(string(data), "\u0085")
		for _, d := range documents {
			assert.LessOrEqual(t, len(d), yamlNodes)
			for _, p := range d {
				assert.True(t, p.origin.Line >= 1 && p.origin.Line <= lines, "line %d of %d", p.origin.Line, lines)
			}
			_, _ = foldLists(d)
		}
		for _, p := range found.problems {
			assert.True(t, p.Origin.Line >= 1 && p.Origin.Line <= lines+1, "line %d of %d: %s", p.Origin.Line, lines, p.Reason)
			assert.NotEmpty(t, p.Reason)
		}
	})
}

// FuzzLoad reads any text as each kind of file: it is refused with places, or its
// references can be referred to; secrets never show.
func FuzzLoad(f *testing.F) {
	f.Add(twoReferencesYAML)
	f.Add(twoReferencesProperties)
	f.Add("dubbo.reference.com.example.A.x.version=1\ndubbo.a.B.c.timeout=3\ndubbo.registries.a.address=zookeeper://h:1\n")
	f.Add("dubbo: {references: {a: {interface: a.B, methods: [{name: x, retries: 1}], parameters: [{k1:v1}], url: 'dubbo://h:1;dubbo://h:2'}}}\n")
	f.Add("dubbo.references[x.y].interface=${a:${b:c.D}}\na=${a}\n")
	f.Add("dubbo.consumers.a.b=1\ndubbo.registry.address=a|b\ndubbo.registry.port=x\ndubbo.consumer.parameters=[{a:b},{c:d}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"application.yml", "application.properties", "dubbo.properties"} {
			const secret = "S3CR3T-9"
			tail := "\ndubbo.registry.password: " + secret + "\ndubbo.consumer.parameters.pasword: " + secret + "\n"
			properties, found := parseConfigFile(name, text+tail)
			cfg := (&Config{files: []string{name}, env: environment{}, properties: properties, reading: found}).bind(true)
			all, err := texts(append(found.problems, cfg.bound.problems...)), cfg.bound.err()
			for _, line := range append(all, texts(cfg.Warnings())...) {
				assert.True(t, strings.HasPrefix(line, name+":"), "no place: %s", line)
				assert.NotContains(t, line, secret)
			}
			for _, id := range cfg.References() {
				settings, explainErr := cfg.Explain(id)
				require.NoError(t, explainErr)
				for _, s := range settings {
					assert.NotContains(t, s.String(), secret)
				}
				if r, _ := cfg.find(id); err == nil {
					d, err := parseDeclaration(r.text, "10.0.0.1")
					require.NoError(t, err, r.text)
					assert.Equal(t, r.name, d.url.Interface())
				}
			}
		}
	})
}

// Errors of files are errors of Load, all of them in one, and nothing is left half
// loaded.
func TestLoadFileErrors(t *testing.T) {
	inFolder(t, "good.yml", twoReferencesYAML, "bad.yml", "a: [\n", "bad.properties", "a=b\nc=\\uzzzz\n", "config.json", "{}", "large.yml", strings.Repeat("# comment\n", 200_000))
	require.NoError(t, os.Mkdir("folder.yml", 0o700))
	cfg, err := Load("good.yml", "bad.yml", "missing.yml", "bad.properties", "config.json", "folder.yml", "large.yml")
	require.Error(t, err)
	assert.Nil(t, cfg)
	for _, w := range []string{
		"6 problems", "bad.yml:1: not YAML", "missing.yml: no such file", "bad.properties:2: c: \\u must be", "config.json: unknown kind of file", ".yml", "folder.yml: cannot be read", "large.yml: larger than 1048576 bytes",
	} {
		assert.Contains(t, err.Error(), w)
	}
	var list *ConfigError
	require.ErrorAs(t, err, &list)
	assert.Len(t, list.Problems, 6)
}
