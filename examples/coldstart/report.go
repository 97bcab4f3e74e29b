package main

import (
	"fmt"
	"io"
	"time"
)

// columns of the tables, on the terminal and on the page.
func (r *results) columns() []string {
	names := []string{"strategy"}
	for _, span := range r.spans() {
		names = append(names, "share "+brief(span))
	}
	return append(names, "alone least", "CPU old/old/new", "p99", "failed")
}

// row is an outcome as text, without its strategy.
func (r *results) row(o *outcome) []string {
	var cells []string
	for _, w := range o.windows {
		cells = append(cells, percent(w.share))
	}
	w := o.windows[r.main()]
	return append(cells, percent(w.sole), cpus(w), ms(w.p99), failures(w))
}

// write prints the tables and what they mean.
func (r *results) write(out io.Writer) {
	fmt.Fprintf(out, "%s\n\n", fold(r.intro()))
	columns := r.columns()
	for i := range r.causes {
		c := &r.causes[i]
		fmt.Fprintf(out, "%d. %s\n%s\n", i+1, c.title, indent(fold(c.about)))
		line(out, columns[0], columns[1:])
		for j := range r.of(i) {
			o := &r.of(i)[j]
			line(out, o.strategy.label, r.row(o))
		}
		fmt.Fprintln(out)
	}
}

// line prints a row of a table.
func line(out io.Writer, first string, cells []string) {
	fmt.Fprintf(out, "   %-18s", first)
	for _, c := range cells {
		fmt.Fprintf(out, " %*s", max(len("share 5 min")-3, len(c))+2, c)
	}
	fmt.Fprintln(out)
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func cpus(w window) string {
	return fmt.Sprintf("%.0f/%.0f/%.0f %%", 100*w.cpu[0], 100*w.cpu[1], 100*w.cpu[2])
}

func ms(d time.Duration) string {
	return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
}

func failures(w window) string {
	if w.failed == 0 {
		return "0"
	}
	return percent(float64(w.failed) / float64(w.calls))
}

// brief is a time in the fewest words.
func brief(d time.Duration) string {
	if d >= 2*time.Minute && d%time.Minute == 0 {
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}
