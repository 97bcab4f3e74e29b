//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package registry

// lockFile does nothing where there is no flock. A file is replaced as a whole all
// the same; of two processes that write at once, the lists of one come later.
func lockFile(string) (unlock func(), err error) { return func() {}, nil }
