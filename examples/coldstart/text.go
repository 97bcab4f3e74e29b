package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// lineWidth is how wide the report is on a terminal.
const lineWidth = 79

// percent is a share in the tables.
func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

// rough is a share in a sentence. Other seeds give others: from 10 % on, a decimal would
// promise too much.
func rough(v float64) string {
	if v < 0.0995 {
		return percent(v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

func ms(d time.Duration) string {
	return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
}

// brief is a time in the fewest words.
func brief(d time.Duration) string {
	if d >= 2*time.Minute && d%time.Minute == 0 {
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}

// list joins words as people do.
func list(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

func lower(title string) string { return strings.ToLower(title[:1]) + title[1:] }

// fold breaks a text into lines of a width. A number stays with its unit.
func fold(text string, width int) string {
	var b strings.Builder
	n := 0
	for word := range strings.SplitSeq(unbroken(text), " ") {
		switch l := utf8.RuneCountInString(word); {
		case n == 0:
			n = l
		case n+1+l > width:
			b.WriteByte('\n')
			n = l
		default:
			b.WriteByte(' ')
			n += 1 + l
		}
		b.WriteString(word)
	}
	return strings.ReplaceAll(b.String(), "\u00a0", " ")
}

// unbroken keeps numbers and their units on one line.
func unbroken(text string) string { return bound.ReplaceAllString(text, "$1\u00a0$2") }

// bound is a number with its unit.
var bound = regexp.MustCompile(`(\d) (%|ms\b|s\b|min\b)`)

// indent folds a text behind a mark, and its further lines below.
func indent(mark, text string) string {
	n := utf8.RuneCountInString(mark)
	return mark + strings.ReplaceAll(fold(text, lineWidth-n), "\n", "\n"+strings.Repeat(" ", n))
}
