//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package registry

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes the advisory lock of a file without waiting. It goes with the
// process, if not before. The error is [errLocked] when somebody else has it.
func lockFile(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close()
		}
	}()
	if err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errLocked
		}
		return nil, err
	}
	mine, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if now, statErr := os.Stat(path); statErr != nil || !os.SameFile(mine, now) {
		err = errLocked // it has just been replaced
		return nil, err
	}
	return func() { _ = file.Close() }, nil
}
