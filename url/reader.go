package url

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Reader reads parameters as the table types them. It never fails: a bad value is
// noted in [Reader.Problems] and the next best is used: for a method the value of the
// interface, else the default. So it is for a number out of bounds, but for the few that
// Java takes for the bound: less than no weight, no retries, no warm-up, no limit of the
// payload. A key that is
// not in the table, one of your own, has no bounds and the zero value as default.
type Reader struct {
	report
	scope  Scope
	method string // "" = interface level only
}

// NewReader reads the parameters of a URL as those of a reference, a provider, a
// registry or a rule, whichever it is by its protocol.
func NewReader(u URL) *Reader { return &Reader{report: report{url: u}, scope: scopeOf(u)} }

// Problems returns what was bad so far.
func (r *Reader) Problems() []Problem { return r.problems }

// Bool reads a [TypeBool].
func (r *Reader) Bool(key string) bool { return r.number(key, TypeBool) != 0 }

// Int reads a [TypeInt].
func (r *Reader) Int(key string) int { return int(r.number(key, TypeInt)) }

// Long reads a [TypeLong].
func (r *Reader) Long(key string) int64 { return r.number(key, TypeLong) }

// Duration reads a [TypeTime].
func (r *Reader) Duration(key string) time.Duration { return time.Duration(r.number(key, TypeTime)) }

// Text reads a text of any type.
func (r *Reader) Text(key string) string {
	p := r.row(key, TypeText)
	return read(r, p, p.Default, p.parseText, func(s string) string { return s })
}

// Numbers reads a [TypeNumbers].
func (r *Reader) Numbers(key string) []int {
	p := r.row(key, TypeNumbers)
	def, _, _ := p.parseNumbers(p.Default)
	return read(r, p, def, p.parseNumbers, func(ns []int) string {
		texts := make([]string, len(ns))
		for i, n := range ns {
			texts[i] = strconv.Itoa(n)
		}
		return strings.Join(texts, ",")
	})
}

func (r *Reader) number(key string, t Type) int64 {
	p := r.row(key, t)
	return read(r, p, p.def, p.parse, p.format)
}

func (r *Reader) row(key string, t Type) *Parameter {
	if p := lookup(key, r.scope); p != nil {
		return p
	}
	return &Parameter{Key: key, Type: t, Level: LevelMethod, Min: math.MinInt64 / int64(time.Millisecond)}
}

// read returns the first usable value of a parameter, and notes every bad one it
// meets with the value that is used instead.
func read[T any](r *Reader, p *Parameter, value T, parse func(string) (T, bool, string), format func(T) string) T {
	bad := 0
	for _, e := range r.candidates(p) {
		if e.value == "" {
			continue
		}
		v, ok, reason := parse(e.value)
		if reason != "" {
			r.add(e.key, e.value, reason, "")
			bad++
		}
		if ok {
			value = v
			break
		}
	}
	for i := range bad {
		r.problems[len(r.problems)-1-i].Fallback = format(value)
	}
	return value
}

// candidates are the values of a parameter, the one that counts more first; empty
// ones are absent.
func (r *Reader) candidates(p *Parameter) (es [2]param) {
	if r.method != "" && p.Level == LevelMethod {
		es[0], _ = r.url.strictMethodParam(r.method, p.Key)
	}
	es[1] = param{p.Key, r.url.Param(p.Key)}
	return es
}

// scopeOf tells what kind of URL this is.
func scopeOf(u URL) Scope {
	switch u.Protocol() {
	case "", "consumer":
		return ScopeReference
	case "override", "absent", "route", "condition", "script", "tag":
		return ScopeRule
	case "zookeeper", "registry", "service-discovery-registry":
		return ScopeRegistry
	}
	if strings.HasSuffix(u.Path(), ".RegistryService") {
		return ScopeRegistry
	}
	return ScopeProvider
}
