package registry

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"
)

func (w *cacheWorld) warnings() []string {
	var out []string
	for _, e := range w.log.FilterLevelExact(zapcore.WarnLevel).All() {
		out = append(out, e.Message+": "+fmt.Sprint(e.ContextMap()["error"]))
	}
	return out
}

// listOnDisk makes a good file with one provider of the interface.
func listOnDisk(t *testing.T, file string, host int) {
	t.Helper()
	w := newCacheWorld(t, file, nil)
	w.subscribe(iface)
	w.lists(host)
	w.Close()
	require.Equal(t, []string{fmt.Sprintf("192.0.2.%d", host)}, onDisk(t, file)[iface])
}

// Whatever lies in the place of the file does no harm: one warning, what can be
// read is used, and the next good list replaces it. What is none of ours is kept.
func TestCacheFileDamaged(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good")
	listOnDisk(t, good, 1)
	data, err := os.ReadFile(good)
	require.NoError(t, err)
	java, err := os.ReadFile("testdata/cache/java-2.7.23.cache")
	require.NoError(t, err)
	javaService := strings.ReplaceAll(string(java), "com.example.StockService", iface)
	cases := map[string]struct {
		content string
		recall  []string
		says    string // the warning
		kept    bool   // as .old
	}{
		"whole":            {content: string(data), recall: []string{"192.0.2.1"}},
		"empty":            {},
		"cut":              {content: string(data[:len(data)-20]), says: "it is damaged: 1 of 1 lists cannot be read"},
		"cut in the head":  {content: string(data[:20]), says: "it is no cache file", kept: true},
		"trailing garbage": {content: string(data) + "\x00\x00", recall: []string{"192.0.2.1"}, says: "it is damaged: 1 of 2 lists cannot be read"},
		"foreign":          {content: "Dear diary,\n", says: "it is no cache file", kept: true},
		"binary":           {content: "\x7fELF\x00\n\xff", says: "it is no cache file", kept: true},
		"Java":             {content: javaService, recall: []string{"192.0.2.9"}, kept: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "lists")
			require.NoError(t, os.WriteFile(file, []byte(c.content), 0o644))
			w := newCacheWorld(t, file, nil)
			assert.Equal(t, c.recall, recalled(t, w.Cache, iface))
			assert.Equal(t, c.recall, recalled(t, w.Cache, iface))
			w.subscribe(iface)
			w.lists(2)
			w.Close()
			got := onDisk(t, file)
			assert.Equal(t, []string{"192.0.2.2"}, got[iface])
			if c.says == "" {
				assert.Empty(t, w.warnings())
			} else {
				assert.Equal(t, []string{cannotRead + ": " + c.says}, w.warnings())
			}
			info, err := os.Stat(file)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
			old, err := os.ReadFile(file + ".old")
			if c.kept {
				require.NoError(t, err)
				assert.Equal(t, c.content, string(old))
			} else {
				assert.ErrorIs(t, err, os.ErrNotExist)
			}
			if name == "Java" {
				assert.Len(t, got["com.example.OrderService"], 4, "services without news are carried over")
			}
			assert.NoFileExists(t, file+".tmp")
		})
	}
}

// The lists of a Java file are as old as the file.
func TestCacheFileJavaAge(t *testing.T) {
	java, err := os.ReadFile("testdata/cache/java-3.3.6.cache")
	require.NoError(t, err)
	for age, want := range map[time.Duration][]string{
		6 * 24 * time.Hour: {"192.0.2.9"},
		8 * 24 * time.Hour: nil,
	} {
		file := filepath.Join(t.TempDir(), "java.cache")
		require.NoError(t, os.WriteFile(file, java, 0o644))
		written := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(file, written, written))
		w := newCacheWorld(t, file, nil)
		assert.Equal(t, want, recalled(t, w.Cache, "com.example.StockService"))
		if s, ok := w.Recall(serviceURL(t, "com.example.StockService")); ok {
			assert.WithinDuration(t, written, s.Read, time.Second)
		}
	}
}

// A crash before the new file is in place leaves the old one, and no trouble.
func TestCacheFileCrash(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lists")
	listOnDisk(t, file, 1)
	w := newCacheWorld(t, file, nil)
	w.store.replace = func(string, string) error { return errors.New("power cut") }
	w.subscribe(iface)
	w.lists(2)
	w.Close()
	assert.Equal(t, []string{cannotWrite + ": power cut"}, w.warnings())
	assert.FileExists(t, file+".tmp", "as the crash left it")
	assert.Equal(t, []string{"192.0.2.1"}, onDisk(t, file)[iface])
	w = newCacheWorld(t, file, nil)
	assert.Equal(t, []string{"192.0.2.1"}, recalled(t, w.Cache, iface))
	listOnDisk(t, file, 3)
	assert.NoFileExists(t, file+".tmp")
	assert.Empty(t, w.warnings())
}

