package url

import (
	"strings"
	"unicode/utf8"
)

const mask = "***"

// String returns a text that is safe to log: no user info, secret parameters as
// "***", control characters escaped. For the exact text see [URL.Full].
func (u URL) String() string {
	d := u.data()
	var b strings.Builder
	d.writeBody(&b, false)
	sep := byte('?')
	for _, p := range d.params {
		b.WriteByte(sep)
		b.WriteString(redactParam(p.key, trim(p.value)))
		sep = '&'
	}
	return printable(b.String())
}

// Redact makes text that should be a URL, plain or escaped, fit for errors and
// logs: user info and secret parameters become "***", control characters are
// escaped, a long text is cut. It needs no valid URL.
func Redact(s string) string {
	if !strings.Contains(s, "://") && !strings.Contains(s, "?") {
		s = unescapeLeniently(s)
	}
	start := 0
	if protocol, _, ok := strings.Cut(s, "://"); ok && !strings.Contains(protocol, "?") {
		start = len(protocol) + len("://")
	}
	if at := strings.LastIndexByte(s[start:start+userInfoEnd(s[start:])], '@'); at >= 0 {
		s = s[:start] + mask + s[start+at:]
	}
	if body, query, ok := strings.Cut(s, "?"); ok {
		s = body + "?" + redactQuery(query)
	}
	return shorten(printable(s))
}

// userInfoEnd is where the user info of a text after "://" ends at the latest. It
// may hold the '?' that seems to begin the query, and even a '='.
func userInfoEnd(s string) int {
	body, query, ok := strings.Cut(s, "?")
	switch {
	case !ok || strings.Contains(body, "@"):
		return len(body)
	case strings.Contains(body, "/"):
		key, _, _ := strings.Cut(query, "=")
		return len(body) + 1 + len(key)
	}
	return len(s)
}

func redactQuery(query string) string {
	var b strings.Builder
	for query != "" {
		part, sep := query, ""
		if i := indexSeparator(query); i >= 0 {
			part, sep = query[:i], query[i:i+1]
		}
		query = query[len(part)+len(sep):]
		key, value, ok := strings.Cut(part, "=")
		switch {
		case hasUserInfo(key):
			part = mask
		case ok:
			part = redactParam(key, value)
		}
		b.WriteString(part)
		b.WriteString(sep)
	}
	return b.String()
}

func redactParam(key, value string) string { return key + "=" + redactValue(key, value) }

func redactValue(key, value string) string {
	if value != "" && (IsSecret(key) || hasUserInfo(value)) {
		return mask
	}
	return value
}

// hasUserInfo tells a value that is itself a URL with user info, plain or escaped.
func hasUserInfo(s string) bool {
	s = unescapeLeniently(unescapeLeniently(s))
	_, rest, ok := strings.Cut(s, "://")
	return ok && strings.Contains(rest, "@")
}

// IsSecret reports whether the value of a parameter must not be shown: its name,
// without punctuation and in any case, holds a word such as "password" or "token".
func IsSecret(key string) bool {
	key = plainKey(key)
	for _, word := range [...]string{
		"password", "passwd", "secret", "token", "credential", "accesskey", "apikey", "privatekey",
	} {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}

// plainKey drops case and punctuation: connectTimeout and connect-timeout are the
// same to whoever mistypes them.
func plainKey(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' {
			return -1
		}
		return r
	}, strings.ToLower(key))
}

// unescapeLeniently undoes the escapes that are good and leaves the rest.
func unescapeLeniently(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if c, ok := unhex(s[i:]); ok && s[i] == '%' {
			b = append(b, c)
			i += 2
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}

// printable escapes control characters and what is not UTF-8.
func printable(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r >= ' ' && r != 0x7f && r != utf8.RuneError {
			b.WriteRune(r)
			continue
		}
		c := s[i]
		b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
	}
	return b.String()
}

// shorten cuts a text that would flood a log, between characters.
func shorten(s string) string {
	const limit = 1000
	if len(s) <= limit {
		return s
	}
	i := limit
	for !utf8.RuneStart(s[i]) {
		i--
	}
	return s[:i] + "…"
}
