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

// reference binds a property below reference or references, or, as in Dubbo 2.7,
// one that begins with an interface.
func (b *bindings) reference(l located) {
	path, plural := l.path, l.section != "reference"
	t := target{located: l, bean: referenceBean, methods: true, rank: byID}
	_, attribute := referenceBean.find(path)
	switch m := b.match(l); {
	case isListItem(path):
		b.problem(l.property, "references are no list, each has an id: references: {orders: {interface: com.example.OrderService}}")
	case m.id != "" && (m.length < len(path) || !attribute):
		t.owner = owner{scopeReference, m.id}
		b.attribute(t, path[m.length:])
	case m.name != "":
		b.interfaceSection(t, m.name, path[m.length:])
	case len(path) == 0 || len(path) == 1 && (plural || ownAttribute(path[0])):
		b.misplaced(l.property, "names no reference: dubbo.references.<id>.interface")
	case len(path) == 1 || !plural && (attribute || isParameters(relaxed(path[0]))):
		t.owner, t.methods = owner{scope: scopeReferences}, false
		b.attribute(t, path)
	case l.origin.Source == SourceEnvironment: // declared by nobody, and variables come last
		b.unknownReference(l)
	default:
		b.setReference(path[0], "")
		t.owner = owner{scopeReference, path[0]}
		b.attribute(t, path[1:])
	}
}

// isListItem tells what is written as a list where ids belong.
func isListItem(path []string) bool { return len(path) > 0 && strings.HasPrefix(path[0], "[") }

// unknownReference warns of a variable for a reference that is not declared.
func (b *bindings) unknownReference(l located) {
	ids := slices.Sorted(maps.Keys(b.references))
	for n := min(len(l.path)-1, 3); n > 0; n-- {
		if near := url.NearestOf(strings.Join(l.path[:n], "-"), ids); near != "" {
			b.warn(l.property, "no reference has the id %q, did you mean %q?", strings.Join(l.path[:n], "-"), near)
			return
		}
	}
	if !b.final { // options may declare it
		return
	}
	known := "there is none"
	if len(ids) > 0 {
		known = "there are " + strings.Join(ids, ", ")
	}
	b.warn(l.property, "no reference has the id %q: %s", l.path[0], known)
}

// ownAttribute tells what cannot be one for all references.
func ownAttribute(name string) bool {
	name = relaxed(name)
	return name == "interface" || name == "url"
}

// interfaceSection binds what stands behind an interface.
func (b *bindings) interfaceSection(t target, name string, path []string) {
	t.owner, t.rank = owner{scopeInterface, name}, byInterface
	id, n := b.ids.longest(located{property: t.property, path: path})
	if n > 0 && n < len(path) && b.references[id] == name {
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
	case strings.Contains(name, "("):
		plain, _, _ := strings.Cut(name, "(")
		b.misplaced(t.property, "methods are named without types, which all of that name share: write %s.%s", plain, path[len(path)-1])
		return
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
	if name := first(b.values[owner{scopeReference, id}], "interface"); name != "" {
		return name
	}
	return b.references[id]
}
