package url

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseError says why a text is not a URL. It never shows user info or secret
// parameters.
type ParseError struct {
	Input  string // the text, redacted and shortened
	Reason string
}

func (e *ParseError) Error() string { return fmt.Sprintf("url %q: %s", e.Input, e.Reason) }

func parseError(input, format string, args ...any) error {
	return &ParseError{Input: Redact(input), Reason: fmt.Sprintf(format, args...)}
}

// Parse reads the plain text form of a URL:
//
//	[protocol://][user[:password]@]host[:port][/path][#ignored][?key=value&key=value;key=value]
//
// Every part is optional. As in Java nothing is percent-decoded here, values may
// hold '=' and '?', the last of equal keys wins, and "default.x=v" also defines x
// when x is not given. Where Java 2.7 and 3.3 differ or misread, this parser
// takes the sane side: blanks around the text and around parameters go, a
// parameter without '=' has an empty value, one without a key is dropped.
//
// What would silently give a wrong host is an error (B001, B003): a port that is
// no number, a colon in a host that is no IPv6 address, or '#', '/' or '?' unescaped
// in a password. An unbracketed IPv6 address takes its last colon as the port
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
	d := &data{}
	if reason := d.parseBody(trim(body)); reason != "" {
		return URL{}, parseError(s, "%s", reason)
	}
	d.params = parseQuery(query)
	if d.username == "" && d.host != "" && d.path == "" {
		for _, p := range d.params {
			if strings.Contains(p.key, "@") {
				return URL{}, parseError(s, `'@' in a parameter name: a '?' in user name or password must be written %%3F`)
			}
		}
	}
	return URL{d: d}, nil
}

// parseBody reads everything before the query and returns what is wrong, or "".
func (d *data) parseBody(body string) string {
	if i := strings.IndexByte(body, '#'); i >= 0 {
		rest := body[i:]
		if at := strings.IndexByte(rest, '@'); at >= 0 && !strings.Contains(rest[:at], "/") && !hasPath(body[:i]) {
			return `'#' before '@': in user name or password it must be written %23`
		}
		body = trim(body[:i])
	}
	if i := strings.Index(body, "://"); i >= 0 && !strings.Contains(body[:i], "/") {
		if i == 0 {
			return `missing protocol before "://"`
		}
		d.protocol, body = body[:i], body[i+3:]
	} else if i := strings.Index(body, ":/"); i >= 0 && !strings.Contains(body[:i], "/") {
		if i == 0 {
			return `missing protocol before ":/"`
		}
		d.protocol, body = body[:i], body[i+1:]
	}
	authority, path, slash := strings.Cut(body, "/")
	d.path = strings.TrimLeft(path, "/")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		d.username, d.password, _ = strings.Cut(authority[:i], ":")
		authority = authority[i+1:]
	}
	if d.username == "" && strings.Contains(d.path, "@") {
		return `'@' in the path: a '/' in user name or password must be written %2F`
	}
	var reason string
	d.host, d.port, reason = splitAuthority(authority, slash)
	return reason
}

// hasPath reports whether a body reaches its path.
func hasPath(body string) bool {
	if _, rest, ok := strings.Cut(body, "://"); ok {
		body = rest
	}
	return strings.Contains(body, "/")
}

// parseQuery splits at '&' and ';', and each part at its first '='.
func parseQuery(query string) []param {
	if query == "" {
		return nil
	}
	ps := make([]param, 0, 1+strings.Count(query, "&")+strings.Count(query, ";"))
	for query != "" {
		part := query
		if i := strings.IndexAny(query, "&;"); i >= 0 {
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

// splitAuthority separates host (or a list of addresses) and port.
func splitAuthority(s string, slash bool) (host string, port int, reason string) {
	if strings.Contains(s, ",") {
		return splitAddressList(s)
	}
	return splitHostPort(trim(s), slash)
}

// splitAddressList reads "a:1, b:2 ,c:3": blanks and empty elements go (B005),
// the port of the last one is the URL's, as in Java.
func splitAddressList(s string) (host string, port int, reason string) {
	var hosts []string
	for a := range strings.SplitSeq(s, ",") {
		if a = trim(a); a == "" {
			continue
		}
		if len(hosts) > 0 && port > 0 {
			hosts[len(hosts)-1] += ":" + strconv.Itoa(port)
		}
		h, p, reason := splitHostPort(a, true)
		if reason != "" {
			return "", 0, reason
		}
		hosts, port = append(hosts, h), p
	}
	return strings.Join(hosts, ","), port, ""
}

// splitHostPort separates the host and the port of one address. strict refuses
// "host:"; without it the colon stays in the host, as in Java.
func splitHostPort(s string, strict bool) (host string, port int, reason string) {
	colon := strings.LastIndexByte(s, ':')
	if end := strings.LastIndexByte(s, ']'); strings.HasPrefix(s, "[") {
		if end < 0 || !isIPv6(s[1:end]) {
			return "", 0, fmt.Sprintf("host %q is not an IPv6 address", s)
		}
		if end == len(s)-1 {
			return s, 0, ""
		}
		if colon != end+1 {
			return "", 0, fmt.Sprintf("host %q has text after the bracket", s)
		}
	}
	if colon < 0 || !strict && colon == len(s)-1 {
		return s, 0, ""
	}
	host, text := s[:colon], s[colon+1:]
	port, err := Int(text)
	if unbracketed := strings.Contains(host, ":") && host[0] != '['; unbracketed {
		// The last colon separates the port, if that leaves an address.
		if err != nil || port <= 0 || !isIPv6(host) {
			if isIPv6(s) {
				return s, 0, ""
			}
			return "", 0, fmt.Sprintf("host %q is neither a name nor an IPv6 address", s)
		}
	}
	if err != nil {
		return "", 0, fmt.Sprintf("port %q is not a number", text)
	}
	return host, max(port, 0), ""
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6()
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
