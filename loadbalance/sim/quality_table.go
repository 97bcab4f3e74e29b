package sim

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteTable writes the ratios of the p99, or of the mean, as a table: a row for each
// policy, the best first; the geometric mean over all scenarios, the worst case with
// its place, and a column for each scenario. What is wider than a terminal goes on
// below. With markdown it is one table for a page.
func (q *Quality) WriteTable(w io.Writer, mean, markdown bool) error {
	of := Ratio.p99
	if mean {
		of = Ratio.mean
	}
	policies := slices.SortedFunc(slices.Values(union(q.Grid.Policies, references)), func(a, b string) int {
		return cmp.Or(cmp.Compare(of(q.Geometric(a)), of(q.Geometric(b))), cmp.Compare(a, b))
	})
	rows := [][]string{append([]string{"policy", "all", "worst"}, q.Grid.Scenarios...)}
	for _, p := range policies {
		worst, scenario, load := q.worst(p, of)
		row := []string{p, ratio(of(q.Geometric(p))), fmt.Sprintf("%s, %s at %.4g %%", ratio(worst), scenario, 100*load)}
		for _, s := range q.Grid.Scenarios {
			row = append(row, ratio(of(q.Scenario(p, s))))
		}
		rows = append(rows, row)
	}
	if markdown {
		return writeMarkdown(w, rows)
	}
	return writeText(w, rows)
}

// lineWidth is what a terminal has room for.
const lineWidth = 100

// writeText writes as many columns beside each other as there is room for, and the rest
// below; the first one always.
func writeText(w io.Writer, rows [][]string) error {
	width := func(column int) (n int) {
		for _, row := range rows {
			n = max(n, len(row[column])+2)
		}
		return n
	}
	for from := 1; from < len(rows[0]); {
		to, used := from, width(0)
		for to < len(rows[0]) && (to == from || used+width(to) <= lineWidth) {
			used += width(to)
			to++
		}
		if from > 1 {
			fmt.Fprintln(w)
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, row := range rows {
			fmt.Fprintln(t, row[0]+"\t"+strings.Join(row[from:to], "\t"))
		}
		if err := t.Flush(); err != nil {
			return err
		}
		from = to
	}
	return nil
}

func writeMarkdown(w io.Writer, rows [][]string) error {
	for i, row := range rows {
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | ")); err != nil {
			return err
		}
		if i == 0 {
			fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(row)))
		}
	}
	return nil
}

// ratio writes a ratio as exactly as it is known.
func ratio(r float64) string {
	if r >= 10 {
		return fmt.Sprintf("%.0f", r)
	}
	return fmt.Sprintf("%.2f", r)
}
