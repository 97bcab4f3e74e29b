//go:build unix

package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Environment is one ZooKeeper, one provider of every Dubbo version, and what tests add to them. It is safe for concurrent
// use.
type Environment struct {
	// ZooKeeper is shared: a test that hurts one starts its own ([Environment.StartZooKeeper]) or puts a [Relay] before it.
	ZooKeeper *ZooKeeper
	// Table is printed by [Main] after the last test.
	Table Table
	// Dir is the folder of data and logs.
	Dir string

	jars     string
	versions []string
	shared   map[string]*Provider
	children processes
	serial   atomic.Int64
}

// Main starts an environment, hands it to use, runs the tests, prints the table and ends everything; its result is for
// os.Exit. The folder of data and logs is removed when every test has passed.
func Main(m *testing.M, use func(*Environment)) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	began := time.Now()
	env, err := Start(ctx)
	if err != nil {
		fmt.Fprintf(os.Stderr, "FAIL: the environment of the integration tests does not start: %v\n", err)
		return 1
	}
	fmt.Printf("ZooKeeper and providers of Dubbo %s are up after %.1fs\n", strings.Join(env.versions, ", "), time.Since(began).Seconds())
	defer context.AfterFunc(ctx, func() {
		env.Close()
		_ = os.RemoveAll(env.Dir)
		os.Exit(130)
	})()
	use(env)
	code := m.Run()
	if ctx.Err() != nil {
		select {} // the interruption ends the process, once it has cleaned up
	}
	if err := env.Table.publish(os.Stdout, os.Getenv("GOFER_INTEROP_TABLE")); err != nil {
		fmt.Fprintf(os.Stderr, "FAIL: GOFER_INTEROP_TABLE: %v\n", err)
		code = max(code, 1)
	}
	env.Close()
	if code != 0 {
		fmt.Fprintf(os.Stderr, "the logs of ZooKeeper and the providers are in %s\n", env.Dir)
	} else if err := os.RemoveAll(env.Dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return code
}

// Start builds the Java providers when their sources have changed, starts ZooKeeper and one provider of every version.
// Close it.
func Start(ctx context.Context) (*Environment, error) {
	jars, err := buildProviders(ctx)
	if err != nil {
		return nil, err
	}
	versions := builtVersions(jars)
	if chosen := os.Getenv("GOFER_DUBBO_VERSIONS"); chosen != "" {
		versions = strings.Split(chosen, ",")
	}
	dir, err := os.MkdirTemp("", "gofer-integration-")
	if err != nil {
		return nil, err
	}
	env := &Environment{Dir: dir, jars: jars, versions: versions, shared: map[string]*Provider{}}
	if err := env.start(ctx); err != nil {
		env.Close()
		return nil, err
	}
	return env, nil
}

func (e *Environment) start(ctx context.Context) error {
	var err error
	if e.ZooKeeper, err = e.startZooKeeper(ctx, ZooKeeperConfig{}); err != nil {
		return err
	}
	// Together: a JVM with Dubbo 3 takes seconds to start.
	errs := make([]error, len(e.versions))
	providers := make([]*Provider, len(e.versions))
	var wg sync.WaitGroup
	for i, version := range e.versions {
		wg.Go(func() {
			providers[i], errs[i] = e.startProvider(ctx, version, "--name", "shared-"+version, "--group", version, "--version", "1.0.0")
		})
	}
	wg.Wait()
	for i, version := range e.versions {
		e.shared[version] = providers[i]
	}
	return errors.Join(errs...)
}

// Versions are the Dubbo versions to test against, oldest first.
func (e *Environment) Versions() []string { return slices.Clone(e.versions) }

// Built are the Dubbo versions that a provider can be started of, oldest first. They may be more than [Environment.Versions]:
// a test that is about a fleet of several versions needs them whichever are to be tested against.
func (e *Environment) Built() []string { return builtVersions(e.jars) }

// Shared is the one provider of a Dubbo version that all tests use: group = the Dubbo version, version 1.0.0, name "shared-" + version.
// Whoever stops, pauses or resets it breaks other tests.
func (e *Environment) Shared(version string) *Provider { return e.shared[version] }

// StartProvider starts a provider for one test and kills it when the test has ended. Flags: see the package's
// documentation.
func (e *Environment) StartProvider(t testing.TB, dubbo string, flags ...string) *Provider {
	t.Helper()
	p, err := e.startProvider(t.Context(), dubbo, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p
}

// StartZooKeeper starts a server for one test and kills it when the test has ended.
func (e *Environment) StartZooKeeper(t testing.TB, config ZooKeeperConfig) *ZooKeeper {
	t.Helper()
	z, err := e.startZooKeeper(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = z.Kill() })
	return z
}

// LaunchProvider starts a provider outside of tests; it is killed by [Environment.Close].
func (e *Environment) LaunchProvider(ctx context.Context, dubbo string, flags ...string) (*Provider, error) {
	return e.startProvider(ctx, dubbo, flags...)
}

func (e *Environment) startProvider(ctx context.Context, dubbo string, line ...string) (*Provider, error) {
	flags := splitFlags(line)
	flags.fill("--name", fmt.Sprintf("provider-%d-%s", e.serial.Add(1), dubbo))
	flags.fill("--zk", e.ZooKeeper.Addr())
	p, err := newProvider(&e.children, e.jars, e.Dir, dubbo, flags)
	if err != nil {
		return nil, err
	}
	return p, p.Start(ctx)
}

func (e *Environment) startZooKeeper(ctx context.Context, config ZooKeeperConfig) (*ZooKeeper, error) {
	dir := filepath.Join(e.Dir, fmt.Sprintf("zookeeper-%d", e.serial.Add(1)))
	z, err := newZooKeeper(&e.children, dir, config)
	if err != nil {
		return nil, err
	}
	return z, z.Start(ctx)
}

// Close kills everything that was started. Dir stays.
func (e *Environment) Close() { e.children.kill() }
