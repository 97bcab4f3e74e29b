package registry

import (
	"bytes"
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/url"
)

var cachedAt = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

func lineOf(service string, providers ...string) cacheLine {
	return cacheLine{Interface: service, Registry: "zookeeper://192.0.2.1:2181", Root: "/dubbo", Time: cachedAt, Providers: providers}
}

// What is written is read, whatever the names hold.
func TestCacheFormatRoundTrip(t *testing.T) {
	text := rapid.StringMatching(`[ -~äß山\n\t"\\<>&]{1,40}`)
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) cacheLine {
			return cacheLine{
				Interface: text.Draw(t, "interface"), Registry: text.Draw(t, "registry"), Root: text.Draw(t, "root"),
				Path: text.Draw(t, "path"), Time: cachedAt.Add(time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "time"))),
				Providers: rapid.SliceOfN(text, 1, 5).Draw(t, "providers"), Routers: rapid.SliceOfN(text, 1, 3).Draw(t, "routers"),
			}
		}), 1, 5).Draw(t, "lines")
		data, left := encodeCache(want, maxCacheFile)
		require.Zero(t, left)
		require.Equal(t, len(want)+1, bytes.Count(data, []byte{'\n'}))
		got, err := decodeCache(data, time.Time{})
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

// However a file is cut, what is whole is used, nothing else, and it is noticed.
func TestCacheFormatTruncated(t *testing.T) {
	lines := []cacheLine{lineOf("a.A", "dubbo://192.0.2.10:1/a.A"), lineOf("b.B", "dubbo://192.0.2.11:1/b.B")}
	data, _ := encodeCache(lines, maxCacheFile)
	for n := 1; n < len(data)-1; n++ { // without its last line break it is whole
		got, err := decodeCache(data[:n], cachedAt)
		require.Error(t, err, "%d bytes", n)
		require.Less(t, len(got), len(lines), "%d bytes", n)
		require.Equal(t, lines[:len(got)], append([]cacheLine{}, got...), "%d bytes", n)
	}
}

func TestCacheFormatDamaged(t *testing.T) {
	head := `{"gofer":"registry cache","format":1,"lists":2}` + "\n"
	good := `{"interface":"a.A","registry":"zookeeper://h:1","root":"/dubbo","time":"2026-03-01T08:00:00Z","providers":["x"]}` + "\n"
	cases := map[string]struct {
		text  string
		lines int
		err   error
		says  string
	}{
		"empty":              {"", 0, nil, ""},
		"good":               {head + good + good, 2, nil, ""},
		"edited by hand":     {head + good + good + good, 3, nil, ""},
		"a line is missing":  {head + good, 1, errDamaged, "1 of 2 lists"},
		"a line is broken":   {head + good + "{\"interface\":\n" + good, 2, errDamaged, "1 of 3 lists"},
		"no interface":       {head + good + `{"providers":["x"]}`, 1, errDamaged, "1 of 2"},
		"no providers":       {head + good + `{"interface":"b.B","providers":[]}`, 1, errDamaged, "1 of 2"},
		"providers no texts": {head + good + `{"interface":"b.B","providers":[1]}`, 1, errDamaged, "1 of 2"},
		"bad time":           {head + good + `{"interface":"b.B","time":"yesterday","providers":["x"]}`, 1, errDamaged, "1 of 2"},
		"zeros":              {strings.Repeat("\x00", 4096), 0, errForeign, "no cache file"},
		"a later version":    {`{"gofer":"registry cache","format":2}` + "\n" + good, 0, errForeign, "format 2"},
		"other JSON":         {`{"name":"x"}`, 0, errForeign, "no cache file"},
		"other properties":   {"# mine\ndubbo.application.name=shop\nserver=http://h/x\n", 0, errForeign, "no cache file"},
		"prose":              {"Dear diary,\ntoday: nothing", 0, errForeign, "no cache file"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			lines, err := decodeCache([]byte(c.text), cachedAt)
			assert.Len(t, lines, c.lines)
			if c.err == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, c.err)
			assert.ErrorContains(t, err, c.says)
		})
	}
}

// What does not fit is left out; smaller lists behind it are not.
func TestCacheFormatSize(t *testing.T) {
	big := lineOf("big.B", strings.Repeat("x", 5000))
	lines := []cacheLine{lineOf("a.A", "x"), big, lineOf("c.C", "y")}
	data, left := encodeCache(lines, 2000)
	assert.Equal(t, 1, left)
	assert.LessOrEqual(t, len(data), 2000)
	got, err := decodeCache(data, cachedAt)
	require.NoError(t, err)
	assert.Equal(t, []cacheLine{lines[0], lines[2]}, got)
}

// A bad entry is left out alone, and named without its secrets.
func TestCacheLineSnapshot(t *testing.T) {
	good := parse(t, provided("192.0.2.10:20880", "token=s3cret"))
	l := lineOf(iface, good.Encode(), provided("192.0.2.11:20880", ""), "dubbo%3A%2F%2Fhost%3Anoport%2Fx%3Ftoken%3Ds3cret", "%zz", "")
	l.Configurators, l.Routers, l.Path = []string{"c"}, []string{"r"}, "/dubbo/x/providers"
	s := l.snapshot()
	require.Len(t, s.Providers, 2)
	assert.True(t, s.Providers[0].URL.Equal(good))
	assert.Equal(t, good.Encode(), s.Providers[0].Raw, "as registered: the live entry is the same")
	assert.Equal(t, "192.0.2.11:20880", s.Providers[1].URL.Address())
	assert.Equal(t, 3, s.RejectedCount)
	for _, r := range s.Rejected {
		assert.NotContains(t, r.Raw+r.Reason, "s3cret")
	}
	assert.Equal(t, []string{"c"}, s.Configurators)
	assert.Equal(t, []string{"r"}, s.Routers)
	assert.Equal(t, cachedAt, s.Read)
	assert.True(t, s.Stale && s.Cached)
	assert.Equal(t, "/dubbo/x/providers", s.Path)
}

