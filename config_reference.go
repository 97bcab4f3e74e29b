package gofer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/url"
)

// Reference returns the reference of that id in the configuration given with
// [WithConfig] or [WithReference]. It is what [Client.Refer] returns for the same
// parameters, shared and counted like it, and waits like it: with check=true at
// most the registry's parameter timeout. See [Client.ReferenceContext] to end the
// waiting otherwise. An unknown id is an error that lists the known ones.
func (c *Client) Reference(id string) (*Reference, error) {
	return c.ReferenceContext(context.Background(), id)
}

// ReferenceContext is [Client.Reference] that waits no longer than ctx.
func (c *Client) ReferenceContext(ctx context.Context, id string) (*Reference, error) {
	r, err := c.cfg.merged.find(id)
	if err != nil {
		return nil, err
	}
	d, err := parseDeclaration(r.text, c.host)
	if err != nil {
		return nil, fmt.Errorf("reference %q: gofer: reference: %w", id, err)
	}
	ref, err := c.refer(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("reference %q: %w", id, err)
	}
	return ref, nil
}

// Config returns the configuration of the client, that of its options included.
func (c *Client) Config() *Config { return c.cfg.merged }

// resolvedReference is a reference with what all sources say about it.
type resolvedReference struct {
	name       string // of the interface
	parameters []effective
	text       string // as Refer takes it
}

// resolveReferences makes the references; those without interface are missing.
func (b *bindings) resolveReferences() map[string]*resolvedReference {
	named := map[string]bool{}
	for id := range b.references {
		named[b.interfaceOf(id)] = true
	}
	for o := range b.values {
		if o.scope == scopeInterface && !named[o.name] { // its own id, as in Dubbo
			b.references[o.name] = o.name
		}
	}
	resolved := map[string]*resolvedReference{}
	for _, id := range slices.Sorted(maps.Keys(b.references)) {
		if r := b.resolveReference(id, b.interfaceOf(id)); r != nil {
			resolved[id] = r
		}
	}
	return resolved
}

func (b *bindings) resolveReference(id, name string) *resolvedReference {
	own, ok := b.propertyOf(id, name)
	if !ok {
		return nil
	}
	if name == "" {
		if b.final {
			b.missingInterface(id, own)
		}
		return nil
	}
	all := b.effective(id, name)
	r := &resolvedReference{name: name}
	for _, e := range all {
		if e.key == "interface" {
			own = e.entries[0].property
			continue
		}
		r.parameters = append(r.parameters, e)
	}
	from := effective{key: "interface", value: name, entries: []entry{{property: own}}}
	if i := slices.IndexFunc(all, func(e effective) bool { return e.key == "interface" }); i >= 0 {
		from = all[i]
	}
	r.parameters = slices.Insert(r.parameters, 0, from)
	r.text = referenceText(name, r.parameters)
	b.checkReference(r, own)
	return r
}

// propertyOf is the first property of a reference.
func (b *bindings) propertyOf(id, name string) (p property, ok bool) {
	own := merged(b.values[owner{scopeReference, id}], b.values[owner{scopeInterface, name}])
	for _, key := range slices.Sorted(maps.Keys(own)) {
		if e := own[key][0].property; !ok || e.origin.File == p.origin.File && e.origin.Line < p.origin.Line {
			p, ok = e, true
		}
	}
	return p, ok
}

func (b *bindings) missingInterface(id string, at property) {
	var known []string
	for other := range b.references {
		if b.interfaceOf(other) != "" {
			known = append(known, other)
		}
	}
	text := fmt.Sprintf("reference %q has no interface: set dubbo.references.%s.interface", id, id)
	if near := url.NearestOf(id, known); near != "" {
		text += fmt.Sprintf(", or did you mean %q?", near)
	}
	if at.origin.Source == SourceEnvironment { // perhaps of another program
		b.warn(at, "%s", text)
		return
	}
	b.problem(at, "%s", text)
}

// referenceText writes a reference as Refer takes it.
func referenceText(name string, parameters []effective) string {
	var b strings.Builder
	b.WriteString(name)
	sep := byte('?')
	for _, e := range parameters {
		value := e.value
		switch e.key {
		case "interface", "registry":
			continue
		case "url":
			value = escapeAll(value)
		}
		b.WriteByte(sep)
		b.WriteString(e.key + "=" + value)
		sep = '&'
	}
	return b.String()
}

// checkReference finds what is wrong with a reference as a whole; single values
// have been checked.
func (b *bindings) checkReference(r *resolvedReference, own property) {
	if !interfaceName.MatchString(r.name) {
		b.problem(own, "%q is not a Java interface name: write it with its package, such as com.example.OrderService", r.name)
	}
	params := map[string]string{}
	for _, e := range r.parameters {
		from := e.entries[0].property
		switch e.key {
		case "url":
			for _, one := range splitAddresses(e.value) {
				if _, err := parseProvider(one, r.name); err != nil {
					b.problem(from, "%v", err)
				}
			}
		case "registry":
			b.checkRegistryOf(r, from)
		default:
			params[e.key] = e.value
		}
	}
	for _, p := range url.Validate(url.New("consumer", "", 0, r.name, params)) {
		i := slices.IndexFunc(r.parameters, func(e effective) bool { return e.key == p.Key })
		if i < 0 {
			continue
		}
		e := r.parameters[i]
		if len(url.Validate(alone("consumer", e.key, e.value))) == 0 {
			b.problem(e.entries[0].property, "%s=%s: %s", p.Key, p.Value, p.Reason)
		}
	}
}

// checkRegistryOf checks that a reference asks for the registry there is.
func (b *bindings) checkRegistryOf(r *resolvedReference, from property) {
	if !b.final {
		return
	}
	direct := slices.ContainsFunc(r.parameters, func(e effective) bool { return e.key == "url" })
	switch {
	case direct:
	case strings.EqualFold(from.value, "N/A"):
		b.problem(from, "N/A is no registry, but there are no addresses either: set url=dubbo://host:port beside it")
	case b.registry == nil || from.value != b.registry.id:
		b.problem(from, "there is no registry %q: it would be dubbo.registries.%s.address", from.value, from.value)
	}
}

// withDefaults gives a declaration the parameters that all references begin with,
// where it has none of its own.
func (c *Config) withDefaults(u url.URL) url.URL {
	for _, e := range c.bound.effective("", "") {
		switch own := u.Param(e.key); {
		case e.key == "registry":
		case own == "":
			u = u.With(e.key, e.value)
		case slices.Contains(joined, e.key):
			u = u.With(e.key, joinLists(e.value, own))
		}
	}
	return u
}
