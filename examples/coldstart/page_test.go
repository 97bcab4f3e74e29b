package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// element is one of the page.
type element struct {
	name  string
	attrs map[string]string
	text  string // directly in it
}

// parse reads the page as XML, strictly.
func parse(t *testing.T, page []byte) []*element {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	var all, open []*element
	for {
		token, err := d.Token()
		if err == io.EOF {
			require.Empty(t, open)
			return all
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			all, open = append(all, e), append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text += string(token)
			}
		}
	}
}

func pageOf(t *testing.T, r *results) []byte {
	t.Helper()
	page, err := r.page()
	require.NoError(t, err)
	return page
}

func named(all []*element, name string) (found []*element) {
	for _, e := range all {
		if e.name == name {
			found = append(found, e)
		}
	}
	return found
}

func TestThePageIsWellFormedAndAccessible(t *testing.T) {
	r := story(t)
	page := pageOf(t, r)
	all := parse(t, page)
	assert.Equal(t, "en", named(all, "html")[0].attrs["lang"])
	assert.Len(t, named(all, "h1"), 1)
	ids := map[string]*element{}
	for _, e := range all {
		if id, ok := e.attrs["id"]; ok {
			assert.NotContains(t, ids, id)
			ids[id] = e
		}
	}
	referred := 0
	for _, e := range all {
		for id := range strings.FieldsSeq(e.attrs["aria-labelledby"]) {
			require.Contains(t, ids, id)
			assert.NotEmpty(t, strings.TrimSpace(ids[id].text), id)
			referred++
		}
	}
	assert.GreaterOrEqual(t, referred, 2*10)
	plots := named(all, "svg")
	assert.Len(t, plots, 2*len(r.causes))
	for _, p := range plots {
		assert.Equal(t, "img", p.attrs["role"])
		assert.NotEmpty(t, p.attrs["viewBox"])
	}
	assert.Len(t, named(all, "polyline"), len(plots)*len(r.strategies)*2, "a line and a leader each")
	assert.Len(t, named(all, "table"), len(r.causes)+1)
	assert.Len(t, named(all, "caption"), len(r.causes)+1)
	for _, e := range named(all, "th") {
		assert.Contains(t, []string{"row", "col"}, e.attrs["scope"])
	}
}

func TestThePageNeedsNothingFromOutside(t *testing.T) {
	page := pageOf(t, story(t))
	all := parse(t, page)
	for _, name := range []string{"script", "link", "img", "iframe", "object", "use", "image"} {
		assert.Empty(t, named(all, name))
	}
	for _, e := range all {
		assert.Empty(t, e.attrs["src"])
		assert.Empty(t, e.attrs["href"])
	}
	text := strings.NewReplacer(`"http://www.w3.org/1999/xhtml"`, "", `"http://www.w3.org/2000/svg"`, "").Replace(string(page))
	for _, bad := range []string{"http:", "https:", "//", "url(", "@import", "ZgotmplZ", "NaN", "Inf"} {
		assert.NotContains(t, text, bad)
	}
	assert.Less(t, len(page), 200_000)
}

func TestThePageHasAllFigures(t *testing.T) {
	r := story(t)
	var cells []string
	for _, e := range parse(t, pageOf(t, r)) {
		if e.name == "td" {
			cells = append(cells, strings.ReplaceAll(e.text, "\u00a0", " "))
		}
	}
	var want []string
	for i := range r.outcomes {
		want = append(want, r.row(&r.outcomes[i])...)
	}
	for i := range r.clusters {
		want = append(want, r.row(&r.clusters[i])...)
	}
	assert.Equal(t, want, cells)

	var terminal bytes.Buffer
	r.writeAnswer(&terminal)
	lines := map[string]bool{}
	for line := range strings.Lines(terminal.String()) {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, o := range slices.Concat(r.outcomes, r.clusters) {
		label := o.strategy.label
		if o.cause.key == "" {
			label = o.cause.label
		}
		row := label
		for _, cell := range r.row(&o) {
			row += " " + bare(cell)
		}
		assert.Contains(t, lines, row)
	}
}

var (
	variable = regexp.MustCompile(`--([a-z]+): (#[0-9a-f]{6});`)
	schemes  = regexp.MustCompile(`(?s):root \{(.*?)\}`)
)

// luminance is that of WCAG 2.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	sum := 0.0
	for i, part := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		require.NoError(t, err)
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += part * c
	}
	return sum
}