// Of two processes with the same list the newer one counts, whoever writes last.
func TestCacheFileNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "lists")
		cut, fine := newCacheWorld(t, file, nil), newCacheWorld(t, file, nil)
		cut.subscribe(iface)
		cut.lists(1)
		cut.registry.deliver(iface, Snapshot{Stale: true}) // its connection is lost
		time.Sleep(time.Hour)
		fine.subscribe(iface)
		fine.lists(2)
		fine.Close()
		cut.Close()
		assert.Equal(t, []string{"192.0.2.2"}, onDisk(t, file)[iface])
	})
}

// A file as large as no cache file gets is not even read.
func TestCacheFileTooLarge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lists")
	listOnDisk(t, file, 1)
	require.NoError(t, os.Truncate(file, maxCacheFile+1)) // sparse
	w := newCacheWorld(t, file, nil)
	assert.Nil(t, recalled(t, w.Cache, iface))
	require.Len(t, w.warnings(), 1)
	assert.Contains(t, w.warnings()[0], "it holds 64 at most")
	w.store.size = 1000
	w.subscribe(iface)
	w.lists(2)
	w.subscribe("a.A")
	w.registry.deliver("a.A", w.entries.snapshot("dubbo://192.0.2.10:1/a.A?x="+strings.Repeat("x", 2000)))
	w.Close()
	assert.Equal(t, map[string][]string{iface: {"192.0.2.2"}}, onDisk(t, file))
	assert.Contains(t, w.warnings()[len(w.warnings())-1], "1 lists are left out")
}

func TestCacheFileName(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	name := func(cfg CacheConfig, address string) string {
		r := newFakeRegistry()
		r.state.Address = address
		c, err := NewCache(r, cfg)
		require.NoError(t, err)
		return c.File()
	}
	const two = "zookeeper://10.0.0.1:2181,[2001:db8::1]:2181"
	base := name(CacheConfig{Application: "shop-web", Root: "dubbo"}, two)
	assert.Equal(t, filepath.Join(home, ".gofer", "registry"), filepath.Dir(base))
	assert.Regexp(t, `^shop-web-10\.0\.0\.1-2181--2001-db8--1--2181-dubbo-[0-9a-f]{8}\.jsonl$`, filepath.Base(base))
	assert.Equal(t, base, name(CacheConfig{Application: "shop-web", Root: "/dubbo/"}, "zookeeper://[2001:db8::1]:2181,10.0.0.1:2181"))
	seen := map[string]bool{base: true}
	for _, c := range []struct{ application, root, address string }{
		{"shop.web", "dubbo", two}, {"shop-web", "", two}, {"shop-web", "prod", two}, {"shop-web", "a/b", two}, {"shop-web", "a-b", two},
		{"shop-web", "dubbo", "zookeeper://10.0.0.1:2181"}, {"山", "dubbo", two}, {"田", "dubbo", two}, {"../../etc", "dubbo", two},
		{strings.Repeat("x", 500), "dubbo", two}, {strings.Repeat("x", 501), "dubbo", two},
	} {
		path := name(CacheConfig{Application: c.application, Root: c.root}, c.address)
		assert.False(t, seen[path], "%v: %s", c, path)
		seen[path] = true
		assert.Equal(t, filepath.Dir(base), filepath.Dir(path))
		assert.Less(t, len(filepath.Base(path)), 200)
	}
	assert.Equal(t, filepath.Join(home, "x", "y"), name(CacheConfig{File: "~/x/y"}, two))
	assert.Equal(t, "/x/~/y", name(CacheConfig{File: "/x/~/y"}, two))

	t.Setenv("HOME", "")
	_, err := NewCache(newFakeRegistry(), CacheConfig{Application: "shop-web"})
	assert.ErrorContains(t, err, "cache file: ")
}

// Files of registries that are gone go from the default folder, and nothing else.
func TestCacheFileClean(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	dir := filepath.Join(home, ".gofer", "registry")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	put := func(name string, age time.Duration) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		then := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(path, then, then))
		return path
	}
	const week = 7 * 24 * time.Hour
	gone := []string{put("a.jsonl", 2*week), put("a.jsonl.tmp", 2*week)}
	stay := []string{put("b.jsonl", week-time.Hour), put("b.jsonl.old", 2*week), put("mine.txt", 2*week)}
	write := func(file string) {
		w := newCacheWorld(t, file, nil)
		w.subscribe(iface)
		w.lists(1)
		w.Close()
		assert.FileExists(t, w.File())
	}
	write(filepath.Join(dir, "own.jsonl"))
	for _, path := range gone {
		assert.FileExists(t, path, "a folder of the user's is left alone")
	}
	write("")
	for _, path := range gone {
		assert.NoFileExists(t, path)
	}
	for _, path := range stay {
		assert.FileExists(t, path)
	}
}