// Files that Java consumers of the nodes in registered.txt have written.
func TestJavaCache(t *testing.T) {
	nodes := map[string][]string{} // directory → names
	text, err := os.ReadFile("testdata/cache/registered.txt")
	require.NoError(t, err)
	for node := range strings.FieldsSeq(string(text)) {
		nodes[path.Dir(node)] = append(nodes[path.Dir(node)], path.Base(node))
	}
	read := func(version string) map[string]cacheLine {
		data, err := os.ReadFile("testdata/cache/java-" + version + ".cache")
		require.NoError(t, err)
		lines, err := decodeCache(data, cachedAt)
		require.ErrorIs(t, err, errJava)
		out := map[string]cacheLine{}
		for _, l := range lines {
			assert.Equal(t, cachedAt, l.Time)
			assert.NotContains(t, out, l.Interface)
			out[l.Interface] = l
		}
		return out
	}
	t.Run("2.7.23", func(t *testing.T) { // keeps the URLs as they are
		got := read("2.7.23")
		require.Len(t, got, 2, "without the service that has no provider")
		for service, l := range got {
			assert.ElementsMatch(t, nodes["/dubbo/"+service+"/providers"], l.Providers)
			assert.ElementsMatch(t, nodes["/dubbo/"+service+"/configurators"], l.Configurators)
			assert.ElementsMatch(t, nodes["/dubbo/"+service+"/routers"], l.Routers)
		}
	})
	t.Run("3.3.6", func(t *testing.T) { // leaves out timestamp, adds check
		got := read("3.3.6")
		require.Len(t, got, 2)
		for service, l := range got {
			var want, have []string
			for _, name := range nodes["/dubbo/"+service+"/providers"] {
				u, err := url.ParseEncoded(name)
				require.NoError(t, err)
				want = append(want, u.Without("timestamp").Encode())
			}
			for _, e := range l.snapshot().Providers {
				have = append(have, e.URL.Without("check").Encode())
			}
			assert.ElementsMatch(t, want, have)
			assert.ElementsMatch(t, nodes["/dubbo/"+service+"/routers"], l.Routers)
		}
	})
	t.Run("2.6.12", func(t *testing.T) { // has one service
		got := read("2.6.12")
		require.Len(t, got, 1)
		assert.Equal(t, nodes["/dubbo/com.example.StockService/providers"], got["com.example.StockService"].Providers)
	})
}

func TestJavaProperties(t *testing.T) {
	text := "# comment\r\n\r\n  ! another\r\n" +
		"a=1\nb:2\nc 3\nd\n e \t=\t f\\\n   g\\\r\n\th\n" +
		"k\\=\\:\\ k = v\\\\ \\\n" + "\n" + `u=\u00FC\u5c71\n\tx\q\u12` + "\n" + "latin=\xfc\n" + `end=\`
	var got []string
	for k, v := range javaProperties([]byte(text)) {
		got = append(got, k+"→"+v)
	}
	assert.Equal(t, []string{
		"a→1", "b→2", "c→3", "d→", "e→fgh", "k=: k→v\\ " + "u=ü山\n\txqu12", "latin→ü", "end→",
	}, got)
	for range javaProperties([]byte(text)) {
		break // may be left
	}
}

func FuzzReadCache(f *testing.F) {
	data, _ := encodeCache([]cacheLine{lineOf("a.A", provided("192.0.2.10:20880", "token=x"))}, maxCacheFile)
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte(`g/a.B\:1=dubbo\://192.0.2.1\:1/a.B?x\=\u00fc empty\://h/a.B`))
	for _, name := range []string{"java-2.6.12", "java-2.7.23", "java-3.3.6"} {
		text, err := os.ReadFile("testdata/cache/" + name + ".cache")
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, err := decodeCache(data, cachedAt)
		if err != nil {
			require.True(t, errors.Is(err, errDamaged) || errors.Is(err, errJava) || errors.Is(err, errForeign), "%v", err)
		}
		for _, l := range lines {
			require.NotEmpty(t, l.Interface)
			require.NotEmpty(t, l.Providers)
			for _, e := range l.snapshot().Providers {
				require.NotEmpty(t, e.Raw)
			}
		}
		// What was read from any file can be written, and is the same when read again.
		kept := slices.DeleteFunc(slices.Clone(lines), func(l cacheLine) bool { return l.Time.Year() < 0 || l.Time.Year() > 9999 })
		again, left := encodeCache(kept, maxCacheFile)
		require.Zero(t, left)
		got, err := decodeCache(again, time.Time{})
		require.NoError(t, err)
		require.Len(t, got, len(kept))
		for i := range got {
			require.True(t, got[i].Time.Equal(kept[i].Time))
			require.Equal(t, kept[i].Providers, got[i].Providers)
			require.Equal(t, kept[i].Interface, got[i].Interface)
		}
	})
}
