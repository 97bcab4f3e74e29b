package harness

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestChildrenDieWithTheTestBinary runs this test binary again as a parent, kills it, and looks for its child.
func TestChildrenDieWithTheTestBinary(t *testing.T) {
	const parent = "GOFER_HARNESS_PARENT"
	if dir := os.Getenv(parent); dir != "" {
		child, err := new(processes).start("child", filepath.Join(dir, "log"), exec.Command("sleep", "600"), nil)
		require.NoError(t, err)
		fmt.Println("child", child.PID())
		select {}
	}

	cmd := exec.Command(os.Args[0], "-test.run=^TestChildrenDieWithTheTestBinary$")
	cmd.Env = append(os.Environ(), parent+"="+t.TempDir())
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "child ")))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, 0), "the child runs")

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.Eventually(t, func() bool { return ended(pid) }, 10*time.Second, time.Millisecond)
}

// ended tells whether a process is gone, or dead and not yet reaped.
func ended(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err != nil || strings.Contains(string(status), "State:\tZ")
}
