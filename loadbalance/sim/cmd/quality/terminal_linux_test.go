package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain is the command itself when a test starts it as a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("QUALITY_TEST_AS_COMMAND") != "" {
		main()
	}
	os.Exit(m.Run())
}

// openTerminal returns the two ends of a pseudo-terminal.
func openTerminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { keyboard.Close() })
	control := func(request uintptr, value *uint32) {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, keyboard.Fd(), request, uintptr(unsafe.Pointer(value)))
		require.Zero(t, errno)
	}
	var locked, number uint32
	control(syscall.TIOCSPTLCK, &locked)
	control(syscall.TIOCGPTN, &number)
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { screen.Close() })
	return keyboard, screen
}

func TestWhatATerminalIs(t *testing.T) {
	_, screen := openTerminal(t)
	assert.True(t, terminal(screen))
	file, err := os.Create(t.TempDir() + "/file")
	require.NoError(t, err)
	defer file.Close()
	assert.False(t, terminal(file))
	assert.False(t, terminal(new(bytes.Buffer)))
}

// Somebody starts the full grid on a terminal, sees how far it is, and presses ctrl-C.
func TestProgressAndInterruptOnATerminal(t *testing.T) {
	keyboard, screen := openTerminal(t)
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), "QUALITY_TEST_AS_COMMAND=1")
	var out bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = screen, &out, screen
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, command.Start())
	screen.Close()

	var shown strings.Builder
	press := sync.OnceFunc(func() {
		_, err := keyboard.Write([]byte{3})
		assert.NoError(t, err)
	})
	for buffer := make([]byte, 1024); ; {
		n, err := keyboard.Read(buffer)
		shown.Write(buffer[:n])
		if strings.Contains(shown.String(), " runs, about ") {
			press()
		}
		if err != nil { // the command has ended
			break
		}
	}
	err := command.Wait()
	var ended *exec.ExitError
	require.ErrorAs(t, err, &ended, shown.String())
	assert.Equal(t, interrupted, ended.ExitCode())
	assert.Regexp(t, `\r\d+ of \d+ runs, about \S+ left`, shown.String())
	assert.Regexp(t, `\r +\rquality: interrupted\r\n$`, strings.ReplaceAll(shown.String(), "^C", ""), "on a line of its own")
	assert.Empty(t, out.String(), "no table of what is not complete")
}
