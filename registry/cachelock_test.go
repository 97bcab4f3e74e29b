//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package registry

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without the lock nothing is written, but read; later both lists are there.
func TestCacheFileShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "lists")
		listOnDisk(t, file, 1)
		a, b := newCacheWorld(t, file, nil), newCacheWorld(t, file, nil)
		a.subscribe("a.A")
		b.subscribe("b.B")
		unlock, err := lockFile(file)
		require.NoError(t, err)
		a.registry.deliver("a.A", a.entries.snapshot("dubbo://192.0.2.10:1/a.A"))
		time.Sleep(10 * time.Minute)
		assert.Equal(t, map[string][]string{iface: {"192.0.2.1"}}, onDisk(t, file))
		assert.Equal(t, []string{"192.0.2.1"}, recalled(t, a.Cache, iface))
		assert.Equal(t, []string{cannotWrite + ": another process is writing it"}, a.warnings(), "once")

		unlock()
		time.Sleep(2 * time.Minute)
		b.registry.deliver("b.B", b.entries.snapshot("dubbo://192.0.2.11:1/b.B"))
		b.Close()
		want := map[string][]string{iface: {"192.0.2.1"}, "a.A": {"192.0.2.10"}, "b.B": {"192.0.2.11"}}
		assert.Equal(t, want, onDisk(t, file))
		a.Close()
		assert.Equal(t, want, onDisk(t, file), "neither takes the other's away")
	})
}

// What is no regular file is neither read nor replaced; nothing blocks.
func TestCacheFileIrregular(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	link := filepath.Join(dir, "null")
	require.NoError(t, os.Symlink("/dev/null", link))
	blocked := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	for _, path := range []string{pipe, link, dir, filepath.Join(blocked, "below")} {
		synctest.Test(t, func(t *testing.T) {
			before, statErr := os.Lstat(path)
			w := newCacheWorld(t, path, nil)
			assert.Nil(t, recalled(t, w.Cache, iface))
			w.subscribe(iface)
			w.lists(1)
			time.Sleep(10 * time.Minute)
			w.lists(2)
			assert.Equal(t, []string{"192.0.2.2"}, recalled(t, w.Cache, iface), "the process itself knows")
			w.Close()
			assert.NotEmpty(t, w.warnings())
			assert.LessOrEqual(t, len(w.warnings()), 2)
			assert.Zero(t, w.writes.Load())
			after, err := os.Lstat(path)
			assert.Equal(t, statErr == nil, err == nil)
			if err == nil {
				assert.Equal(t, before.Mode(), after.Mode())
			}
		})
	}
}
