//go:build unix

package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSplitFlags(t *testing.T) {
	f := splitFlags([]string{"--group", "g1", "-J-Xmx1g", "--bootstrap", "--token=a=b", "--param", "k=v", "--port", "0"})
	require.Equal(t, []string{"-Xmx1g"}, f.jvm)
	require.Equal(t, []string{"--group", "g1", "--bootstrap", "--token=a=b", "--param", "k=v", "--port", "0"}, f.program)
	require.Equal(t, map[string]string{"--group": "g1", "--bootstrap": "", "--token": "a=b", "--param": "k=v", "--port": "0"}, f.given)

	require.Equal(t, "g1", f.fill("--group", "other"), "what was given stays")
	require.Equal(t, "n", f.fill("--name", "n"))
	require.Equal(t, []string{"--name", "n"}, f.program[len(f.program)-2:])
}

func TestProviderReferences(t *testing.T) {
	p := &Provider{Port: 21001}
	require.Equal(t, Interface, p.Reference())
	p.Group, p.Version = "2.6.12", "1.0.0"
	require.Equal(t, Interface+"?timeout=300&group=2.6.12&version=1.0.0", p.Reference("timeout=300"))
	require.Equal(t, "dubbo://127.0.0.1:21001/"+Interface+"?group=2.6.12&version=1.0.0", p.Direct())
}

func TestUnknownVersion(t *testing.T) {
	jars := t.TempDir()
	for _, version := range []string{"3.3.6", "2.6.12"} {
		require.NoError(t, os.MkdirAll(filepath.Join(jars, version), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(jars, version, "dubbo-"+version+".jar"), nil, 0o644))
	}
	require.Equal(t, []string{"2.6.12", "3.3.6"}, builtVersions(jars))
	t.Setenv("PATH", jars)
	_, err := newProvider(&processes{}, jars, t.TempDir(), "2.6.12", splitFlags(nil))
	require.ErrorContains(t, err, "make deps", "no java in PATH")
	require.NoError(t, os.WriteFile(filepath.Join(jars, "java"), nil, 0o755))
	_, err = newProvider(&processes{}, jars, t.TempDir(), "1.0", splitFlags(nil))
	require.ErrorContains(t, err, `no provider of Dubbo "1.0" was built, only of [2.6.12 3.3.6]`)
}

func TestFreePortsAreGivenOutOnce(t *testing.T) {
	seen := map[int]bool{}
	for range 50 {
		port, err := freePort()
		require.NoError(t, err)
		require.False(t, seen[port])
		require.Less(t, port, 32768)
		seen[port] = true
	}
}
