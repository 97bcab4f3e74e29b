//go:build unix && !linux

package harness

import "os/exec"

// dieWithParent leaves the child in the process group of the test binary: Ctrl-C ends both. Nothing here ends the child of a
// test binary that was killed.
func dieWithParent(*exec.Cmd) {}
