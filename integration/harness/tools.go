//go:build unix

package harness

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// tool finds a program or says how to get it.
func tool(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: run \"make deps\", which installs a JDK, Maven and ZooKeeper", err)
	}
	return path, nil
}

// buildProviders answers the folder of the Java providers, built first when their sources have changed.
func buildProviders(ctx context.Context) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	script := filepath.Join(root, "integration", "scripts", "java")
	output, err := exec.CommandContext(ctx, "bash", script).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && len(exit.Stderr) > 0 {
			return "", errors.New(strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("%s: %w", script, err)
	}
	return strings.TrimSpace(string(output)), nil
}

// moduleRoot is the folder of this module's go.mod: tests run in the folder of their package.
func moduleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "integration", "java", "pom.xml")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no integration/java/pom.xml above %s: run the tests inside the repository", start)
		}
	}
}

// builtVersions are the Dubbo versions that have a provider in the folder, oldest first.
func builtVersions(jars string) []string {
	folders, _ := filepath.Glob(filepath.Join(jars, "*", "dubbo-*.jar"))
	var versions []string
	for _, jar := range folders {
		versions = append(versions, filepath.Base(filepath.Dir(jar)))
	}
	slices.Sort(versions)
	return versions
}

// jarsOf is the class path of the programs for one Dubbo version.
func jarsOf(jars, dubbo string) (string, error) {
	classes, err := filepath.Glob(filepath.Join(jars, dubbo, "*.jar"))
	if err != nil || len(classes) == 0 {
		return "", fmt.Errorf("no provider of Dubbo %q was built, only of %v", dubbo, builtVersions(jars))
	}
	return strings.Join(classes, string(os.PathListSeparator)), nil
}

var ports struct {
	sync.Mutex
	taken map[int]bool
}

// freePort finds a port on which nothing listens. It is below the range from which the kernel takes the local ports of
// connections (32768 and up on Linux), so that it is not lost between this check and the start of its server, and given
// out once.
func freePort() (int, error) {
	const low, high = 21000, 32000
	ports.Lock()
	defer ports.Unlock()
	if ports.taken == nil {
		ports.taken = map[int]bool{}
	}
	for range 1000 {
		port := low + rand.IntN(high-low)
		if ports.taken[port] {
			continue
		}
		listener, err := net.Listen("tcp4", fmt.Sprintf(":%d", port))
		if err != nil {
			continue
		}
		listener.Close()
		ports.taken[port] = true
		return port, nil
	}
	return 0, fmt.Errorf("no free port from %d to %d", low, high)
}
