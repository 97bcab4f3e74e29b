package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// columns of the tables, on the terminal and on the page.
func (r *results) columns() []string {
	names := []string{"strategy"}
	for _, span := range r.spans() {
		names = append(names, brief(span))
	}
	return append(names, "sole", "CPU old/old/new", "p99", "failed")
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
	fmt.Fprintf(out, "%s\n\n%s\n\n", fold(r.intro()), fold(r.legend()))
	columns := r.columns()
	for i := range r.causes {
		c := &r.causes[i]
		fmt.Fprintf(out, "%d. %s\n%s\n", i+1, c.title, indent("   ", fold(c.about)))
		writeLine(out, columns[0], columns[1:])
		for j := range r.of(i) {
			o := &r.of(i)[j]
			writeLine(out, o.strategy.label, r.row(o))
		}
		fmt.Fprintf(out, "%s\n\n", indent(" → ", fold(r.finding(i))))
	}
	r.writeParts(out)
	r.writeAlone(out)
	for _, p := range r.closing() {
		fmt.Fprintf(out, "%s\n\n", fold(p))
	}
}

// writeLine prints a row of a table.
func writeLine(out io.Writer, first string, cells []string) {
	fmt.Fprintf(out, "   %-18s", first)
	for i, c := range cells {
		width := 8
		if i == len(cells)-3 {
			width = len("CPU old/old/new") + 1
		}
		fmt.Fprint(out, strings.Repeat(" ", max(1, width-utf8.RuneCountInString(c))), c)
	}
	fmt.Fprintln(out)
}

// writeParts prints what each cause contributes.
func (r *results) writeParts(out io.Writer) {
	fmt.Fprintf(out, "What each cause contributes: share of the new provider with Dubbo's leastactive over %s\n", brief(r.span()))
	bar := func(label string, share float64, text string) {
		line := fmt.Sprintf("   %-32s %7s %-26s %s", label, percent(share), strings.Repeat("█", int(share*25+0.5)), text)
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
	bar("a fair share", fair, "")
	for _, p := range r.parts() {
		text := fmt.Sprintf("weight honoured: %s", percent(p.honoured))
		if p.adds {
			text = fmt.Sprintf("%+.1f points; %s", 100*p.over, text)
		}
		bar(p.label, p.share, text)
	}
	bar("as reported", reported.share, "")
	fmt.Fprintln(out)
}

// writeAlone prints what the mechanism usually blamed does in other clusters.
func (r *results) writeAlone(out io.Writer) {
	fmt.Fprintln(out, "The mechanism usually blamed, alone, in other clusters")
	columns := r.columns()
	writeLine(out, "consumers, load", columns[1:])
	for i := range r.clusters {
		writeLine(out, r.clusters[i].cause.label, r.row(&r.clusters[i]))
	}
	fmt.Fprintln(out)
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func cpus(w window) string {
	return fmt.Sprintf("%.0f/%.0f/%.0f %%", 100*w.cpu[0], 100*w.cpu[1], 100*w.cpu[newcomer])
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
