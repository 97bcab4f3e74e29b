package gofer

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/url"
)

// Forms of a reference's key; the greater counts more within one source.
const (
	byID             = iota + 1 // dubbo.references.<id>.timeout, dubbo.reference.<id>.timeout
	byInterface                 // dubbo.reference.<interface>.timeout
	byInterfaceAndID            // dubbo.reference.<interface>.<id>.timeout
)

// declare finds the references and interfaces that the properties speak of: what
// a key means depends on them.
func (b *bindings) declare(all []located) {
	known := map[string]bool{}
	for _, l := range all {
		if l.section == "registries" && len(l.path) > 1 && !l.loose() {
			b.registries = append(b.registries, l.path[0])
		}
	}
	for _, loose := range [...]bool{false, true} { // variables of the environment take over the names of the files
		for _, l := range all {
			n := len(l.path) - 1
			if l.loose() == loose && l.isReference() && (n == 1 || n > 1 && loose) && relaxed(l.path[n]) == "interface" && l.value != "" {
				b.declareID(strings.Join(l.path[:n], "-"), l.value, loose)
				known[l.value] = true
			}
		}
	}
	b.interfaces = slices.Sorted(maps.Keys(known))
	behind := map[string][]located{} // what follows an interface
	for _, l := range all {
		if l.loose() || l.section != "" && !l.isReference() {
			continue
		}
		if m := b.match(l); m.name != "" {
			known[m.name] = true
			l.path = l.path[m.length:]
			behind[m.name] = append(behind[m.name], l)
		}
	}
	b.interfaces = slices.Sorted(maps.Keys(known))
	for _, name := range b.interfaces {
		for _, l := range behind[name] {
			if !b.namesID(name, l.path) {
				continue
			}
			id := l.path[0]
			if other := b.references[id]; other != "" && other != name {
				b.problem(l.property, "%q is the id of a reference to %s already", id, other)
				continue
			}
			b.references[id] = name
		}
	}
}

func (l located) isReference() bool { return l.section == "reference" || l.section == "references" }

func (b *bindings) declareID(id, name string, loose bool) {
	for known := range b.references {
		if loose && relaxed(known) == relaxed(id) {
			id = known
		}
	}
	b.references[id] = name
}

// match is what a path below reference begins with.
type match struct {
	id     string // of a known reference
	name   string // of an interface
	length int    // names of the path that are it
}

// match finds the reference or the interface that a path begins with: a name that
// is known before one that only looks like an interface.
func (b *bindings) match(l located) match {
	id, n := longestName(slices.Sorted(maps.Keys(b.references)), l)
	name, m := longestName(b.interfaces, l)
	if m > n {
		return match{name: name, length: m}
	}
	if n == 0 {
		n = interfaceLength(l.path)
		return match{name: strings.Join(l.path[:n], "."), length: n}
	}
	return match{id: id, length: n}
}

// longestName finds the name that the longest beginning of a path is equal to.
func longestName(names []string, l located) (found string, length int) {
	for _, name := range names {
		for n := len(l.path); n > length; n-- {
			text := strings.Join(l.path[:n], ".")
			if text == name || l.loose() && relaxed(text) == relaxed(name) {
				found, length = name, n
			}
		}
	}
	return found, length
}

// namesID tells whether what follows an interface begins with an id rather than a
// method: it does if a reference to that interface has it, or if what follows in
// turn cannot be set for a method.
func (b *bindings) namesID(name string, path []string) bool {
	if len(path) < 2 {
		return false
	}
	if b.references[path[0]] == name {
		return true
	}
	_, whole := referenceBean.find(path)
	if whole || isParameters(relaxed(path[0])) || relaxed(path[0]) == "methods" {
		return false
	}
	a, ok := referenceBean.find(path[1:])
	if !ok {
		return len(path) > 2 && !isParameters(relaxed(path[1])) && !isIndex(path[1])
	}
	p, known := url.Lookup(a.key)
	return known && p.Level == url.LevelInterface
}

// reference binds a property below reference or references, or, as in Dubbo 2.7,
// one that begins with an interface.
func (b *bindings) reference(l located) {
	path, plural := l.path, l.section != "reference"
	t := target{located: l, bean: referenceBean, methods: true, rank: byID}
	_, attribute := referenceBean.find(path)
	switch m := b.match(l); {
	case m.id != "":
		t.owner = owner{scopeReference, m.id}
		b.attribute(t, path[m.length:])
	case m.name != "":
		b.interfaceSection(t, m.name, path[m.length:])
	case len(path) == 0 || len(path) == 1 && (plural || ownAttribute(path[0])):
		b.problem(l.property, "names no reference: dubbo.references.<id>.interface")
	case len(path) == 1 || !plural && (attribute || isParameters(relaxed(path[0]))):
		t.owner, t.methods = owner{scope: scopeReferences}, false
		b.attribute(t, path)
	default:
		b.references[path[0]] = ""
		t.owner = owner{scopeReference, path[0]}
		b.attribute(t, path[1:])
	}
}

// ownAttribute tells what cannot be one for all references.
func ownAttribute(name string) bool {
	name = relaxed(name)
	return name == "interface" || name == "url"
}

// interfaceSection binds what stands behind an interface.
func (b *bindings) interfaceSection(t target, name string, path []string) {
	t.owner, t.rank = owner{scopeInterface, name}, byInterface
	if id, n := longestName(slices.Sorted(maps.Keys(b.references)), located{property: t.property, path: path}); n > 0 && n < len(path) && b.references[id] == name {
		t.owner, t.rank = owner{scopeReference, id}, byInterfaceAndID
		path = path[n:]
	}
	b.attribute(t, path)
}

// methodName is what Java allows, and Kotlin or Scala may make of it.
var methodName = regexp.MustCompile(`^[\pL_$][\pL\pN_$]*$`)

// method binds a property of one method.
func (b *bindings) method(t target, name string, path []string) {
	switch {
	case !methodName.MatchString(name):
		b.unknown(t, append([]string{name}, path...))
		return
	case t.loose() && name == strings.ToLower(name):
		name = b.methodNamed(t.owner, name)
	}
	t.method, t.methods = name, false
	switch a, ok := t.bean.find(path); {
	case ok && a.name == "retry": // Dubbo's old way to say retries=0
		if strings.EqualFold(t.value, "false") {
			t.value = "0"
			b.put(t, "retries")
		}
	case isIndex(path[0]) || isIndex(strings.Trim(path[0], "[]")):
		b.warn(t.property, "accepted, but it does nothing here: arguments that call back")
	default:
		b.attribute(t, path)
	}
}

// methodNamed finds the name of a method that a variable in capitals has lost,
// among those that files and options speak of for the same interface.
func (b *bindings) methodNamed(o owner, name string) string {
	iface := o.name
	if o.scope == scopeReference {
		iface = b.interfaceOf(o.name)
	}
	var found []string
	for other, keys := range b.values {
		same := other == o || other.scope == scopeInterface && other.name == iface ||
			other.scope == scopeReference && b.interfaceOf(other.name) == iface
		for key := range keys {
			if method, _, ok := strings.Cut(key, "."); ok && same && relaxed(method) == relaxed(name) {
				found = append(found, method)
			}
		}
	}
	if len(found) > 0 {
		return slices.Min(found)
	}
	return name
}

// interfaceOf is the interface of a reference, "" when none is known.
func (b *bindings) interfaceOf(id string) string {
	var all []entry
	for _, e := range b.values[owner{scopeReference, id}]["interface"] {
		if e.value != "" {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, compareEntries)
	if len(all) > 0 {
		return all[0].value
	}
	return b.references[id]
}
