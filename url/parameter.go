package url

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Type is what the value of a parameter must be.
type Type uint8

const (
	TypeText    Type = iota // any text
	TypeBool                // true or false, in any case
	TypeInt                 // a 32-bit number in decimal digits
	TypeLong                // a 64-bit number in decimal digits
	TypeTime                // milliseconds as TypeInt, or a Go duration such as 3s
	TypeList                // texts separated by commas
	TypeNumbers             // numbers as TypeInt separated by commas
	TypeName                // letters, digits and "*,-._", at most 200: groups, versions
	TypeChoice              // one of Parameter.Values
)

var typeNames = [...]string{"text", "bool", "int", "long", "time (ms)", "list", "numbers", "name", "choice"}

func (t Type) String() string { return typeNames[t] }

// Scope tells on which kind of URL a parameter means something. It is a set.
type Scope uint8

const (
	ScopeReference Scope = 1 << iota // what a consumer asks for
	ScopeProvider                    // what a provider registers
	ScopeRegistry                    // the address of a registry
	ScopeRule                        // override and route URLs
)

var scopeNames = [...]string{"reference", "provider", "registry", "rule"}

func (s Scope) String() string {
	var names []string
	for i, name := range scopeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Level tells whether a parameter can be set for one method ("find.timeout").
type Level uint8

const (
	LevelInterface Level = iota // one value for the whole service
	LevelMethod                 // "method.key" beats "key"
)

func (l Level) String() string { return [...]string{"interface", "method"}[l] }

// Parameter is a row of the parameter table: all that this library knows about a
// key. Parsing, [Validate], the suggestions and the documentation come from it.
type Parameter struct {
	Key     string
	Type    Type
	Default string // in the form the value has in a URL; "" = none
	Scope   Scope
	Level   Level
	Doc     string // what it does, in a sentence

	Values   []string // of a TypeChoice
	Min, Max int64    // bounds of a number; of a time in milliseconds. Max 0 = none
	Ignored  bool     // Java consumers act on it; here it is accepted without effect

	zeroUnset bool  // 0 is the same as not given
	clamped   bool  // less than Min is Min, as in Java: who is to have no calls there has none here
	def       int64 // Default as parse returns it
}

// Table returns all parameters in the order of the documentation. A key stands in
// it twice when it means different things on the URL of a service and a registry.
func Table() []Parameter { return slices.Clone(table) }

// Lookup returns the row of a key. Of two it is the one for services; a method
// level key ("find.timeout") has no row of its own.
func Lookup(key string) (Parameter, bool) {
	p := lookup(key, ScopeReference)
	if p == nil {
		return Parameter{}, false
	}
	return *p, true
}

// index holds the rows of each key as positions in the table.
var index = indexTable()

func indexTable() map[string][]int {
	index := make(map[string][]int, len(table))
	for i, p := range table {
		index[p.Key] = append(index[p.Key], i)
	}
	return index
}

// lookup finds the row of a key that fits the scope, else its first one.
func lookup(key string, scope Scope) *Parameter {
	rows := index[key]
	if len(rows) == 0 {
		return nil
	}
	for _, i := range rows {
		if table[i].Scope&scope != 0 {
			return &table[i]
		}
	}
	return &table[rows[0]]
}

// Check returns why a value is not allowed, or "". The empty value, which counts
// as absent, always is allowed.
func (p Parameter) Check(value string) (reason string) {
	if value == "" {
		return ""
	}
	switch p.Type {
	case TypeName, TypeChoice, TypeText, TypeList:
		_, _, reason = p.parseText(value)
	case TypeNumbers:
		_, _, reason = p.parseNumbers(value)
	default:
		_, _, reason = p.parse(value)
	}
	return reason
}

// parse reads a bool (as 0 or 1), a number or a time (in nanoseconds), and says
// what is wrong. A number out of bounds is of no more use than one that is none, unless
// Java takes it for the bound.
func (p *Parameter) parse(value string) (n int64, ok bool, reason string) {
	unit := int64(1)
	switch p.Type {
	case TypeBool:
		switch {
		case strings.EqualFold(value, "true"):
			return 1, true, ""
		case strings.EqualFold(value, "false"):
			return 0, true, ""
		}
		return 0, false, "neither true nor false"
	case TypeInt, TypeLong:
		var err error
		if n, err = parseInt(value, p.bits()); err != nil {
			return 0, false, p.notNumber(value)
		}
	case TypeTime:
		d, err := Duration(value)
		if err != nil {
			return 0, false, err.Error()
		}
		n, unit = int64(d), int64(time.Millisecond)
	}
	switch reason = p.beyond(n, unit); {
	case reason == "":
		return n, n > 0 || !p.zeroUnset, ""
	case p.clamped && n < p.Min*unit:
		return p.Min * unit, true, reason
	}
	return 0, false, reason
}

// beyond says which bound a number is beyond, "" for none.
func (p *Parameter) beyond(n, unit int64) string {
	switch {
	case n < p.Min*unit:
		return "less than " + strconv.FormatInt(p.Min, 10)
	case p.Max != 0 && n > p.Max*unit:
		return "more than " + strconv.FormatInt(p.Max, 10)
	}
	return ""
}

// parseText reads a text. A name that Java would refuse is still of use.
func (p *Parameter) parseText(value string) (text string, ok bool, reason string) {
	switch {
	case p.Type == TypeName:
		return value, true, checkName(value)
	case p.Type == TypeChoice && !slices.Contains(p.Values, value):
		return "", false, "not one of: " + strings.Join(p.Values, ", ")
	}
	return value, true, ""
}

// parseNumbers reads a list of numbers; a bad one spoils the list.
func (p *Parameter) parseNumbers(value string) (ns []int, ok bool, reason string) {
	for _, e := range SplitList(value) {
		n, err := Int(e)
		if err != nil {
			return nil, false, p.notNumber(e)
		}
		if reason := p.beyond(int64(n), 1); reason != "" {
			return nil, false, reason
		}
		ns = append(ns, n)
	}
	if len(ns) == 0 {
		return nil, false, "no number in the list"
	}
	return ns, true, ""
}

// format writes what parse returns as it would stand in a URL.
func (p *Parameter) format(n int64) string {
	switch p.Type {
	case TypeBool:
		return strconv.FormatBool(n != 0)
	case TypeTime:
		if ms := time.Duration(n).Milliseconds(); n%int64(time.Millisecond) == 0 {
			return strconv.FormatInt(ms, 10)
		}
		return time.Duration(n).String()
	}
	return strconv.FormatInt(n, 10)
}

func (p *Parameter) bits() int {
	if p.Type == TypeLong {
		return 64
	}
	return 32
}

func (p *Parameter) notNumber(value string) string {
	if digits := strings.TrimLeft(value, "+-"); digits != "" && strings.Trim(digits, "0123456789") == "" {
		return fmt.Sprintf("does not fit %d bits", p.bits())
	}
	return "not a whole number in decimal digits"
}

// checkName applies Java's rule for groups and versions, which wildcards and lists
// pass, too.
func checkName(value string) string {
	if len(value) > 200 {
		return "longer than 200 characters"
	}
	for _, r := range value {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		case strings.ContainsRune("*,-._", r):
		default:
			return fmt.Sprintf("the character %q is not allowed", r)
		}
	}
	return ""
}
