//go:build integration

package integration

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/integration/harness"
)

// quickstart builds the example and prepares it to run against the environment's
// ZooKeeper.
func quickstart(t *testing.T, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "quickstart")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/gofer-rpc/gofer/examples/quickstart").CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd = exec.CommandContext(t.Context(), binary, append([]string{"-registry", "zookeeper://" + env.ZooKeeper.Addr(),
		"-method", "hello(java.lang.String)", "-arg", "Ada"}, args...)...)
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// The quickstart measures the oldest and the newest Java provider as it measures its
// own.
func TestQuickstartAgainstJava(t *testing.T) {
	versions := env.Versions()
	require.GreaterOrEqual(t, len(versions), 2)
	var addresses []string
	for _, v := range []string{versions[0], versions[len(versions)-1]} {
		p := env.StartProvider(t, v, "--group", "quickstart", "--version", "1.0.0")
		addresses = append(addresses, "localhost.:"+strconv.Itoa(p.Port))
	}
	cmd, stdout, stderr := quickstart(t, "-duration", "3s", "-callers", "4",
		"-service", harness.Interface+"?group=quickstart&version=1.0.0&timeout=5000&retries=0")
	require.NoError(t, cmd.Run(), stderr)
	t.Log("\n" + stdout.String())

	report := stdout.String()
	assert.Regexp(t, `registered \d+ → enabled 2 → routed 2 → available 2; from zookeeper://`+env.ZooKeeper.Addr(), report)
	assert.Contains(t, report, `hello("Ada") = "hello Ada from provider-`)
	row := regexp.MustCompile(`(?m)^  (?:steady| {6}) +(\S+) +(\d+) +(\d+\.\d) % +(\d+) +\d+ +\d+\.\d+ ms +\d+\.\d+ ms$`)
	rows := row.FindAllStringSubmatch(report, -1)
	require.Len(t, rows, 3*3, "two providers and all, for three strategies")
	for i := 0; i < len(rows); i += 3 {
		assert.ElementsMatch(t, addresses, []string{rows[i][1], rows[i+1][1]})
		assert.Equal(t, "all", rows[i+2][1])
		assert.Equal(t, "0", rows[i+2][4], "failed")
		calls := 0
		for _, r := range rows[i : i+2] {
			n, err := strconv.Atoi(r[2])
			require.NoError(t, err)
			assert.Positive(t, n, "both are called")
			calls += n
		}
		assert.Equal(t, rows[i+2][2], strconv.Itoa(calls))
	}
	said := regexp.MustCompile(`→ of 2 providers \S+ \(weight \d+\) got [^→]* none of \d+ calls failed\.`)
	assert.Len(t, said.FindAllString(strings.Join(strings.Fields(report), " "), -1), 3)
}

func TestQuickstartIsInterrupted(t *testing.T) {
	cmd, _, _ := quickstart(t, "-duration", "60s", "-service", env.Shared(env.Versions()[0]).Reference())
	progress, err := os.Create(filepath.Join(t.TempDir(), "progress"))
	require.NoError(t, err)
	defer progress.Close()
	cmd.Stderr = progress
	text := func() string {
		b, err := os.ReadFile(progress.Name())
		require.NoError(t, err)
		return string(b)
	}
	require.NoError(t, cmd.Start())
	eventually(t, 20*time.Second, "the load begins", func() bool { return strings.Contains(text(), "random: steady load") })
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	assert.Equal(t, 130, exit.ExitCode(), text())
	assert.True(t, strings.HasSuffix(text(), "quickstart: interrupted; everything is closed\n"), text())
}
