package suite

import (
	"regexp"
	"strings"
)

// What differs from run to run and from machine to machine, in texts of providers and
// of gofer. In this order.
var variable = []struct {
	what *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`\b(?:dubbo|consumer)://[^\s,;"')\]]+`), "URL"},
	{regexp.MustCompile(`\[id: 0x[0-9a-f]+, L:\S+ - R:\S+?\](\])?`), "[CHANNEL]$1"},
	{regexp.MustCompile(`\blocalhost\b\.?`), "HOST"},
	{regexp.MustCompile(`\b(?:\d{1,3}\.){3}\d{1,3}\b`), "HOST"},
	{regexp.MustCompile(`\bHOST:\d+`), "HOST:PORT"},
	{regexp.MustCompile(`\(HOST, ?\d+\)`), "(HOST,PORT)"},
	{regexp.MustCompile(`(:[\d.]+):\d{5}\b`), "$1:PORT"},
	{regexp.MustCompile(`\[id=-?\d+`), "[id=ID"},
	{regexp.MustCompile(`active: \d+`), "active: N"},
	{regexp.MustCompile(`, [^],]*/org\.apache\.dubbo\.metadata\.MetadataService:[^],]*`), ""}, // Dubbo 3's own
	{regexp.MustCompile(`[^[]*/org\.apache\.dubbo\.metadata\.MetadataService:[^],]*, `), ""},
	{regexp.MustCompile(` \(\S+ and \S+ are in module [^)]*\)`), ""}, // of a ClassCastException
	{regexp.MustCompile(`Task: \d+ \(completed: \d+\)`), "Task: N (completed: N)"},
	{regexp.MustCompile(`(@)[0-9a-f]{5,8}\b`), "${1}HASH"},
	{regexp.MustCompile(`\b\d+(?:\.\d+)?(?:ms|µs|s)\b`), "TIME"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]?\d*\S*`), "DATE"},
}

// normal makes a text that is the same in every run: its first line, since the next
// ones are Java's stack trace, without addresses, identifiers and times.
func normal(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	for _, v := range variable {
		line = v.what.ReplaceAllString(line, v.name)
	}
	return strings.TrimSpace(line)
}
