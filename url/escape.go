package url

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ParseEncoded reads the name of a ZooKeeper child: a whole URL, escaped once. It
// is undone once, so a value that was escaped twice stays escaped (B006). A plain
// URL is taken as such. Bad escapes, text that is not UTF-8 and a missing
// protocol are errors; what is good in a list of children is not affected.
func ParseEncoded(name string) (URL, error) {
	if strings.Contains(name, "://") {
		return Parse(name)
	}
	text, err := Unescape(name)
	if err != nil {
		return URL{}, parseError(name, "%s", err)
	}
	u, err := Parse(text)
	if err == nil && u.Protocol() == "" {
		return URL{}, parseError(name, "missing protocol: not an escaped URL")
	}
	return u, err
}

// Encode returns the name of the URL as a ZooKeeper child: [URL.Full] escaped
// once, byte for byte what Java's URLEncoder makes of it.
func (u URL) Encode() string { return Escape(u.Full()) }

const upperHex = "0123456789ABCDEF"

// keep marks the bytes that Java's URLEncoder leaves alone. Go's QueryEscape
// differs in two: it escapes '*' and keeps '~'.
var keep = func() (t [256]bool) {
	for c := range t {
		t[c] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			c == '.' || c == '-' || c == '*' || c == '_'
	}
	return t
}()

// Escape escapes s as Java's URLEncoder does with UTF-8: letters, digits and
// ".-*_" stay, a blank becomes '+', every other byte %XX in upper case.
func Escape(s string) string {
	n := 0
	for i := range len(s) {
		if c := s[i]; !keep[c] {
			n++
		}
	}
	if n == 0 {
		return s
	}
	b := make([]byte, 0, len(s)+2*n)
	for i := range len(s) {
		switch c := s[i]; {
		case keep[c]:
			b = append(b, c)
		case c == ' ':
			b = append(b, '+')
		default:
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(b)
}

// Unescape undoes [Escape]: '+' is a blank, %XX a byte, in either case. Truncated
// or bad escapes and results that are not UTF-8 are errors.
func Unescape(s string) (string, error) {
	i := strings.IndexAny(s, "%+")
	if i < 0 {
		return s, nil
	}
	b := make([]byte, i, len(s))
	copy(b, s)
	for ; i < len(s); i++ {
		switch c := s[i]; c {
		case '+':
			b = append(b, ' ')
		case '%':
			if i+2 >= len(s) {
				return "", fmt.Errorf("truncated escape %q at byte %d", s[i:], i)
			}
			hi, lo := unhex(s[i+1]), unhex(s[i+2])
			if hi > 15 || lo > 15 {
				return "", fmt.Errorf("bad escape %q at byte %d", s[i:i+3], i)
			}
			b = append(b, hi<<4|lo)
			i += 2
		default:
			b = append(b, c)
		}
	}
	if !utf8.Valid(b) {
		return "", fmt.Errorf("escapes do not give UTF-8")
	}
	return string(b), nil
}

func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}
