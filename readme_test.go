package gofer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/url"
)

const (
	tableBegin = "<!-- parameters: written by url.Markdown, compared by TestReadmeParameters -->\n"
	tableEnd   = "<!-- /parameters -->"
)

// TestReadmeParameters keeps the README's table and the parameter table one. With
// GOFER_WRITE_README=1 it writes the README.
func TestReadmeParameters(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), tableBegin)
	require.True(t, ok, "README.md has no line %q", tableBegin)
	table, after, ok := strings.Cut(rest, tableEnd)
	require.True(t, ok, "README.md has no line %q", tableEnd)
	want := "\n" + url.Markdown() + "\n"
	if os.Getenv("GOFER_WRITE_README") == "1" {
		require.NoError(t, os.WriteFile("README.md", []byte(before+tableBegin+want+tableEnd+after), 0o644))
		return
	}
	assert.Equal(t, want, table, "run GOFER_WRITE_README=1 go test -run TestReadmeParameters .")
}

// TestReadmeProgram builds the README's first program.
func TestReadmeProgram(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "```go\npackage main")
	require.True(t, ok, "README.md has no program")
	program, _, _ := strings.Cut(rest, "```")
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte("package main"+program), 0o644))
	out, err := exec.Command("go", "build", "-o", os.DevNull, file).CombinedOutput()
	assert.NoError(t, err, "%s", out)
}
