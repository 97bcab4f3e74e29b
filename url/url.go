package url

import (
	"iter"
	"slices"
	"strings"
)

// URL is a Dubbo URL: protocol, user info, host, port, path and parameters.
//
// It is an immutable value, as small as a pointer: copy it, share it between
// goroutines, keep it in a snapshot. Methods that "change" a URL return another
// one. The zero value is the empty URL and works with every method. URLs are
// not comparable with ==; use [URL.Equal].
type URL struct {
	_ [0]func() // not comparable: == would compare identities
	d *data
}

// data is what a URL points to. Nothing in it is written after construction.
type data struct {
	protocol string
	username string
	password string
	host     string
	port     int
	path     string
	params   []param // sorted by key, keys unique and not empty
}

type param struct{ key, value string }

var empty data

func (u URL) data() *data {
	if u.d == nil {
		return &empty
	}
	return u.d
}

// New makes a URL from its parts. Leading slashes of path are dropped, a
// negative port counts as none (0), parameters with an empty key are left out
// and "default." keys are treated as [Parse] treats them. The map is copied.
func New(protocol, host string, port int, path string, params map[string]string) URL {
	d := &data{
		protocol: protocol,
		host:     host,
		port:     max(port, 0),
		path:     strings.TrimLeft(path, "/"),
		params:   make([]param, 0, len(params)),
	}
	for k, v := range params {
		d.params = append(d.params, param{k, v})
	}
	d.params = withDefaults(normalize(d.params))
	return URL{d: d}
}

// Protocol is the scheme as written ("dubbo", "zookeeper", "override" …), or "".
func (u URL) Protocol() string { return u.data().protocol }

// Username is the user name as written: escapes stay escapes. See [URL.Credentials].
func (u URL) Username() string { return u.data().username }

// Password is the password as written: escapes stay escapes. See [URL.Credentials].
func (u URL) Password() string { return u.data().password }

// Host is the host as written, an IPv6 literal with its brackets if it had
// any. For a list of addresses ("a:1,b:2,c:3") it is everything before the last
// port, as in Java; use [URL.Addresses] there.
func (u URL) Host() string { return u.data().host }

// Port is the port, 0 when there is none. It is not checked for range here,
// as in Java; [URL.DialAddress] does that.
func (u URL) Port() int { return u.data().port }

// Path is the path without leading slashes: the interface name, perhaps after
// a context path ("ctx/com.example.OrderService").
func (u URL) Path() string { return u.data().path }

// Param returns the value of a parameter. An absent parameter and an empty one
// are the same: "".
func (u URL) Param(key string) string {
	ps := u.data().params
	if i, ok := search(ps, key); ok {
		return ps[i].value
	}
	return ""
}

// ParamOr returns the value of a parameter, or def when it is absent or empty.
func (u URL) ParamOr(key, def string) string {
	if v := u.Param(key); v != "" {
		return v
	}
	return def
}

// Params yields the parameters sorted by key, those with empty values included.
func (u URL) Params() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, p := range u.data().params {
			if !yield(p.key, p.value) {
				return
			}
		}
	}
}

// With returns the URL with parameters set, given as key, value, key, value …
// A later pair wins, an empty key is left out, a last key without value gets "".
// A "default." key that is set is treated as [Parse] treats it.
func (u URL) With(kv ...string) URL {
	d := u.data()
	ps := make([]param, len(d.params), len(d.params)+(len(kv)+1)/2)
	copy(ps, d.params)
	defaults := false
	for i := 0; i < len(kv); i += 2 {
		p := param{key: kv[i]}
		if i+1 < len(kv) {
			p.value = kv[i+1]
		}
		ps = append(ps, p)
		defaults = defaults || strings.HasPrefix(p.key, defaultPrefix)
	}
	ps = normalize(ps)
	if defaults {
		ps = withDefaults(ps)
	}
	return u.withParams(ps)
}

// Without returns the URL without the named parameters.
func (u URL) Without(keys ...string) URL {
	d := u.data()
	ps := make([]param, 0, len(d.params))
	for _, p := range d.params {
		if !slices.Contains(keys, p.key) {
			ps = append(ps, p)
		}
	}
	return u.withParams(ps)
}

// WithProtocol returns the URL with another protocol.
func (u URL) WithProtocol(protocol string) URL {
	d := *u.data()
	d.protocol = protocol
	return URL{d: &d}
}

// WithAddress returns the URL with another host and port; a negative port is none.
func (u URL) WithAddress(host string, port int) URL {
	d := *u.data()
	d.host, d.port = host, max(port, 0)
	return URL{d: &d}
}

// WithPath returns the URL with another path; leading slashes are dropped.
func (u URL) WithPath(path string) URL {
	d := *u.data()
	d.path = strings.TrimLeft(path, "/")
	return URL{d: &d}
}

// WithUserInfo returns the URL with other user info, stored as given: escape it
// first where it holds '@', ':', '/', '?' or '#'.
func (u URL) WithUserInfo(user, password string) URL {
	d := *u.data()
	d.username, d.password = user, password
	return URL{d: &d}
}

func (u URL) withParams(ps []param) URL {
	d := *u.data()
	d.params = ps
	return URL{d: &d}
}

// Equal reports whether two URLs have equal parts and parameters. As in Java
// the value of "timestamp" does not matter, only whether there is one.
func (u URL) Equal(o URL) bool {
	a, b := u.data(), o.data()
	if a == b {
		return true
	}
	if a.protocol != b.protocol || a.username != b.username || a.password != b.password ||
		a.host != b.host || a.port != b.port || a.path != b.path || len(a.params) != len(b.params) {
		return false
	}
	for i, p := range a.params {
		q := b.params[i]
		if p.key != q.key || p.value != q.value && p.key != "timestamp" {
			return false
		}
	}
	return true
}

// search finds key in sorted parameters.
func search(ps []param, key string) (int, bool) {
	i, j := 0, len(ps)
	for i < j {
		m := int(uint(i+j) >> 1)
		if ps[m].key < key {
			i = m + 1
		} else {
			j = m
		}
	}
	return i, i < len(ps) && ps[i].key == key
}

// normalize sorts by key, keeps the last of equal keys and drops empty keys.
// What Java wrote is sorted already and costs one pass.
func normalize(ps []param) []param {
	for i := range ps {
		if ps[i].key == "" || i > 0 && ps[i-1].key >= ps[i].key {
			return sortParams(ps)
		}
	}
	return ps
}

func sortParams(ps []param) []param {
	slices.SortStableFunc(ps, func(a, b param) int { return strings.Compare(a.key, b.key) })
	out := ps[:0]
	for i, p := range ps {
		if p.key == "" || i+1 < len(ps) && ps[i+1].key == p.key {
			continue
		}
		out = append(out, p)
	}
	clear(ps[len(out):])
	return out
}

const defaultPrefix = "default."

// withDefaults gives every "default.x" without an "x" beside it that "x" too: so
// providers of Dubbo 2.6 say what holds for the whole application (B008).
func withDefaults(ps []param) []param {
	i, _ := search(ps, defaultPrefix)
	n := len(ps)
	for ; i < n && strings.HasPrefix(ps[i].key, defaultPrefix); i++ {
		key := ps[i].key
		for {
			rest, ok := strings.CutPrefix(key, defaultPrefix)
			key = trim(rest)
			if _, given := search(ps[:n], key); !ok || given {
				break
			}
			ps = append(ps, param{key, ps[i].value})
		}
	}
	if len(ps) > n {
		ps = sortParams(ps)
	}
	return ps
}