func TestWordsAndLinesCanBeReadInBothSchemes(t *testing.T) {
	blocks := schemes.FindAllStringSubmatch(pageText, -1)
	require.Len(t, blocks, 2, "light and dark")
	for _, b := range blocks {
		colours := map[string]string{}
		for _, m := range variable.FindAllStringSubmatch(b[1], -1) {
			colours[m[1]] = m[2]
		}
		words := []string{"ink", "soft"}
		for _, s := range strategies() {
			words = append(words, s.key)
		}
		for _, ground := range []string{"paper", "card"} {
			for _, word := range words {
				require.Contains(t, colours, word)
				a, b := luminance(t, colours[word]), luminance(t, colours[ground])
				assert.GreaterOrEqual(t, (max(a, b)+0.05)/(min(a, b)+0.05), 4.5, "%s %s on %s %s", word, colours[word], ground, colours[ground])
			}
		}
	}
}

func TestThePageIsWrittenWhereAndIfWanted(t *testing.T) {
	dir := t.TempDir()
	r := *story(t)
	var out bytes.Buffer
	r.html = ""
	require.NoError(t, r.config.writable())
	require.NoError(t, r.save(&out))
	assert.Empty(t, out.String())

	r.html = filepath.Join(dir, "here.html")
	require.NoError(t, os.WriteFile(r.html, []byte("before"), 0o600))
	require.NoError(t, r.config.writable())
	left, err := os.ReadFile(r.html)
	require.NoError(t, err)
	assert.Equal(t, "before", string(left), "what was there stays until there is something new")
	require.NoError(t, r.save(&out))
	assert.Equal(t, "plots: "+r.html+"\n", out.String())
	page, err := os.ReadFile(r.html)
	require.NoError(t, err)
	assert.Equal(t, string(pageOf(t, &r)), string(page))
}

func TestAPageThatCannotBeWrittenIsToldBeforeTheWork(t *testing.T) {
	for _, file := range []string{filepath.Join(t.TempDir(), "missing", "page.html"), t.TempDir()} {
		var out, errs bytes.Buffer
		assert.Equal(t, 1, run(t.Context(), []string{"-html", file}, &out, &errs))
		assert.Contains(t, errs.String(), "coldstart: -html: open "+file+": ")
		assert.Empty(t, out.String())
	}
}

func TestAnInterruptLeavesNoPage(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "page.html")
	var out, errs bytes.Buffer
	assert.Equal(t, 130, run(ctx, []string{"-html", file}, &out, &errs))
	assert.Equal(t, "coldstart: interrupted\n", errs.String())
	assert.NotContains(t, out.String(), "plots:")
	assert.NoFileExists(t, file)
}

func TestCommands(t *testing.T) {
	r := &results{config: defaults()}
	assert.Equal(t, []string{"go run ./examples/coldstart", "go run ./examples/coldstart -seed 4"}, r.commands())
	assert.Equal(t, "3 runs pooled, of seeds 1 to 3 (fewer where there are more calls: of the busy cluster 1)", r.runsText())
	r.config = config{seed: 9, runs: 1, after: 90 * time.Second}
	assert.Equal(t, []string{"go run ./examples/coldstart -seed 9 -runs 1 -after 90s", "go run ./examples/coldstart -seed 10 -runs 1 -after 90s"}, r.commands())
	assert.Equal(t, "one run, of seed 9", r.runsText())
}
