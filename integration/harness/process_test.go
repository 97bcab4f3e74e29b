//go:build unix

package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// shell starts a shell script as a child that says READY first.
func shell(t *testing.T, family *processes, script string) (*Process, string) {
	t.Helper()
	watch := newLineWatcher("READY ")
	p, err := family.start("child", filepath.Join(t.TempDir(), "log"), exec.Command("sh", "-c", script), watch)
	require.NoError(t, err)
	select {
	case line := <-watch.found:
		return p, line
	case <-p.Done():
	case <-time.After(10 * time.Second):
	}
	t.Fatal(p.failure("is not ready"))
	return nil, ""
}

func family(t *testing.T) *processes {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	family := &processes{}
	t.Cleanup(family.kill)
	return family
}

func TestProcessReadyAndLog(t *testing.T) {
	p, line := shell(t, family(t), `echo two >&2; printf 'one\nREA'; printf 'DY name=x\nREADY again\n'; exec sleep 600`)
	require.Equal(t, "READY name=x", line)
	require.True(t, p.Running())
	require.NoError(t, p.Kill())
	require.NoError(t, p.Kill(), "killing twice is no error")
	require.False(t, p.Running())
	written, err := os.ReadFile(p.LogFile())
	require.NoError(t, err)
	require.Contains(t, string(written), "one\nREADY name=x\nREADY again\n")
	require.Contains(t, string(written), "two\n")
}

func TestTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(file, []byte("first\nsecond\n"+strings.Repeat("x", 2*tailWidth)+"\n"), 0o644))
	require.Equal(t, "second\n"+strings.Repeat("x", tailWidth)+" …", tail(file, 2))
	require.Contains(t, tail(file, 100), "first\nsecond\n")
	require.Contains(t, tail(file+".missing", 2), "no such file")
}

func TestProcessStop(t *testing.T) {
	family := family(t)
	for name, script := range map[string]string{
		"dies of the signal": `echo READY 1; exec sleep 600`,
		"exits as a JVM":     `trap 'exit 143' TERM; echo READY 1; while :; do sleep 0.01; done`,
		"exits with 0":       `trap 'exit 0' TERM; echo READY 1; while :; do sleep 0.01; done`,
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := shell(t, family, script)
			require.NoError(t, p.Stop(10*time.Second))
			require.ErrorContains(t, p.Stop(10*time.Second), "had ended before it was stopped")
		})
	}
	t.Run("fails", func(t *testing.T) {
		p, _ := shell(t, family, `trap 'echo broken; exit 3' TERM; echo READY 1; while :; do sleep 0.01; done`)
		err := p.Stop(10 * time.Second)
		require.ErrorContains(t, err, "exit status 3")
		require.ErrorContains(t, err, "broken", "the error shows the end of the log")
	})
	t.Run("ignores the signal", func(t *testing.T) {
		p, _ := shell(t, family, `trap '' TERM; echo READY 1; exec sleep 600`)
		require.ErrorContains(t, p.Stop(20*time.Millisecond), "did not end within 20ms of SIGTERM")
		require.False(t, p.Running(), "and is killed")
	})
}

func TestProcessPause(t *testing.T) {
	family := family(t)
	p, _ := shell(t, family, `trap 'exit 0' TERM; echo READY 1; while :; do sleep 0.01; done`)
	require.NoError(t, p.Pause())
	require.ErrorContains(t, p.Stop(50*time.Millisecond), "did not end within", "a paused process does not hear")

	p, _ = shell(t, family, `trap 'exit 0' TERM; echo READY 1; while :; do sleep 0.01; done`)
	require.NoError(t, p.Pause())
	require.NoError(t, p.Resume())
	require.NoError(t, p.Stop(10*time.Second))
}

func TestProcessesKill(t *testing.T) {
	family := family(t)
	first, _ := shell(t, family, `echo READY 1; exec sleep 600`)
	second, _ := shell(t, family, `trap '' TERM; echo READY 2; exec sleep 600`)
	require.NoError(t, second.Pause())
	family.kill()
	require.False(t, first.Running())
	require.False(t, second.Running())
	_, err := family.start("late", filepath.Join(t.TempDir(), "log"), exec.Command("true"), nil)
	require.ErrorContains(t, err, "late does not start: the environment is closed")
}

func TestProcessMissingProgram(t *testing.T) {
	_, err := family(t).start("ghost", filepath.Join(t.TempDir(), "log"), exec.Command("/no/such/program"), nil)
	require.ErrorContains(t, err, "ghost does not start")
	_, err = tool("no-such-program")
	require.ErrorContains(t, err, "make deps")
}
