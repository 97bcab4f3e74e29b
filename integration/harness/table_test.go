package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	var table Table
	require.True(t, table.Empty())
	table.Record("echoInt", "3.3.6", "failed")
	table.Record("echoInt", "2.6.12", "ok")
	table.Record("optional", "2.7.23", "status 50 …")
	table.Record("echoInt", "3.3.6", "ok")
	require.False(t, table.Empty())
	require.Equal(t, strings.Join([]string{
		"method    2.6.12  2.7.23       3.3.6",
		"echoInt   ok      -            ok",
		"optional  -       status 50 …  -",
		"",
	}, "\n"), table.String())
}

func TestTablePublish(t *testing.T) {
	var out strings.Builder
	file := filepath.Join(t.TempDir(), "table.txt")
	var table Table
	require.NoError(t, table.publish(&out, file))
	require.NoFileExists(t, file, "a run without outcomes must not replace a table")

	table.Record("echoInt", "3.3.6", "ok")
	require.NoError(t, table.publish(&out, file))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, table.String(), string(text))
	require.Equal(t, "\n"+table.String()+"\n", out.String())
	require.Error(t, table.publish(&out, filepath.Join(t.TempDir(), "missing", "table.txt")))
}
