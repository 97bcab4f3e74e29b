package url

import (
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
// "backup". An address without a port takes the URL's. Blanks, empty elements and
// repetitions go (B005).
func (u URL) Addresses() []string { return u.addresses(u.Address() + "," + u.Param("backup")) }

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
		out = append(out, a)
	}
	return out
}
