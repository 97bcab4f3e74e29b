package sim

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	s, err := Parse("dir/mine.yml", []byte(`
about: ours
duration: 1m30s
requests: [{mean: 20ms, share: 2}, {mean: 1s, cv: 2, wait: 5ms}]
keys: {count: 10, zipf: 0.5, hot: 0.1}
providers:
  - count: 3
    weight: 50
    params: {warmup: 0, hash.nodes: 320}
    cache: {keys: 5}
  - joins: 0s
    sharing: true
    network: {delay: 5ms}
    cold: {slow: 3, cpu: 1, for: 10s}
    faults: [{at: 1s, for: 2s, error: 0.5}]
`))
	require.NoError(t, err)
	assert.Equal(t, &Scenario{
		Name: "mine", About: "ours", Duration: 90 * time.Second,
		Requests: []Request{{Mean: 20 * time.Millisecond, Share: 2}, {Mean: time.Second, CV: 2, Wait: 5 * time.Millisecond}},
		Keys:     &Keys{Count: 10, Zipf: 0.5, Hot: 0.1},
		Providers: []Provider{
			{Count: 3, Weight: 50, Params: map[string]string{"warmup": "0", "hash.nodes": "320"}, Cache: &Cache{Keys: 5}},
			{
				Joins: At(0), Sharing: true, Network: &Network{Delay: 5 * time.Millisecond},
				Cold:   &Cold{Slow: 3, CPU: 1, For: 10 * time.Second},
				Faults: []Fault{{At: time.Second, For: 2 * time.Second, Error: 0.5}},
			},
		},
	}, s)
}

func TestMistakesAreToldWithFileLineAndKey(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "x.yml:1: the file is empty"},
		{"providers:\n  - wrokers: 4\n", `x.yml:2: providers[0].wrokers: unknown key, did you mean "workers"? (known: cache,`},
		{"providers:\n  - workers: many\n", `x.yml:2: providers[0].workers: "many" is not a whole number`},
		{"providers:\n  - workers: -1\n", `x.yml:2: providers[0].workers: -1 is not between 1 and`},
		{"consumers: 3\nconsumers: 4\n", `x.yml:2: consumers: is here twice, the first time in line 1`},
		{"duration: 60\nproviders: [{}]\n", `x.yml:1: duration: "60" is not a time such as 250ms`},
		{"load: .nan\nproviders: [{}]\n", `x.yml:1: load: ".nan" is not a number`},
		{"providers: 3\n", `x.yml:1: providers: a list is expected here, not "3"`},
		{"providers: [3]\n", `x.yml:1: providers[0]: keys with values are expected here, not "3"`},
		{"keys: [1]\n", "x.yml:1: keys: keys with values are expected here, not a list"},
		{"duration: {}\n", "x.yml:1: duration: a time such as 250ms is expected here, not keys with values"},
		{"- a\n", "x.yml:1: keys with values are expected here, not a list"},
		{"about: none\n", "x.yml:1: providers: there is none"},
		{"providers:\n  - count: 2\n    faults:\n      - at: 1s\n        for: 2s\n", "x.yml:4: providers[0].faults[0]: exactly one of error, slow, pause, kill and leave is needed, not 0"},
		{"providers:\n  - faults:\n      - at: 1s\n        for: 2s\n        slow: 2\n        every: 10s\n", "x.yml:6: providers[0].faults[0].every: is for pauses alone"},
		{"providers:\n  - cold: {slow: 2}\n", "x.yml:2: providers[0].cold.for: is needed"},
		{"providers:\n  - cache: {keys: 2}\n", "x.yml:2: providers[0].cache: there is a cache, but the scenario has no keys"},
		{"consumers: 10000\nproviders:\n  - count: 20000\n", "20000 providers for 10000 consumers are too many"},
		{"duration: 24h\nproviders:\n  - count: 10000\n", "x.yml:1: duration: 24h0m0s at 2800000 requests per second are too many requests"},
		{"providers:\n  - joins: 10s\n", "x.yml:1: load: the cluster has no capacity"},
		{"a: [\n", "x.yml:1: did not find expected node content"},
		{"load: 0.5\nproviders: 'x\n", "x.yml:2: found unexpected end of stream"},
		{"load: 0.5\n\tprovider: 3\n", "x.yml:2: found a tab character that violates indentation"},
		{"load: 0.5\nabout: a\x00b\n", `x.yml:2: character '\x00' is no text`},
		{"load: 0.5\n\nabout: caf\xe9\n", "x.yml:3: byte 0xe9 is no UTF-8 text"},
		{"about: \"\\e[31m\"\nload: \"\\e[31m\"\n", `x.yml:2: load: "\x1b[31m" is not a number`},
		{"\"a\\n\\e[31m\": 1\n", `x.yml:1: "a\n\x1b[31m": unknown key (known: about,`},
		{"'': 2\n", `x.yml:1: "": unknown key (known: about,`},
		{"? [a, b]\n: c\n", "x.yml:1: a key is expected here, not a list"},
		{"load: " + strings.Repeat("9", 500) + "x\n", `x.yml:1: load: "` + strings.Repeat("9", 60) + `…" is not a number`},
		{"a: &a [x]\nb: [*a, *a]\n", "x.yml:1: anchor &a: a scenario has none, write it out"},
		{"providers:\n  - &p {count: 2}\n  - {<<: *p}\n", "x.yml:2: anchor &p"},
		{"network: {delay: 2m}\nproviders: [{}, {}]\n", "x.yml:1: network.delay: 2m0s is not between 0s and 1m0s"},
		{"providers:\n  - network: {delay: 2m}\n", "x.yml:2: providers[0].network.delay: 2m0s is not"},
		{"providers:\n  - count: 9000000000000000000\n  - count: 9000000000000000000\n", "x.yml:3: providers[1].count: 9000000000000000000 is not between 1 and 20000"},
		{"about: a\n---\nabout: b\n", "more than one document"},
	} {
		_, err := Parse("x.yml", []byte(c.text))
		if assert.Error(t, err, c.text) {
			assert.Contains(t, err.Error(), c.want, c.text)
			assert.Regexp(t, toldWell, err.Error(), c.text)
		}
	}
}

