package main

import "strings"

func (r *results) intro() string { return "x" }

// fold breaks a text into lines of the tables' width.
func fold(text string) string {
	var b strings.Builder
	n := 0
	for word := range strings.FieldsSeq(text) {
		switch l := len([]rune(word)); {
		case n == 0:
			n = l
		case n+1+l > 92:
			b.WriteByte('\n')
			n = l
		default:
			b.WriteByte(' ')
			n += 1 + l
		}
		b.WriteString(word)
	}
	return b.String()
}

func indent(text string) string { return "   " + strings.ReplaceAll(text, "\n", "\n   ") }
