package sim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxFile is how large a file may be, in bytes.
const maxFile = 256 << 10

// Load reads a scenario from a YAML file of at most 256 KiB. Its keys are the fields of
// [Scenario] in lower case; times are written as 250ms or 1m30s. The error tells file,
// line and key of what is wrong, of ten things at most.
func Load(file string) (*Scenario, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	return Parse(file, data)
}

// Parse reads a scenario from the text of a file, whose name the scenario gets, without
// its ending.
func Parse(file string, data []byte) (*Scenario, error) {
	y := &reader{mistakes: mistakes{file: plain(file)}, lines: map[string]int{}, zeros: map[string]bool{}}
	document := y.document(data)
	if document == nil {
		return nil, y.join()
	}
	base := filepath.Base(file)
	s := &Scenario{Name: strings.TrimSuffix(base, filepath.Ext(base))}
	if s.Name == "" {
		s.Name = base
	}
	y.scenario(document, s)
	if len(y.errs) == 0 {
		c := s.check(y.zeros)
		for _, p := range c.problems {
			y.fail(y.line(p.path), p.path, "%s", p.text)
		}
		y.more += c.more
	}
	if len(y.errs) > 0 {
		return nil, y.join()
	}
	return s, nil
}

// mistakes are what is wrong with a file.
type mistakes struct {
	file string
	errs []error
	more int // further ones
}

func (m *mistakes) fail(line int, path, format string, args ...any) {
	if len(m.errs) == maxProblems {
		m.more++
		return
	}
	m.errs = append(m.errs, fmt.Errorf("%s:%d: %s", m.file, line, sentence(path, fmt.Sprintf(format, args...))))
}

func (m *mistakes) join() error {
	if m.more > 0 {
		return errors.Join(append(m.errs, fmt.Errorf("%s: and %d more mistakes", m.file, m.more))...)
	}
	return errors.Join(m.errs...)
}

// document reads the only one there may be, nil if it cannot. It has no anchors and no
// aliases, by which a small file can be a large scenario.
func (m *mistakes) document(data []byte) *yaml.Node {
	if len(data) > maxFile {
		m.fail(1, "", "the file is too large: at most %d bytes", maxFile)
		return nil
	}
	if line, text := strange(data); text != "" {
		m.fail(line, "", "%s", text)
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		m.fail(1, "", "the file is empty")
	case err != nil:
		m.syntax(err)
	default:
		m.anchors(&first)
		switch err := decoder.Decode(&second); {
		case err == nil:
			m.fail(second.Line, "", "there is more than one document in the file")
		case !errors.Is(err, io.EOF):
			m.syntax(err)
		}
	}
	if len(m.errs) > 0 {
		return nil
	}
	return first.Content[0]
}

// strange finds the first byte that is no text, and its line.
func strange(data []byte) (line int, text string) {
	line = 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return line, fmt.Sprintf("byte %#02x is no UTF-8 text", data[i])
		case r == '\n':
			line++
		case unicode.IsControl(r) && r != '\t' && r != '\r' && r != 0x85:
			return line, fmt.Sprintf("character %q is no text", r)
		}
		i += n
	}
	return line, ""
}

// place is how the YAML reader says where something is.
var place = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// syntax tells of what is not YAML.
func (m *mistakes) syntax(err error) {
	found := place.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(found[1])
	m.fail(max(1, line), "", "%s", plain(err.Error()[len(found[0]):]))
}

// anchors refuses the first one, and reports whether there was any.
func (m *mistakes) anchors(n *yaml.Node) bool {
	switch {
	case n.Kind == yaml.AliasNode:
		m.fail(n.Line, "", "alias *%s: a scenario has none, write it out", plain(short(n.Value)))
		return true
	case n.Anchor != "":
		m.fail(n.Line, "", "anchor &%s: a scenario has none, write it out", plain(short(n.Anchor)))
		return true
	}
	return slices.ContainsFunc(n.Content, m.anchors)
}
