package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
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

// cpus is the CPU of all providers, in the order of the columns.
func cpus(w window) string {
	return fmt.Sprintf("%.0f/%.0f/%.0f %%", 100*w.cpu[0], 100*w.cpu[1], 100*w.cpu[newcomer])
}

// writeQuestion prints what needs no figures.
func (c config) writeQuestion(out io.Writer) {
	fmt.Fprintf(out, "%s\n\n%s\n\nWho chooses:\n", fold(intro(), lineWidth), fold(setting(), lineWidth))
	for _, s := range strategies() {
		fmt.Fprintln(out, indent(fmt.Sprintf("  %-23s", s.label), s.about))
	}
	fmt.Fprintf(out, "\n%s\n\n", fold(c.legend(), lineWidth))
}

// writeAnswer prints the tables and what they mean.
func (r *results) writeAnswer(out io.Writer) {
	for i, c := range r.causes {
		fmt.Fprintf(out, "%d. %s\n%s\n", i+1, c.title, indent("   ", c.about))
		r.writeTable(out, "strategy", r.of(i), func(o *outcome) string { return o.strategy.label })
		fmt.Fprintf(out, "%s\n\n", indent(" → ", r.finding(i)))
	}
	fmt.Fprintf(out, "The mechanism alone, elsewhere\n%s\n", indent("   ", aloneIntro()))
	r.writeTable(out, "consumers, load", r.clusters, func(o *outcome) string { return o.cause.label })
	fmt.Fprintln(out)
	r.writeParts(out)
	fmt.Fprintln(out, "What it means")
	for _, p := range r.closing() {
		fmt.Fprintf(out, " * %s\n%s\n\n", p.title, indent("   ", p.text))
	}
}

// writeTable prints a table. Units are in its head, to leave room.
func (r *results) writeTable(out io.Writer, first string, outcomes []outcome, label func(*outcome) string) {
	spans := len(r.spans())
	widths := append(slices.Repeat([]int{6}, spans), 6, 13, 6, 8)
	line := func(first string, cells []string) {
		fmt.Fprintf(out, " %-21s", first)
		for i, c := range cells {
			fmt.Fprintf(out, "%*s", widths[i], c)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, " %-21s%*s%13s%6s%8s\n", "", 6*spans+6, "share of all calls, %", "CPU, %", "p99,", "failed,")
	heads := r.columns()[1:]
	heads[spans+1], heads[spans+2], heads[spans+3] = "old/old/new", "ms", "%"
	line(first, heads)
	for i := range outcomes {
		cells := r.row(&outcomes[i])
		for k := range cells {
			cells[k] = bare(cells[k])
		}
		line(label(&outcomes[i]), cells)
	}
}

// bare is a figure without its unit.
func bare(cell string) string { return strings.TrimSuffix(strings.TrimSuffix(cell, " %"), " ms") }

// writeParts prints what each cause contributes.
func (r *results) writeParts(out io.Writer) {
	fmt.Fprintf(out, "What each cause contributes\n%s\n", indent("   ", r.partsIntro()))
	line := func(label, share, added, patched, bar string) {
		text := fmt.Sprintf("  %-37s%8s%8s%11s  %s", label, share, added, patched, bar)
		fmt.Fprintln(out, strings.TrimRight(text, " "))
	}
	bar := func(share float64) string { return strings.Repeat("█", int(share*11+0.5)) }
	line("", "share", "points", "share with", "")
	line("", "", "over 1", "the patch", "")
	for i, p := range r.parts() {
		added := ""
		if p.cause.adds {
			added = fmt.Sprintf("%+.1f", 100*p.over)
		}
		line(fmt.Sprintf("%d: %s", i+1, p.cause.label), percent(p.share), added, percent(p.honoured), bar(p.share))
	}
	line("   a fair share", percent(fair), "", "", bar(fair))
	line("   as reported", percent(reported.share), "", "", bar(reported.share))
	fmt.Fprintln(out)
}