// writeCacheFor ever is what a process of [TestCacheFileKill] does: it changes lists
// as fast as they can be written, and says so after each write.
func writeCacheFor(service, file string) {
	r := newFakeRegistry()
	c, err := NewCache(r, CacheConfig{File: file, Root: "dubbo"})
	if err != nil {
		panic(err)
	}
	for i := 1; ; i++ {
		s := Snapshot{Read: time.Now()}
		for range 1 + i%500 {
			s.Providers = append(s.Providers, &Entry{Raw: fmt.Sprintf("dubbo://192.0.2.1:%d/%s", i, service)})
		}
		c.record(service, s)
		if c.write() {
			fmt.Println(i)
		}
	}
}

// Processes that share a file and are killed while they write leave a whole one,
// with a list of each.
func TestCacheFileKill(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lists")
	services := []string{"a.A", "b.B"}
	for round := range 4 {
		var children []*exec.Cmd
		for _, service := range services {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), cacheWriterEnv+"="+service+" "+file)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			children = append(children, cmd)
			lines := bufio.NewScanner(out)
			for range 20 + round {
				require.True(t, lines.Scan(), "writes")
			}
			go func() { // until it is killed
				for lines.Scan() {
				}
			}()
		}
		for range 50 {
			onDisk(t, file) // never anything but whole
		}
		for _, cmd := range children {
			require.NoError(t, cmd.Process.Kill())
			require.Error(t, cmd.Wait())
		}
		lists := onDisk(t, file)
		for _, service := range services {
			assert.NotEmpty(t, lists[service])
		}
	}
	listOnDisk(t, file, 1)
	assert.Len(t, onDisk(t, file), 3)
}

// B194: the file holds the providers' tokens and is for its owner alone; nothing
// else shows them.
func TestCacheSecrets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sub")
	w := newCacheWorld(t, filepath.Join(dir, "lists"), nil)
	w.subscribe(iface)
	w.registry.deliver(iface, Snapshot{Read: time.Now(), Providers: []*Entry{
		{Raw: "dubbo%3A%2F%2Fhost%3Anoport%2Fx%3Ftoken%3Ds3cret"}, {Raw: provided("192.0.2.10:20880", "token=s3cret")},
	}})
	w.Close()
	for path, want := range map[string]os.FileMode{w.File(): 0o600, dir: 0o700} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode().Perm(), path)
	}
	data, err := os.ReadFile(w.File())
	require.NoError(t, err)
	assert.Contains(t, string(data), "s3cret", "needed for calls")

	w = newCacheWorld(t, w.File(), nil)
	assert.Equal(t, []string{"192.0.2.10"}, recalled(t, w.Cache, iface))
	require.Len(t, w.log.FilterMessageSnippet("left out").All(), 1)
	for _, e := range w.log.All() {
		assert.NotContains(t, fmt.Sprint(e.Message, e.ContextMap()), "s3cret")
	}
	s, _ := w.Recall(serviceURL(t, iface))
	assert.Equal(t, 1, s.RejectedCount)
	assert.NotContains(t, fmt.Sprint(s.Rejected), "s3cret")
	assert.Len(t, w.log.FilterMessageSnippet("left out").All(), 1, "said once")
	assert.False(t, strings.Contains(w.source, "@"))
}

// BenchmarkCache is the cost of a file with 10,000 providers: once at a start
// without registry, and every ten seconds at most while they change.
func BenchmarkCache(b *testing.B) {
	var raws []string
	for i := range 10_000 {
		raws = append(raws, parse(b, provided(fmt.Sprintf("192.0.2.%d:%d", i%250, 20000+i/250), "application=orders&methods=find,put&timestamp=1751328000000&weight=100")).Encode())
	}
	line := lineOf(iface, raws...)
	line.Time = time.Now()
	f := cacheFile{path: filepath.Join(b.TempDir(), "lists"), size: maxCacheFile, replace: os.Rename}
	merge := func([]cacheLine, error) []cacheLine { return []cacheLine{line} }
	b.Run("update", func(b *testing.B) {
		for b.Loop() {
			_, err := f.update(merge)
			require.NoError(b, err)
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			lines, err := f.read()
			require.NoError(b, err)
			require.Len(b, lines[0].snapshot().Providers, len(raws))
		}
	})
}
