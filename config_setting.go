package gofer

import (
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/url"
)

// Setting is one effective value of a configuration and where it comes from.
type Setting struct {
	Key      string // parameter of the URL: timeout, find.timeout
	Value    string // secrets are ***
	Property string // the key as its source has it: dubbo.consumer.timeout; "" for a default
	Origin   Origin
	// Overridden are the values that this one goes before, the strongest first.
	Overridden []Setting
}

// String is "timeout=800 (application.yml:7)".
func (s Setting) String() string { return s.Key + "=" + s.Value + " (" + s.Origin.String() + ")" }

// setting shows a parameter.
func (e effective) setting() Setting {
	s := settingOf(e.key, e.entries[0])
	s.Value = shown(e.key, e.value)
	for _, o := range e.entries[1:] {
		s.Overridden = append(s.Overridden, settingOf(e.key, o))
	}
	return s
}

func settingOf(key string, e entry) Setting {
	property := e.key
	if e.origin.Source == SourceEnvironment {
		property = "" // its name says it
	}
	return Setting{Key: key, Value: shown(key, e.value), Property: property, Origin: e.origin}
}

// Explain returns every effective parameter of a reference with its origin: those
// that are set, then the defaults of those that have an effect. The error names
// the references that are known.
func (c *Config) Explain(id string) ([]Setting, error) {
	r, err := c.find(id)
	if err != nil {
		return nil, err
	}
	var out []Setting
	for _, e := range r.parameters {
		out = append(out, e.setting())
	}
	return append(out, defaults(url.ScopeReference, out)...), nil
}

// defaults are those of the parameter table for what is not set.
func defaults(scope url.Scope, set []Setting) []Setting {
	var out []Setting
	for _, p := range url.Table() {
		isSet := slices.ContainsFunc(set, func(s Setting) bool { return s.Key == p.Key })
		if p.Scope&scope != 0 && p.Default != "" && !p.Ignored && !isSet {
			out = append(out, Setting{Key: p.Key, Value: p.Default})
		}
	}
	return out
}

// Lookup returns the effective value of one parameter of a reference. For a method,
// "find.timeout", it is that of the whole service if the method has none of its
// own. ok is false when there is no such reference, or neither value nor default.
func (c *Config) Lookup(id, key string) (s Setting, ok bool) {
	all, err := c.Explain(id)
	if err != nil {
		return Setting{}, false
	}
	keys := []string{key}
	if _, known := url.Lookup(key); !known {
		if _, rest, dotted := strings.Cut(key, "."); dotted {
			keys = append(keys, rest)
		}
	}
	for _, k := range keys {
		if i := slices.IndexFunc(all, func(s Setting) bool { return s.Key == k }); i >= 0 {
			return all[i], true
		}
	}
	return Setting{}, false
}

// Settings returns the effective application and registry with their origins.
func (c *Config) Settings() []Setting {
	var out []Setting
	for _, e := range c.bound.global() {
		out = append(out, e.setting())
	}
	if c.bound.registry == nil {
		return out
	}
	return append(out, defaults(url.ScopeRegistry, out)...)
}
