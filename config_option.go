package gofer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// WithConfig takes what [Load] has read: application, registry, defaults of all
// references, and the references that [Client.Reference] returns by their ids.
// Dubbo's order of sources holds: application files and the environment go before
// WithApplication, WithRegistry and WithReference, and those before
// dubbo.properties.
func WithConfig(cfg *Config) Option {
	return func(c *options) {
		switch {
		case cfg == nil:
			c.problems = append(c.problems, errors.New("WithConfig without a configuration: what did Load return?"))
		case c.loaded != nil:
			c.problems = append(c.problems, errors.New("WithConfig is given twice: name all files in one call of Load"))
		default:
			c.loaded = cfg
		}
	}
}

// WithReference declares a reference that [Client.Reference] returns by its id; the
// text is that of [Client.Refer]. A configuration may add to it, and change it.
func WithReference(id, reference string) Option {
	return func(c *options) {
		properties, err := referenceProperties(id, reference)
		if err != nil {
			c.problems = append(c.problems, fmt.Errorf("WithReference(%q): %w", id, err))
			return
		}
		if slices.ContainsFunc(c.code, func(p property) bool { return p.key == properties[0].key }) {
			c.problems = append(c.problems, fmt.Errorf("WithReference(%q) is given twice", id))
			return
		}
		c.code = append(c.code, properties...)
	}
}

// WithProperty sets one property in Dubbo's words, such as dubbo.consumer.timeout,
// as a file would.
func WithProperty(key, value string) Option {
	return func(c *options) {
		c.code = append(c.code, property{key, value, Origin{Source: SourceCode}})
	}
}

// referenceProperties turns the text of a reference into properties, the
// interface's first.
func referenceProperties(id, text string) ([]property, error) {
	if id == "" || strings.ContainsAny(id, "[]") {
		return nil, errors.New("an id needs letters, and no brackets")
	}
	d, err := parseDeclaration(text, "127.0.0.1")
	if err == nil {
		err = checkSpelling(text, d.url)
	}
	if err != nil {
		return nil, err
	}
	prefix := "dubbo.references." + id + "."
	if strings.Contains(id, ".") {
		prefix = "dubbo.references[" + id + "]."
	}
	code := Origin{Source: SourceCode}
	out := []property{{prefix + "interface", d.url.Interface(), code}}
	for key, value := range d.url.Params() {
		if key == "interface" {
			continue
		}
		if plain, err := url.Unescape(value); err == nil && escaped(key) {
			value = plain // as configuration has it
		}
		out = append(out, property{prefix + "parameters." + key, value, code})
	}
	if len(d.direct) > 0 {
		var addresses []string
		for _, p := range d.direct {
			addresses = append(addresses, p.Full())
		}
		out = append(out, property{prefix + "url", strings.Join(addresses, ";"), code})
	}
	return out, nil
}

// configure brings options and configuration together.
func (c *options) configure() error {
	code := c.code
	for key, value := range map[string]string{"dubbo.application.name": c.application, "dubbo.registry.address": c.registry} {
		if value != "" {
			code = append(code, property{key, value, Origin{Source: SourceCode}})
		}
	}
	for _, p := range c.code {
		if path := p.path(); len(path) < 2 || !strings.EqualFold(path[0], "dubbo") {
			c.problems = append(c.problems, fmt.Errorf("WithProperty(%q): a property of Dubbo begins with dubbo., such as dubbo.consumer.timeout", p.key))
		}
	}
	c.merged = c.loaded.with(code)
	b := c.merged.bound
	b.checkNames(c)
	b.sort(c.merged.files)
	for _, w := range b.warnings {
		c.logger.Warn("doubtful configuration", zap.Stringer("place", w.Origin), zap.String("property", w.Property), zap.String("reason", w.Reason))
	}
	if e, ok := b.application(); ok {
		c.application = e.value
	}
	c.registry = ""
	if b.registry != nil {
		c.registry = b.registry.url.Full()
	}
	return b.err()
}

// checkNames checks the names of load balancers, clusters and filters that
// references ask for.
func (b *bindings) checkNames(c *options) {
	for _, id := range slices.Sorted(maps.Keys(b.resolved)) {
		for _, e := range b.resolved[id].parameters {
			from := e.entries[0].property
			switch {
			case lastOf(e.key) == "loadbalance" && e.value == "true": // the default, as in Java
			case (lastOf(e.key) == "loadbalance" || isShadow(e.key)) && c.balancers[e.value] == nil:
				b.problem(from, "%v", protocol.UnknownName("load balancer", e.value, c.balancers))
			case e.key == "cluster" && c.clusters[e.value] == nil:
				b.problem(from, "%v", protocol.UnknownName("cluster", e.value, c.clusters))
			case e.key == "reference.filter":
				b.checkFilters(c, e)
			}
		}
	}
}

func isShadow(key string) bool {
	return key == "loadbalance.shadow" || strings.HasSuffix(key, ".loadbalance.shadow")
}

func (b *bindings) checkFilters(c *options, e effective) {
	for _, item := range url.SplitList(e.value) {
		name := strings.TrimPrefix(strings.TrimSpace(item), "-")
		if c.filters[name] != nil || slices.Contains([]string{"", "default", "activelimit", "active-limit"}, name) {
			continue
		}
		from := e.entries[0].property
		for _, x := range e.entries {
			if strings.Contains(x.value, item) {
				from = x.property
			}
		}
		b.problem(from, "%v", protocol.UnknownName("filter", name, c.filters))
	}
}
