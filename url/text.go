package url

import (
	"strconv"
	"strings"
)

// Full returns the text with user info (Java's toFullString): parameters sorted
// by key, values without outer blanks, nothing escaped. A value that holds '&' or
// ';' must have been escaped before it was set, or it does not survive a [Parse].
// Never log it.
func (u URL) Full() string { return u.text(true, true) }

// Text returns the text without user info (Java's toString). Parameters may still
// be secrets: to log a URL use [URL.String].
func (u URL) Text() string { return u.text(false, true) }

// Identity returns [URL.Full] without parameters (Java's toIdentityString).
func (u URL) Identity() string { return u.text(true, false) }

func (u URL) text(user, params bool) string {
	d := u.data()
	var b strings.Builder
	n := len(d.protocol) + len(d.username) + len(d.password) + len(d.host) + len(d.path) + len("://:@:2147483647/")
	if params {
		for _, p := range d.params {
			n += len("?") + len(p.key) + len("=") + len(p.value)
		}
	}
	b.Grow(n)
	d.writeBody(&b, user)
	if params {
		sep := byte('?')
		for _, p := range d.params {
			b.WriteByte(sep)
			b.WriteString(p.key)
			b.WriteByte('=')
			b.WriteString(trim(p.value))
			sep = '&'
		}
	}
	return b.String()
}

func (d *data) writeBody(b *strings.Builder, user bool) {
	if d.protocol != "" {
		b.WriteString(d.protocol)
		b.WriteString("://")
	}
	if user && d.username != "" {
		b.WriteString(d.username)
		if d.password != "" {
			b.WriteByte(':')
			b.WriteString(d.password)
		}
		b.WriteByte('@')
	}
	b.WriteString(d.host)
	if d.host != "" && d.port > 0 {
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(d.port))
	}
	if d.path != "" {
		b.WriteByte('/')
		b.WriteString(d.path)
	}
}
