package main

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// svg writes a drawing as text. Colours and fonts are the page's: what is drawn has
// classes.
type svg struct{ strings.Builder }

// number is a coordinate, to a tenth.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0")
}

// begin opens a drawing of a size in units of its own: the page scales it. title and
// desc are for who cannot see it.
func (s *svg) begin(id, title, desc string, width, height float64) {
	fmt.Fprintf(s, `<svg viewBox="0 0 %s %s" role="img" aria-labelledby="%s-title %s-desc" xmlns="http://www.w3.org/2000/svg">`,
		number(width), number(height), id, id)
	fmt.Fprintf(s, `<title id="%s-title">%s</title><desc id="%s-desc">%s</desc>`, id, html.EscapeString(title), id, html.EscapeString(desc))
}

func (s *svg) end() { s.WriteString("</svg>") }

func (s *svg) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(s, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, number(x1), number(y1), number(x2), number(y2))
}

// curve draws a line through points.
func (s *svg) curve(class string, points [][2]float64) {
	fmt.Fprintf(s, `<polyline class="%s" points="`, class)
	for i, p := range points {
		if i > 0 {
			s.WriteByte(' ')
		}
		s.WriteString(number(p[0]) + "," + number(p[1]))
	}
	s.WriteString(`"/>`)
}

func (s *svg) dot(class string, x, y, r float64) {
	fmt.Fprintf(s, `<circle class="%s" cx="%s" cy="%s" r="%s"/>`, class, number(x), number(y), number(r))
}

// text writes words; anchor is start, middle or end.
func (s *svg) text(class, anchor string, x, y float64, words string) {
	fmt.Fprintf(s, `<text class="%s" text-anchor="%s" x="%s" y="%s">%s</text>`, class, anchor, number(x), number(y), html.EscapeString(words))
}
