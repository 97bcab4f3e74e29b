package sim

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gofer-rpc/gofer/url"
)

// reader reads the nodes of a file, and remembers the line of each key, and what is 0.
type reader struct {
	mistakes
	path  string
	lines map[string]int
	zeros map[string]bool
}

// line returns the line of a path, or of what it is a part of.
func (y *reader) line(path string) int {
	for path != "" {
		if n, ok := y.lines[path]; ok {
			return n
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return 1
}

// fields says by key how a value is read.
type fields map[string]func(n *yaml.Node)

// mapping reads a mapping, in which every key is known and comes once.
func (y *reader) mapping(n *yaml.Node, known fields) {
	if n.Kind != yaml.MappingNode {
		y.fail(n.Line, y.path, "keys with values are expected here, not %s", describe(n))
		return
	}
	outer := y.path
	defer func() { y.path = outer }()
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			y.fail(key.Line, outer, "a key is expected here, not %s", describe(key))
			continue
		}
		path := join(outer, keyName(key.Value))
		read, ok := known[key.Value]
		if !ok {
			names := make([]string, 0, len(known))
			for k := range known {
				names = append(names, k)
			}
			slices.Sort(names)
			near := url.NearestOf(key.Value, names)
			if near != "" {
				near = fmt.Sprintf(", did you mean %q?", near)
			}
			y.fail(key.Line, path, "unknown key%s (known: %s)", near, strings.Join(names, ", "))
			continue
		}
		if at, twice := y.lines[path]; twice {
			y.fail(key.Line, path, "is here twice, the first time in line %d", at)
			continue
		}
		y.lines[path] = key.Line
		y.path = path
		read(value)
	}
}

// list reads a list of things.
func list[T any](y *reader, to *[]T, read func(n *yaml.Node, one *T)) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			y.fail(n.Line, y.path, "a list is expected here, not %s", describe(n))
			return
		}
		outer := y.path
		defer func() { y.path = outer }()
		for i, item := range n.Content {
			y.path = fmt.Sprintf("%s[%d]", outer, i)
			y.lines[y.path] = item.Line
			var one T
			read(item, &one)
			*to = append(*to, one)
		}
	}
}

// part reads what is a pointer because it may be missing.
func part[T any](to **T, read func(n *yaml.Node, one *T)) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		*to = new(T)
		read(n, *to)
	}
}

// scalar reads a single value.
func scalar[T comparable](y *reader, to *T, what string, parse func(string) (T, error)) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode {
			y.fail(n.Line, y.path, "%s is expected here, not %s", what, describe(n))
			return
		}
		v, err := parse(n.Value)
		if err != nil {
			y.fail(n.Line, y.path, "%q is not %s", short(n.Value), what)
			return
		}
		var zero T
		*to, y.zeros[y.path] = v, v == zero
	}
}

// none reads a value whose 0 is [None], because the zero value means a default.
func none[T int | float64 | time.Duration](y *reader, to *T, read func(n *yaml.Node)) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		read(n)
		switch v := *to; {
		case v == 0:
			*to = None
		case v < 0:
			y.fail(n.Line, y.path, "%v is less than 0", v)
		}
	}
}

func (y *reader) text(to *string) func(*yaml.Node) {
	return scalar(y, to, "text", func(s string) (string, error) { return s, nil })
}

func (y *reader) number(to *float64) func(*yaml.Node) {
	return scalar(y, to, "a number", func(s string) (float64, error) {
		v, err := strconv.ParseFloat(s, 64)
		if err == nil && (math.IsNaN(v) || math.IsInf(v, 0) || strings.ContainsAny(s, "_xX")) { // no whole number may have those
			err = strconv.ErrRange
		}
		return v, err
	})
}

func (y *reader) whole(to *int) func(*yaml.Node) {
	return scalar(y, to, "a whole number", strconv.Atoi)
}

func (y *reader) yes(to *bool) func(*yaml.Node) {
	return scalar(y, to, "true or false", strconv.ParseBool)
}

func (y *reader) time(to *time.Duration) func(*yaml.Node) {
	return scalar(y, to, "a time such as 250ms", time.ParseDuration)
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys with values"
	case yaml.SequenceNode:
		return "a list"
	}
	return strconv.Quote(short(n.Value))
}

// keyName is how a path has a key.
func keyName(key string) string {
	if key == "" {
		return `""`
	}
	return plain(short(key))
}

// short cuts a long text.
func short(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
