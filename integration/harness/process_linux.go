package harness

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel kill the child when the test binary ends, however it ends, and keeps Ctrl-C from the
// child: its end is the test binary's business.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
