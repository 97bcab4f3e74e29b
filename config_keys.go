package gofer

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/url"
)

// scope is one of Dubbo's configuration beans. For a reference a greater one counts
// more than a smaller one, whatever their sources.
type scope uint8

const (
	scopeApplication scope = iota
	scopeConsumer          // dubbo.consumer.timeout
	scopeReferences        // dubbo.reference.timeout: every reference
	scopeReference         // dubbo.references.orders.timeout
	scopeInterface         // dubbo.reference.com.example.OrderService.timeout
	scopeRegistry
)

// bean is the attributes that a section may have, by their relaxed names. The
// table has keys that differ only in punctuation; they are found by the exact one.
type bean struct {
	section    string // for messages
	attributes map[string]attribute
	keys       map[string]bool
}

// attribute is what a section's key means.
type attribute struct {
	name    string // as in Dubbo's documentation
	key     string // parameter of the URL, or the name of what is no parameter
	ignored bool   // Java acts on it, here it is accepted without effect
}

// The attributes are those of Dubbo 2.7 and 3.3; those of the URL come from the
// parameter table.
var (
	referenceBean   = newBean("reference", url.ScopeReference, referenceNames, "registry", javaOfReference)
	consumerBean    = newBean("consumer", url.ScopeReference, referenceNames, "registry", javaOfReference, "interface", "url")
	applicationBean = newBean("application", 0, applicationNames, "", javaOfApplication)
	registryBean    = newBean("registry", url.ScopeRegistry, nil, "id address protocol port username password", javaOfRegistry)
)

// referenceNames are the attributes that have another name in the URL.
var referenceNames = map[string]string{
	"filter":    "reference.filter",
	"listener":  "invoker.listener",
	"tag":       "dubbo.tag",
	"stubevent": "dubbo.stub.event",
}

var applicationNames = map[string]string{
	"name":         "application",
	"version":      "application.version",
	"owner":        "owner",
	"organization": "organization",
	"environment":  "environment",

	"enable-empty-protection": "enable-empty-protection",
}

// registryDefaults are the attributes of the application that are defaults of
// registries, and of nothing else.
var registryDefaults = []string{"enable-empty-protection"}

// Attributes of Dubbo's beans that are no parameters of the URL.
const (
	javaOfReference = "id default module registries registry-ids monitor config-center metadata-report-config " +
		"singleton refer-thread-num mesh-enable stat retry reliable executes deprecated arguments service " +
		"service-id consumer services methods"
	javaOfRegistry    = "default secure transport transporter server client wait accepts"
	javaOfApplication = "id default architecture registry registries registry-ids monitor compiler logger dump-directory " +
		"dump-enable qos-enable qos-check qos-host qos-port qos-accept-foreign-ip qos-accept-foreign-ip-whitelist " +
		"qos-anonymous-access-permission-level qos-anonymous-allow-commands qos-enable-compatible " +
		"qos-host-compatible qos-port-compatible qos-accept-foreign-ip-compatible " +
		"qos-accept-foreign-ip-whitelist-compatible qos-anonymous-access-permission-level-compatible shutwait " +
		"hostname metadata-type register-consumer repository enable-file-cache register-mode " +
		"protocol metadata-service-port metadata-service-protocol mapping-retry-interval " +
		"liveness-probe readiness-probe startup-probe serialize-check-status auto-trust-serialize-class " +
		"trust-serialize-class-level check-serializable executor-management-mode"
)

func newBean(section string, scope url.Scope, renamed map[string]string, special, java string, without ...string) bean {
	b := bean{section: section, attributes: map[string]attribute{}, keys: map[string]bool{}}
	for name := range strings.FieldsSeq(java) {
		b.attributes[relaxed(name)] = attribute{name: name, ignored: true}
	}
	for _, p := range url.Table() {
		if p.Scope&scope == 0 || slices.Contains(without, p.Key) {
			continue
		}
		b.keys[p.Key] = true
		if a := b.attributes[relaxed(p.Key)]; a.key == "" {
			b.attributes[relaxed(p.Key)] = attribute{name: p.Key, key: p.Key}
		}
	}
	for name, key := range renamed {
		b.attributes[relaxed(name)] = attribute{name: name, key: key}
	}
	for name := range strings.FieldsSeq(special) {
		b.attributes[relaxed(name)] = attribute{name: name, key: name}
	}
	return b
}

// find looks an attribute up, however it is spelled.
func (b bean) find(path []string) (attribute, bool) {
	name := strings.Join(path, ".")
	a, ok := b.attributes[relaxed(name)]
	if ok && b.keys[name] && relaxed(a.key) == relaxed(name) {
		a.key = name
	}
	return a, ok
}

// nearest is the attribute that was probably meant, one with an effect first; ""
// when none is near.
func (b bean) nearest(path []string) string {
	var names [2][]string
	for _, k := range slices.Sorted(maps.Keys(b.attributes)) {
		a, i := b.attributes[k], 0
		if a.ignored {
			i = 1
		}
		names[i] = append(names[i], a.name)
	}
	name := strings.Join(path, ".")
	return cmp.Or(url.NearestOf(name, names[0]), url.NearestOf(name, names[1]))
}

// others names the attributes that go on where a name ends, as the end of a sentence.
func (b bean) others(name string) string {
	var all []string
	for _, a := range b.attributes {
		if strings.HasPrefix(a.name, name+".") && !a.ignored {
			all = append(all, a.name)
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return "; there are also " + strings.Join(all, ", ")
}

// isParameters tells the section of free URL parameters: Dubbo's name, and the
// one of dubbo-go.
func isParameters(name string) bool { return name == "parameters" || name == "params" }

// sections are the first names below dubbo that have a meaning here.
var sections = []string{"application", "registry", "registries", "consumer", "reference", "references"}

// javaSections belong to other parts of Dubbo: providers, admin ports, Spring …
var javaSections = []string{
	"provider", "providers", "service", "services", "protocol", "protocols", "module", "modules", "monitor",
	"monitors", "config-center", "config-centers", "metadata-report", "metadata-reports", "metrics", "tracing",
	"ssl", "scan", "config", "cloud", "spring", "labels", "env", "properties", "resolve", "network", "security",
	"metadata", "migration", "mapping", "shareconnections", "qos", "enabled", "hessian", "ip", "port",
}

// sectionNames are all sections by their relaxed names.
var sectionNames = func() map[string]string {
	names := map[string]string{}
	for _, s := range slices.Concat(sections, javaSections) {
		names[relaxed(s)] = s
	}
	return names
}()

// interfaceLength tells how many names at the beginning of a path are a Java
// interface: lower-case packages, then a name that begins with a capital.
func interfaceLength(path []string) int {
	for i, name := range path {
		switch {
		case !interfaceName.MatchString(name):
			return 0
		case strings.Contains(name, "."): // from brackets
			return i + 1
		case 'A' <= name[0] && name[0] <= 'Z':
			if i == 0 {
				return 0
			}
			return i + 1
		}
	}
	return 0
}
