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
// policy, the best first, a column for each scenario, then the geometric mean over all
// and the worst case with its place. With markdown it is one for a page.
func (q *Quality) WriteTable(w io.Writer, mean, markdown bool) error {
	of := Ratio.p99
	if mean {
		of = Ratio.mean
	}
	policies := slices.SortedFunc(slices.Values(union(q.Grid.Policies, best)), func(a, b string) int {
		return cmp.Or(cmp.Compare(of(q.Geometric(a)), of(q.Geometric(b))), cmp.Compare(a, b))
	})
	rows := [][]string{append(append([]string{"policy"}, q.Grid.Scenarios...), "all", "worst")}
	for _, p := range policies {
		row := []string{p}
		for _, s := range q.Grid.Scenarios {
			row = append(row, ratio(of(q.Scenario(p, s))))
		}
		worst, scenario, load := q.worst(p, of)
		rows = append(rows, append(row, ratio(of(q.Geometric(p))), fmt.Sprintf("%s, %s at %.4g %%", ratio(worst), scenario, 100*load)))
	}
	if markdown {
		return writeMarkdown(w, rows)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
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
