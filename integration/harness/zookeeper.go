//go:build unix

package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ZooKeeper is a real, standalone ZooKeeper server on loopback. Its methods are not for concurrent use.
type ZooKeeper struct {
	*Process
	family *processes
	dir    string
	port   int
}

// ZooKeeperConfig tunes a server; the zero value is good for tests.
type ZooKeeperConfig struct {
	// Tick is the server's unit of time; default 500ms.
	Tick time.Duration
	// MinSession and MaxSession clamp the session timeout that a client asks for; defaults 1s and 10s. A Java provider asks for 60 s:
	// MaxSession is how long the nodes of a killed one stay.
	MinSession, MaxSession time.Duration
	// Extra lines of the configuration file, by key.
	Extra map[string]string
}

const startPatience = 60 * time.Second

// newZooKeeper prepares a server on a free port, with its data and log in dir, without starting it.
func newZooKeeper(family *processes, dir string, config ZooKeeperConfig) (*ZooKeeper, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	z := &ZooKeeper{family: family, dir: dir, port: port}
	if err := os.MkdirAll(z.data(), 0o755); err != nil {
		return nil, err
	}
	return z, os.WriteFile(z.file("zoo.cfg"), []byte(z.config(config)), 0o644)
}

// Addr is the server's address, host:port. It stays the same over restarts.
func (z *ZooKeeper) Addr() string { return fmt.Sprintf("127.0.0.1:%d", z.port) }

// Start starts a server that was stopped or killed again, on the same port and with its data, and waits until it answers.
func (z *ZooKeeper) Start(ctx context.Context) error {
	if z.Process != nil && z.Running() {
		return fmt.Errorf("zookeeper %s is running", z.Addr())
	}
	java, err := tool("java")
	if err != nil {
		return err
	}
	classes, err := zooKeeperClasses()
	if err != nil {
		return err
	}
	cmd := exec.Command(java, "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		"-Djava.net.preferIPv4Stack=true", "-cp", classes, "org.apache.zookeeper.server.quorum.QuorumPeerMain", z.file("zoo.cfg"))
	cmd.Dir = z.dir
	z.Process, err = z.family.start("zookeeper", z.file("zookeeper.log"), cmd, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !z.answers() {
		select {
		case <-z.Done():
			return z.failure("ended while it started: %v", z.err)
		case <-ctx.Done():
			return errors.Join(z.failure("does not answer on %s: %v", z.Addr(), context.Cause(ctx)), z.Kill())
		case <-again.C:
		}
	}
	return nil
}

// Stop stops the server gracefully; its data stay.
func (z *ZooKeeper) Stop() error { return z.Process.Stop(30 * time.Second) }

// Wipe removes the data of a server that is not running: it comes back empty.
func (z *ZooKeeper) Wipe() error {
	if z.Running() {
		return fmt.Errorf("zookeeper %s is running: stop it before its data are removed", z.Addr())
	}
	return errors.Join(os.RemoveAll(z.data()), os.MkdirAll(z.data(), 0o755))
}

// Save keeps a copy of the data of a server that is not running, for Restore.
func (z *ZooKeeper) Save() error {
	if z.Running() {
		return fmt.Errorf("zookeeper %s is running: stop it before its data are saved", z.Addr())
	}
	return os.CopyFS(z.file("saved"), os.DirFS(z.data()))
}

// Restore replaces the data by those that Save has kept.
func (z *ZooKeeper) Restore() error {
	if err := z.Wipe(); err != nil {
		return err
	}
	return os.CopyFS(z.data(), os.DirFS(z.file("saved")))
}

func (z *ZooKeeper) file(name string) string { return filepath.Join(z.dir, name) }

func (z *ZooKeeper) data() string { return z.file("data") }

func (z *ZooKeeper) config(c ZooKeeperConfig) string {
	millis := func(d, fallback time.Duration) string {
		if d == 0 {
			d = fallback
		}
		return fmt.Sprint(d.Milliseconds())
	}
	lines := map[string]string{
		"dataDir":                z.data(),
		"clientPort":             fmt.Sprint(z.port),
		"clientPortAddress":      "127.0.0.1",
		"tickTime":               millis(c.Tick, 500*time.Millisecond),
		"minSessionTimeout":      millis(c.MinSession, time.Second),
		"maxSessionTimeout":      millis(c.MaxSession, 10*time.Second),
		"maxClientCnxns":         "0",
		"admin.enableServer":     "false",
		"4lw.commands.whitelist": "ruok,srvr,mntr,cons,wchs",
		// The data must survive kill -9, not a power cut: no fsync, no 64 MiB log files.
		"forceSync":    "no",
		"preAllocSize": "1024",
	}
	maps.Copy(lines, c.Extra)
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&text, "%s=%s\n", key, lines[key])
	}
	return text.String()
}

func (z *ZooKeeper) answers() bool {
	conn, err := net.DialTimeout("tcp", z.Addr(), time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	// "ruok" is answered before the data are loaded, when clients are still turned away.
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return false
	}
	answer, _ := io.ReadAll(conn)
	return strings.Contains(string(answer), "\nMode: ")
}

// zooKeeperClasses is the class path of the server. Debian's zookeeper.jar names what it needs in its manifest, but for the logger.
func zooKeeperClasses() (string, error) {
	if classes := os.Getenv("GOFER_ZOOKEEPER_CLASSPATH"); classes != "" {
		return classes, nil
	}
	const jars = "/usr/share/java"
	var path []string
	for _, name := range []string{"zookeeper", "zookeeper-jute", "slf4j-api", "slf4j-simple"} {
		jar := filepath.Join(jars, name+".jar")
		if _, err := os.Stat(jar); err != nil {
			return "", fmt.Errorf("ZooKeeper is missing (%w): run \"make deps\", which installs Debian's package zookeeper, or name its jars in GOFER_ZOOKEEPER_CLASSPATH", err)
		}
		path = append(path, jar)
	}
	return strings.Join(path, string(os.PathListSeparator)), nil
}
