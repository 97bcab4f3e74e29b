package registry

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	lockTries   = 20 // for the lock of the file
	lockPause   = 25 * time.Millisecond
	cacheSuffix = ".jsonl"
	tempSuffix  = ".tmp"
	oldSuffix   = ".old"
)

// cacheFile is where lists are kept on disk. Processes that share it take turns: a
// writer holds an advisory lock on it (where the system has flock), and without
// the lock nothing is written. Readers need none, for a file is only ever replaced.
type cacheFile struct {
	path    string
	size    int           // in bytes, at most
	sweep   time.Duration // age from which files beside it are removed; 0: it has a folder of the user's
	replace func(oldPath, newPath string) error
}

var errLocked = errors.New("another process is writing it")

func newCacheFile(cfg CacheConfig, source string) (cacheFile, error) {
	f := cacheFile{path: cfg.File, size: maxCacheFile, replace: os.Rename}
	rest, home := strings.CutPrefix(f.path, "~/")
	if f.path != "" && !home {
		return f, nil
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return f, err
	}
	if home {
		f.path = filepath.Join(dir, rest)
		return f, nil
	}
	f.path = filepath.Join(dir, ".gofer", "registry", cacheName(cfg.Application, source, cfg.Root))
	f.sweep = cfg.MaxAge + 24*time.Hour // by then no list in it counts
	return f, nil
}

// cacheName is readable as far as a file name can be, and different for different
// lists.
func cacheName(application, source, root string) string {
	const most = 150
	_, hosts, _ := strings.Cut(source, "://")
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
			return r
		}
		return '-'
	}, application+"-"+hosts+root)
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%q %q %q", application, source, root)
	return fmt.Sprintf("%s-%08x%s", strings.TrimLeft(name[:min(most, len(name))], ".-"), sum.Sum32(), cacheSuffix)
}

// read returns the lines of the file; there are none when it does not exist. With
// an error there may be some, too.
func (f cacheFile) read() ([]cacheLine, error) {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case info.Size() > int64(f.size):
		return nil, fmt.Errorf("%w: %d MiB, it holds %d at most", errForeign, info.Size()>>20, f.size>>20)
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, int64(f.size)))
	if err != nil {
		return nil, err
	}
	return decodeCache(data, info.ModTime())
}

// update replaces the content by what merge makes of it, and tells how many lists
// did not fit. What was there and is not ours is kept under the name .old.
func (f cacheFile) update(merge func(old []cacheLine, problem error) []cacheLine) (left int, err error) {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return 0, err
	}
	unlock, err := f.lock()
	if err != nil {
		return 0, err
	}
	defer unlock()
	old, err := f.read()
	foreign := errors.Is(err, errForeign) || errors.Is(err, errJava)
	if err != nil && !foreign && !errors.Is(err, errDamaged) {
		return 0, err // nobody knows what is there
	}
	data, left := encodeCache(merge(old, err), f.size)
	temp := f.path + tempSuffix
	if err := writeSynced(temp, data); err != nil {
		return 0, errors.Join(err, os.Remove(temp))
	}
	if foreign {
		if err := os.Rename(f.path, f.path+oldSuffix); err != nil {
			return 0, err
		}
	}
	return left, f.replace(temp, f.path)
}

// lock takes the lock of the file, which is created if need be. It waits a moment:
// a write takes milliseconds.
func (f cacheFile) lock() (unlock func(), err error) {
	for range lockTries {
		if unlock, err = lockFile(f.path); !errors.Is(err, errLocked) {
			return unlock, err
		}
		time.Sleep(lockPause)
	}
	return nil, err
}

// clean removes what other registries left in the default folder: files that no
// process has written for long.
func (f cacheFile) clean(now time.Time) {
	if f.sweep == 0 {
		return
	}
	dir := filepath.Dir(f.path)
	old, _ := filepath.Glob(filepath.Join(dir, "*"+cacheSuffix))
	temp, _ := filepath.Glob(filepath.Join(dir, "*"+cacheSuffix+tempSuffix))
	for _, name := range append(old, temp...) {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > f.sweep {
			_ = os.Remove(name) // another process may have been faster
		}
	}
}

// writeSynced makes a file that only its owner may read, on disk when it returns.
func writeSynced(path string, data []byte) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // follows no link
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}
