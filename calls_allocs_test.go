//go:build !race

package gofer_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// elsewhere asks the test binary to be a provider: what that allocates must not count.
const elsewhere = "GOFER_TEST_PROVIDER"

// TestProviderElsewhere is the other process of TestEchoAllocations. On its own it
// shows that a provider says where it is and ends with its input.
func TestProviderElsewhere(t *testing.T) {
	out, in := io.Writer(io.Discard), io.Reader(strings.NewReader(""))
	if os.Getenv(elsewhere) != "" {
		out, in = os.Stdout, os.Stdin
	}
	p := startDemo(t, "", dubbotest.WithRecords(0))
	_, err := io.WriteString(out, "PROVIDER "+p.URL()+"\n")
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, in)
	require.NoError(t, err)
}

// startElsewhere starts a provider in a process of its own and returns its address.
func startElsewhere(t *testing.T) string {
	cmd := exec.Command(os.Args[0], "-test.run=^TestProviderElsewhere$")
	cmd.Env = append(os.Environ(), elsewhere+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	t.Cleanup(func() {
		_ = in.Close()
		for lines.Scan() {
		}
		assert.NoError(t, cmd.Wait())
	})
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "PROVIDER "); ok {
			return address
		}
	}
	require.FailNow(t, "the provider did not start")
	return ""
}

// A string echo over a real connection allocates the call, its boxed argument and
// the result, and nothing else anywhere in the process.
func TestEchoAllocations(t *testing.T) {
	address := startElsewhere(t)
	text := strings.Repeat("x", 100)
	for name, params := range map[string]string{"plain": "", "limited": "actives=10&loadbalance=leastactive"} {
		r := refer(t, newClient(t), address+"?timeout=20000&"+params)
		bound, err := gofer.Method[string](r, "echo(java.lang.String)")
		require.NoError(t, err)
		for kind, echo := range map[string]func() (string, error){
			"bound":    func() (string, error) { return bound.Call(t.Context(), text) },
			"declared": func() (string, error) { return gofer.Call[string](t.Context(), r, "echo(java.lang.String)", text) },
			"inferred": func() (string, error) { return gofer.Call[string](t.Context(), r, "echo", text) },
		} {
			allocs := testing.AllocsPerRun(500, func() {
				if s, err := echo(); err != nil || s != text {
					t.Fatal(s, err)
				}
			})
			assert.LessOrEqual(t, allocs, 3.0, "%s, %s", name, kind)
		}
	}
}
