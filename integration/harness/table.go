package harness

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Table collects what tests found out, one outcome per method and version. The zero value is ready; it is safe for
// concurrent use.
type Table struct {
	mu       sync.Mutex
	rows     []string // methods in the order of their first outcome
	columns  []string // versions, sorted
	outcomes map[[2]string]string
}

// Record notes the outcome of one method against one version; a later one replaces it.
func (t *Table) Record(method, version, outcome string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.outcomes == nil {
		t.outcomes = map[[2]string]string{}
	}
	if !slices.Contains(t.rows, method) {
		t.rows = append(t.rows, method)
	}
	if at, found := slices.BinarySearch(t.columns, version); !found {
		t.columns = slices.Insert(t.columns, at, version)
	}
	t.outcomes[[2]string{method, version}] = outcome
}

// Empty tells whether nothing was recorded.
func (t *Table) Empty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.rows) == 0
}

// String is the table with aligned columns, one line per method; "-" where nothing was recorded.
func (t *Table) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := [][]string{append([]string{"method"}, t.columns...)}
	for _, method := range t.rows {
		line := []string{method}
		for _, version := range t.columns {
			outcome, ok := t.outcomes[[2]string{method, version}]
			if !ok {
				outcome = "-"
			}
			line = append(line, outcome)
		}
		lines = append(lines, line)
	}
	widths := make([]int, len(t.columns)+1)
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var text strings.Builder
	for _, line := range lines {
		var row strings.Builder
		for i, cell := range line {
			fmt.Fprintf(&row, "%-*s  ", widths[i], cell)
		}
		text.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	return text.String()
}

// publish prints the table to out and writes it to the file, when one is named.
func (t *Table) publish(out io.Writer, file string) error {
	if t.Empty() {
		return nil
	}
	fmt.Fprintf(out, "\n%s\n", t)
	if file == "" {
		return nil
	}
	return os.WriteFile(file, []byte(t.String()), 0o644)
}
