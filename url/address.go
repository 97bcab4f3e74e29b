package url

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Address is "host:port" as Java writes it, or the host alone without a port.
// Strategies hash this text. To connect use [URL.DialAddress].
func (u URL) Address() string {
	d := u.data()
	if d.port <= 0 {
		return d.host
	}
	return d.host + ":" + strconv.Itoa(d.port)
}

// Addresses are the servers of a registry: those of the authority, then those of
// "backup". One without a port takes the URL's. Blanks, empty elements and
// repetitions go (B005). A URL with neither has none.
func (u URL) Addresses() []string {
	return u.addresses(u.Address() + "," + u.Param("backup"))
}

// Backups are the addresses of parameter "backup", as [URL.Addresses] gives them.
func (u URL) Backups() []string { return u.addresses(u.Param("backup")) }

func (u URL) addresses(list string) []string {
	var out []string
	for a := range strings.SplitSeq(list, ",") {
		if a = trim(a); a == "" {
			continue
		}
		if host, port, reason := splitHostPort(a, true); reason == "" && port == 0 && u.Port() > 0 {
			a = host + ":" + strconv.Itoa(u.Port())
		}
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// DialAddress is the address in the form net.Dial takes: an IPv6 address in
// brackets, its zone kept and "%25" before the zone undone (B001). A missing host,
// a list of hosts, and a port outside 1 to 65535 are errors.
func (u URL) DialAddress() (string, error) {
	d := u.data()
	host := strings.TrimSuffix(strings.TrimPrefix(d.host, "["), "]")
	if host == "" {
		return "", fmt.Errorf("url %s: no host to connect to", u)
	}
	if d.port < 1 || d.port > 65535 {
		return "", fmt.Errorf("url %s: port %d is not between 1 and 65535", u, d.port)
	}
	if strings.ContainsAny(host, ":,") {
		if addr, zone, ok := strings.Cut(host, "%25"); ok && zone != "" {
			host = addr + "%" + zone
		}
		if !isIPv6(host) {
			return "", fmt.Errorf("url %s: host %q is not one address", u, d.host)
		}
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(d.port), nil
}

// splitAuthority separates the host, or a list of addresses, and the port. What is
// wrong comes back as reason. slash tells that a path follows.
func splitAuthority(s string, slash bool) (host string, port int, reason string) {
	if !strings.Contains(s, ",") {
		return splitHostPort(trim(s), slash)
	}
	var hosts []string
	for a := range strings.SplitSeq(s, ",") {
		if a = trim(a); a == "" {
			continue
		}
		if port > 0 { // only the last port is the URL's, as in Java
			hosts[len(hosts)-1] += ":" + strconv.Itoa(port)
		}
		host, port, reason = splitHostPort(a, true)
		if reason == "" && host == "" {
			reason = fmt.Sprintf("address %q has no host", a)
		}
		if reason != "" {
			return "", 0, reason
		}
		hosts = append(hosts, host)
	}
	return strings.Join(hosts, ","), port, ""
}

// splitHostPort separates the host and the port of one address. strict refuses
// "host:"; without it the colon stays in the host, as in Java.
func splitHostPort(s string, strict bool) (host string, port int, reason string) {
	if strings.HasPrefix(s, "[") {
		return splitBracketed(s)
	}
	colon := strings.LastIndexByte(s, ':')
	if colon < 0 {
		return s, 0, checkHost(s)
	}
	host, text := s[:colon], s[colon+1:]
	port, err := Int(text)
	if strings.Contains(host, ":") {
		// IPv6: the last colon separates a port, if that leaves an address.
		if err == nil && port > 0 && isIPv6(host) {
			return host, port, ""
		}
		if isIPv6(s) {
			return s, 0, ""
		}
		return "", 0, fmt.Sprintf("host %q is neither a name nor an IPv6 address", s)
	}
	if reason = checkHost(host); reason != "" {
		return "", 0, reason
	}
	if text == "" && !strict {
		return s, 0, ""
	}
	if err != nil {
		return "", 0, fmt.Sprintf("port %q is not a number", text)
	}
	return host, max(port, 0), ""
}

func splitBracketed(s string) (host string, port int, reason string) {
	end := strings.LastIndexByte(s, ']')
	if end < 0 || !isIPv6(s[1:end]) {
		return "", 0, fmt.Sprintf("host %q is not an IPv6 address", s)
	}
	host, rest := s[:end+1], s[end+1:]
	if rest == "" {
		return host, 0, ""
	}
	port, err := Int(strings.TrimPrefix(rest, ":"))
	if rest[0] != ':' || err != nil {
		return "", 0, fmt.Sprintf("%q after the IPv6 address is not a port", rest)
	}
	return host, max(port, 0), ""
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6()
}

// checkHost refuses characters that no host name has, so that a placeholder left
// in, a stray blank or a piece of a query is not dialled.
func checkHost(host string) string {
	for _, r := range host {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r >= 0x80:
		case strings.ContainsRune("-._~*", r):
		default:
			return fmt.Sprintf("host %q has the character %q", host, r)
		}
	}
	return ""
}
