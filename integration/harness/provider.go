//go:build unix

package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Interface is the Java interface of every provider's service.
const Interface = "org.gofer.interop.InteropService"

// Provider is a Java provider of [Interface]. Its methods are not for concurrent use.
type Provider struct {
	*Process
	Dubbo   string // version of Dubbo, as "3.3.6"
	Name    string // what whoAmI and hello answer
	Group   string // of the service; "" is none
	Version string // of the service; "" is none
	Port    int    // of the dubbo protocol; stays the same over restarts

	family *processes
	cmd    []string
	log    string
}

// Addr is where the provider listens, host:port.
func (p *Provider) Addr() string { return fmt.Sprintf("127.0.0.1:%d", p.Port) }

// Reference is the URL of a reference to this provider's service (interface, group, version), with params ("timeout=300").
func (p *Provider) Reference(params ...string) string {
	if p.Group != "" {
		params = append(params, "group="+p.Group)
	}
	if p.Version != "" {
		params = append(params, "version="+p.Version)
	}
	if len(params) == 0 {
		return Interface
	}
	return Interface + "?" + strings.Join(params, "&")
}

// Direct is the address of a reference that goes to this provider without a registry.
func (p *Provider) Direct(params ...string) string {
	return fmt.Sprintf("dubbo://%s/%s", p.Addr(), p.Reference(params...))
}

// Stop stops the provider gracefully. That takes up to 15 s while consumers are connected (flag --shutdown-wait).
func (p *Provider) Stop() error { return p.Process.Stop(30 * time.Second) }

// Start starts a provider that was stopped or killed again, with the same flags on the same port, and waits until it is exported.
func (p *Provider) Start(ctx context.Context) error {
	if p.Process != nil && p.Running() {
		return fmt.Errorf("provider %s is running", p.Name)
	}
	ready := newLineWatcher("READY ")
	cmd := exec.Command(p.cmd[0], p.cmd[1:]...)
	cmd.Env = append(os.Environ(), "DUBBO_IP_TO_REGISTRY=localhost.")
	var err error
	p.Process, err = p.family.start("provider "+p.Name, p.log, cmd, ready)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	select {
	case line := <-ready.found:
		if want := fmt.Sprintf("READY name=%s dubbo=%s port=%d", p.Name, p.Dubbo, p.Port); line != want {
			return errors.Join(p.failure("says %q, want %q", line, want), p.Kill())
		}
		return nil
	case <-p.Done():
		return p.failure("ended while it started: %v", p.err)
	case <-ctx.Done():
		return errors.Join(p.failure("is not ready: %v", context.Cause(ctx)), p.Kill())
	}
}

// newProvider prepares a provider without starting it: its jars come from a folder of jars, data and log go to dir.
func newProvider(family *processes, jars, dir, dubbo string, flags *flags) (*Provider, error) {
	java, err := tool("java")
	if err != nil {
		return nil, err
	}
	classes, err := jarsOf(jars, dubbo)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	metadataPort, err := freePort()
	if err != nil {
		return nil, err
	}
	p := &Provider{family: family, Dubbo: dubbo}
	p.Name = flags.fill("--name", "provider-"+dubbo)
	p.Group, p.Version = flags.given["--group"], flags.given["--version"]
	if p.Port, err = strconv.Atoi(flags.fill("--port", strconv.Itoa(port))); err != nil {
		return nil, fmt.Errorf("--port: %w", err)
	}
	if strings.HasPrefix(dubbo, "3.") {
		flags.fill("--metadata-port", strconv.Itoa(metadataPort))
	}
	p.log = filepath.Join(dir, p.Name+".log")
	p.cmd = slices.Concat([]string{java}, providerJVM, []string{"-Duser.home=" + dir}, flags.jvm,
		[]string{"-cp", classes, "org.gofer.provider.Provider"}, flags.program)
	return p, nil
}

// providerJVM are the options of the JVM: quick to start, loopback only, and open to the reflection of 2.6's and 2.7's hessian-lite.
var providerJVM = []string{
	"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
	"-Djava.net.preferIPv4Stack=true", "-Ddubbo.resolve.file=/dev/null",
	"--add-opens=java.base/java.lang=ALL-UNNAMED",
	"--add-opens=java.base/java.math=ALL-UNNAMED",
	"--add-opens=java.base/java.util=ALL-UNNAMED",
	"--add-opens=java.base/java.time=ALL-UNNAMED",
	"--add-opens=java.base/java.io=ALL-UNNAMED",
	"--add-opens=java.base/java.net=ALL-UNNAMED",
}

// flags is a command line for a provider, split into what is for the program and what is for the JVM.
type flags struct {
	program []string
	jvm     []string
	given   map[string]string // "--flag" → value
}

func splitFlags(line []string) *flags {
	f := &flags{given: map[string]string{}}
	for i := 0; i < len(line); i++ {
		if option, ok := strings.CutPrefix(line[i], "-J"); ok {
			f.jvm = append(f.jvm, option)
			continue
		}
		f.program = append(f.program, line[i])
		name, value, joined := strings.Cut(line[i], "=")
		if !joined && i+1 < len(line) && !strings.HasPrefix(line[i+1], "-") {
			i++
			value = line[i]
			f.program = append(f.program, value)
		}
		f.given[name] = value
	}
	return f
}

// fill sets a flag that was not given and answers the value that holds.
func (f *flags) fill(name, value string) string {
	if given, ok := f.given[name]; ok {
		return given
	}
	f.given[name] = value
	f.program = append(f.program, name, value)
	return value
}
