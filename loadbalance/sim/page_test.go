//go:build !race

package sim

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// page has tables of what TestQuality and those beside it compute. Each is between two
// comments. With GOFER_WRITE_PAGE=1 they are written, not compared:
//
//	GOFER_WRITE_PAGE=1 go test ./loadbalance/sim -run TestQuality -count=1
const page = "../../docs/choosing-a-load-balance.md"

// guard keeps a table of the page and what has been computed one.
func guard(t *testing.T, name string, head []string, rows [][]string) {
	t.Helper()
	if testing.Short() { // less has been computed
		return
	}
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "<!-- "+name+": written and compared by "+t.Name()+" -->\n")
	require.True(t, ok, "the page has no table %q of %s", name, t.Name())
	table, after, ok := strings.Cut(rest, "<!-- /"+name+" -->\n")
	require.True(t, ok, "the table %q has no end", name)
	var b strings.Builder
	require.NoError(t, writeMarkdown(&b, append([][]string{head}, rows...)))
	want := "\n" + b.String() + "\n"
	if os.Getenv("GOFER_WRITE_PAGE") == "1" {
		end := "<!-- /" + name + " -->\n"
		require.NoError(t, os.WriteFile(page, []byte(strings.TrimSuffix(string(text), rest)+want+end+after), 0o644))
		return
	}
	if !alike(want, table) {
		assert.Equal(t, want, table, "if that is how it is to be: GOFER_WRITE_PAGE=1 go test ./loadbalance/sim -run TestQuality -count=1")
	}
}

// alike compares tables cell by cell: to the letter, but on processors that round in other
// ways a simulation takes another course, and figures differ somewhat.
func alike(a, b string) bool {
	if a == b || runtime.GOARCH == "amd64" {
		return a == b
	}
	words, others := strings.Fields(a), strings.Fields(b)
	return slices.EqualFunc(words, others, func(a, b string) bool {
		x, err1 := strconv.ParseFloat(strings.Trim(a, ","), 64)
		y, err2 := strconv.ParseFloat(strings.Trim(b, ","), 64)
		return a == b || err1 == nil && err2 == nil && max(x, y) <= 1.5*min(x, y)+0.2
	})
}

// table returns the rows of a table of the page: the ratios of all scenarios, the worst
// case, and the ratios of some scenarios.
func (q *Quality) table(policies, scenarios []string) (rows [][]string) {
	for _, p := range policies {
		all := q.Geometric(p)
		worst, _, _ := q.Worst(p)
		row := []string{p, ratio(all.P99), ratio(all.Mean), ratio(worst)}
		for _, s := range scenarios {
			row = append(row, ratio(q.Scenario(p, s).P99))
		}
		rows = append(rows, row)
	}
	return rows
}
