package gofer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of what one YAML file may expand to: aliases of aliases grow fast.
const (
	yamlDepth = 64
	yamlNodes = 50_000
)

// parseYAML flattens the documents of a YAML file to dotted keys. Keys that are
// dotted already stay so; positions in lists become [0], [1] …
func parseYAML(data []byte) (documents [][]property, found findings) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF):
			return documents, found
		case err != nil:
			line, reason := yamlReason(data, err)
			found.problem(property{origin: Origin{Line: line}}, "not YAML: %s", reason)
			return documents, found
		}
		w := yamlWalk{budget: yamlNodes}
		w.walk(&document, "", 0)
		found.add(w.found)
		documents = append(documents, w.out)
		if len(w.found.problems) > 0 {
			return documents, found
		}
	}
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// yamlReason takes the line out of a message of the library, and the text that it
// quotes: a password that begins with * is an unknown anchor to it.
func yamlReason(data []byte, err error) (line int, reason string) {
	reason = err.Error()
	if m := yamlLine.FindStringSubmatch(reason); m != nil {
		line, _ = strconv.Atoi(m[1])
		reason = reason[len(m[0]):]
	}
	switch {
	case strings.HasPrefix(reason, "unknown anchor"):
		return yamlBreak(data, 0), "a value begins with * but is no known alias: put it in quotes"
	case strings.HasPrefix(reason, "did not find expected"): // its line is where the block begins
		return yamlBreak(data, line), reason + ": look at the indentation, brackets and quotes"
	}
	return max(line, 1), reason
}

// yamlBreak finds the line from which on a file is not YAML: the one after the
// longest piece that is. In a large file it is the line that the library names.
func yamlBreak(data []byte, line int) int {
	const largest = 16 << 10
	if len(data) > largest {
		return max(line, 1)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	for n := len(lines) - 1; n > 0; n-- {
		if isYAML(bytes.Join(lines[:n], nil)) {
			return n + 1
		}
	}
	return 1
}

func isYAML(data []byte) bool {
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
		if err := decoder.Decode(new(yaml.Node)); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// yamlWalk flattens one document.
type yamlWalk struct {
	out    []property
	found  findings
	budget int // nodes that may still be visited
}

func (w *yamlWalk) walk(n *yaml.Node, key string, depth int) {
	w.budget--
	p := property{key: key, origin: Origin{Line: n.Line}}
	switch {
	case w.budget < 0:
		if w.budget == -1 {
			w.found.problem(property{origin: p.origin}, "more than %d values, aliases counted as often as they are used", yamlNodes)
		}
		return
	case depth > yamlDepth:
		w.found.problem(property{origin: p.origin}, "nested deeper than %d levels", yamlDepth)
		return
	}
	switch n.Kind {
	case yaml.DocumentNode:
		for _, c := range n.Content {
			w.walk(c, key, depth+1)
		}
	case yaml.AliasNode:
		w.walk(n.Alias, key, depth+1)
	case yaml.MappingNode:
		w.mapping(n, key, nil, depth)
	case yaml.SequenceNode:
		for i, c := range n.Content {
			w.walk(c, key+"["+strconv.Itoa(i)+"]", depth+1)
		}
	case yaml.ScalarNode:
		if key == "" {
			if n.Value != "" {
				w.found.problem(p, "a text where keys are expected: dubbo: …")
			}
			return
		}
		if n.Tag != "!!null" {
			p.value = n.Value
		}
		w.out = append(w.out, p)
	}
}

// mapping walks over the keys of a mapping except those in hidden, which are set
// where it is merged into.
func (w *yamlWalk) mapping(n *yaml.Node, key string, hidden map[string]bool, depth int) {
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		for k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		switch first, twice := lines[k.Value]; {
		case k.Kind != yaml.ScalarNode:
			w.found.problem(property{key: key, origin: Origin{Line: n.Content[i].Line}}, "a key must be a text")
			continue
		case isMerge(k):
			continue
		case twice:
			w.found.problem(property{key: join(key, yamlKey(k, v)), origin: Origin{Line: k.Line}}, "set twice, first in line %d", first)
			continue
		}
		lines[k.Value] = k.Line
	}
	all := map[string]bool{}
	for k := range hidden {
		all[k] = true
	}
	for k := range lines {
		all[k] = true
	}
	for i := 0; i+1 < len(n.Content); i += 2 { // merged ones first: what comes later counts
		if k, v := n.Content[i], n.Content[i+1]; isMerge(k) {
			w.merge(v, key, all, depth+1)
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		for k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode || isMerge(k) || hidden[k.Value] {
			continue
		}
		name, value, pair := compactPair(k, v)
		switch {
		case pair:
			w.out = append(w.out, property{join(key, name), value, Origin{Line: k.Line}})
		case isNothing(v): // the library has it behind the end of the line
			w.out = append(w.out, property{join(key, k.Value), "", Origin{Line: k.Line}})
		default:
			w.walk(v, join(key, k.Value), depth+1)
		}
	}
}

// merge walks over what stands behind <<: a mapping or several.
func (w *yamlWalk) merge(v *yaml.Node, key string, hidden map[string]bool, depth int) {
	w.budget--
	for v.Kind == yaml.AliasNode {
		v = v.Alias
	}
	switch {
	case w.budget < 0 || depth > yamlDepth:
		w.walk(v, key, yamlDepth+1) // says so
	case v.Kind == yaml.MappingNode:
		w.mapping(v, key, hidden, depth)
	case v.Kind == yaml.SequenceNode:
		for i := len(v.Content) - 1; i >= 0; i-- { // the first one counts most
			w.merge(v.Content[i], key, hidden, depth+1)
		}
	default:
		w.found.problem(property{key: key, origin: Origin{Line: v.Line}}, "<< must name a mapping")
	}
}

func isMerge(k *yaml.Node) bool { return k.Kind == yaml.ScalarNode && k.Tag == "!!merge" }

// compactPair reads {k1:v1}, which is a key without value in YAML, as Dubbo's form
// of parameters means it.
func compactPair(k, v *yaml.Node) (name, value string, ok bool) {
	if !isNothing(v) || k.Style != 0 {
		return "", "", false
	}
	return strings.Cut(k.Value, ":")
}

// isNothing tells a value that is not written at all.
func isNothing(v *yaml.Node) bool {
	return v.Kind == yaml.ScalarNode && v.Tag == "!!null" && v.Value == ""
}

// yamlKey is a key as messages may show it.
func yamlKey(k, v *yaml.Node) string {
	if name, _, ok := compactPair(k, v); ok {
		return name
	}
	return k.Value
}

// join puts a key below another one.
func join(key, name string) string {
	switch {
	case key == "":
		return name
	case strings.HasPrefix(name, "["):
		return key + name
	}
	return fmt.Sprintf("%s.%s", key, name)
}
