package gofer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/url"
)

// registryChoice is the one registry of a client.
type registryChoice struct {
	id         string // "" for dubbo.registry
	address    effective
	parameters map[string][]entry // of the address, of dubbo.registries.<id> and of dubbo.registry
	url        url.URL
}

// chooseRegistry finds the registry: the one that the greatest source has. Several
// there are an error. nil is none.
func (b *bindings) chooseRegistry() *registryChoice {
	type candidate struct {
		id string
		entry
	}
	var best []candidate
	for o, keys := range b.values {
		if o.scope != scopeRegistry || len(keys["address"]) == 0 {
			continue
		}
		c := candidate{o.name, keys["address"][0]}
		switch {
		case len(best) == 0 || c.origin.Source > best[0].origin.Source:
			best = []candidate{c}
		case c.origin.Source == best[0].origin.Source:
			best = append(best, c)
		}
	}
	switch {
	case len(best) == 0 || len(best) == 1 && strings.EqualFold(best[0].value, "N/A"):
		return nil
	case len(best) > 1:
		if !b.final && best[0].origin.Source < SourceCode { // an option may choose
			return nil
		}
		slices.SortFunc(best, func(a, c candidate) int { return strings.Compare(a.key, c.key) })
		var places []string
		for _, c := range best {
			places = append(places, fmt.Sprintf("%s (%s)", c.key, c.origin))
		}
		b.problem(best[0].property, "several registries: %s; one client uses one registry: leave one address, or make a client for each", strings.Join(places, ", "))
		return nil
	}
	return b.registryOf(best[0].id)
}

// registryOf puts together what belongs to a registry.
func (b *bindings) registryOf(id string) *registryChoice {
	r := &registryChoice{id: id, parameters: merged(b.values[owner{scopeRegistry, id}], nil)}
	if id != "" {
		r.parameters = merged(r.parameters, b.values[owner{scope: scopeRegistry}])
	}
	for _, key := range registryDefaults {
		if all := b.values[owner{scope: scopeApplication}][key]; len(all) > 0 {
			r.parameters[key] = append(slices.Clip(r.parameters[key]), all...)
		}
	}
	r.address = effective{key: "address", value: first(r.parameters, "address"), entries: r.parameters["address"]}
	if !b.addressOf(r) {
		return nil
	}
	if r.id == "" {
		r.id = first(r.parameters, "id")
	}
	return r
}

// addressOf makes the URL of the registry. What stands in the address goes before
// the other attributes, as in Dubbo.
func (b *bindings) addressOf(r *registryChoice) bool {
	from := r.address.entries[0].property
	text := from.value
	if !strings.Contains(beforeQuery(text), "://") {
		protocol := first(r.parameters, "protocol")
		if protocol == "" {
			b.problem(from, "%s has no protocol: write zookeeper://host:2181, or set protocol beside it", url.Redact(text))
			return false
		}
		text = protocol + "://" + text
	}
	if strings.ContainsAny(beforeQuery(text), ";|") {
		b.problem(from, "several registries, separated by ; or |: one client uses one registry; list the servers of an ensemble separated by commas")
		return false
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		b.problem(from, "%v", err)
		return false
	case u.Protocol() != "zookeeper":
		b.problem(from, "protocol %q of %s is not supported: only zookeeper", u.Protocol(), u)
		return false
	}
	for _, p := range url.Validate(u) {
		b.problem(from, "%s=%s: %s", p.Key, p.Value, p.Reason)
	}
	if port := r.parameters["port"]; len(port) > 0 && u.Port() == 0 {
		n, err := url.Int(port[0].value)
		if err != nil || n < 1 || n > 65535 {
			b.problem(port[0].property, "port=%s: no number from 1 to 65535", port[0].value)
			return false
		}
		u = u.WithAddress(u.Host(), n)
	}
	if u.Username() == "" {
		credential := func(key string) string { return escapeAll(cmp.Or(u.Param(key), first(r.parameters, key))) }
		u = u.WithUserInfo(credential("username"), credential("password"))
	}
	u = u.Without("username", "password")
	for key, value := range u.Params() {
		from.value = value
		r.parameters[key] = slices.Insert(slices.Clone(r.parameters[key]), 0, entry{property: from})
	}
	for key, entries := range r.parameters {
		if !special(owner{scope: scopeRegistry}, key) {
			u = u.With(key, entries[0].value)
		}
	}
	r.url = u
	return true
}

// first is the value of a parameter that counts.
func first(parameters map[string][]entry, key string) string {
	if entries := parameters[key]; len(entries) > 0 {
		return entries[0].value
	}
	return ""
}

// escapeAll escapes a text for any part of a URL.
func escapeAll(s string) string { return strings.ReplaceAll(url.Escape(s), "+", "%20") }

// application is the name of the application; Spring's own counts when Dubbo's is
// not set.
func (b *bindings) application() (e effective, ok bool) {
	entries := slices.Clone(b.values[owner{scope: scopeApplication}]["application"])
	if b.spring != nil {
		entries = append(entries, entry{property: *b.spring})
	}
	if len(entries) == 0 {
		return effective{}, false
	}
	return effective{"application", entries[0].value, entries}, true
}

// checkApplication applies Java's rule for names.
func (b *bindings) checkApplication() {
	if e, ok := b.application(); ok && (strings.ContainsAny(e.value, "&=?/#;% \t\r\n") || len(e.value) > 200) {
		b.problem(e.entries[0].property, "application name %q: at most 200 letters, digits, dots, dashes and underscores", e.value)
	}
}

// global are the settings of the client as a whole.
func (b *bindings) global() []effective {
	var out []effective
	if e, ok := b.application(); ok {
		out = append(out, e)
	}
	if b.registry == nil {
		return out
	}
	out = append(out, b.registry.address)
	for _, key := range slices.Sorted(maps.Keys(b.registry.parameters)) {
		if entries := b.registry.parameters[key]; key != "address" {
			out = append(out, effective{key, entries[0].value, entries})
		}
	}
	return out
}
