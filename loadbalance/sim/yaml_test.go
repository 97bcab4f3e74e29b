package sim

import (
	"os"
	"path/filepath"
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
		{"about: a\n---\nabout: b\n", "more than one document"},
	} {
		_, err := Parse("x.yml", []byte(c.text))
		if assert.Error(t, err, c.text) {
			assert.Contains(t, err.Error(), c.want, c.text)
		}
	}
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

func FuzzParse(f *testing.F) {
	for _, name := range append(append([]string{}, Core...), Hashing...) {
		data, err := files.ReadFile("scenarios/" + name + ".yml")
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte("a: &x [*x]\nproviders: *x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("f.yml", data)
		if err == nil {
			require.NoError(t, s.Check())
			require.Positive(t, s.filled().rate())
		}
	})
}
