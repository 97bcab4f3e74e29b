package gofer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gofer-rpc/gofer/url"
)

// ConfigProblem is one thing that is wrong, or doubtful, in a configuration. It
// shows no secrets.
type ConfigProblem struct {
	Origin   Origin
	Property string // the key as written there; "" when the whole file is meant
	Reason   string
}

// String is "application.yml:7: dubbo.consumer.timout: unknown, did you mean timeout?".
func (p ConfigProblem) String() string {
	switch {
	case p.Property == "":
		return p.Origin.String() + ": " + p.Reason
	case strings.ContainsFunc(p.Property, unicode.IsControl):
		p.Property = strconv.Quote(p.Property)
	}
	return p.Origin.String() + ": " + p.Property + ": " + p.Reason
}

// ConfigError lists everything that is wrong with a configuration.
type ConfigError struct{ Problems []ConfigProblem }

func (e *ConfigError) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d problems:", len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}

// findings collects what is wrong and what is doubtful.
type findings struct{ problems, warnings []ConfigProblem }

func (f *findings) problem(p property, format string, args ...any) {
	f.problems = append(f.problems, ConfigProblem{p.origin, p.key, fmt.Sprintf(format, args...)})
}

func (f *findings) warn(p property, format string, args ...any) {
	f.warnings = append(f.warnings, ConfigProblem{p.origin, p.key, fmt.Sprintf(format, args...)})
}

// misplaced is for a key that nobody knows: a problem, unless it is a variable of the
// environment. Others set those, and one that is not meant for us must not keep a
// program from starting.
func (f *findings) misplaced(p property, format string, args ...any) {
	if p.origin.Source == SourceEnvironment {
		f.warn(p, format, args...)
		return
	}
	f.problem(p, format, args...)
}

// add takes over what others have found.
func (f *findings) add(o findings) {
	f.problems = append(f.problems, o.problems...)
	f.warnings = append(f.warnings, o.warnings...)
}

// err is nil without problems.
func (f *findings) err() error {
	if len(f.problems) == 0 {
		return nil
	}
	return &ConfigError{f.problems}
}

// sort orders by place: files as they were read, then lines. What several
// references have in common is said once.
func (f *findings) sort(files []string) {
	for _, list := range [...]*[]ConfigProblem{&f.problems, &f.warnings} {
		seen := map[ConfigProblem]bool{}
		*list = slices.DeleteFunc(*list, func(p ConfigProblem) bool {
			again := seen[p]
			seen[p] = true
			return again
		})
		slices.SortStableFunc(*list, func(a, b ConfigProblem) int {
			return cmp.Or(
				cmp.Compare(slices.Index(files, a.Origin.File), slices.Index(files, b.Origin.File)),
				cmp.Compare(a.Origin.Line, b.Origin.Line),
				cmp.Compare(a.Origin.Variable, b.Origin.Variable),
			)
		})
	}
}

// shown is a value as errors and tables may show it.
func shown(key, value string) string {
	switch {
	case value == "":
		return ""
	case url.IsSecret(key), url.IsSecret(url.Nearest(key)): // pasword, too
		return "***"
	case strings.Contains(value, "://"), strings.Contains(value, "@"):
		return url.Redact(value)
	}
	return value
}
