package url

import "strconv"

// Full returns the text with user info (Java's toFullString): parameters sorted
// by key, values trimmed, nothing escaped. A value that holds '&' or ';' must have
// been escaped before it was set, or it does not survive a [Parse]. Never log it.
func (u URL) Full() string { return u.text(true, true) }

// Text returns the text without user info (Java's toString).
func (u URL) Text() string { return u.text(false, true) }

// Identity returns [URL.Full] without parameters (Java's toIdentityString).
func (u URL) Identity() string { return u.text(true, false) }

func (u URL) text(user, params bool) string {
	d := u.data()
	n := len(d.protocol) + len(d.username) + len(d.password) + len(d.host) + len(d.path) + 16
	if params {
		for _, p := range d.params {
			n += len(p.key) + len(p.value) + 2
		}
	}
	b := make([]byte, 0, n)
	b = d.appendBody(b, user)
	if params {
		sep := byte('?')
		for _, p := range d.params {
			b = append(b, sep)
			b = append(b, p.key...)
			b = append(b, '=')
			b = append(b, trim(p.value)...)
			sep = '&'
		}
	}
	return string(b)
}

func (d *data) appendBody(b []byte, user bool) []byte {
	if d.protocol != "" {
		b = append(b, d.protocol...)
		b = append(b, "://"...)
	}
	if user && d.username != "" {
		b = append(b, d.username...)
		if d.password != "" {
			b = append(b, ':')
			b = append(b, d.password...)
		}
		b = append(b, '@')
	}
	b = append(b, d.host...)
	if d.host != "" && d.port > 0 {
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(d.port), 10)
	}
	if d.path != "" {
		b = append(b, '/')
		b = append(b, d.path...)
	}
	return b
}
