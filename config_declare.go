package gofer

import (
	"maps"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/url"
)

// nameSet finds names, and what capitals of the environment leave of them.
type nameSet map[string]string

func (s nameSet) add(name string) {
	s[name] = name
	if loose := "~" + relaxed(name); s[loose] == "" || name < s[loose] {
		s[loose] = name
	}
}

// longest finds the name that the longest beginning of a path is equal to.
func (s nameSet) longest(l located) (name string, length int) {
	for n := len(l.path); n > 0; n-- {
		text := strings.Join(l.path[:n], ".")
		if name, ok := s[text]; ok {
			return name, n
		}
		if name := s["~"+relaxed(text)]; name != "" && l.loose() {
			return name, n
		}
	}
	return "", 0
}

// declare finds the registries, references and interfaces that the properties
// speak of: what a key means depends on them. Variables of the environment come
// last in all and take over the names of the others.
func (b *bindings) declare(all []located) {
	for _, l := range all {
		n := len(l.path) - 1
		switch {
		case l.section == "registries" && n > 0 && !l.loose():
			b.registries.add(l.path[0])
		case l.isReference() && (n == 1 || n > 1 && l.loose()) && relaxed(l.path[n]) == "interface" && l.value != "":
			b.declareReference(l, n)
		}
	}
	behind := map[string][]located{} // what follows an interface
	for _, l := range all {
		if l.loose() || l.section != "" && !l.isReference() {
			continue
		}
		if m := b.match(l); m.name != "" {
			l.path = l.path[m.length:]
			behind[m.name] = append(behind[m.name], l)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(behind)) {
		b.interfaces.add(name)
		for _, l := range behind[name] {
			b.declareBehind(name, l)
		}
	}
}

func (l located) isReference() bool { return l.section == "reference" || l.section == "references" }

// declareReference notes the reference whose interface is set, the first n names
// of the path.
func (b *bindings) declareReference(l located, n int) {
	id := strings.Join(l.path[:n], "-")
	if known := b.ids["~"+relaxed(id)]; known != "" && l.loose() {
		id = known
	}
	b.setReference(id, l.value)
	b.interfaces.add(l.value)
}

func (b *bindings) setReference(id, name string) {
	b.ids.add(id)
	b.references[id] = name
}

// declareBehind notes the reference that is named behind an interface.
func (b *bindings) declareBehind(name string, l located) {
	if !b.namesID(name, l.path) {
		return
	}
	id := l.path[0]
	if other := b.references[id]; other != "" && other != name {
		b.problem(l.property, "%q is the id of a reference to %s already", id, other)
		return
	}
	b.setReference(id, name)
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
		_, attribute := referenceBean.find(path[:1])
		return len(path) > 2 && !attribute && !isParameters(relaxed(path[1])) && !isIndex(path[1])
	}
	p, known := url.Lookup(a.key)
	return known && p.Level == url.LevelInterface
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
	id, n := b.ids.longest(l)
	name, m := b.interfaces.longest(l)
	switch {
	case m > n:
		return match{name: name, length: m}
	case n > 0:
		return match{id: id, length: n}
	}
	n = interfaceLength(l.path)
	return match{name: strings.Join(l.path[:n], "."), length: n}
}
