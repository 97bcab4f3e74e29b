package gofer

import (
	"fmt"
	"strings"
)

// Source is a kind of place that configuration comes from. Of two values for one
// property the one of the greater Source counts, in the order of Dubbo 3.3.
type Source uint8

const (
	SourceDefault         Source = iota // the default of the parameter table
	SourceDubboProperties               // a file dubbo*.properties
	SourceCode                          // options: WithApplication, WithReference …
	SourceApplication                   // application.yml, application.properties
	SourceEnvironment                   // DUBBO_CONSUMER_TIMEOUT
)

var sourceNames = [...]string{"default", "dubbo.properties", "code", "application", "environment"}

// String is one word: default, code, environment …
func (s Source) String() string { return sourceNames[s] }

// Origin tells where a value stands.
type Origin struct {
	Source   Source
	File     string // as given to [Load]; "" when it is no file
	Line     int    // from 1
	Variable string // of the environment
}

// String is "application.yml:7", "$DUBBO_CONSUMER_TIMEOUT", "code" or "default".
func (o Origin) String() string {
	switch {
	case o.Variable != "":
		return "$" + o.Variable
	case o.File != "" && o.Line > 0:
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	case o.File != "":
		return o.File
	}
	return o.Source.String()
}

// property is one key with its value as a source has it.
type property struct {
	key    string // dotted: dubbo.consumer.timeout
	value  string
	origin Origin
}

// path splits a dotted key. Brackets keep a text with dots together,
// "dubbo.reference[com.example.OrderService].timeout", and hold the positions in
// a list, which stay in brackets: "filter[0]" is "filter", "[0]".
func (p property) path() []string {
	var out []string
	for rest := p.key; rest != ""; {
		if inner, after, ok := cutBracket(rest); ok {
			if isIndex(inner) {
				inner = "[" + inner + "]"
			}
			out = append(out, inner)
			rest = strings.TrimPrefix(after, ".")
			continue
		}
		end := strings.IndexAny(rest, ".[")
		switch {
		case end < 0:
			return append(out, rest)
		case end == 0 && rest[0] == '[': // a bracket that never closes is text
			return append(out, rest)
		}
		out = append(out, rest[:end])
		rest = strings.TrimPrefix(rest[end:], ".")
	}
	return out
}

// cutBracket takes a bracket with content off the front.
func cutBracket(s string) (inner, after string, ok bool) {
	if !strings.HasPrefix(s, "[") {
		return "", s, false
	}
	inner, after, ok = strings.Cut(s[1:], "]")
	return inner, after, ok && inner != ""
}

func isIndex(s string) bool {
	return s != "" && len(s) <= 5 && strings.Trim(s, "0123456789") == ""
}

// relaxed is what two spellings of a name have in common: connect-timeout,
// connect_timeout, connectTimeout, connect.timeout.
func relaxed(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}
