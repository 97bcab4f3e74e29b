package registry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/url"
)

// spoken is the protocol that references speak.
const spoken = "dubbo"

// matcher decides which entries one reference uses, by Dubbo's rules
// (UrlUtils.isMatch). It is immutable.
type matcher struct {
	iface      string
	group      string
	groups     []string // elements of a list "a,b"
	version    string
	classifier string
	protocols  []string // empty: any that is spoken
}

func newMatcher(reference url.URL) matcher {
	return matcher{
		iface:      reference.Interface(),
		group:      reference.Param("group"),
		groups:     trimmed(reference.Param("group")),
		version:    reference.Param("version"),
		classifier: reference.ParamOr("classifier", "*"),
		protocols:  trimmed(reference.Param("protocol")),
	}
}

// match returns the provider as the reference uses it, or why it does not. The
// scheme of the result is the spoken protocol, its path is never empty.
//
// A provider says enabled=false or disabled=true when it wants no calls; a
// reference that asks for enabled=* (an admin tool) does not call it either.
func (m *matcher) match(u url.URL) (use url.URL, reason string) {
	if reason = m.protocol(u); reason != "" {
		return url.URL{}, reason
	}
	if reason = endpoint(u); reason != "" {
		return url.URL{}, reason
	}
	if c := u.ParamOr("category", "providers"); c != "providers" {
		return url.URL{}, fmt.Sprintf("category %s, not providers", brief(c))
	}
	if name := u.Interface(); m.iface != "*" && name != "*" && name != m.iface && name != "" {
		return url.URL{}, fmt.Sprintf("interface %s, reference wants %s", brief(name), brief(m.iface))
	}
	if reason = disabled(u); reason != "" {
		return url.URL{}, reason
	}
	if reason = m.variant(u); reason != "" {
		return url.URL{}, reason
	}
	use = u
	if u.Protocol() != spoken {
		use = use.WithProtocol(spoken)
	}
	if use.Path() == "" { // very old providers (2.0)
		use = use.WithPath(u.ParamOr("interface", m.iface))
	}
	return use, ""
}

// protocol checks the scheme. A Dubbo 3 provider that answers several protocols
// on one port may register only the other one and name ours in ext.protocol.
func (m *matcher) protocol(u url.URL) string {
	if u.Protocol() != spoken && !slices.Contains(trimmed(u.Param("ext.protocol")), spoken) {
		return fmt.Sprintf("protocol %s is not spoken", brief(u.Protocol()))
	}
	if len(m.protocols) > 0 && !slices.Contains(m.protocols, spoken) {
		return fmt.Sprintf("protocol %s, reference wants %s", spoken, brief(strings.Join(m.protocols, ",")))
	}
	return ""
}

// variant checks what tells apart providers of one interface. All that differs is
// named at once, so that nobody mends the group only to learn of the version.
func (m *matcher) variant(u url.URL) string {
	var reasons []string
	if g := u.Param("group"); m.group != "*" && g != m.group && !slices.Contains(m.groups, g) {
		reasons = append(reasons, mismatch("group", g, m.group))
	}
	if v := u.Param("version"); m.version != "*" && v != m.version {
		reasons = append(reasons, mismatch("version", v, m.version))
	}
	if c := u.Param("classifier"); m.classifier != "*" && c != m.classifier {
		reasons = append(reasons, mismatch("classifier", c, m.classifier))
	}
	return strings.Join(reasons, "; ")
}

func mismatch(what, has, want string) string {
	switch {
	case want == "":
		return fmt.Sprintf("%s %s, reference has none", what, brief(has))
	case has == "":
		return fmt.Sprintf("no %s, reference wants %s", what, brief(want))
	default:
		return fmt.Sprintf("%s %s, reference wants %s", what, brief(has), brief(want))
	}
}

// endpoint checks that the URL names one address to dial.
func endpoint(u url.URL) string {
	switch h := u.Host(); {
	case h == "":
		return "no host"
	case strings.Contains(h, ","):
		return fmt.Sprintf("several hosts in one entry: %s", brief(h))
	case u.Port() == 0:
		return "no port"
	case u.Port() > 65535:
		return fmt.Sprintf("port %d is out of range", u.Port())
	}
	return ""
}

// disabled reads "disabled", which wins, and "enabled" as Java reads them.
func disabled(u url.URL) string {
	if v := u.Param("disabled"); v != "" {
		if url.Bool(v) {
			return "disabled=true"
		}
		return ""
	}
	if v := u.Param("enabled"); v != "" && !url.Bool(v) {
		return "enabled=" + brief(v)
	}
	return ""
}

// trimmed splits a comma list and drops blanks and empty elements: Dubbo 3.3
// writes "dubbo," for a list of one.
func trimmed(list string) []string {
	elements := url.SplitList(list)
	for i, e := range elements {
		elements[i] = strings.TrimSpace(e)
	}
	return elements
}

// brief makes text from outside fit for a message.
func brief(s string) string {
	const most = 160
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
