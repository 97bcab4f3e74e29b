package gofer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/url"
)

// target is where a property is to be bound.
type target struct {
	located
	owner   owner
	bean    bean
	methods bool   // method names may follow
	method  string // the one that did
	rank    int
}

// attribute binds what is left of a path: an attribute, a free parameter, or
// those of a method.
func (b *bindings) attribute(t target, path []string) {
	if len(path) == 0 {
		if t.value != "" {
			b.misplaced(t.property, "a value where attributes are expected, such as timeout")
		}
		return
	}
	first := relaxed(path[0])
	a, ok := t.bean.find(path)
	switch {
	case isParameters(first):
		b.parameters(t, path[1:])
	case ok && a.ignored:
		if t.origin.Source != SourceEnvironment {
			b.warn(t.property, "accepted, but it does nothing here")
		}
	case ok:
		b.put(t, a.key)
	case t.methods && first == "methods" && len(path) >= 3:
		b.method(t, path[1], path[2:])
	case t.methods && len(path) >= 2:
		b.method(t, path[0], path[1:])
	default:
		b.unknown(t, path)
	}
}

// unknown reports a key that nobody knows: a likely typo is an error, anything
// else may be an attribute of another version of Dubbo.
func (b *bindings) unknown(t target, path []string) {
	if t.value == "" && t.origin.Source == SourceEnvironment {
		return
	}
	if near := t.dotted(path); near != "" {
		b.misplaced(t.property, "unknown, did you mean %q?", near)
		return
	}
	if text := t.nested(path); text != "" {
		b.misplaced(t.property, "%s", text)
		return
	}
	near := t.bean.nearest(path)
	if near == "" && t.methods && len(path) > 1 {
		if near = t.bean.nearest(path[1:]); near != "" {
			near = path[0] + "." + near
		}
	}
	if near != "" {
		if t.method != "" {
			near = t.method + "." + near
		}
		b.misplaced(t.property, "unknown, did you mean %q?", near)
		return
	}
	b.warn(t.property, "unknown, not used; a parameter of your own goes under %s.parameters", t.bean.section)
}

// dotted is the name with a dot that was probably meant, such as outlier.failures by
// outlier.failure: its first part is no method then. "" when none is near.
func (t target) dotted(path []string) string {
	if t.method != "" {
		if near := t.bean.nearest(append([]string{t.method}, path...)); strings.Contains(near, ".") {
			return near
		}
	}
	near := t.bean.nearest(path)
	switch {
	case len(path) < 2 || !strings.Contains(near, "."):
		return ""
	case t.method != "" && holdsPerMethod(near):
		return t.method + "." + near
	}
	return near
}

// holdsPerMethod tells whether a parameter can be set for one method.
func holdsPerMethod(key string) bool {
	p, ok := url.Lookup(key)
	return ok && p.Level == url.LevelMethod
}

// nested says what is wrong with a map where one value belongs, "" if it is not that:
// timeout: {find: 300} for find: {timeout: 300}.
func (t target) nested(path []string) string {
	if a, ok := t.bean.find(path[:1]); ok && !a.ignored && len(path) > 1 {
		return fmt.Sprintf("%s is one value, not several: write %s: …", path[0], path[0]) + t.bean.others(path[0])
	}
	if a, ok := t.bean.find([]string{t.method}); t.method != "" && ok && !a.ignored {
		if !holdsPerMethod(a.key) {
			return fmt.Sprintf("%s is one value, not several: write %s: …", t.method, t.method) + t.bean.others(t.method)
		}
		return fmt.Sprintf("%s is one value, not several: for the method %s write %s.%s", t.method, path[0], path[0], t.method)
	}
	return ""
}

// parameters binds free parameters: one by its name, or Dubbo's list of several.
func (b *bindings) parameters(t target, path []string) {
	if len(path) > 0 {
		b.put(t, t.parameterName(path))
		return
	}
	if t.value == "" {
		return
	}
	pairs, err := parameterList(t.value)
	if err != nil {
		b.problem(t.property, "%v", err)
		return
	}
	for _, pair := range pairs {
		t.value = pair[1]
		b.put(t, pair[0])
	}
}

// parameterName is a path as the key of a parameter. A variable of the environment
// may mean a known one; else its words are separated by dots.
func (t target) parameterName(path []string) string {
	if a, ok := t.bean.find(path); ok && !a.ignored && t.loose() {
		return a.key
	}
	return strings.Join(path, ".")
}

// put checks a value and keeps it.
func (b *bindings) put(t target, key string) {
	if t.method != "" {
		key = t.method + "." + key
	}
	if strings.ContainsAny(key, "&;=?# \t\r\n") || key == "" {
		b.problem(t.property, "no name of a parameter: it may not hold blanks or any of & ; = ? #")
		return
	}
	switch escape := escaped(key); {
	case !escape && strings.ContainsAny(t.value, "&;") && !special(t.owner, key):
		b.problem(t.property, "the value of a parameter may not hold & or ;")
		return
	case !special(t.owner, key) && t.value != "":
		b.check(t, key)
	}
	keys := b.values[t.owner]
	if keys == nil {
		keys = map[string][]entry{}
		b.values[t.owner] = keys
	}
	b.noteRepetition(t, keys[key])
	keys[key] = append(keys[key], entry{t.property, t.rank})
}

// special tells what is no parameter of the owner's URL.
func special(o owner, key string) bool {
	if o.scope == scopeRegistry {
		return slices.Contains([]string{"id", "address", "protocol", "port", "username", "password"}, key)
	}
	return key == "registry" || key == "url"
}

// escaped tells the parameters whose values stand escaped in a URL.
func escaped(key string) bool {
	return slices.Contains([]string{"mock", "monitor"}, lastOf(key))
}

// check lets the parameter table judge a value.
func (b *bindings) check(t target, key string) {
	kind := "consumer"
	if t.owner.scope == scopeRegistry {
		kind = "zookeeper"
	}
	u := alone(kind, key, t.value)
	for _, p := range url.Validate(u) {
		b.problem(t.property, "%s=%s: %s", p.Key, p.Value, p.Reason)
	}
	for _, p := range url.Warnings(u) {
		b.warn(t.property, "parameter %s: %s", p.Key, p.Reason)
	}
}

// alone is a URL with one parameter.
func alone(kind, key, value string) url.URL {
	u := url.New(kind, "", 0, "", map[string]string{key: value})
	if key == "heartbeat.timeout" {
		u = u.With("heartbeat", "0") // whether the two agree the whole reference shows
	}
	return u
}

// noteRepetition warns of a property that one file sets twice, perhaps in two
// spellings.
func (b *bindings) noteRepetition(t target, before []entry) {
	if len(before) == 0 {
		return
	}
	last := before[len(before)-1]
	if last.origin.File != "" && last.origin.File == t.origin.File && last.rank == t.rank && last.value != t.value {
		b.warn(t.property, "set before as %s in line %d; this one counts", last.key, last.origin.Line)
	}
}
