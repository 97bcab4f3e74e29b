package sim

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/url"
)

//go:embed scenarios/*.yml
var files embed.FS

// The scenarios that come with the package, by what they are for.
var (
	// Core are those by which strategies are compared.
	Core = []string{
		"steady3", "gray3", "resident", "mixed", "hetero", "hetero-eq", "hetero-core",
		"blackhole", "flaky", "hang", "slow1", "slowpool", "one", "many", "many-slow",
		"many1k", "netasym", "gc", "scale", "rolling", "big",
	}
	// More are not in any mean.
	More = []string{"jit", "canary", "err5all"}
	// Hashing are those in which it matters that a key meets the provider that has it
	// cached.
	Hashing = []string{"hash", "hash-many", "hash-down", "hash-hot", "hash-sink", "transcode"}
)

// Named returns a scenario that comes with the package.
func Named(name string) (*Scenario, error) {
	file := "scenarios/" + name + ".yml"
	data, err := files.ReadFile(file)
	if err != nil {
		names := slices.Sorted(slices.Values(slices.Concat(Core, More, Hashing)))
		text := fmt.Sprintf("unknown scenario %q", name)
		if near := url.NearestOf(name, names); near != "" {
			text += fmt.Sprintf(", did you mean %q?", near)
		}
		return nil, fmt.Errorf("%s (known: %s)", text, strings.Join(names, ", "))
	}
	return Parse(file, data)
}

// A Variant changes the providers and requests of a scenario, to see whether a
// ranking depends on how they are modelled. Those but the first are held out: no
// constant of a strategy may be chosen by them.
type Variant struct {
	Name   string
	About  string
	Held   bool // out of all tuning
	change func(s *Scenario)
}

// Variants returns the variants, that of the files as they are first.
func Variants() []Variant {
	return []Variant{
		{Name: "fifo", About: "as the files say: requests wait for a free worker", change: func(*Scenario) {}},
		{Name: "ps", About: "requests share the cores, at most 200 at a time, as in Dubbo's default pool", Held: true, change: func(s *Scenario) {
			for i := range s.Providers {
				p := &s.Providers[i]
				p.Sharing = true
				or(&p.Threads, 200)
			}
		}},
		{Name: "cv3", About: "lognormal times with a coefficient of variation of 3", Held: true, change: func(s *Scenario) {
			if len(s.Requests) == 0 {
				s.Requests = []Request{{}}
			}
			for i := range s.Requests {
				s.Requests[i].CV = 3
			}
		}},
	}
}

// Of returns the scenario with the variant's changes.
func (v Variant) Of(s *Scenario) *Scenario {
	c := *s
	c.Requests = slices.Clone(s.Requests)
	c.Providers = slices.Clone(s.Providers)
	if v.change != nil {
		v.change(&c)
	}
	return &c
}
