package gofer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bounds of what placeholders may expand to.
const (
	placeholderDepth  = 16
	placeholderLength = 64 << 10
)

// placeholders replaces ${key} and ${key:default}. A key is a variable of the
// environment, by its name or as ZK_HOST for zk.host, or a property of any source,
// also one outside dubbo; defaults and keys may hold placeholders themselves.
type placeholders struct {
	env    environment
	values map[string]string // of all files and options, by key
}

func newPlaceholders(env environment, properties []property) *placeholders {
	p := &placeholders{env: env, values: map[string]string{}}
	sorted := slices.Clone(properties)
	slices.SortStableFunc(sorted, func(a, b property) int { return int(a.origin.Source) - int(b.origin.Source) })
	for _, x := range sorted {
		p.values[x.key] = x.value
	}
	return p
}

// resolve returns the text with all placeholders replaced. Its errors show keys,
// never values.
func (p *placeholders) resolve(text string) (string, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	budget := placeholderLength
	return p.expand(text, nil, &budget)
}

// expand replaces the placeholders of a text; open are the keys being resolved.
func (p *placeholders) expand(text string, open []string, budget *int) (string, error) {
	if len(open) > placeholderDepth {
		return "", fmt.Errorf("placeholders nested deeper than %d", placeholderDepth)
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "${")
		end := closingBrace(rest)
		if !ok || end < 0 { // one that does not end is text
			before, rest, end = text, "", 0
		}
		b.WriteString(before)
		if *budget -= len(before) + 1; *budget < 0 {
			return "", errors.New("placeholders expand without end")
		}
		if rest == "" {
			return b.String(), nil
		}
		value, err := p.value(rest[:end], open, budget)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		text = rest[end+1:]
	}
}

// value resolves what stands between the braces.
func (p *placeholders) value(inner string, open []string, budget *int) (string, error) {
	written, def, hasDefault := cutDefault(inner)
	nested := append(slices.Clip(open), written)
	key, err := p.expand(written, nested, budget)
	if err != nil {
		return "", err
	}
	if slices.Contains(open, key) {
		return "", fmt.Errorf("placeholder ${%s} needs itself", written)
	}
	nested[len(nested)-1] = key
	if _, value, ok := p.env.lookup(key); ok {
		return value, nil
	}
	if value, ok := p.values[key]; ok {
		return p.expand(value, nested, budget)
	}
	if hasDefault {
		nested[len(nested)-1] = ":" // deeper, but within no key
		return p.expand(def, nested, budget)
	}
	return "", fmt.Errorf("placeholder ${%s} is not set anywhere: set it in a file or in the environment, or write a default, ${%s:…}", written, written)
}

// closingBrace finds the brace that ends a placeholder, -1 when there is none.
func closingBrace(s string) int {
	depth := 1
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "${"):
			depth++
			i++
		case s[i] == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// cutDefault cuts at the first colon outside of a nested placeholder.
func cutDefault(inner string) (key, def string, ok bool) {
	depth := 0
	for i := 0; i < len(inner); i++ {
		switch {
		case strings.HasPrefix(inner[i:], "${"):
			depth++
		case inner[i] == '}':
			depth = max(0, depth-1)
		case inner[i] == ':' && depth == 0:
			return inner[:i], inner[i+1:], true
		}
	}
	return inner, "", false
}
