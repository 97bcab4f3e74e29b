package gofer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/url"
)

// owner is what a property belongs to: a bean, and of references, interfaces and
// registries which one.
type owner struct {
	scope scope
	name  string
}

// entry is one value for a parameter of an owner.
type entry struct {
	property
	rank int // the more specific of two forms of a key has the greater one
}

// maxPath is the most names below dubbo in one key.
const maxPath = 32

// bindings are the properties of all sources by what they mean. They are not
// changed after [bind].
type bindings struct {
	findings
	values     map[owner]map[string][]entry // by parameter; the one that counts first
	references map[string]string            // interface by id, as far as the keys tell
	ids        nameSet                      // of references
	interfaces nameSet
	registries nameSet
	names      *placeholders
	spring     *property // spring.application.name
	final      bool

	registry *registryChoice
	resolved map[string]*resolvedReference // by id
}

// bind finds out what every property means. What is wrong is in findings; final
// tells that nothing more will come, so that what is missing is wrong, too.
func bind(env environment, properties []property, final bool) *bindings {
	b := &bindings{
		values:     map[owner]map[string][]entry{},
		references: map[string]string{},
		ids:        nameSet{},
		interfaces: nameSet{},
		registries: nameSet{},
		names:      newPlaceholders(env, properties),
		final:      final,
	}
	var ours []located
	for _, p := range properties {
		if l, ok := b.locate(p); ok {
			ours = append(ours, l)
		}
	}
	slices.SortStableFunc(ours, environmentLast)
	b.declare(ours)
	for _, l := range ours {
		b.section(l)
	}
	for _, keys := range b.values {
		for key, entries := range keys {
			slices.Reverse(entries) // of equal ones the last counts
			slices.SortStableFunc(entries, compareEntries)
			if entries = firstVariable(entries); len(entries) == 0 {
				delete(keys, key)
				continue
			}
			keys[key] = entries
		}
	}
	b.checkApplication()
	b.registry = b.chooseRegistry()
	b.resolved = b.resolveReferences()
	return b
}

// located is a property below dubbo.
type located struct {
	property
	section string   // "" when no section has that name
	path    []string // from there on
}

// loose tells that the names of the path have lost their case and separators.
func (l located) loose() bool {
	return l.origin.Source == SourceEnvironment && variableForm(l.origin.Variable) != 0
}

// environmentLast orders so that variables find the names of files and options.
func environmentLast(a, b located) int {
	x, y := a.origin.Source == SourceEnvironment, b.origin.Source == SourceEnvironment
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}

// locate resolves the placeholders of a property below dubbo.
func (b *bindings) locate(p property) (located, bool) {
	path := p.path()
	if len(path) == 0 {
		return located{}, false
	}
	if !strings.EqualFold(path[0], "dubbo") {
		if p.key == "spring.application.name" {
			b.springName(p)
		}
		if len(path) > 1 && url.NearestOf(path[0], []string{"dubbo"}) != "" {
			b.warn(p, "not read, did you mean dubbo.%s?", strings.Join(path[1:], "."))
		}
		return located{}, false
	}
	path = path[1:]
	if len(path) > maxPath {
		b.problem(p, "more than %d names in one key", maxPath)
		return located{}, false
	}
	if len(path) > 2 && relaxed(path[0]) == "consumer" && relaxed(path[1]) == "references" {
		path = path[1:] // as dubbo-go has it
	}
	if len(path) == 0 {
		if p.value != "" {
			b.misplaced(p, "a value where sections are expected: %s", strings.Join(sections, ", "))
		}
		return located{}, false
	}
	section, path := findSection(path)
	if p.origin.Source != SourceCode && !slices.Contains(javaSections, section) {
		value, err := b.names.resolve(p.value)
		if err != nil {
			b.problem(p, "%v", err)
			return located{}, false
		}
		p.value = value
	}
	p.value = strings.TrimSpace(p.value)
	return located{p, section, path}, true
}

// springName keeps the name that Spring has for the application.
func (b *bindings) springName(p property) {
	value, err := b.names.resolve(p.value)
	if err != nil {
		b.problem(p, "%v", err)
		return
	}
	if p.value = strings.TrimSpace(value); p.value != "" {
		b.spring = &p
	}
}

// section hands a property to the bean that its first name tells.
func (b *bindings) section(l located) {
	t, rest := target{located: l}, l.path
	switch l.section {
	case "application":
		t.bean, t.owner = applicationBean, owner{scope: scopeApplication}
	case "consumer":
		t.bean, t.owner = consumerBean, owner{scope: scopeConsumer}
	case "registry":
		t.bean, t.owner = registryBean, owner{scope: scopeRegistry}
	case "registries":
		if len(rest) < 2 {
			b.misplaced(l.property, "names no registry: dubbo.registries.<id>.address")
			return
		}
		if isListItem(rest) {
			b.problem(l.property, "registries are no list, each has an id: registries: {one: {address: zookeeper://host:2181}}")
			return
		}
		id, n := b.registries.longest(l)
		if n == 0 {
			id, n = rest[0], 1
		}
		t.bean, t.owner = registryBean, owner{scopeRegistry, id}
		rest = rest[n:]
	case "reference", "references":
		b.reference(l)
		return
	case "":
		b.unknownSection(l)
		return
	default:
		if l.origin.Source != SourceEnvironment {
			b.warn(l.property, "accepted, but it does nothing here: section %s", l.section)
		}
		return
	}
	b.attribute(t, rest)
}

// findSection recognises the first one or two names of a path: config.center is
// what is left of DUBBO_CONFIG_CENTER.
func findSection(path []string) (name string, rest []string) {
	for n := min(2, len(path)); n > 0; n-- {
		s, ok := sectionNames[relaxed(strings.Join(path[:n], "."))]
		if ok && (n == 1 || strings.Contains(s, "-")) {
			return s, path[n:]
		}
	}
	return "", path
}

func (b *bindings) unknownSection(l located) {
	if relaxed(l.path[0]) == "consumers" {
		b.misplaced(l.property, "there is one set of defaults for references: dubbo.consumer")
		return
	}
	if m := b.match(l); m.name != "" { // Dubbo 2.7: dubbo.<interface>.<method>.timeout
		b.reference(l)
		return
	}
	near := url.NearestOf(l.path[0], slices.Concat(sections, javaSections))
	switch {
	case near != "":
		b.misplaced(l.property, "unknown, did you mean section %q?", near)
	case l.origin.Source != SourceEnvironment: // variables of others begin with DUBBO_, too
		b.warn(l.property, "unknown section, not used")
	}
}

// compareEntries puts first what counts more within one owner: the greater source,
// then the more specific form.
func compareEntries(a, b entry) int {
	return cmp.Or(cmp.Compare(b.origin.Source, a.origin.Source), cmp.Compare(b.rank, a.rank))
}

// firstVariable leaves of several variables for one property the one looked up
// first, even when it is empty; other values that are empty are none.
func firstVariable(entries []entry) []entry {
	out := entries[:0]
	for i, e := range entries {
		again := i > 0 && e.origin.Source == SourceEnvironment && compareEntries(entries[i-1], e) == 0
		if e.value != "" && !again {
			out = append(out, e)
		}
	}
	return out
}
