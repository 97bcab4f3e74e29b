package url

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bool reads a truth value as Java does: "true" in any case, and nothing else.
func Bool(s string) bool { return strings.EqualFold(s, "true") }

// Int reads a number as Java's Integer.parseInt does: decimal digits after an
// optional sign, no blanks, 32 bits.
func Int(s string) (int, error) {
	n, err := parseInt(s, 32)
	return int(n), err
}

// Long reads a number as Java's Long.parseLong does: [Int] with 64 bits.
func Long(s string) (int64, error) { return parseInt(s, 64) }

func parseInt(s string, bits int) (int64, error) {
	n, err := strconv.ParseInt(s, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number of %d bits", s, bits)
	}
	return n, nil
}

// Duration reads a time: whole milliseconds, as Dubbo writes them, or a Go duration
// such as "3s" or "1m30s". What a 32-bit number of milliseconds cannot hold (more
// than 24 days, or less than one millisecond but not 0) is an error.
func Duration(s string) (time.Duration, error) {
	if ms, err := Int(s); err == nil {
		return time.Duration(ms) * time.Millisecond, nil
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, errors.New("neither whole milliseconds nor a duration such as 3s or 500ms")
	case d.Abs() > maxTime:
		return 0, errors.New("longer than 24 days")
	case d != 0 && d.Abs() < time.Millisecond:
		return 0, errors.New("shorter than a millisecond")
	}
	return d, nil
}

// maxTime is the longest time a parameter can hold: Java reads milliseconds as a
// 32-bit number.
const maxTime = math.MaxInt32 * time.Millisecond

// SplitList splits a list at commas and drops the blanks around them. As in Java
// blanks before the first and after the last element stay. Empty elements go.
func SplitList(s string) []string {
	var out []string
	for s != "" {
		e, rest, more := strings.Cut(s, ",")
		if more {
			e, rest = strings.TrimRight(e, blanks), strings.TrimLeft(rest, blanks)
		}
		if e != "" {
			out = append(out, e)
		}
		s = rest
	}
	return out
}

// blanks is what \s means in Java.
const blanks = " \t\n\v\f\r"
