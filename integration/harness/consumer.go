//go:build unix

package harness

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Placement is the Java interface that the Java consumer calls: place(Object) and placeBoth(Object, Object), which
// answer who the provider is.
const Placement = "org.gofer.consumer.Placement"

// Placed is who served one key of a Java consumer.
type Placed struct{ Typed, Generic string }

// Place runs a Java consumer of [Placement] until it has called the service once per line of keys, with and without
// types, and answers who served. A line is one key or two with a tabulator between them, each as "type:text" (class
// Consumer lists the types). params are the parameters of the reference, as "loadbalance=consistenthash".
func (e *Environment) Place(t testing.TB, dubbo string, keys []string, params ...string) []Placed {
	t.Helper()
	placed, err := e.place(t, dubbo, keys, params)
	if err != nil {
		t.Fatal(err)
	}
	return placed
}

func (e *Environment) place(t testing.TB, dubbo string, keys, params []string) ([]Placed, error) {
	java, err := tool("java")
	if err != nil {
		return nil, err
	}
	classes, err := jarsOf(e.jars, dubbo)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(e.Dir, fmt.Sprintf("consumer-%d-%s", e.serial.Add(1), dubbo))
	log := name + ".log"
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	// Java asks DNS for "localhost.".
	if err := os.WriteFile(name+".hosts", []byte("127.0.0.1 localhost. localhost "+host+"\n"), 0o644); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(t.Context(), java, slices.Concat(providerJVM, []string{"-Dfile.encoding=UTF-8", "-Duser.home=" + e.Dir,
		"-Djdk.net.hosts.file=" + name + ".hosts", "-cp", classes, "org.gofer.consumer.Consumer", e.ZooKeeper.Addr()}, params)...)
	dieWithParent(cmd)
	runtime.LockOSThread() // the child is killed when the thread that made it ends
	defer runtime.UnlockOSThread()
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(strings.Join(keys, "\n")+"\n"), &out, file
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the Java consumer of Dubbo %s ends: %w (log: %s)", dubbo, err, log)
	}
	var placed []Placed
	for line := range strings.Lines(out.String()) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "PLACED" {
			placed = append(placed, Placed{fields[1], fields[2]})
		}
	}
	if len(placed) != len(keys) {
		return nil, fmt.Errorf("the Java consumer of Dubbo %s answers for %d keys of %d (log: %s)", dubbo, len(placed), len(keys), log)
	}
	return placed, nil
}
