package url

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ParseEncoded reads the name of a ZooKeeper child: a whole URL, escaped once. It
// is undone once, so a value that was escaped twice stays escaped (B006). A plain
// URL is read as one. Bad escapes, text that is not UTF-8 and a missing protocol
// are errors: skip that child and keep the others.
func ParseEncoded(name string) (URL, error) {
	text := name
	if !strings.Contains(name, "://") {
		var err error
		if text, err = Unescape(name); err != nil {
			return URL{}, parseError(name, err.Error())
		}
	}
	u, err := Parse(text)
	if err == nil && u.Protocol() == "" {
		return URL{}, parseError(name, "missing protocol")
	}
	return u, err
}

// Encode returns the name of the URL as a ZooKeeper child: [URL.Full] escaped
// once, byte for byte what Java's URLEncoder makes of it.
func (u URL) Encode() string { return Escape(u.Full()) }

// ParamDecoded returns a parameter whose value was escaped before it was put into
// the URL ("rule", "mock", "monitor", "export", "refer"), unescaped.
func (u URL) ParamDecoded(key string) (string, error) {
	v, err := Unescape(u.Param(key))
	if err != nil {
		return "", fmt.Errorf("url %s: parameter %s: %w", u, key, err)
	}
	return v, nil
}

// Credentials returns the user info with its %XX escapes undone, which is how '@',
// ':', '/', '?', '#' and '%' get into a password (B003). A '+' is a plus. A bad
// escape is an error, which shows nothing of the password.
func (u URL) Credentials() (user, password string, err error) {
	d := u.data()
	user, err1 := Unescape(strings.ReplaceAll(d.username, "+", "%2B"))
	password, err2 := Unescape(strings.ReplaceAll(d.password, "+", "%2B"))
	if err1 != nil || err2 != nil {
		return "", "", fmt.Errorf("url %s: bad escape in the user info: a '%%' must be written %%25", u)
	}
	return user, password, nil
}

const upperHex = "0123456789ABCDEF"

// kept tells the bytes that Java's URLEncoder leaves alone. Go's QueryEscape
// differs in two: it escapes '*' and keeps '~'.
func kept(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '.' || c == '-' || c == '*' || c == '_'
}

// Escape escapes s as Java's URLEncoder does with UTF-8: letters, digits and
// ".-*_" stay, a blank becomes '+', every other byte %XX in upper case.
func Escape(s string) string {
	n := 0
	for i := range len(s) {
		if !kept(s[i]) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	var text strings.Builder
	text.Grow(len(s) + 2*n)
	for i := range len(s) {
		switch c := s[i]; {
		case kept(c):
			text.WriteByte(c)
		case c == ' ':
			text.WriteByte('+')
		default:
			text.WriteByte('%')
			text.WriteByte(upperHex[c>>4])
			text.WriteByte(upperHex[c&15])
		}
	}
	return text.String()
}

// Unescape undoes [Escape]: '+' is a blank, %XX a byte, in either case. Truncated
// or bad escapes and results that are not UTF-8 are errors.
func Unescape(s string) (string, error) {
	if !strings.ContainsAny(s, "%+") {
		return s, nil
	}
	var text strings.Builder
	text.Grow(max(0, len(s)-2*strings.Count(s, "%")))
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '+':
			text.WriteByte(' ')
		case '%':
			c, ok := unhex(s[i:])
			if !ok {
				return "", fmt.Errorf("bad escape %q at byte %d", s[i:min(i+3, len(s))], i)
			}
			text.WriteByte(c)
			i += 2
		default:
			text.WriteByte(s[i])
		}
	}
	if !utf8.ValidString(text.String()) {
		return "", fmt.Errorf("the escapes do not give UTF-8")
	}
	return text.String(), nil
}

// unhex reads the escape that s begins with.
func unhex(s string) (c byte, ok bool) {
	if len(s) < 3 {
		return 0, false
	}
	for _, h := range []byte(s[1:3]) {
		switch {
		case '0' <= h && h <= '9':
			h -= '0'
		case 'a' <= h && h <= 'f':
			h -= 'a' - 10
		case 'A' <= h && h <= 'F':
			h -= 'A' - 10
		default:
			return 0, false
		}
		c = c<<4 | h
	}
	return c, true
}
