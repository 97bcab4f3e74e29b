package url

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bool reads a truth value as Java does: "true" in any case, and nothing else.
func Bool(s string) bool { return strings.EqualFold(s, "true") }

// Int reads a number as Java's Integer.parseInt does: decimal digits with an
// optional sign, no blanks, 32 bits.
func Int(s string) (int, error) {
	n, err := parseInt(s, 32)
	return int(n), err
}

// Long reads a number as Java's Long.parseLong does.
func Long(s string) (int64, error) { return parseInt(s, 64) }

func parseInt(s string, bits int) (int64, error) {
	n, err := strconv.ParseInt(s, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%q is not a %d-bit number", s, bits)
	}
	return n, nil
}

// Duration reads a time: Dubbo's whole milliseconds, or Go's text ("3s").
func Duration(s string) (time.Duration, error) {
	if ms, err := Int(s); err == nil {
		return time.Duration(ms) * time.Millisecond, nil
	}
	return time.ParseDuration(s)
}

// SplitList splits a list at commas with the blanks around them. As in Java the
// blanks before the first element and after the last one stay; empty elements go.
func SplitList(s string) []string {
	var out []string
	for i, e := range strings.Split(s, ",") {
		if i > 0 {
			e = strings.TrimLeft(e, blanks)
		}
		if i < strings.Count(s, ",") {
			e = strings.TrimRight(e, blanks)
		}
		if e != "" {
			out = append(out, e)
		}
	}
	return out
}

const blanks = " \t\n\v\f\r"
