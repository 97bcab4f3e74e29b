package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"set": typeset}).Parse(pageText))

// typeset gives a text what a terminal does not have.
func typeset(text string) string { return strings.ReplaceAll(unbroken(text), "'", "’") }

// page is what the template shows.
type page struct {
	Intro      string
	Setting    string
	Legend     string
	Parts      string // how to read the bars
	Alone      string // why there are further clusters
	Model      string
	Closing    []pageParagraph
	Strategies []pageStrategy
	Bars       []pageBar
	Fair       string // of the width
	Causes     []pageCause
	Clusters   pageTable
	Commands   []string
}

type pageParagraph struct{ Title, Text string }

type pageStrategy struct{ Key, Label, About string }

type pageBar struct {
	Label, Share, Note, Width, Class string
}

type pageCause struct {
	Number                     int
	Key, Title, About, Finding string
	Plots                      []pagePlot
	Table                      pageTable
}

type pagePlot struct {
	Title   string
	Drawing template.HTML
}

type pageTable struct {
	Caption string
	Columns []string
	Rows    []pageRow
}

type pageRow struct {
	Key, Label string
	Cells      []string
}

// page returns the page. It needs nothing from anywhere, and the same results make
// the same bytes.
func (r *results) page() ([]byte, error) {
	p := page{
		Intro: intro(), Setting: setting(), Legend: r.legend(), Parts: r.partsIntro(), Alone: aloneIntro(), Model: r.model(),
		Bars: r.bars(), Fair: number(100 * fair),
		Clusters: r.clusterTable(), Commands: r.commands(),
	}
	for _, c := range r.closing() {
		p.Closing = append(p.Closing, pageParagraph{c.title, c.text})
	}
	for _, s := range r.strategies {
		p.Strategies = append(p.Strategies, pageStrategy{s.key, s.label, s.about})
	}
	for i, c := range r.causes {
		one := pageCause{Number: i + 1, Key: c.key, Title: c.title, About: c.about, Finding: r.finding(i), Table: r.table(i)}
		for _, q := range quantities() {
			one.Plots = append(one.Plots, pagePlot{q.title, r.plot(i, q)})
		}
		p.Causes = append(p.Causes, one)
	}
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, p)
	return b.Bytes(), err
}

// bars are what each cause contributes.
func (r *results) bars() []pageBar {
	bar := func(class, label string, share float64, note string) pageBar {
		return pageBar{Label: label, Share: percent(share), Note: note, Width: number(100 * share), Class: class}
	}
	var all []pageBar
	for i, p := range r.parts() {
		note := fmt.Sprintf("%s with the patch", percent(p.honoured))
		if p.cause.adds {
			note = fmt.Sprintf("%+.1f points over 1; %s", 100*p.over, note)
		}
		all = append(all, bar("java", fmt.Sprintf("%d: %s", i+1, p.cause.label), p.share, note))
	}
	return append(all, bar("plain", "as reported", reported.share, ""))
}

func (r *results) table(cause int) pageTable {
	t := pageTable{Caption: fmt.Sprintf("%s, in figures", r.causes[cause].title), Columns: r.columns()}
	for i := range r.of(cause) {
		o := &r.of(cause)[i]
		t.Rows = append(t.Rows, pageRow{o.strategy.key, o.strategy.label, r.row(o)})
	}
	return t
}

func (r *results) clusterTable() pageTable {
	t := pageTable{Caption: "Java leastactive in other clusters", Columns: r.columns()}
	t.Columns[0] = "consumers, load"
	for i := range r.clusters {
		o := &r.clusters[i]
		t.Rows = append(t.Rows, pageRow{"", o.cause.label, r.row(o)})
	}
	return t
}

// commands are that which makes the page again, and the same for seeds that have not
// been used.
func (r *results) commands() []string {
	command := func(seed uint64) string {
		d, text := defaults(), "go run ./examples/coldstart"
		if seed != d.seed {
			text += fmt.Sprintf(" -seed %d", seed)
		}
		if r.runs != d.runs {
			text += fmt.Sprintf(" -runs %d", r.runs)
		}
		if r.after != d.after {
			text += fmt.Sprintf(" -after %.0fs", r.after.Seconds())
		}
		return text
	}
	return []string{command(r.seed), command(r.seed + uint64(r.runs))}
}

// model says what the figures rest on.
func (r *results) model() string {
	return fmt.Sprintf("By a simulation in virtual time, %s: Poisson arrivals, exponential times of work, %.2f ms of network and %.1f ms of jitter on average each way, no retries, a deadline of %s. The strategies of gofer are the real ones; those of Java are written after Dubbo 2.7.23, random after 3.3. The same seed makes the same page, to the byte.",
		r.runsText(), 1e3*delay.Seconds(), 1e3*jitter.Seconds(), brief(deadline))
}

// runsText says which runs there were.
func (c config) runsText() string {
	if c.runs == 1 {
		return fmt.Sprintf("one run, of seed %d", c.seed)
	}
	return fmt.Sprintf("%d runs pooled, of seeds %d to %d (fewer where there are more calls: of the busy cluster %d)", c.runs, c.seed, c.seed+uint64(c.runs)-1, c.seeds(heavy*capacity))
}

// writable tells whether the page can be written. It leaves what is there, and nothing
// where nothing is.
func (c config) writable() error {
	if c.html == "" {
		return nil
	}
	if _, err := os.Lstat(c.html); errors.Is(err, fs.ErrNotExist) {
		defer os.Remove(c.html)
	}
	f, err := os.OpenFile(c.html, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("-html: %w", err)
	}
	return f.Close()
}

// save writes the page to its file and says where that is.
func (r *results) save(out io.Writer) error {
	if r.html == "" {
		return nil
	}
	text, err := r.page()
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.html, text, 0o644); err != nil {
		return fmt.Errorf("-html: %w", err)
	}
	path, err := filepath.Abs(r.html)
	if err != nil {
		path = r.html
	}
	fmt.Fprintf(out, "plots: %s\n", path)
	return nil
}
