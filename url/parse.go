package url

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ParseError says why a text is not a URL. It never shows user info or secret
// parameters.
type ParseError struct {
	Input  string // the text, as [Redact] shows it
	Reason string
}

func (e *ParseError) Error() string { return fmt.Sprintf("url %q: %s", e.Input, e.Reason) }

func parseError(input, reason string) error {
	return &ParseError{Input: Redact(input), Reason: reason}
}

// Parse reads the plain text form of a URL:
//
//	[protocol://][user[:password]@]host[:port][/path][#ignored][?key=value&key=value;key=value]
//
// Every part is optional. As in Java nothing is percent-decoded here, values may
// hold '=' and '?', the last of equal keys wins, and "default.x=v" also defines x
// when x is not given (B008). Where Java 2.7 and 3.3 differ or misread, this
// parser takes the sane side: blanks around the text, the body and each parameter
// go, a parameter without '=' has an empty value, one without a key is dropped.
// A value that makes no sense ("timeout=abc") is kept; [Validate] finds it.
//
// What would silently give a wrong host is an error (B001, B003): a port that is
// no number, a host with a character no host has, and an unescaped '#', '/' or '?'
// in user info. An IPv6 address without brackets takes its last colon as the port
// separator, as old Java providers write it, unless only the whole is an address.
func Parse(s string) (URL, error) {
	s = trim(s)
	if s == "" {
		return URL{}, parseError(s, "empty")
	}
	if !utf8.ValidString(s) {
		return URL{}, parseError(s, "not UTF-8")
	}
	body, query, _ := strings.Cut(s, "?")
	d := new(data)
	reason := d.parseBody(trim(body))
	d.params = parseQuery(query)
	if cut := d.cutUserInfo(reason != ""); cut != "" {
		reason = cut
	}
	if reason != "" {
		return URL{}, parseError(s, reason)
	}
	return URL{d: d}, nil
}

// ParseList reads several URLs separated by ';' or '|', as Java does for registry
// addresses and for the direct addresses of a reference. Empty elements are
// skipped. The URLs that are good come back even if others are not; the error
// names every bad one. One address with ',' is one URL: see [URL.Addresses].
func ParseList(s string) ([]URL, error) {
	var urls []URL
	var errs []error
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ';' || r == '|' }) {
		if trim(part) == "" {
			continue
		}
		u, err := Parse(part)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		urls = append(urls, u)
	}
	return urls, errors.Join(errs...)
}

// parseBody reads everything before the query and returns what is wrong, or "".
func (d *data) parseBody(body string) string {
	body, fragment, _ := strings.Cut(body, "#")
	protocol, rest := cutProtocol(trim(body))
	if protocol == "" && rest == "" && body != "" {
		return `missing protocol before ":/"`
	}
	d.protocol = protocol
	authority, path, slash := strings.Cut(rest, "/")
	d.path = strings.TrimLeft(path, "/")
	if tail, _, _ := strings.Cut(fragment, "/"); !slash && strings.Contains(tail, "@") {
		return "'@' after '#': in a user name or password the '#' must be written %23"
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		d.username, d.password, _ = strings.Cut(authority[:i], ":")
		authority = authority[i+1:]
	}
	var reason string
	d.host, d.port, reason = splitAuthority(authority, slash)
	if d.username == "" && strings.Contains(path, "@") {
		return "'@' after '/': in a user name or password the '/' must be written %2F"
	}
	return reason
}

// cutProtocol splits at the first "://", else at the first ":/" ("file:/path"). A
// marker after a slash belongs to the path. A marker with nothing before it gives
// two empty strings.
func cutProtocol(body string) (protocol, rest string) {
	i, skip := strings.Index(body, "://"), len("://")
	if i < 0 {
		i, skip = strings.Index(body, ":/"), len(":")
	}
	switch {
	case i == 0:
		return "", ""
	case i < 0 || strings.Contains(body[:i], "/"):
		return "", body
	}
	return body[:i], body[i+skip:]
}

// cutUserInfo finds the '?' of a password that was taken for the query's. broken
// tells that what stands before it makes no host.
func (d *data) cutUserInfo(broken bool) string {
	if d.username != "" || d.path != "" || d.host == "" && !broken {
		return ""
	}
	for _, p := range d.params {
		if strings.Contains(p.key, "@") || broken && strings.Contains(p.value, "@") {
			return "'@' after '?': in a user name or password the '?' must be written %3F"
		}
	}
	return ""
}

// parseQuery splits at '&' and ';', and each part at its first '='.
func parseQuery(query string) []param {
	if query == "" {
		return nil
	}
	ps := make([]param, 0, 1+strings.Count(query, "&")+strings.Count(query, ";"))
	for query != "" {
		part := query
		if i := indexSeparator(query); i >= 0 {
			part, query = query[:i], query[i+1:]
		} else {
			query = ""
		}
		key, value, _ := strings.Cut(trim(part), "=")
		if key != "" {
			ps = append(ps, param{key, value})
		}
	}
	return withDefaults(normalize(ps))
}

func indexSeparator(s string) int {
	for i := range len(s) {
		if s[i] == '&' || s[i] == ';' {
			return i
		}
	}
	return -1
}

// trim drops what Java's String.trim drops: everything up to and including blank.
func trim(s string) string {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	for s != "" && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}
