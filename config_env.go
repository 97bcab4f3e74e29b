package gofer

import (
	"regexp"
	"slices"
	"strings"
)

// environment is the variables of the process that may hold configuration.
type environment map[string]string

func newEnvironment(environ []string) environment {
	e := make(environment, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			e[name] = value
		}
	}
	return e
}

// properties are the variables that begin with DUBBO_ (or dubbo_, dubbo.). A name
// in capitals has lost its case and what separated its words: binding matches it
// with the names that are known. Of two variables for one property that comes
// last which Dubbo 3.3.6 looks up first: it counts, even when it is empty.
func (e environment) properties() []property {
	var out []property
	for name, value := range e {
		if e.injected(name) {
			continue
		}
		if len(name) <= len("dubbo_") || !strings.EqualFold(name[:5], "dubbo") || !strings.ContainsRune("_.", rune(name[5])) {
			continue
		}
		key := name
		if name == strings.ToUpper(name) {
			key = strings.ToLower(name)
		}
		out = append(out, property{strings.ReplaceAll(key, "_", "."), value, Origin{Source: SourceEnvironment, Variable: name}})
	}
	slices.SortFunc(out, func(a, b property) int { return compareVariables(b.origin.Variable, a.origin.Variable) })
	return out
}

// serviceVariable is what Kubernetes, and Docker before it, names the variables with
// which it tells every process of a service such as dubbo-registry.
var serviceVariable = regexp.MustCompile(`^(.+?)_(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_PROTO|_PORT|_ADDR)?)?)$`)

// injected tells the variables of a service of the cluster, which are nobody's
// configuration: DUBBO_REGISTRY_PORT=tcp://10.0.0.1:2181 is one that gives it away.
func (e environment) injected(name string) bool {
	m := serviceVariable.FindStringSubmatch(name)
	if m == nil {
		return false
	}
	protocol, _, ok := strings.Cut(e[m[1]+"_PORT"], "://")
	return ok && (protocol == "tcp" || protocol == "udp" || protocol == "sctp")
}

// compareVariables orders variables as Dubbo 3.3.6 tries them: the property's own
// key; capitals with an underscore for every separator; with dashes dropped; with
// dashes kept; the key's letters with underscores.
func compareVariables(a, b string) int {
	if c := variableForm(a) - variableForm(b); c != 0 {
		return c
	}
	if c := strings.Count(b, "_") - strings.Count(a, "_"); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

func variableForm(name string) int {
	switch {
	case strings.Contains(name, "."):
		return 0
	case name != strings.ToUpper(name):
		return 3
	case strings.Contains(name, "-"):
		return 2
	}
	return 1
}

// lookup finds the variable for a property, or for a placeholder: by its own name
// or in capitals with underscores.
func (e environment) lookup(key string) (name, value string, ok bool) {
	if value, ok = e[key]; ok {
		return key, value, true
	}
	name = strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
	value, ok = e[name]
	return name, value, ok
}