// toldWell is how mistakes are told: file and line first, and nothing that a terminal
// would obey.
var toldWell = regexp.MustCompile(`^(x\.yml(:\d+)?: [^\pC]+(\n|$))+$`)

// Each mistake is told once, and that of all only once.
func TestMistakesAreToldOnce(t *testing.T) {
	for text, want := range map[string]int{
		"network: {delay: 2m}\nproviders: [{}, {}, {}]\n":       1,
		"a: &a [*a, *a, *a]\nproviders: *a\n":                   1,
		"load: much\nproviders: [{speed: fast, weight: 1.5}]\n": 3,
	} {
		_, err := Parse("x.yml", []byte(text))
		require.Error(t, err)
		assert.Len(t, strings.Split(err.Error(), "\n"), want, "%s: %v", text, err)
	}
}

// Of many mistakes ten are told.
func TestManyMistakes(t *testing.T) {
	for _, text := range []string{
		"providers:\n" + strings.Repeat("  - {x: 1}\n", 400),      // by the reader
		"providers:\n" + strings.Repeat("  - {speed: -1}\n", 400), // by the check
	} {
		_, err := Parse("x.yml", []byte(text))
		require.Error(t, err)
		lines := strings.Split(err.Error(), "\n")
		require.Len(t, lines, 11)
		assert.Contains(t, lines[9], "x.yml:11: providers[9].")
		assert.Equal(t, "x.yml: and 390 more mistakes", lines[10])
	}
	s := &Scenario{Providers: make([]Provider, 30)}
	for i := range s.Providers {
		s.Providers[i].Speed = -1
	}
	lines := strings.Split(s.Check().Error(), "\n")
	require.Len(t, lines, 11)
	assert.Equal(t, "scenario: providers[9].speed: -1 is not between 0.001 and 1000", lines[9])
	assert.Equal(t, "scenario: and 20 more mistakes", lines[10])
}

// The name is that of the file, and never empty.
func TestTheNameOfAScenario(t *testing.T) {
	for file, want := range map[string]string{"dir/mine.yml": "mine", "mine": "mine", ".yml": ".yml", "a.b.yml": "a.b"} {
		s, err := Parse(file, []byte("providers: [{}]\n"))
		require.NoError(t, err)
		assert.Equal(t, want, s.Name)
	}
	s, err := Parse("a\x1b[31mb.yml", []byte("providers: [{}]\n"))
	require.NoError(t, err)
	_, err = Run(t.Context(), s, Options{Policy: "leastlod"})
	assert.ErrorContains(t, err, `scenario "a\x1b[31mb": unknown policy "leastlod", did you mean "leastload"?`)
	_, err = Parse("a\x1b[31mb.yml", nil)
	assert.EqualError(t, err, `"a\x1b[31mb.yml":1: the file is empty`)
}

func TestAllMistakesAreTold(t *testing.T) {
	_, err := Parse("x.yml", []byte("load: much\nproviders:\n  - {speed: fast, weight: 1.5}\n"))
	require.Error(t, err)
	assert.Len(t, strings.Split(err.Error(), "\n"), 3)
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ours.yml")
	require.NoError(t, os.WriteFile(file, []byte("providers: [{count: 2}]\n"), 0o600))
	s, err := Load(file)
	require.NoError(t, err)
	assert.Equal(t, "ours", s.Name)
	_, err = Load(file + "x")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// Whatever the text is: it is refused in a few short lines, or small enough to run.
func FuzzParse(f *testing.F) {
	for _, name := range slices.Concat(Core, More, Hashing) {
		data, err := files.ReadFile("scenarios/" + name + ".yml")
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte("a: &x [*x]\nproviders: *x"))
	f.Add([]byte("settle: 0\nnotify: 0\nrate: 0\nrequests: [{cv: 0, share: 0}]\nproviders: [{weight: 0, count: 0, params: {weight: -1, '': x}}]"))
	f.Add([]byte("long: {each: 1000, lasts: 1ms}\ndeadline: 24h\nproviders: [{count: 20000, faults: [{at: 0s, for: 1ms, every: 2ms, pause: true}]}]"))
	f.Add([]byte("duration: 24h\nload: 10\nproviders: [{count: 99, cold: {slow: 2, for: 1s}, faults: [{at: 0s, for: 24h, stagger: 1s, kill: true}]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("x.yml", data)
		if err != nil {
			require.Regexp(t, toldWell, err.Error())
			require.Less(t, len(err.Error()), 20_000)
			return
		}
		require.NoError(t, s.Check())
		small(t, s)
	})
}

// small asserts that a run of a scenario has bounds.
func small(t require.TestingT, s *Scenario) {
	s = s.filled()
	rate, providers := s.rate(), 0
	for i := range s.Providers {
		providers += s.Providers[i].Count
	}
	require.Positive(t, rate)
	require.LessOrEqual(t, providers*s.Consumers, maxNodes)
	require.LessOrEqual(t, rate*(s.Settle+s.Duration).Seconds(), float64(maxRequests))
	require.GreaterOrEqual(t, rate*s.Duration.Seconds(), float64(minRequests))
	if s.Long != nil {
		require.LessOrEqual(t, s.residents(), float64(maxLong))
	}
}
