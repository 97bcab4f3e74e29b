package sim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gofer-rpc/gofer/url"
)

// Load reads a scenario from a YAML file. Its keys are the fields of [Scenario] in
// lower case; times are written as 250ms or 1m30s. The error tells file, line and key
// of everything that is wrong.
func Load(file string) (*Scenario, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, data)
}

// Parse reads a scenario from the text of a file.
func Parse(file string, data []byte) (*Scenario, error) {
	base := filepath.Base(file)
	s := &Scenario{Name: strings.TrimSuffix(base, filepath.Ext(base))}
	y := &reader{file: file, lines: map[string]int{}}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: the file is empty", file)
	case err != nil:
		return nil, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	y.scenario(document.Content[0], s)
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) && len(y.errs) == 0 {
		return nil, fmt.Errorf("%s: there is more than one document in it", file)
	}
	if len(y.errs) == 0 {
		for _, p := range s.problems() {
			y.fail(y.line(p.path), p.path, "%s", p.text)
		}
	}
	if len(y.errs) > 0 {
		return nil, errors.Join(y.errs...)
	}
	return s, nil
}

// reader reads the nodes of a file, and remembers the line of each key.
type reader struct {
	file  string
	path  string
	lines map[string]int
	errs  []error
}

func (y *reader) fail(line int, path, format string, args ...any) {
	where := fmt.Sprintf("%s:%d: ", y.file, line)
	if path != "" {
		where += path + ": "
	}
	y.errs = append(y.errs, errors.New(where+fmt.Sprintf(format, args...)))
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
		path := join(outer, key.Value)
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
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
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
			if item.Kind == yaml.AliasNode {
				item = item.Alias
			}
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
func scalar[T any](y *reader, to *T, what string, parse func(string) (T, error)) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode {
			y.fail(n.Line, y.path, "%s is expected here, not %s", what, describe(n))
			return
		}
		v, err := parse(n.Value)
		if err != nil {
			y.fail(n.Line, y.path, "%q is not %s", n.Value, what)
			return
		}
		*to = v
	}
}

func (y *reader) text(to *string) func(*yaml.Node) {
	return scalar(y, to, "text", func(s string) (string, error) { return s, nil })
}

func (y *reader) number(to *float64) func(*yaml.Node) {
	return scalar(y, to, "a number", func(s string) (float64, error) {
		v, err := strconv.ParseFloat(s, 64)
		if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
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
	return strconv.Quote(n.Value)
}
