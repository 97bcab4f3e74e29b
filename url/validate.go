package url

import (
	"strconv"
	"strings"
)

// Problem is one bad parameter.
type Problem struct {
	Key      string // as it stands in the URL, "find.timeout" for a method
	Value    string // as it stands in the URL, "***" for a secret
	Reason   string // what is wrong with the value
	Fallback string // the value that is used instead
	URL      string // where it stands, safe to log
}

// Error makes a Problem an error that names key, value, reason and place.
func (p Problem) Error() string {
	return "parameter " + p.Key + "=" + p.Value + ": " + p.Reason + " (in " + p.URL + ")"
}

// report collects the problems of one URL.
type report struct {
	url      URL
	place    string // the URL as problems show it, made when the first one is found
	problems []Problem
}

// add notes that a parameter is bad.
func (r *report) add(key, value, reason, fallback string) {
	if r.place == "" {
		r.place = shorten(r.url.String())
	}
	r.problems = append(r.problems, Problem{
		Key:      printable(shorten(key)),
		Value:    printable(shorten(redactValue(key, value))),
		Reason:   reason,
		Fallback: fallback,
		URL:      r.place,
	})
}

// Validate returns every parameter whose value the table does not allow, those of
// methods included (B170). Which rows apply tells the protocol: "consumer" or none
// is a reference, "zookeeper" and "registry" a registry, "override" and "route" a
// rule, everything else a provider. Parameters that nobody knows are not bad: see
// [Warnings].
func Validate(u URL) []Problem {
	r := report{url: u}
	scope := scopeOf(u)
	for k, v := range u.Params() {
		p, _ := u.parameterOf(k, scope)
		if p == nil || p.Scope&scope == 0 || u.repeatsDefault(k, v) {
			continue
		}
		if reason := p.Check(v); reason != "" {
			r.add(k, v, reason, p.fallback(v))
		}
	}
	r.checkHeartbeat()
	return r.problems
}

// Warnings returns the parameters that are likely mistakes of whoever wrote the
// URL: a key that nobody knows, with the nearest known one; a known one on a URL
// or a method where it does nothing; one that is accepted without effect. A URL may
// carry any parameter, so none of them is an error.
func Warnings(u URL) []Problem {
	r := report{url: u}
	scope := scopeOf(u)
	for k, v := range u.Params() {
		if u.repeatsDefault(k, v) {
			continue
		}
		if reason := u.warning(k, scope); reason != "" {
			r.add(k, v, reason, "")
		}
	}
	return r.problems
}

func (u URL) warning(key string, scope Scope) string {
	p, method := u.parameterOf(key, scope)
	switch {
	case p == nil:
		if near := Nearest(key); near != "" {
			return "unknown, did you mean " + strconv.Quote(near) + "?"
		}
		return "unknown"
	case p.Ignored && p.Scope&scope != 0:
		return "accepted, but it does nothing here"
	case p.Scope&scope == 0:
		return "it does nothing here, only on the URL of a " + strings.ReplaceAll(p.Scope.String(), ", ", " or ")
	case method != "" && p.Level != LevelMethod:
		return "it holds for the whole service, not for one method"
	}
	return ""
}

// parameterOf finds the row of a key, taking off "default." and the name of a method.
func (u URL) parameterOf(key string, scope Scope) (p *Parameter, method string) {
	key = strings.TrimPrefix(key, defaultPrefix)
	if p = lookup(key, scope); p != nil {
		return p, ""
	}
	method, rest, _ := strings.Cut(key, ".")
	if p = lookup(rest, scope); p == nil || !u.hasMethod(method) {
		return nil, ""
	}
	return p, method
}

// repeatsDefault tells a parameter that is only there because of its "default."
// form, so that one mistake is not two problems.
func (u URL) repeatsDefault(key, value string) bool {
	return value != "" && u.Param(defaultPrefix+key) == value
}

// fallback is the value that is used in place of a bad one when there is no other.
func (p *Parameter) fallback(value string) string {
	if !p.numeric() {
		return p.Default
	}
	if n, ok, _ := p.parse(value); ok {
		return p.format(n)
	}
	return p.format(p.def)
}

func (p *Parameter) numeric() bool {
	switch p.Type {
	case TypeBool, TypeInt, TypeLong, TypeTime:
		return true
	}
	return false
}

// checkHeartbeat applies Java's rule that a connection is given up after two missed
// heartbeats at the earliest.
func (r *report) checkHeartbeat() {
	const key = "heartbeat.timeout"
	text := r.url.Param(key)
	if text == "" {
		return
	}
	read := NewReader(r.url)
	timeout, heartbeat := read.Duration(key), read.Duration("heartbeat")
	if len(read.Problems()) == 0 && timeout > 0 && timeout < 2*heartbeat {
		r.add(key, text, "less than twice the heartbeat, "+heartbeat.String(),
			strconv.FormatInt(3*heartbeat.Milliseconds(), 10))
	}
}
