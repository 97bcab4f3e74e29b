//go:build unix

package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is a child process whose output goes to a file. It is safe for concurrent use.
type Process struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{}
	err  error // how it ended; read after done
}

// processes are the children of one environment.
type processes struct {
	mu     sync.Mutex
	all    []*Process
	closed bool
}

// start runs cmd with its output in the file log and shows its standard output to watch as well, when not nil.
func (s *processes) start(name, log string, cmd *exec.Cmd, watch *lineWatcher) (*Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("%s does not start: the environment is closed", name)
	}
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = file, file
	if watch != nil {
		watch.to = file
		// Not the error output as well: its long lines come in pieces, between which a line of the other can fall.
		cmd.Stdout = watch
	}
	dieWithParent(cmd)
	p := &Process{name: name, log: log, cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		defer file.Close()
		// The child is killed when the thread that made it ends, so that thread must live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%s does not start: %w", name, err)
	}
	s.all = append(s.all, p)
	return p, nil
}

// kill ends every process and lets none start any more.
func (s *processes) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, p := range s.all {
		_ = p.signal(syscall.SIGKILL)
	}
	for _, p := range s.all {
		<-p.done
	}
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running tells whether the process has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// PID is the id of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Kill ends the process as a crash would (SIGKILL) and waits for its end.
func (p *Process) Kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

// Stop asks the process to end (SIGTERM) and waits; after patience it is killed, which is an error. A process that has
// ended before is an error too: it crashed.
func (p *Process) Stop(patience time.Duration) error {
	if !p.Running() {
		return p.failure("had ended before it was stopped: %v", p.err)
	}
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-time.After(patience):
		return errors.Join(p.failure("did not end within %v of SIGTERM", patience), p.Kill())
	}
	var exit *exec.ExitError
	if p.err == nil || errors.As(p.err, &exit) && cleanExit(exit) {
		return nil
	}
	return p.failure("did not end cleanly: %v", p.err)
}

// cleanExit knows the two ways a JVM reports that it ended because of SIGTERM.
func cleanExit(exit *exec.ExitError) bool {
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && (status.Exited() && status.ExitStatus() == 128+int(syscall.SIGTERM) || status.Signaled() && status.Signal() == syscall.SIGTERM)
}

// Pause freezes the process (SIGSTOP): its connections stay open and nothing answers.
func (p *Process) Pause() error { return p.signal(syscall.SIGSTOP) }

// Resume lets a paused process go on (SIGCONT).
func (p *Process) Resume() error { return p.signal(syscall.SIGCONT) }

func (p *Process) signal(signal syscall.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s: %v: %w", p.name, signal, err)
	}
	return nil
}

// LogFile is the path of the file with what the process wrote.
func (p *Process) LogFile() string { return p.log }

// Log answers the last lines that the process wrote, each cut to a readable length.
func (p *Process) Log(lines int) string { return tail(p.log, lines) }

// failure is an error about the process that ends with the tail of its log.
func (p *Process) failure(format string, args ...any) error {
	return fmt.Errorf("%s %s\n--- end of %s\n%s", p.name, fmt.Sprintf(format, args...), p.log, p.Log(25))
}

const tailWidth = 400

func tail(file string, lines int) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	all = all[max(0, len(all)-lines):]
	for i, line := range all {
		// Dubbo logs URLs with the names of all methods, again and again.
		if len(line) > tailWidth {
			all[i] = strings.ToValidUTF8(line[:tailWidth], "") + " …"
		}
	}
	return strings.Join(all, "\n")
}

// lineWatcher passes on what is written to it and reports the first line that starts with prefix.
type lineWatcher struct {
	prefix string
	found  chan string // of capacity 1

	mu   sync.Mutex
	to   *os.File
	part []byte // of a line without an end
	over bool
}

func newLineWatcher(prefix string) *lineWatcher {
	return &lineWatcher{prefix: prefix, found: make(chan string, 1)}
}

func (w *lineWatcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.part = append(w.part, p...)
		for line, rest, ok := bytes.Cut(w.part, []byte("\n")); ok; line, rest, ok = bytes.Cut(w.part, []byte("\n")) {
			w.part = rest
			if bytes.HasPrefix(line, []byte(w.prefix)) {
				w.found <- string(line)
				w.over, w.part = true, nil
				break
			}
		}
	}
	return w.to.Write(p)
}
